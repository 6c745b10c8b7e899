"""A stamp tells whether a file was looked over against the rules in force."""

from headway.domain.staleness import SPEC_VERSION, staleness_of


def test_the_version_in_force_is_not_stale() -> None:
    assert staleness_of(SPEC_VERSION).level == "none"


def test_no_stamp_may_be_stale_and_another_version_likely_is() -> None:
    assert staleness_of(None).level == "possible"
    for stamp in (SPEC_VERSION - 1, SPEC_VERSION + 1):
        judged = staleness_of(stamp)
        assert judged.level == "likely"
        assert str(stamp) in judged.reason
        assert str(SPEC_VERSION) in judged.reason
