"""Cases: calls as a client would send them, bent by chance. The same seed draws the same bytes."""

import json
from random import Random
from typing import Final

from headway.domain.values import Json, JsonObject

BENDS_MAX: Final = 6
SPLICE_MAX: Final = 64
DEEP: Final = 200

WORDS: Final = (
    b"", b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800", b"null", b"true", b"1e999", b"-0", b"NaN",
    b"9" * 5_000, b"{}", b"[]", b'""', b'"', b"\\", b"{" * DEEP, b"[" * DEEP, b"\r\n", b"\n",
    b'"id":', b'"method":', b'"jsonrpc":"2.0"', b"ct_", b"__proto__", b"is_autonomous",
    "\u202e\u200b".encode(), "\U0001f600".encode(),
)  # fmt: skip
TEXTS: Final = ("", " ", "\0", "\u200b", "x" * 5_000, "{{goal}}", "ct_", "../..", "\U0001f600", "1")
PLAIN: Final[tuple[Json, ...]] = (None, True, False, 0, -1, 2**53, 2**70, 1.5, 1e308, -0.0)
KEYS: Final = ("", "kind", "goal", "intent", "output", "__proto__", "is_autonomous", "notes", "a.b")


class Cases:
    """Draws cases from chance; `calls` are good calls as pairs of name and arguments.

    A name is that of a tool or, for `run_request`, a method of HTTP and a path.
    """

    def __init__(self, chance: Random, calls: list[tuple[str, JsonObject]]) -> None:
        self.chance = chance
        self.calls = calls

    def line(self) -> bytes:
        """Return a message: a good one, one with odd arguments, or one with bent bytes."""
        name, arguments = self.chance.choice(self.calls)
        if self.chance.randrange(3):
            arguments = self.odd_arguments(arguments)
        line = json.dumps(self.message(name, arguments)).encode("utf-8", "surrogatepass")
        return self.bent(line) if self.chance.randrange(2) else line

    def message(self, name: str, arguments: Json) -> JsonObject:
        chance = self.chance
        request: Json = chance.choice((1, 2**40, "a", "", -1, *PLAIN[:3]))
        method = "tools/call"
        params: Json = {"name": name, "arguments": arguments}
        match chance.randrange(12):
            case 0:
                method = chance.choice(("ping", "tools/list", "prompts/list", "resources/list", ""))
            case 1:
                method, params = "resources/read", {"uri": chance.choice(TEXTS)}
            case 2:
                method = "prompts/get"
                params = {"name": "headway:start", "arguments": self.value()}
            case 3:
                params = self.value()
            case _:
                pass
        return {"jsonrpc": "2.0", "id": request, "method": method, "params": params}

    def odd_arguments(self, arguments: JsonObject) -> JsonObject:
        """Return arguments with some left out, some of another type, and some unknown."""
        odd = dict(arguments)
        for key in arguments:
            match self.chance.randrange(6):
                case 0:
                    del odd[key]
                case 1:
                    odd[key] = self.value()
                case 2 if isinstance(odd[key], str):
                    text = self.bent(str(odd[key]).encode("utf-8", "surrogatepass"))
                    odd[key] = text.decode("utf-8", "replace")
                case _:
                    pass
        if self.chance.randrange(4) == 0:
            odd[self.chance.choice(KEYS)] = self.value()
        return odd

    def value(self, depth: int = 0) -> Json:
        """Return a JSON value, not too deep."""
        chance = self.chance
        kind = chance.randrange(5 if depth < 4 else 2)
        if kind == 0:
            return chance.choice(PLAIN)
        if kind == 1:
            return chance.choice(TEXTS)
        if kind == 2:
            return [self.value(depth + 1) for _ in range(chance.randrange(4))]
        return {chance.choice(KEYS): self.value(depth + 1) for _ in range(chance.randrange(4))}

    def bent(self, data: bytes) -> bytes:
        """Return bytes cut, doubled, overwritten or with others put in, at places by chance."""
        bent = bytearray(data)
        for _ in range(self.chance.randrange(1, BENDS_MAX)):
            at = self.chance.randrange(len(bent) + 1)
            length = self.chance.randrange(SPLICE_MAX)
            match self.chance.randrange(5):
                case 0:
                    del bent[at : at + length]
                case 1:
                    bent[at:at] = bent[at : at + length]
                case 2:
                    bent[at : at + 1] = self.chance.randbytes(1)
                case 3:
                    bent[at:at] = self.chance.choice(WORDS)
                case _:
                    bent[at : at + length] = self.chance.choice(WORDS)
        return bytes(bent)

    def http(self, host: str) -> bytes:
        """Return a whole HTTP request: around a line, with odd headers, or with bent bytes."""
        path = self.chance.choice(
            (b"/mcp",) * 8 + (b"/", b"/healthz", b"/v1/version", b"/mcp/../x")
        )
        return self._request(b"POST", path, self.line(), host)

    def run_request(self, host: str) -> bytes:
        """Return a request about runs: a good one, one with odd fields, or with bent bytes."""
        chance = self.chance
        name, arguments = chance.choice(self.calls)
        method, _, path = name.partition(" ")
        if chance.randrange(3):
            arguments = self.odd_arguments(arguments)
        body = json.dumps(arguments).encode("utf-8", "surrogatepass") if arguments else b""
        if chance.randrange(3) == 0:
            body = self.bent(body)
        target = path.encode()
        if chance.randrange(4) == 0:
            target = b"/" + b"".join(self.bent(target[1:]).split())
        return self._request(method.encode(), target, body, host)

    def _request(self, usual: bytes, path: bytes, body: bytes, host: str) -> bytes:
        chance = self.chance
        method = chance.choice((usual,) * 9 + (b"GET", b"PUT", b"DELETE", b"", b"OPTIONS"))
        length = str(len(body)).encode()
        headers = [
            (b"host", chance.choice((host.encode(),) * 8 + (b"evil.example", b"", b"\xff"))),
            (b"content-type", chance.choice((b"application/json",) * 6 + (b"text/plain", b""))),
            (b"accept", chance.choice((b"application/json, text/event-stream", b"*/*", b"x"))),
            (b"content-length", chance.choice((length,) * 9 + (b"0", b"-1", b"9" * 30, b"x"))),
            (b"connection", b"close"),
        ]
        if chance.randrange(3) == 0:
            version = chance.choice((b"2025-06-18", b"2026-07-28", b"1999-01-01", b"\xff"))
            headers.append((b"mcp-protocol-version", version))
        if chance.randrange(6) == 0:
            headers.append((b"origin", chance.choice((b"https://evil.example", b"null", b""))))
        if chance.randrange(6) == 0:
            headers.append((chance.choice(WORDS), chance.choice(WORDS)))
        lines = [b"%s %s HTTP/1.1" % (method, path), *(b"%s: %s" % each for each in headers)]
        head = b"\r\n".join(lines) + b"\r\n\r\n"
        return (self.bent(head) if chance.randrange(8) == 0 else head) + body
