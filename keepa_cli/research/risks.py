"""Risk codes, their thresholds in one table, and how a risk is written down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Risk(StrEnum):
    """What can speak against a product. The codes are stable."""

    DATA_MISSING = "data_missing"
    PRICE_UNSTABLE = "price_unstable"
    RANK_DECLINING = "rank_declining"
    LOW_REVIEW_COUNT = "low_review_count"
    OFFER_COMPETITION_HIGH = "offer_competition_high"
    BUYBOX_MISSING = "buybox_missing"
    CATEGORY_MISMATCH = "category_mismatch"


CODES: tuple[str, ...] = tuple(r.value for r in Risk)
LOW, MEDIUM, HIGH = "low", "medium", "high"
SEVERITIES = (LOW, MEDIUM, HIGH)


@dataclass(frozen=True)
class Threshold:
    """From which figure on a risk is medium and high. `falling` means that small figures are the risky ones."""

    figure: str
    unit: str
    medium: float
    high: float
    why: str
    falling: bool = False

    def severity(self, figure: float | None) -> str | None:
        """`medium`, `high`, or None where the figure is harmless or not known."""
        if figure is None:
            return None
        if self.falling:
            return HIGH if figure < self.high else MEDIUM if figure < self.medium else None
        return HIGH if figure >= self.high else MEDIUM if figure >= self.medium else None

    def metric(self, value: Any) -> dict[str, Any]:
        """The figure beside the limit that it crossed."""
        limit = self.high if self.severity(value) == HIGH else self.medium
        return {"name": self.figure, "value": value, "unit": self.unit, "threshold": limit}


THRESHOLDS: Mapping[Risk, Threshold] = {
    Risk.DATA_MISSING: Threshold(
        "core_facts_missing", "facts", 1, 3,
        "Core facts (price, sales rank, rating, review count, offer count) that were asked for and that Keepa has not "
        "collected or that cannot be read. What was not asked for is no risk. Without three of the five nothing can "
        "be decided.",
    ),
    Risk.PRICE_UNSTABLE: Threshold(
        "price_spread_90d", "percent", 15, 30,
        "Standard deviation of the price over 90 days in percent of its mean, weighted by time. A price that is cut "
        "by a third for half of the time has 20; a typical margin of 15 to 30 percent is gone in such a swing.",
    ),
    Risk.RANK_DECLINING: Threshold(
        "rank_worsening_30d", "percent", 50, 150,
        "How much the sales rank is worse than the mean of the 60 days before the last 30: the smaller of the "
        "worsening of the 30-day mean and that of the current rank, so that neither one bad day nor a slump that is "
        "over counts. Ranks move with every order: half as much again over a month, and still, is no longer noise; "
        "at 150 the number has grown to two and a half times.",
    ),
    Risk.LOW_REVIEW_COUNT: Threshold(
        "review_count", "reviews", 50, 10,
        "With fewer than 50 ratings one bad week moves the average by a tenth or more, and fewer than 10 say nothing.",
        falling=True,
    ),
    Risk.OFFER_COMPETITION_HIGH: Threshold(
        "new_offer_count", "offers", 10, 20,
        "Offers in new condition. Sellers share the buy box: with 10 of them an equal share is a tenth of the sales, "
        "with 20 a twentieth, and somebody always undercuts.",
    ),
    Risk.BUYBOX_MISSING: Threshold(
        "new_offers_without_buy_box", "offers", 0, 1,
        "The buy box was asked for and nobody holds it. Without any new offer the product is sold out (medium); with "
        "offers Amazon shows none of them (high), and most buyers never see them.",
    ),
    Risk.CATEGORY_MISMATCH: Threshold(
        "categories_contradicting", "contradictions", 1, 2,
        "The root category, the category tree and the category of the sales rank name different branches: the rank "
        "then says little about the category that the product stands in.",
    ),
}  # fmt: skip
"""The one table of limits. `why` is for readers: it explains the figure and why the limit stands there."""

LEVELS: Mapping[str, tuple[tuple[float, str], ...]] = {
    "monthly_sold": ((10_000, "very_high"), (1_000, "high"), (100, "moderate"), (0, "low")),
    "sales_rank": ((100_000, "low"), (10_000, "moderate"), (1_000, "high"), (0, "very_high")),
    "price_spread_90d": ((15, "volatile"), (5, "moving"), (0, "stable")),
    "new_offer_count": ((20, "high"), (10, "elevated"), (2, "moderate"), (1, "single_seller"), (0, "none")),
    "price_position": ((5, "above_usual"), (-5, "usual"), (-100, "below_usual")),
    "buy_box_share": ((90, "one_seller"), (60, "dominated"), (0, "shared")),
    "review_count": ((1_000, "strong"), (50, "solid"), (10, "thin"), (0, "very_thin")),
    "content_quality": ((100, "rich"), (50, "fair"), (0, "thin")),
    "completeness": ((0.9, "good"), (0.6, "partial"), (0, "poor")),
}
"""Words for figures: the first row whose limit is reached. They order figures for reading and decide nothing."""


def level(name: str, figure: float | None) -> str | None:
    """The word for a figure."""
    if figure is None:
        return None
    return next((word for limit, word in LEVELS[name] if figure >= limit), LEVELS[name][-1][1])


def risk_item(
    code: Risk,
    severity: str,
    reason: str,
    evidence_path: str | list[str],
    *,
    metric: Mapping[str, Any] | None = None,
    follow_up: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One risk. `follow_up` is the next action that would settle it."""
    found = {"code": code.value, "severity": severity, "reason": reason, "evidence_path": evidence_path}
    return found | ({"metric": metric} if metric else {}) | ({"follow_up": follow_up} if follow_up else {})


def taxonomy(items: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """`{known_codes, codes, items}`: the gravest first, among equals in the order of the table."""
    order = {code: i for i, code in enumerate(CODES)}
    ranked = sorted(items, key=lambda r: (-SEVERITIES.index(r["severity"]), order[r["code"]]))
    return {"known_codes": list(CODES), "codes": list(dict.fromkeys(r["code"] for r in ranked)), "items": ranked}
