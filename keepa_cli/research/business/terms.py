"""The terms of one product: what Keepa tells of its fees, what the caller gives, and what is assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from keepa_cli.keepa.clock import field_time
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.money import money
from keepa_cli.research.business.amounts import minor_units, rate
from keepa_cli.research.business.fees import Terms
from keepa_cli.research.business.record import member, whole
from keepa_cli.research.facts import Confidence, Reason, Section, derived
from keepa_cli.research.subject import Subject

AMOUNTS = ("cost", "inbound", "storage", "other", "shipping_cost", "fulfilment_fee", "min_referral_fee")
RATES = ("ads_rate", "return_rate", "referral_rate")
SAYS: Mapping[str, str] = {
    "inbound": "Shipping one unit to the warehouse.",
    "storage": "Storing one unit until it is sold.",
    "other": "Any further cost of one unit.",
    "ads_rate": "Share of the price that is spent on advertising.",
    "return_rate": "Share of units that come back; each is counted as a loss of its whole price.",
    "min_referral_fee": "Amazon's least referral fee per unit; in most US categories it is 0.30 USD.",
    "shipping_cost": "Shipping one unit to the customer.",
}
NO_TAX = frozenset({"US", "CA"})
"""Marketplaces whose prices are shown without tax; elsewhere they may include it."""


@dataclass(frozen=True)
class Fees:
    """The terms to count with, the fees as facts of the view, and every assumption."""

    terms: Terms
    shown: Section
    assumptions: list[dict[str, Any]]


def fees_of(s: Subject, params: Mapping[str, Any]) -> Fees:
    """The product's own fees, unless the caller gives others."""
    given = {n: minor_units(params[n], s.domain) for n in AMOUNTS if params.get(n) is not None}
    rates = {n: Fraction(params[n]) / 100 for n in RATES if params.get(n) is not None}
    by_merchant = bool(params.get("fbm"))
    referral, referral_fact = _referral(s, rates.get("referral_rate"))
    fulfilment, fulfilment_fact = _fulfilment(s, given, by_merchant)
    closing = whole(s.product.get("variableClosingFee"))
    terms = Terms(
        cost=given.get("cost", 0),
        referral=referral,
        fulfilment=fulfilment,
        inbound=given.get("inbound", 0),
        storage=given.get("storage", 0),
        closing=closing or 0,
        other=given.get("other", 0),
        ads=rates.get("ads_rate", Fraction(0)),
        returns=rates.get("return_rate", Fraction(0)),
        least_referral=given.get("min_referral_fee", 0),
    )
    shown = Section({"referral_rate": referral_fact, "fulfilment_fee": fulfilment_fact})
    shown.put("closing_fee", _closing(s, closing), Reason.NONE)
    return Fees(terms, shown, _assumptions(s.domain, params, given, rates, by_merchant))


def _referral(s: Subject, given: Fraction | None) -> tuple[Fraction | None, Section]:
    """`referralFeePercentage`, else the older whole-number field; the fact says which."""
    if given is not None:
        return given, _percent(given, "given", Confidence.EXACT, s.path)
    for name in ("referralFeePercentage", "referralFeePercent"):
        known = rate(s.product.get(name))
        if known is not None:
            confidence = Confidence.EXACT if name == "referralFeePercentage" else Confidence.MEDIUM
            return known, _percent(known, name, confidence, s.at(name))
    return None, _percent(None, "referralFeePercentage", Confidence.LOW, s.path)


def _percent(value: Fraction | None, method: str, confidence: Confidence, path: str) -> Section:
    shown = None if value is None else round(float(value * 100), 2)
    return derived(
        shown,
        method=method,
        inputs={"percent": shown},
        confidence=confidence,
        evidence_path=path,
        reason=Reason.NOT_COLLECTED,
        unit="percent_of_price",
    )


def _fulfilment(s: Subject, given: Mapping[str, int], by_merchant: bool) -> tuple[int | None, Section]:
    """Keepa's pick and pack fee; for merchants the shipping that the caller gives."""
    if by_merchant:
        value: int | None = given.get("shipping_cost", 0)
        return value, _fee(s, value, "shipping_cost", s.path)
    if "fulfilment_fee" in given:
        return given["fulfilment_fee"], _fee(s, given["fulfilment_fee"], "given", s.path)
    known = whole(member(s.product, "fbaFees", "pickAndPackFee"))
    path = s.at("fbaFees", "pickAndPackFee") if known is not None else s.path
    found = _fee(s, known, "fbaFees.pickAndPackFee", path)
    at = field_time(member(s.product, "fbaFees", "lastUpdate"))
    return known, Section(found | ({"at": at} if at and known is not None else {}))


def _fee(s: Subject, value: int | None, method: str, path: str) -> Section:
    return derived(
        None if value is None else money(value, s.domain),
        method=method,
        inputs={},
        confidence=Confidence.EXACT if value is not None else Confidence.LOW,
        evidence_path=path,
        reason=Reason.NOT_COLLECTED,
    )


def _closing(s: Subject, value: int | None) -> dict[str, Any] | None:
    return None if value is None else money(value, s.domain) | {"evidence_path": s.at("variableClosingFee")}


def _assumptions(
    domain: Domain,
    params: Mapping[str, Any],
    given: Mapping[str, int],
    rates: Mapping[str, Fraction],
    by_merchant: bool,
) -> list[dict[str, Any]]:
    """Every input that no answer of Keepa holds, with its value, and whether it was given or is the default."""
    found: list[dict[str, Any]] = []
    for name, says in SAYS.items():
        if name == "shipping_cost" and not by_merchant:
            continue
        percent = name in RATES
        value: Any = float(rates.get(name, 0) * 100) if percent else money(given.get(name, 0), domain)
        unit = {"unit": "percent"} if percent else {}
        found.append({"input": name, "value": value, **unit, "given": params.get(name) is not None, "says": says})
    tax = "Prices of this marketplace may include tax, which is not taken off." if domain.code not in NO_TAX else ""
    found.append({"input": "tax", "given": False, "says": f"Tax on the profit is left out. {tax}".strip()})
    return found
