import base64
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.domain.errors import Code, TokenFault
from headway.domain.ids import AttemptId, SessionId
from headway.domain.tokens import (
    KINDS,
    OpenedToken,
    TokenKind,
    nonce_of,
    open_token,
    sign,
    unknown_token,
)

KEY, OLD, FOREIGN = b"k" * 32, b"o" * 32, b"f" * 32
ANY: frozenset[TokenKind] = frozenset(KINDS)
NONCE = nonce_of(SessionId("sess_a"), AttemptId("attempt_a"))

nonces = st.binary(min_size=12, max_size=12)
kinds = st.sampled_from(KINDS)


def refusal(text: str, allowed: frozenset[TokenKind] = ANY) -> TokenFault:
    with pytest.raises(TokenFault) as caught:
        open_token(text, (KEY,), allowed)
    return caught.value


@given(kinds, nonces)
def test_a_signed_token_opens(kind: TokenKind, nonce: bytes) -> None:
    text = sign(kind, nonce, KEY)
    assert len(text) == 27
    assert open_token(text, (KEY,), ANY) == OpenedToken(kind=kind, nonce=nonce)


@given(kinds, nonces, st.binary(min_size=1, max_size=64))
def test_a_token_ends_in_the_first_bytes_of_hmac_sha256(
    kind: TokenKind, nonce: bytes, key: bytes
) -> None:
    mac = hmac.digest(key, nonce + kind.encode(), "sha256")[:6]
    assert sign(kind, nonce, key) == f"{kind}_{base64.urlsafe_b64encode(nonce + mac).decode()}"


def test_an_attempt_has_the_same_token_always() -> None:
    assert sign("ct", NONCE, KEY) == sign(
        "ct", nonce_of(SessionId("sess_a"), AttemptId("attempt_a")), KEY
    )
    assert nonce_of(SessionId("sess_b"), AttemptId("attempt_a")) != NONCE
    assert nonce_of(SessionId("sess_a"), AttemptId("attempt_b")) != NONCE


def test_a_token_of_the_previous_key_still_opens() -> None:
    text = sign("ct", NONCE, OLD)
    assert open_token(text, (KEY, OLD), ANY).nonce == NONCE
    assert refusal(text).code == Code.TOKEN_BAD_SIGNATURE


@pytest.mark.parametrize("kind", KINDS)
def test_every_flipped_bit_is_refused(kind: TokenKind) -> None:
    token = sign(kind, NONCE, KEY).encode()
    for position in range(len(token) * 8):
        flipped = bytearray(token)
        flipped[position // 8] ^= 1 << position % 8
        assert refusal(flipped.decode("latin-1")).code in (
            Code.TOKEN_INVALID_FORMAT,
            Code.TOKEN_BAD_SIGNATURE,
        )


def test_a_foreign_token_is_told_by_its_signature() -> None:
    fault = refusal(sign("ct", NONCE, FOREIGN))
    assert fault.code == Code.TOKEN_BAD_SIGNATURE
    assert "resume_session" in fault.remedy


TOKEN = sign("ct", NONCE, KEY)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ct_",
        TOKEN[:-1],
        TOKEN + "A",
        TOKEN + "=",
        TOKEN + "\n",
        " " + TOKEN,
        "CT_" + TOKEN[3:],
        "Ct_" + TOKEN[3:],
        "ak_" + TOKEN[3:],
        "ct-" + TOKEN[3:],
        TOKEN[:-1] + "+",
        TOKEN[:-1] + "é",
        TOKEN[:-1] + "\0",
        TOKEN[:-1] + "\uff11",
        "st1" + "q" * 165,
        "\ud800" * 27,
    ],
)
def test_anything_that_does_not_look_like_a_token_is_a_format_error(text: str) -> None:
    fault = refusal(text)
    assert fault.code == Code.TOKEN_INVALID_FORMAT
    assert "Copy the token exactly" in fault.remedy


@given(st.text())
def test_no_text_raises_anything_but_a_token_fault(text: str) -> None:
    assert refusal(text).code in (Code.TOKEN_INVALID_FORMAT, Code.TOKEN_BAD_SIGNATURE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("named", KINDS)
def test_a_token_renamed_to_another_kind_is_a_forgery(kind: TokenKind, named: TokenKind) -> None:
    if kind != named:
        renamed = named + sign(kind, NONCE, KEY)[2:]
        assert refusal(renamed).code == Code.TOKEN_BAD_SIGNATURE


def test_a_genuine_token_of_another_kind_is_told_which_one_to_send() -> None:
    fault = refusal(sign("ck", NONCE, KEY), frozenset[TokenKind]({"ct", "st"}))
    assert fault.code == Code.TOKEN_SCOPE_MISMATCH
    assert "checkpoint token" in fault.message
    assert "Send a continue token (ct_...) or a resume token (st_...)" in fault.remedy


def test_the_kind_of_a_forged_token_is_not_discussed() -> None:
    forged = sign("ck", NONCE, FOREIGN)
    assert refusal(forged, frozenset[TokenKind]({"ct"})).code == Code.TOKEN_BAD_SIGNATURE


def test_a_token_without_a_record_says_how_to_go_on() -> None:
    fault = unknown_token()
    assert fault.code == Code.TOKEN_UNKNOWN_NODE
    assert "resume_session" in fault.remedy
