"""Size, weight, Amazon's fees and availability. Millimetres and grams; 0 and -1 are Keepa's "unknown"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.clock import field_time
from keepa_cli.keepa.money import money
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.values import boolean, positive, rows
from keepa_cli.research.subject import Subject

AVAILABILITY: Mapping[int, str] = {
    -1: "no_amazon_offer",
    0: "in_stock",
    1: "pre_order",
    2: "unknown",
    3: "back_order",
    4: "delayed",
}
RETURN_RATES: Mapping[int, str] = {1: "low", 2: "high"}
SIDES = ("length", "width", "height")
FLAGS = {
    "is_heat_sensitive": "isHeatSensitive",
    "is_adult_product": "isAdultProduct",
    "batteries_required": "batteriesRequired",
}
HAZARDS = 5


def section(look: Look) -> Section:
    s = look.subject
    found = Section()
    for name in ("item", "package"):
        found.put(name, _measures(s, name), Reason.NOT_COLLECTED)
    found.put("fba_fees", _fba_fees(s), Reason.NOT_COLLECTED)
    found.put("referral_fee_percentage", _referral(s), Reason.NOT_COLLECTED)
    closing = positive(s.product, "variableClosingFee")
    if closing is not None:
        found["variable_closing_fee"] = {**money(closing, s.domain), "evidence_path": s.at("variableClosingFee")}
    found.put("availability_amazon", _availability(s.product), Reason.NOT_COLLECTED)
    hazards = [f"{h.get('aspect')}: {h.get('value')}"[:80] for h in rows(s.product.get("hazardousMaterials"))]
    found.put("hazardous_materials", hazards[:HAZARDS], Reason.NONE)
    rate = s.product.get("returnRate")
    if type(rate) is int and rate in RETURN_RATES:
        found["return_rate"] = RETURN_RATES[rate]
    for name, field in FLAGS.items():
        value = boolean(s.product, field)
        if value is not None:
            found[name] = value
    found["evidence_path"] = s.path
    return found


def _measures(s: Subject, name: str) -> Section | None:
    found = Section()
    for side in SIDES:
        found.put(f"{side}_mm", positive(s.product, name + side.capitalize()), Reason.NOT_COLLECTED)
    found.put("weight_g", positive(s.product, name + "Weight"), Reason.NOT_COLLECTED)
    return found if any(found[key] is not None for key in found if key != "absent") else None


def _fba_fees(s: Subject) -> Section | None:
    fees = s.product.get("fbaFees")
    raw = fees.get("pickAndPackFee") if isinstance(fees, Mapping) else None
    if not isinstance(fees, Mapping) or type(raw) is not int or raw < 0:
        return None
    fee = Section(money(raw, s.domain)).put("at", field_time(fees.get("lastUpdate")), Reason.NOT_COLLECTED)
    fee["evidence_path"] = s.at("fbaFees", "pickAndPackFee")
    return Section(pick_and_pack=fee)


def _referral(s: Subject) -> Section | None:
    """Percent of the price. The older whole number is used where the exact one is not there."""
    for field in ("referralFeePercentage", "referralFeePercent"):
        value = s.product.get(field)
        if isinstance(value, int | float) and not isinstance(value, bool) and _plausible(value):
            return Section(value=round(float(value), 2), unit="percent", evidence_path=s.at(field))
    return None


def _plausible(value: float) -> bool:
    return 0 <= value <= 100 and math.isfinite(value)


def _availability(product: Mapping[str, Any]) -> str | None:
    code = product.get("availabilityAmazon")
    return AVAILABILITY.get(code) if type(code) is int else None
