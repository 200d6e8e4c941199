"""ASINs and product codes (UPC, EAN, ISBN, GTIN): canonical text, or a refusal that names the value."""

from __future__ import annotations

import re
from typing import Any

from keepa_cli.core.errors import KeepaCliError, invalid

ASIN_LENGTH = 10
KINDS = {8: "EAN-8", 12: "UPC", 13: "EAN", 14: "GTIN-14"}
"""Kinds of codes by their number of digits; all share one check digit rule."""

_ASIN = re.compile(r"[0-9A-Z]{10}")
_IN_URL = re.compile(r"/(?:dp|gp/product|product)/([0-9A-Z]{10})(?![0-9A-Z])", re.IGNORECASE)


def parse_asin(value: Any) -> str:
    """The ASIN in upper case. Nine digits get their lost zero back when the ISBN-10 check digit proves it.

    Raises `invalid_arguments` for everything else.
    """
    given = _text(value)
    text = given.upper() if given.isascii() else given
    if _ASIN.fullmatch(text):
        return text
    if len(text) == ASIN_LENGTH - 1 and isbn10_valid("0" + text):
        return "0" + text
    raise _no_asin(value, text)


def isbn10_valid(text: str) -> bool:
    """Whether the check digit of an ISBN-10 fits."""
    if not re.fullmatch(r"[0-9]{9}[0-9X]", text):
        return False
    digits = [10 if c == "X" else int(c) for c in text]
    return sum(d * (10 - i) for i, d in enumerate(digits)) % 11 == 0


def check_digit(body: str) -> str:
    """The last digit of an EAN, UPC, ISBN-13 or GTIN whose other digits are `body`."""
    total = sum(int(c) * (3 if i % 2 == 0 else 1) for i, c in enumerate(reversed(body)))
    return str(-total % 10)


def classify_code(value: Any) -> dict[str, Any]:
    """`{code, kind, valid, reason}`: what a code is, without refusing it.

    `kind` is "asin", "isbn10", "isbn13", "upc", "ean", "ean8", "gtin14" or None. An ISBN-10 is an ASIN as well.
    """
    try:
        text = re.sub(r"[\s-]", "", _text(value)).upper()
        if isbn10_valid(text):
            return {"code": text, "kind": "isbn10", "valid": True, "reason": None}
        if len(text) == ASIN_LENGTH and _ASIN.fullmatch(text) and not text.isdecimal():
            return {"code": text, "kind": "asin", "valid": True, "reason": None}
        code = parse_code(value)
    except KeepaCliError as error:
        kind = error.details.get("kind")
        return {"code": _text(value), "kind": kind, "valid": False, "reason": error.message}
    return {"code": code, "kind": _kind(code), "valid": True, "reason": None}


def parse_code(value: Any) -> str:
    """The digits of a UPC, EAN, ISBN-13 or GTIN as text. A UPC that lost its leading zero gets it back when the
    check digit proves it; spaces and hyphens are dropped. Raises `invalid_arguments` for everything else.
    """
    text = re.sub(r"[\s-]", "", _text(value))
    if not re.fullmatch(r"[0-9]+", text):
        raise _no_code(value, _why_not_digits(text))
    if len(text) == 11 and check_digit(text[:-1]) == text[-1]:
        return "0" + text
    if len(text) not in KINDS:
        raise _no_code(value, f"it has {len(text)} digits, not 8, 12, 13 or 14" + _isbn_hint(text))
    expected = check_digit(text[:-1])
    if expected != text[-1]:
        raise _no_code(
            value, f"its check digit is {text[-1]} and should be {expected} for {KINDS[len(text)]}", kind=_kind(text)
        )
    return text


def _kind(code: str) -> str:
    if len(code) == 13 and code.startswith(("978", "979")) and not code.startswith("9790"):
        return "isbn13"
    return KINDS[len(code)].lower().replace("-", "")


def _text(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _shown(value: Any) -> Any:
    """A value small and plain enough for an error."""
    return value if isinstance(value, int | float | bool | None) else str(value)[:80]


def _no_asin(value: Any, text: str) -> KeepaCliError:
    shown = repr(_shown(value))
    in_url = _IN_URL.search(text)
    odd = sorted(set(re.sub(r"[0-9A-Za-z]", "", text)))
    more: dict[str, Any] = {}
    if in_url:
        more["did_you_mean"] = in_url[1].upper()
        why = f"it is an address; its ASIN is {more['did_you_mean']}"
    elif not text:
        why = "an ASIN is text of 10 letters and digits"
    elif len(text) != ASIN_LENGTH:
        why = f"an ASIN has 10 characters and this has {len(text)}"
        why += "; for a barcode use --code" if text.isdecimal() and len(text) in KINDS else ""
    else:
        why = f"an ASIN has only letters A-Z and digits, not {' '.join(map(repr, odd[:5]))}"
    return invalid(f"{shown} is no ASIN: {why}.", field="asin", value=_shown(value), length=len(text), **more)


def _no_code(value: Any, why: str, kind: str | None = None) -> KeepaCliError:
    return invalid(
        f"{_shown(value)!r} is no UPC, EAN, ISBN-13 or GTIN: {why}.", field="code", value=_shown(value), kind=kind
    )


def _why_not_digits(text: str) -> str:
    if not text:
        return "a code is text of 8, 12, 13 or 14 digits"
    if _ASIN.fullmatch(text.upper()):
        return "it looks like an ASIN; give it without --code"
    return "it holds more than digits"


def _isbn_hint(text: str) -> str:
    return "; an ISBN-10 is an ASIN, give it without --code" if isbn10_valid(text) else ""
