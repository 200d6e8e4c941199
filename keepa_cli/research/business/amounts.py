"""Signed money, and decimals that callers give. Nothing here is a float."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.money import money

DECIMAL = re.compile(r"\d{1,9}(\.\d{1,9})?", re.ASCII)


def signed(minor: int, domain: Domain) -> dict[str, Any]:
    """Like `money`, for results that may be losses: -123 -> "-1.23"."""
    found = money(abs(minor), domain)
    if minor < 0:
        found |= {"raw": minor, "amount": f"-{found['amount']}", "formatted": f"-{found['formatted']}"}
    return found


def decimal_text(value: Any) -> str:
    """The text of a decimal number as a caller gave it. ValueError, with a sentence, for anything else."""
    text = str(value).strip()
    if not DECIMAL.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is no decimal number such as 4.20: digits and one point, no currency sign")
    return text


def percent_text(value: Any) -> str:
    """The text of a percentage between 0 and 100 with at most two decimals."""
    text = decimal_text(str(value).strip().removesuffix("%").strip())
    if Decimal(text) > 100:
        raise ValueError(f"{text}% is more than 100%")
    if "." in text and len(text.partition(".")[2].rstrip("0")) > 2:
        raise ValueError(f"{text}% has more than two decimals")
    return text


def minor_units(text: str, domain: Domain) -> int:
    """`"4.20"` -> 420 (yen: `"420"` -> 420). ValueError where the currency has no such decimals."""
    whole, _, rest = text.partition(".")
    if len(rest.rstrip("0")) > domain.digits:
        has = f"{domain.digits} decimals" if domain.digits else "no decimals"
        raise ValueError(f"{text} is no amount in {domain.currency}, which has {has}")
    scale: int = 10**domain.digits
    return int(whole) * scale + int((rest.rstrip("0") or "0").ljust(domain.digits, "0"))


def rate(value: Any) -> Fraction | None:
    """A percentage that Keepa sends as a number, exactly as it was written; None outside 0-100."""
    if type(value) not in (int, float, Decimal):
        return None
    found = Decimal(str(value))
    return Fraction(found) / 100 if found.is_finite() and 0 <= found <= 100 else None


def half_up(value: Fraction) -> int:
    """To whole minor units; a half goes up."""
    return (2 * value.numerator + value.denominator) // (2 * value.denominator)
