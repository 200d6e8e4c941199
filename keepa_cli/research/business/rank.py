"""Order among products. What is not comparable gets a ranking of its own: units and proxies, each currency, exact
counts and lower bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepa_cli.research.business.inventory import LEVELS
from keepa_cli.research.business.record import Metrics
from keepa_cli.research.facts import Confidence, Section

ORDER = (Confidence.LOW, Confidence.LOWER_BOUND, Confidence.MEDIUM, Confidence.HIGH, Confidence.EXACT)
CONFIDENCES = tuple(c.value for c in reversed(ORDER))


@dataclass
class Row:
    """A product with its figures; `group` and `position` once it is ranked."""

    record: Metrics
    metrics: dict[str, Section]
    score: Section | None = None
    group: str | None = None
    position: int | None = None
    reason: str | None = None

    def metric(self, name: str) -> Section:
        return self.score if name == "score" and self.score is not None else self.metrics[name]


@dataclass(frozen=True)
class Sorting:
    """How rows are ranked: the figure that decides, which ranking a row belongs to, and its place there."""

    metric: str
    group: Callable[[Row], str]
    place: Callable[[Row], Any]
    says: str


def _share(row: Row) -> int:
    basis = row.metrics["inventory"].get("basis")
    return int(row.record.value(f"out_of_stock_90_{basis}") or 0)


SORTINGS: Mapping[str, Sorting] = {
    "velocity": Sorting(
        "velocity",
        lambda r: str(r.metrics["velocity"]["unit"]),
        lambda r: -r.metrics["velocity"]["value"],
        "monthlySold, highest first; products that have rank drops only are ranked apart",
    ),
    "turnover": Sorting(
        "cashflow",
        lambda r: f"turnover_{r.record.domain.currency}",
        lambda r: -r.metrics["cashflow"]["value"]["raw"],
        "price times units a month, highest first, each currency apart",
    ),
    "offers": Sorting(
        "seller_metrics",
        lambda r: str(r.metrics["seller_metrics"]["unit"]),
        lambda r: r.metrics["seller_metrics"]["value"],
        "number of offers, fewest first; lower bounds are ranked apart",
    ),
    "stock_out": Sorting(
        "inventory",
        lambda r: "stock_out_risk",
        lambda r: (-LEVELS.index(r.metrics["inventory"]["value"]), -_share(r)),
        "stock-out risk, highest first, then the share of time without an offer",
    ),
    "score": Sorting(
        "score",
        lambda r: f"score_{r.record.domain.currency}",
        lambda r: -r.metric("score")["value"],
        "opportunity score, highest first, each currency apart",
    ),
}


def confident(section: Mapping[str, Any], least: str | None) -> bool:
    """Whether the confidence of a figure is at least `least`."""
    return least is None or ORDER.index(Confidence(section["confidence"])) >= ORDER.index(Confidence(least))


def ranked(rows: Sequence[Row], how: Sorting) -> list[Row]:
    """Rows with a value in order: group after group, equal values on the same position, ties by ASIN."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        row.group = how.group(row)
        groups.setdefault(row.group, []).append(row)
    found: list[Row] = []
    for name in sorted(groups, key=_first):
        ordered = sorted(groups[name], key=lambda r: (how.place(r), r.record.label))
        for i, row in enumerate(ordered):
            same = i and how.place(ordered[i - 1]) == how.place(row)
            row.position = ordered[i - 1].position if same else i + 1
        found += ordered
    return found


def _first(group: str) -> tuple[int, str]:
    """Exact and real units before proxies and lower bounds."""
    return (int(group in {"rank_drops_per_30_days", "offers_at_least"}), group)
