"""How fast a product sells: Amazon's own badge as a lower bound, else drops of the sales rank as a weak proxy."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa.clock import DAY, from_iso
from keepa_cli.keepa.series import read_series
from keepa_cli.research.business.record import Fact, Metrics, member, whole
from keepa_cli.research.business.scales import (
    FAST_DROPS,
    FAST_UNITS,
    STALE_DAYS,
    STEADY_DROPS,
    STEADY_UNITS,
    VERSION,
)
from keepa_cli.research.facts import Confidence, Reason, Section, derived

BADGE, TOLD_DROPS, COUNTED_DROPS = "monthly_sold_bracket", "sales_rank_drops_30", "sales_rank_drops_30_counted"
UNITS, DROPS = "units_per_month_at_least", "rank_drops_per_30_days"


def velocity(m: Metrics) -> Section:
    """Units a month at least, from `monthlySold`; without it the rank drops of 30 days, which are no units."""
    sold = m.get("monthly_sold")
    drops = m.get("rank_drops_30")
    if sold and (sold.value or not drops):
        return _badge(m, sold)
    if drops:
        return _proxy(m, drops)
    return derived(
        None,
        method=BADGE,
        inputs={},
        confidence=Confidence.LOW,
        evidence_path=m.path,
        reason=m.why("monthly_sold"),
        version=VERSION,
        unit=UNITS,
        statement="Nothing tells how fast it sells: no monthlySold and no sales rank.",
    )


def _badge(m: Metrics, sold: Fact) -> Section:
    more: dict[str, Any] = {
        "version": VERSION,
        "unit": UNITS,
        "pace": _pace(sold.value, FAST_UNITS, STEADY_UNITS),
        "statement": f"{sold.value:,} or more bought in the past month",
    }
    if sold.at:
        more["at"] = sold.at
        more["stale"] = m.now > 0 and m.now - from_iso(sold.at) > STALE_DAYS * DAY
    found = derived(
        sold.value,
        method=BADGE,
        inputs={"monthly_sold": sold.value},
        confidence=Confidence.LOWER_BOUND,
        evidence_path=sold.path,
        **more,
    )
    return found.put("trend", _trend(m), Reason.NOT_APPLICABLE if m.subject is None else Reason.TOO_LITTLE_HISTORY)


def _proxy(m: Metrics, drops: Fact) -> Section:
    sold = m.get("monthly_sold")
    why = "monthlySold is 0, which says nothing" if sold else "there is no monthlySold"
    return derived(
        drops.value,
        method=COUNTED_DROPS if drops.via == "counted" else TOLD_DROPS,
        inputs={"rank_drops_30": drops.value},
        confidence=Confidence.LOW,
        evidence_path=drops.path,
        version=VERSION,
        unit=DROPS,
        pace=_pace(drops.value, FAST_DROPS, STEADY_DROPS),
        statement=f"{drops.value} drops of the sales rank in 30 days: a proxy, not units sold; {why}.",
    )


def _pace(value: int, fast: int, steady: int) -> str:
    return "fast" if value >= fast else "steady" if value >= steady else "slow"


def _trend(m: Metrics) -> Section | None:
    """The bracket now against that of 90 days ago; brackets are coarse, so small changes do not show."""
    if m.subject is None:
        return None
    series = read_series(m.subject.product.get("monthlySoldHistory"), 11)
    now, then = whole(series.value_before(m.now)), whole(series.value_before(m.now - 90 * DAY))
    if now is None or not then:
        return None
    return derived(
        round((now - then) * 100 / then, 2),
        method="bracket_change_90_days",
        inputs={"now": now, "90_days_ago": then},
        confidence=Confidence.LOW,
        evidence_path=m.subject.at("monthlySoldHistory"),
        version=VERSION,
        unit="percent",
    )


def units(section: Section) -> int | None:
    """The units a month of a velocity, None for a proxy or where nothing is known."""
    value = section.get("value")
    return value if section.get("unit") == UNITS and isinstance(value, int) else None


def is_proxy(section: Section) -> bool:
    return bool(section.get("unit") == DROPS) and member(section, "value") is not None
