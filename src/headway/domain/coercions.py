"""Values as texts, numbers and truths, the way conditions and templates have always read them.

The rules are JavaScript's `String()`, `Number()` and truthiness, because workflow files were
written against them; objects alone print as JSON, their keys sorted, so that a value reads the same
whether it comes from a call or the ledger.
"""

import json
import math
import re
from decimal import Decimal
from typing import Final

from headway.domain.values import Json

# What JavaScript trims: its white space and line terminators. Python's own list differs.
SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
SAFE_INTEGER_MAX: Final = 2**53 - 1
FIXED_DIGITS_MAX: Final = 21  # from here on JavaScript prints numbers with an exponent
_FIXED_ZEROS_MAX: Final = 6  # and below 10 to the minus this

# Every part is anchored by a character the one before cannot match, so this never backtracks far.
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_RADIX: Final = {"0x": 16, "0o": 8, "0b": 2}
_RADIX_DIGITS: Final = re.compile(r"[0-9a-z]+")


def to_text(value: Json) -> str:
    """Return what `String(value)` is; an object, alone or inside an array, prints as JSON."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int() | float():
            return number_text(value)
        case dict():
            return json_text(value)
        case list() | tuple():
            return ",".join("" if item is None else to_text(item) for item in value)
        case _:
            raise AssertionError(f"not a JSON value: {type(value).__name__}")


def json_text(value: Json) -> str:
    """Return compact JSON with numbers as JavaScript prints them and keys sorted."""
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case dict():
            members = (f"{json_text(key)}:{json_text(value[key])}" for key in sorted(value))
            return "{" + ",".join(members) + "}"
        case list() | tuple():
            return "[" + ",".join(json_text(item) for item in value) + "]"
        case _:
            return to_text(value)


def number_text(number: float) -> str:
    """Return a number as JavaScript prints it: the fewest digits that read back the same."""
    if isinstance(number, int) and abs(number) <= SAFE_INTEGER_MAX:
        return str(number)
    if isinstance(number, int):
        number = _to_float(number)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "0"
    parts = Decimal(repr(abs(number))).normalize().as_tuple()
    digits = "".join(map(str, parts.digits))
    assert isinstance(parts.exponent, int)
    return ("-" if number < 0 else "") + _laid_out(digits, len(digits) + parts.exponent)


def to_number(text: str) -> float | None:
    """Return what `Number(text)` is, None where that is not a number."""
    stripped = trim(text)
    if not stripped:
        return 0.0
    if stripped.lstrip("+-") == "Infinity" and len(stripped) <= len("+Infinity"):
        return -math.inf if stripped[0] == "-" else math.inf
    radix = _RADIX.get(stripped[:2].lower())
    if radix is not None:
        return _radix_number(stripped[2:].lower(), radix)
    return float(stripped) if _DECIMAL.fullmatch(stripped) else None


def truthy(value: Json) -> bool:
    """Tell whether JavaScript takes the value for true: empty arrays and objects are."""
    if isinstance(value, list | tuple | dict):
        return True
    if isinstance(value, float) and math.isnan(value):
        return False
    return bool(value)


def trim(text: str) -> str:
    """Strip what JavaScript's `trim` strips."""
    return text.strip(SPACE)


def _laid_out(digits: str, point: int) -> str:
    """Place the decimal point after `point` of the digits, or use an exponent."""
    count = len(digits)
    if count <= point <= FIXED_DIGITS_MAX:
        return digits + "0" * (point - count)
    if 0 < point <= FIXED_DIGITS_MAX:
        return f"{digits[:point]}.{digits[point:]}"
    if -_FIXED_ZEROS_MAX < point <= 0:
        return f"0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{rest}e{point - 1:+d}"


def _radix_number(digits: str, radix: int) -> float | None:
    if not _RADIX_DIGITS.fullmatch(digits) or any(int(d, 36) >= radix for d in digits):
        return None
    return _to_float(int(digits, radix))


def _to_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
