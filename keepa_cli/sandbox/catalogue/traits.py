"""What is special about a product, drawn from its ASIN; some ASINs are set aside to show one thing each."""

from __future__ import annotations

import re
from collections.abc import Mapping

from keepa_cli.sandbox.catalogue.seeds import Item

ASIN = re.compile(r"[A-Z0-9]{10}")
STANDARD, DOWNLOADABLE, EBOOK, UNACCESSIBLE, INVALID, VARIATION_PARENT = range(6)

SHOWN: Mapping[str, tuple[int, frozenset[str]]] = {
    "B0AMAZON01": (STANDARD, frozenset({"amazon", "used"})),
    "B0SINGLE01": (STANDARD, frozenset({"single"})),
    "B0FUTURE01": (STANDARD, frozenset({"future"})),
    "B0QMARKS01": (STANDARD, frozenset({"nowhere"})),
    "B0COUPON01": (STANDARD, frozenset({"coupon", "amazon"})),
    "B0FAMILY01": (STANDARD, frozenset({"family"})),
    "B0FLASHY01": (STANDARD, frozenset({"lightning", "prime"})),
    "B0STALES01": (STANDARD, frozenset({"stale"})),
    "B0LARGES01": (STANDARD, frozenset({"large", "amazon", "used", "coupon", "lightning", "prime"})),
    "B0DOWNLD01": (DOWNLOADABLE, frozenset()),
    "B0EBOOKS01": (EBOOK, frozenset()),
    "B0NODATA01": (UNACCESSIBLE, frozenset()),
    "B0PARENT01": (VARIATION_PARENT, frozenset({"family"})),
}
"""ASINs with a fixed product type and fixed traits, whatever the seed."""

CHANCES: Mapping[str, float] = {
    "amazon": 0.35,
    "used": 0.4,
    "refurbished": 0.1,
    "coupon": 0.3,
    "family": 0.2,
    "lightning": 0.2,
    "prime": 0.15,
    "single": 0.08,
    "stale": 0.1,
    "future": 0.04,
    "nowhere": 0.02,
}


def product_type(asin: str) -> int:
    """4 for what cannot be an ASIN: it starts with B0, or it is an ISBN-10 with a right check digit."""
    if asin in SHOWN:
        return SHOWN[asin][0]
    if ASIN.fullmatch(asin) and (asin.startswith("B0") or _is_isbn10(asin)):
        return STANDARD
    return INVALID


def traits(item: Item) -> frozenset[str]:
    """The names of CHANCES that apply, or the fixed ones of a shown ASIN."""
    if item.asin in SHOWN:
        return SHOWN[item.asin][1]
    source = item.shared("traits")
    return frozenset(name for name, chance in CHANCES.items() if source.random() < chance)


def _is_isbn10(asin: str) -> bool:
    if not re.fullmatch(r"\d{9}[\dX]", asin):
        return False
    digits = [10 if c == "X" else int(c) for c in asin]
    return sum(d * (10 - i) for i, d in enumerate(digits)) % 11 == 0
