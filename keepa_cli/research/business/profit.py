"""What one unit earns at the prices of today and of the past, and the price that loses nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.clock import DAY, iso
from keepa_cli.keepa.domains import resolve
from keepa_cli.keepa.money import money
from keepa_cli.keepa.stats import average
from keepa_cli.research.business import fees, raw
from keepa_cli.research.business.amounts import signed
from keepa_cli.research.business.record import Metrics, Source, whole
from keepa_cli.research.business.report import VIEW
from keepa_cli.research.business.scales import VERSION
from keepa_cli.research.business.terms import Fees, fees_of
from keepa_cli.research.facts import Confidence, Reason, Section, derived
from keepa_cli.research.subject import Subject, subjects

WINDOWS = (30, 90, 365)
BASES = {"buy_box": "BUY_BOX_SHIPPING", "new": "NEW"}
ANSWER = Source("answer", "answer", "")
ROUNDING = "every part that is a share of the price is rounded to whole minor units, a half up"


def profit_view(body: Any, params: Mapping[str, Any]) -> dict[str, Any]:
    """`{view, analysis, version, brief, summary, products}` of an answer of /product; `brief.next_actions` is empty."""
    domain = resolve(params["domain"])
    # The caller's amounts are in the currency of the marketplace that was asked.
    found = [s for s in subjects(body, domain, params) if s.domain is domain]
    products = [_product(s, params) for s in found]
    first = products[0]["metrics"]["profit"] if products else None
    return {
        "view": VIEW,
        "analysis": "profit",
        "version": VERSION,
        "brief": {"decision": _decision(first), "risk": _risks(first, params), "next_actions": []},
        "summary": _summary(first),
        "products": products,
    }


def _product(s: Subject, params: Mapping[str, Any]) -> Section:
    m = raw.record(s, ANSWER)
    found = Section().put("asin", m.asin).put("title", m.title, Reason.NOT_COLLECTED)
    found |= {"domain": s.domain.code, "currency": s.domain.currency}
    found.put("observed_at", iso(s.now) if s.now > 0 else None, Reason.NOT_COLLECTED)
    found["metrics"] = {"profit": _profit(s, m, params)}
    return found


def _profit(s: Subject, m: Metrics, params: Mapping[str, Any]) -> Section:
    basis = "buy_box" if len(s.series("BUY_BOX_SHIPPING")) or "buy_box" in m.facts else "new"
    own = fees_of(s, params)
    scenarios = {"current": _scenario(s, own, _current(s, m, basis))}
    for days in WINDOWS:
        scenarios[f"mean_{days}_days"] = _scenario(s, own, _mean(s, m, basis, days))
    return Section(
        {
            "price_basis": basis,
            "price_basis_says": _basis_says(m, basis),
            "fulfilment": "fbm" if params.get("fbm") else "fba",
            "scenarios": scenarios,
            "break_even_price": _break_even(s, own),
            "fees": own.shown,
            "assumptions": own.assumptions,
            "rounding": ROUNDING,
        }
    )


def _basis_says(m: Metrics, basis: str) -> str:
    if basis == "buy_box":
        return "The buy box price with shipping."
    why = m.why("buy_box")
    told = "was not requested" if why is Reason.NOT_REQUESTED else f"is not known ({why.value})"
    return f"The lowest new price: the buy box {told}."


def _current(s: Subject, m: Metrics, basis: str) -> Section:
    fact = m.get(basis)
    shown = None
    if fact:
        shown = money(fact.value, s.domain) | ({"at": fact.at} if fact.at else {}) | {"evidence_path": fact.path}
    return Section().put("price", shown, m.why(basis))


def _mean(s: Subject, m: Metrics, basis: str, days: int) -> Section:
    """The mean of the step function over the window by Keepa's own rule, -1 without a price in it."""
    series = s.series(BASES[basis])
    mean = average(series, s.now - days * DAY, s.now)
    value = whole(mean)
    shown, reason = None, Reason.UNREADABLE
    if mean < 0:
        reason = Reason.NONE if len(series) else m.why(basis) if basis in m.absent else Reason.NOT_REQUESTED
    if value is not None:
        shown = money(value, s.domain) | {"evidence_path": s.series_path(BASES[basis]), "window_days": days}
    return Section().put("price", shown, reason)


def _scenario(s: Subject, own: Fees, found: Section) -> Section:
    """The deductions from one price, what is left, and its ratios."""
    price = found["price"]["raw"] if found["price"] else None
    parts = fees.parts(own.terms, price) if price is not None else dict.fromkeys(fees.parts(own.terms, 0))
    left = fees.profit(own.terms, price) if price is not None else None
    found["deductions"] = deductions = Section()
    reason = Reason.NOT_COMPUTABLE if price is None else Reason.NOT_COLLECTED
    for name, value in parts.items():
        deductions.put(name, None if value is None else money(value, s.domain), reason)
    path = _evidence(s, own, found["price"])
    inputs = {"price_raw": price} | {f"{n}_raw": v for n, v in parts.items()}
    shown = None if left is None else signed(left, s.domain)
    found["profit"] = _figure(shown, "price_minus_deductions", inputs, path)
    found["margin_percent"] = _ratio(left, price, "profit_per_price", path)
    found["roi_percent"] = _ratio(left, own.terms.invested, "profit_per_cost_and_inbound", path)
    most = None if left is None else left + own.terms.cost
    found["highest_cost"] = _figure(
        None if most is None else signed(most, s.domain), "profit_plus_cost", {"cost_raw": own.terms.cost}, path
    )
    return found


def _figure(value: Any, method: str, inputs: Mapping[str, Any], path: list[str]) -> Section:
    return derived(
        value,
        method=method,
        inputs=inputs,
        confidence=Confidence.MEDIUM if value is not None else Confidence.LOW,
        evidence_path=path,
        version=VERSION,
    )


def _ratio(left: int | None, base: int | None, method: str, path: list[str]) -> Section:
    value = round(left * 100 / base, 2) if left is not None and base else None
    found = _figure(value, method, {"profit_raw": left, "base_raw": base}, path)
    found["unit"] = "percent"
    return found


def _evidence(s: Subject, own: Fees, price: Mapping[str, Any] | None) -> list[str]:
    fee_paths = [own.shown[name]["evidence_path"] for name in ("referral_rate", "fulfilment_fee")]
    paths = [price["evidence_path"] if price else s.path, *fee_paths]
    return list(dict.fromkeys(paths))


def _break_even(s: Subject, own: Fees) -> Section:
    price = fees.break_even(own.terms)
    parts = {} if price is None else {f"{n}_raw": v for n, v in fees.parts(own.terms, price).items()}
    shown = None if price is None else money(price, s.domain)
    return _figure(shown, "smallest_price_without_loss", parts, _evidence(s, own, None))


def _summary(first: Section | None) -> Section:
    """The figures at the current price, and the break-even price; the details stand in the product."""
    if first is None:
        return Section({"products": 0})
    now = first["scenarios"]["current"]
    found = Section({"products": 1, "price_basis": first["price_basis"], "fulfilment": first["fulfilment"]})
    found.put("price", now["price"], Reason(now.get("absent", {}).get("price", Reason.NOT_COMPUTABLE.value)))
    for name in ("profit", "margin_percent", "roi_percent"):
        found.put(name, now[name]["value"], Reason.NOT_COMPUTABLE)
    found.put("break_even_price", first["break_even_price"]["value"], Reason.NOT_COMPUTABLE)
    found["profit_by_price"] = Section()
    for name, one in first["scenarios"].items():
        found["profit_by_price"].put(name, one["profit"]["value"], Reason.NOT_COMPUTABLE)
    return found


def _decision(first: Section | None) -> str:
    if first is None:
        return "There is no product of this marketplace in the answer."
    now, even = first["scenarios"]["current"], first["break_even_price"]["value"]
    tail = f" The break-even price is {even['formatted']}." if even else ""
    if now["profit"]["value"] is None:
        return f"The profit at the current price cannot be computed: {_missing(first)}." + tail
    left, price = now["profit"]["value"], now["price"]["formatted"]
    verb = "loses" if left["raw"] < 0 else "earns"
    roi = now["roi_percent"]["value"]
    ratios = f"{now['margin_percent']['value']}% margin" + (f", {roi}% ROI" if roi is not None else "")
    basis = first["price_basis"].replace("_", " ")
    return f"At the current {basis} price of {price} a unit {verb} {left['formatted'].lstrip('-')} ({ratios})." + tail


def _missing(first: Section) -> str:
    lacks = [] if first["scenarios"]["current"]["price"] else ["there is no current price"]
    if first["fees"]["referral_rate"]["value"] is None:
        lacks.append("the referral fee is not in the answer (give --referral-rate)")
    if first["fees"]["fulfilment_fee"]["value"] is None:
        lacks.append("the fulfilment fee is not in the answer (give --fulfilment-fee, or --fbm)")
    return " and ".join(lacks)


def _risks(first: Section | None, params: Mapping[str, Any]) -> list[str]:
    if first is None:
        return []
    found = [] if first["price_basis"] == "buy_box" else [first["price_basis_says"]]
    if first["fees"]["referral_rate"]["method"] == "referralFeePercent":
        found.append("The referral fee is the older whole-number field; the exact percentage is absent.")
    losing = [n for n, one in first["scenarios"].items() if (v := one["profit"]["value"]) and v["raw"] < 0]
    if losing:
        found.append(f"A unit loses money at: {', '.join(losing)}.")
    zero = [a["input"] for a in first["assumptions"] if not a["given"] and a["input"] != "tax"]
    if zero:
        found.append(f"Assumed to be 0 because not given: {', '.join(zero)}.")
    if params.get("min_referral_fee") is None:
        found.append("At low prices Amazon's least referral fee can be higher than the percentage.")
    return found
