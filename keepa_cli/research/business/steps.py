"""What a business answer suggests next: only calls that can be run as they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa.asin import parse_asin
from keepa_cli.research.business.rank import Row
from keepa_cli.research.facts import Reason
from keepa_cli.research.needs import Need, Planner

MOST = 10
"""Products that one suggestion names at most."""
FEW = 3
"""Products that a suggestion names which costs more than one token each."""


def next_actions(plan: Planner, rows: Sequence[Row], lacking: Sequence[Row], *, offers: bool = False) -> list[Any]:
    """Fill what is missing, look at the buy box and offers of the first, compare the first, per marketplace."""
    found: list[dict[str, Any]] = []
    for domain, group in _by_domain([*rows, *lacking]).items():
        found += _refetch(plan, domain, [r for r in group if r in lacking])
        best = [r for r in group if r in rows]
        found += _buybox(plan, domain, best[:FEW])
        if offers:
            found += _offers(plan, domain, best[:FEW])
        found += _compare(plan, domain, best[:MOST])
    return found


def _refetch(plan: Planner, domain: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    usable = _asins([r for r in rows if r.record.usable])[:MOST]
    if not usable:
        return []
    return [
        plan(
            Need.GET_PRODUCT,
            {"asin": usable, "domain": domain, "full": True},
            "These products lack what the ranking needs; a full request gets history and statistics.",
        )
    ]


def _buybox(plan: Planner, domain: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    blind = _asins([r for r in rows if r.record.absent.get("buy_box") is Reason.NOT_REQUESTED])
    if not blind:
        return []
    return [
        plan(
            Need.GET_BUYBOX,
            {"asin": blind, "domain": domain, "full": True, "buybox": True},
            "The buy box was not requested: prices and stock-outs rest on the lowest new offer.",
        )
    ]


def _offers(plan: Planner, domain: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    asins = _asins(rows)
    if not asins:
        return []
    return [
        plan(
            Need.GET_OFFERS,
            {"asin": asins, "domain": domain, "offers": 20},
            "Live offers show who competes, at what price and by whom it is shipped.",
        )
    ]


def _compare(plan: Planner, domain: str, rows: Sequence[Row]) -> list[dict[str, Any]]:
    asins = _asins(rows)
    if len(asins) < 2:
        return []
    return [plan(Need.COMPARE_PRODUCTS, {"asin": asins, "domain": domain}, "Compare the first products side by side.")]


def _by_domain(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row.record.domain_known:
            found.setdefault(row.record.domain.code, []).append(row)
    return found


def _asins(rows: Sequence[Row]) -> list[str]:
    """Those that are ASINs: inputs may hold anything."""
    return list(dict.fromkeys(a for r in rows if (a := r.record.asin) and is_asin(a)))


def is_asin(text: str) -> bool:
    try:
        return parse_asin(text) == text
    except KeepaCliError:
        return False
