"""How likely a product is to run out: a level with its reasons, never a quantity in stock."""

from __future__ import annotations

from typing import Any

from keepa_cli.research.business.record import OOS_SERIES, Metrics
from keepa_cli.research.business.scales import OUT_OF_STOCK_HIGH, OUT_OF_STOCK_MEDIUM, VERSION
from keepa_cli.research.facts import Confidence, Reason, Section, derived

LEVELS = ("low", "medium", "high", "out_of_stock_now")
NOT_ESTIMATED = ("stock_quantity", "days_of_supply")


def inventory(m: Metrics, velocity: Section, sellers: Section) -> Section:
    """The stock-out risk from the share of the last 90 days without an offer, raised where one seller carries a fast
    product. The buy box counts where it is known, else new offers."""
    name, share = _reference(m)
    reasons: list[str] = []
    level = _level(m, name, share, velocity, sellers, reasons)
    names = [f"out_of_stock_{days}_{name}" for days in (90, 30)] if name else []
    inputs: dict[str, Any] = {n: m.value(n) for n in names}
    inputs |= {"offers": sellers.get("value"), "velocity": velocity.get("value"), "velocity_unit": velocity["unit"]}
    full = sellers.get("value") is not None and velocity.get("value") is not None
    evidence = [str(p) for p in _paths(m.evidence(*names), sellers["evidence_path"], velocity["evidence_path"])]
    found = derived(
        level,
        method="stock_out_risk",
        inputs=inputs,
        confidence=Confidence.MEDIUM if full else Confidence.LOW,
        evidence_path=evidence,
        reason=m.why("out_of_stock_90_new"),
        version=VERSION,
        unit="level",
    )
    if name:
        found["basis"] = name
    found["reasons"] = reasons
    found["out_of_stock_percent"] = _shares(m)
    found["not_estimated"] = list(NOT_ESTIMATED)
    return found


def _reference(m: Metrics) -> tuple[str | None, int | None]:
    """The series whose gaps count: the buy box, else new offers. Amazon's own gaps are told beside it."""
    for name in ("buy_box", "new"):
        share = m.value(f"out_of_stock_90_{name}")
        if share is not None:
            return name, share
    return None, None


def _level(
    m: Metrics, name: str | None, share: int | None, velocity: Section, sellers: Section, reasons: list[str]
) -> str | None:
    if name is None or share is None:
        return None
    if _none_now(m, "new"):
        reasons.append("There is no new offer now.")
        return LEVELS[3]
    step = 2 if share >= OUT_OF_STOCK_HIGH else 1 if share >= OUT_OF_STOCK_MEDIUM else 0
    reasons.append(f"Without a {name.replace('_', ' ')} offer for {share}% of the last 90 days.")
    if step < 2 and velocity.get("pace") == "fast" and sellers.get("value") == 1:
        step += 1
        reasons.append("It sells fast, and one offer carries it.")
    if step < 1 and _none_now(m, "buy_box"):
        step = 1
        reasons.append("New offers exist, but nobody holds the buy box now.")
    return LEVELS[step]


def _none_now(m: Metrics, name: str) -> bool:
    """Keepa knows that there is no such offer, which is more than not knowing one."""
    return m.get(name) is None and m.absent.get(name) is Reason.NONE


def _shares(m: Metrics) -> Section:
    """Keepa's own percentages by series and days; each absent one has its reason."""
    found = Section()
    for name in OOS_SERIES:
        for days in (30, 90):
            field = f"out_of_stock_{days}_{name}"
            fact = m.get(field)
            shown = {"value": fact.value, "evidence_path": fact.path} if fact else None
            found.put(f"{name}_{days}", shown, m.why(field))
    return found


def _paths(*given: str | list[str]) -> list[str]:
    flat = [p for g in given for p in (g if isinstance(g, list) else [g])]
    return list(dict.fromkeys(flat))
