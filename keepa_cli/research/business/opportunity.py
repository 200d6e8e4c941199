"""A score of an opportunity whose every part can be seen. What lacks an input is not scored at all."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log10
from typing import Any

from keepa_cli.research.business.record import Metrics
from keepa_cli.research.business.scales import (
    AMAZON_CAP,
    POINTS_PER_OFFER,
    RISK_POINTS,
    TOP_UNITS,
    VERSION,
    WEIGHTS,
)
from keepa_cli.research.business.velocity import is_proxy, units
from keepa_cli.research.facts import Confidence, Section, derived


def lacking(metrics: dict[str, Section]) -> list[dict[str, str]]:
    """Why a product cannot be ranked, by part; empty when it can."""
    found = []
    velocity = metrics["velocity"]
    if is_proxy(velocity):
        found.append({"part": "velocity", "reason": "Only rank drops are known, and they are no units sold."})
    elif units(velocity) is None:
        found.append({"part": "velocity", "reason": f"monthlySold is absent ({_reason(velocity)})."})
    if metrics["seller_metrics"]["value"] is None:
        reason = _reason(metrics["seller_metrics"])
        found.append({"part": "competition", "reason": f"The number of offers is absent ({reason})."})
    if metrics["inventory"]["value"] is None:
        reason = _reason(metrics["inventory"])
        found.append({"part": "inventory", "reason": f"Out-of-stock percentages are absent ({reason})."})
    if metrics["cashflow"]["value"] is None:
        reason = _reason(metrics["cashflow"])
        found.append({"part": "cashflow", "reason": f"Price times units cannot be computed ({reason})."})
    return found


def scores(group: Sequence[tuple[Metrics, dict[str, Section]]]) -> list[Section]:
    """The score of every product of one currency; the highest turnover among them is the measure of cash flow."""
    best = max((metrics["cashflow"]["value"]["raw"] for _, metrics in group), default=0)
    return [_score(m, metrics, best) for m, metrics in group]


def _score(m: Metrics, metrics: dict[str, Section], best: int) -> Section:
    points = {
        "velocity": velocity_points(units(metrics["velocity"]) or 0),
        "competition": competition_points(metrics["seller_metrics"]["value"], m.value("amazon_sells") is True),
        "inventory": float(RISK_POINTS[metrics["inventory"]["value"]]),
        "cashflow": _rounded(Fraction(metrics["cashflow"]["value"]["raw"] * 100, best)) if best else 0.0,
    }
    parts = {
        name: {"points": points[name], "weight": weight, "weighted": round(points[name] * weight / 100, 2)}
        for name, weight in WEIGHTS.items()
    }
    paths: list[str] = []
    for section in metrics.values():
        one = section["evidence_path"]
        paths += one if isinstance(one, list) else [one]
    return derived(
        round(sum(p["weighted"] for p in parts.values()), 2),
        method="weighted_sum_of_parts",
        inputs=_inputs(m, metrics, best),
        confidence=Confidence.LOW,
        evidence_path=list(dict.fromkeys(paths)),
        version=VERSION,
        unit="points_of_100",
        parts=parts,
    )


def _inputs(m: Metrics, metrics: dict[str, Section], best: int) -> dict[str, Any]:
    return {
        "units_per_month_at_least": units(metrics["velocity"]),
        "offers": metrics["seller_metrics"]["value"],
        "amazon_sells": m.value("amazon_sells"),
        "stock_out_risk": metrics["inventory"]["value"],
        "turnover_raw": metrics["cashflow"]["value"]["raw"],
        "highest_turnover_raw": best,
        "currency": m.domain.currency,
    }


def velocity_points(sold: int) -> float:
    """0 for one unit, 100 for the highest bracket, logarithmic between."""
    return round(min(100.0, 100 * log10(sold) / log10(TOP_UNITS)), 2) if sold > 1 else 0.0


def competition_points(offers: int, amazon: bool) -> float:
    """100 with at most one offer, less with each further one; little where Amazon itself sells."""
    points = max(0, 100 - POINTS_PER_OFFER * max(0, offers - 1))
    return float(min(points, AMAZON_CAP) if amazon else points)


def _reason(section: Section) -> str:
    return str(section.get("absent", {}).get("value", "not_computable"))


def _rounded(value: Fraction) -> float:
    return round(float(value), 2)
