import hashlib

from hypothesis import given
from hypothesis import strategies as st

from headway.domain.chain import GENESIS, event_hash

hashes = st.binary(min_size=32, max_size=32)
versions = st.integers(1, 2**63 - 1)
times = st.integers(-(2**63), 2**63 - 1)
links = st.tuples(hashes, versions, times, st.binary(max_size=40))


def test_an_auditor_recomputes_a_hash_with_sha256_alone() -> None:
    by_hand = bytes(32) + bytes.fromhex("0000000000000001") + bytes.fromhex("000000000000000a")
    assert event_hash(GENESIS, 1, 10, b"data") == hashlib.sha256(by_hand + b"data").digest()


@given(links, links)
def test_different_links_have_different_hashes(
    one: tuple[bytes, int, int, bytes], other: tuple[bytes, int, int, bytes]
) -> None:
    assert (event_hash(*one) == event_hash(*other)) == (one == other)


def test_time_is_covered_even_before_1970() -> None:
    assert event_hash(GENESIS, 1, -1, b"") != event_hash(GENESIS, 1, 1, b"")
