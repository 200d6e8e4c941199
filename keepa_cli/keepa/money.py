"""Amounts: integers of the smallest currency unit in, exact decimal text with its currency out."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa.domains import Domain


def amount(minor: Any, domain: Domain) -> str | None:
    """`1499` -> "14.99" (yen: "1499"). None for negative numbers (Keepa's "no price") and for what is no integer."""
    if not isinstance(minor, int) or isinstance(minor, bool) or minor < 0:
        return None
    if not domain.digits:
        return str(minor)
    whole, rest = divmod(minor, 10**domain.digits)
    return f"{whole}.{rest:0{domain.digits}}"


def money(minor: Any, domain: Domain) -> dict[str, Any]:
    """`{raw, amount, currency, formatted}`; the last is for people, grouped by thousands: "1,299.00 INR"."""
    text = amount(minor, domain)
    return {
        "raw": minor,
        "amount": text,
        "currency": domain.currency,
        "formatted": None if text is None else f"{_grouped(text)} {domain.currency}",
    }


def tenths(value: Any) -> str | None:
    """A rating in tenths as text: 45 -> "4.5"; None for negative numbers and for what is no integer."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        return None
    return f"{value // 10}.{value % 10}"


def _grouped(text: str) -> str:
    whole, dot, rest = text.partition(".")
    return f"{int(whole):,}{dot}{rest}"
