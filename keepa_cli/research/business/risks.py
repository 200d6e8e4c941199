"""What speaks against taking the figures of an answer at their word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from keepa_cli.research.business.rank import Row
from keepa_cli.research.business.record import Metrics
from keepa_cli.research.business.report import Sorted, Wish
from keepa_cli.research.business.scales import STALE_DAYS
from keepa_cli.research.business.velocity import is_proxy, units

NAMED = 5
"""ASINs that a sentence names before it counts the rest."""


def of(wish: Wish, done: Sorted, dropped: Sequence[Metrics]) -> list[str]:
    """One sentence per reason for care about the figures shown; empty where there is none."""
    rows, shown = done.listed, set(wish.shown)
    found = []
    if "velocity" in shown:
        found += [
            _said("Units sold are lower bounds of brackets", [r for r in rows if units(r.metrics["velocity"])]),
            _said("Rank drops stand in for sales, which they do not measure", [r for r in rows if _proxy(r)]),
            _said(f"monthlySold was checked more than {STALE_DAYS} days ago", [r for r in rows if _stale(r)]),
        ]
    if "inventory" in shown:
        found.append(_said("Out of stock now", [r for r in rows if _risk(r) == "out_of_stock_now"]))
        found.append(_said("High stock-out risk", [r for r in rows if _risk(r) == "high"]))
    if "seller_metrics" in shown:
        bounds = [r for r in rows if r.metrics["seller_metrics"].get("unit") == "offers_at_least"]
        found.append(_said("Offer counts are lower bounds", bounds))
        found.append(_said("Amazon itself sells", [r for r in rows if r.record.value("amazon_sells") is True]))
    found.append(_said("Cannot be ranked", done.not_rankable))
    currencies = sorted({r.record.domain.currency for r in rows})
    if len(currencies) > 1:
        found.append(f"Amounts in {', '.join(currencies)} are never added up or ranked together.")
    if dropped:
        found.append(f"{len(dropped)} products came more than once; the newest answer of each counts.")
    return [sentence for sentence in found if sentence]


def _proxy(row: Row) -> bool:
    return is_proxy(row.metrics["velocity"])


def _risk(row: Row) -> Any:
    return row.metrics["inventory"]["value"]


def _stale(row: Row) -> bool:
    return row.metrics["velocity"].get("stale") is True


def _said(what: str, rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    labels = [r.record.label for r in rows[:NAMED]]
    more = f" and {len(rows) - NAMED} more" if len(rows) > NAMED else ""
    return f"{what}: {', '.join(labels)}{more}."
