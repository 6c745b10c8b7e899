"""Tokens: what an agent holds to speak of an attempt, short and signed.

Form: a kind (`ct`, `ck` or `st`), `_`, and 24 characters of base64url that code 18 bytes: the
attempt's nonce (12) and the first 6 of HMAC-SHA256 over nonce and kind. 18 bytes fill their 24
characters to the last bit, so a token has one spelling and every changed character is noticed.

Laws.
1. The nonce is derived from session and attempt, so an attempt has the same tokens however often
   they are told, without storing them, and an import under a new session id has others.
2. A token is judged in this order: its format, its signature by any live key, its kind. So what a
   token was meant for is told only to those who hold a genuine one.
3. A token is taken as it was given out or not at all: no white space is trimmed and no case folded,
   since a client that changes one character may have changed others.

A token guards against slips and forged ids; what it stands for is looked up in the ledger.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal, NoReturn, TypeAlias, get_args

from headway.domain.errors import Code, TokenFault
from headway.domain.ids import AttemptId, SessionId
from headway.domain.values import Value

# ct continues from an attempt, ck saves a checkpoint under it, st only resumes its node.
TokenKind: TypeAlias = Literal["ct", "ck", "st"]

KINDS: Final[tuple[TokenKind, ...]] = get_args(TokenKind)
NONCE_BYTES: Final = 12
NONCE_CHARACTERS: Final = 16
MAC_BYTES: Final = 6
TOKEN_CHARACTERS: Final = 27
NONCES_CACHED_MAX: Final = 1_024
KEYS_CACHED_MAX: Final = 8

_KINDS: Final[dict[str, TokenKind]] = {kind: kind for kind in KINDS}
_BODY: Final = re.compile(r"[A-Za-z0-9_-]{24}")
_NAMES: Final[dict[TokenKind, str]] = {
    "ct": "continue token (ct_...)",
    "ck": "checkpoint token (ck_...)",
    "st": "resume token (st_...)",
}


class OpenedToken(Value):
    """A genuine token of an allowed kind."""

    kind: TokenKind
    nonce: bytes


@lru_cache(maxsize=NONCES_CACHED_MAX)  # an advance asks for the same one five times
def nonce_of(session: SessionId, attempt: AttemptId) -> bytes:
    """Return the 12 bytes that the tokens of an attempt share."""
    source = f"hw_token_nonce_v1:{session}:{attempt}".encode()
    return hashlib.sha256(source).digest()[:NONCE_BYTES]


def sign(kind: TokenKind, nonce: bytes, key: bytes) -> str:
    """Return the token of a kind for a nonce."""
    assert len(nonce) == NONCE_BYTES
    body = base64.urlsafe_b64encode(nonce + _mac(kind, nonce, key)).decode("ascii")
    return f"{kind}_{body}"


def same_attempt(one: str, other: str) -> bool:
    """Tell whether two tokens speak of one attempt, by whatever keys they were signed."""
    return bool(one) and one[3:][:NONCE_CHARACTERS] == other[3:][:NONCE_CHARACTERS]


def told_nonce(token: str) -> bytes:
    """Return the nonce of a token that was told here and needs no judging."""
    return base64.urlsafe_b64decode(token[3:])[:NONCE_BYTES]


def open_token(text: str, keys: Sequence[bytes], allowed: frozenset[TokenKind]) -> OpenedToken:
    """Return what a token says, checked with the live keys. Raises TokenFault."""
    kind, body = _split(text)
    raw = base64.urlsafe_b64decode(body)
    nonce, mac = raw[:NONCE_BYTES], raw[NONCE_BYTES:]
    if not any(hmac.compare_digest(mac, _mac(kind, nonce, key)) for key in keys):
        raise TokenFault(
            Code.TOKEN_BAD_SIGNATURE,
            "The token was not signed by this server: it was altered, or comes from another one.",
            remedy="Copy the token exactly from the last reply, or call resume_session to find "
            "your session again.",
        )
    if kind not in allowed:
        wanted = " or a ".join(_NAMES[each] for each in KINDS if each in allowed)
        raise TokenFault(
            Code.TOKEN_SCOPE_MISMATCH,
            f"The token is genuine, but a {_NAMES[kind]} cannot be used here.",
            remedy=f"Send a {wanted}; it stands beside this one in the same reply. If you no "
            "longer have that, call resume_session and read the step again.",
        )
    return OpenedToken(kind=kind, nonce=nonce)


def unknown_token() -> TokenFault:
    """Return the fault of a genuine token whose attempt was never recorded here."""
    return TokenFault(
        Code.TOKEN_UNKNOWN_NODE,
        "The token is genuine, but this server has no record of what it stands for.",
        remedy="Call resume_session to find your session, or start_workflow to begin a new one.",
    )


def purged_token(what: str) -> TokenFault:
    """Return the fault of a genuine token of a session that was purged; `what` says which, when."""
    return TokenFault(
        Code.TOKEN_UNKNOWN_NODE,
        f"The token is genuine, but it belongs to {what}.",
        remedy="Nothing of that session is left here. Call start_workflow to begin a new one.",
    )


def _mac(kind: TokenKind, nonce: bytes, key: bytes) -> bytes:
    # Not `hmac.digest`: it lets other threads run meanwhile, and with many at work waits longer to
    # go on than the few microseconds it takes. Nor `hmac.new`, which takes as long as both hashes.
    inner, outer = [begun.copy() for begun in _begun(key)]
    inner.update(nonce + kind.encode("ascii"))
    outer.update(inner.digest())
    return outer.digest()[:MAC_BYTES]


@lru_cache(maxsize=KEYS_CACHED_MAX)
def _begun(key: bytes) -> "tuple[hashlib._Hash, hashlib._Hash]":
    """Return the inner and the outer hash of HMAC (RFC 2104), begun with the key."""
    block = key.ljust(hashlib.sha256().block_size, b"\0")
    assert len(block) == hashlib.sha256().block_size
    return (
        hashlib.sha256(bytes(byte ^ 0x36 for byte in block)),
        hashlib.sha256(bytes(byte ^ 0x5C for byte in block)),
    )


def _split(text: str) -> tuple[TokenKind, str]:
    prefix, separator, body = text[:2], text[2:3], text[3:]
    kind = _KINDS.get(prefix)
    if text != text.strip():
        _refuse_format("it has white space around it")
    if kind is None or separator != "_":
        _refuse_format("it does not begin with ct_, ck_ or st_, in small letters")
    if len(text) != TOKEN_CHARACTERS:
        _refuse_format(f"it has {len(text)} characters instead of {TOKEN_CHARACTERS}")
    if not _BODY.fullmatch(body):
        _refuse_format("it has characters other than A-Z, a-z, 0-9, - and _")
    return kind, body


def _refuse_format(problem: str) -> NoReturn:
    raise TokenFault(
        Code.TOKEN_INVALID_FORMAT,
        f"This is not a token: {problem}.",
        remedy="Copy the token exactly from the last reply, or call resume_session to find your "
        "session again.",
    )
