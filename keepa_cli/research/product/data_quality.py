"""How far the data of a product carries: what is known, what lacks and why, how old it is, how far back it goes."""

from __future__ import annotations

from keepa_cli.keepa.clock import DAY, as_minute, iso
from keepa_cli.keepa.csvtypes import BY_NAME, CSV_TYPES
from keepa_cli.keepa.decode import product_problems
from keepa_cli.research.facts import Confidence, Reason, Section, derived
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.vitals import SERIES, Vitals
from keepa_cli.research.risks import level
from keepa_cli.research.subject import Subject

EXPECTED = (
    "title", "brand", "category", "new_price", "buy_box_price", "sales_rank", "monthly_sold", "rating", "review_count",
    "new_offer_count", "live_offer_count", "buy_box_seller", "image_count", "video_count", "aplus_module_count",
)  # fmt: skip
"""The facts that a decision on a product uses."""
UNASKED = frozenset({Reason.NOT_REQUESTED, Reason.NOT_APPLICABLE})
PROBLEMS_SHOWN = 3
STALE_HOURS = 48
"""Keepa refreshes products with sales daily to hourly; data that is two days old may have missed a price."""


def section(look: Look) -> Section:
    """`missing` was asked for and is not there, `not_requested` was not asked for; neither is "none"."""
    vitals, wants = look.section("vitals"), look.wants("data_quality")
    found = Section()
    if wants("completeness"):
        found["completeness"] = completeness(look)
    found["missing"], found["not_requested"] = missing(vitals), not_requested(vitals)
    _age(found, look)
    if wants("history_reach"):
        found["history_reach"] = _reach(look, vitals)
    if wants("problem_count"):
        _add_problems(found, look.subject)
    return found


def _add_problems(found: Section, s: Subject) -> None:
    problems = _problems(s)
    found["problem_count"] = len(problems)
    if problems:
        found["problems"] = problems[:PROBLEMS_SHOWN]


def _problems(s: Subject) -> list[dict[str, str]]:
    """What is wrong with packed arrays. Those of series were looked at when they were decoded."""
    csv = s.product.get("csv")
    slots = zip(CSV_TYPES, csv if isinstance(csv, list) else [], strict=False)
    found = [{"path": s.at("csv", t.index), "message": m} for t, _ in slots for m in s.series(t).problems]
    return found + product_problems({**s.product, "csv": None}, s.path)


def completeness(look: Look) -> Section:
    """The share of the facts that were asked for and that are known; "none" is knowledge too."""
    vitals: Vitals = look.section("vitals")
    asked = [n for n in EXPECTED if vitals[n].reason not in UNASKED]
    lacking = len(missing(vitals))
    share = round(1 - lacking / len(asked), 2) if asked else None
    return derived(
        share,
        method="known / asked",
        inputs={"known": len(asked) - lacking, "asked": len(asked)},
        confidence=Confidence.EXACT,
        evidence_path=look.subject.path,
        level=level("completeness", share) or "poor",
    )


def missing(vitals: Vitals) -> list[dict[str, str]]:
    """What was asked for and is not there."""
    rows = [(n, vitals[n].reason) for n in EXPECTED]
    return [{"fact": n, "reason": r.value} for n, r in rows if r and r is not Reason.NONE and r not in UNASKED]


def not_requested(vitals: Vitals) -> list[str]:
    return [n for n in EXPECTED if vitals[n].reason is Reason.NOT_REQUESTED]


def age_hours(look: Look) -> float | None:
    """Hours between the last update of the product and the answer."""
    updated = as_minute(look.subject.product.get("lastUpdate"))
    if updated is None or updated <= 0:
        return None
    return round(max(look.subject.now - updated, 0) / 60, 1)


def _age(found: Section, look: Look) -> None:
    hours = age_hours(look)
    updated = as_minute(look.subject.product.get("lastUpdate"))
    found.put("updated_at", iso(updated) if hours is not None and updated else None, Reason.NOT_COLLECTED)
    found.put("age_hours", hours, Reason.NOT_COMPUTABLE)
    found.put("stale", None if hours is None else hours > STALE_HOURS, Reason.NOT_COMPUTABLE)


def _reach(look: Look, vitals: Vitals) -> Section:
    """The days from the first point to now, of the series that a reader asks for first."""
    found, s = Section(), look.subject
    for name in dict.fromkeys((vitals.price_name or "new_price", "sales_rank", "review_count")):
        series = s.series(BY_NAME[SERIES[name]])
        since = series.times[0] if len(series) and series.times[0] <= s.now else None
        days = None if since is None else (s.now - since) // DAY
        found.put(f"{name}_days", days, s.why_no(BY_NAME[SERIES[name]]))
    return found
