"""Secrets are masked wherever they stand, unless they are too short to be told from words."""

from headway.domain.masking import masked


def test_a_secret_is_masked_wherever_it_stands_the_longest_first() -> None:
    assert masked("a hunter22, xhunter2x", ("hunter2", "hunter22")) == "a ***, x***x"


def test_a_secret_too_short_to_be_told_from_words_is_left() -> None:
    assert masked("nothing is wrong here", ("", "i", "wrong")) == "nothing is wrong here"


def test_what_stands_before_a_host_is_masked_however_short_it_is() -> None:
    told = "git clone https://u:p@host/x.git; curl -u me https://tok@h?a=b@c"
    assert masked(told) == "git clone https://***@host/x.git; curl -u me https://***@h?a=b@c"
