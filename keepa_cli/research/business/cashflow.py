"""What customers spend on a product in a month, at least: the price times the units, before every cost."""

from __future__ import annotations

from keepa_cli.keepa.money import money
from keepa_cli.research.business.record import Metrics
from keepa_cli.research.business.scales import VERSION
from keepa_cli.research.business.velocity import units
from keepa_cli.research.facts import Confidence, Reason, Section, derived

EXCLUDES = (
    "cost_of_goods", "referral_fee", "fulfilment_fee", "advertising", "returns", "tax", "payment_terms", "discounts",
)  # fmt: skip


def cashflow(m: Metrics, velocity: Section) -> Section:
    """Price times `monthlySold`: a lower bound as long as the price held. Rank drops are no units and give nothing."""
    price, sold = m.price(), units(velocity)
    value = price[1].value * sold if price and sold is not None else None
    found = derived(
        None if value is None else money(value, m.domain),
        method="price_times_monthly_sold",
        inputs={"price": money(price[1].value, m.domain) if price else None, "units_per_month_at_least": sold},
        confidence=Confidence.LOWER_BOUND if value is not None else Confidence.LOW,
        evidence_path=m.evidence(*([price[0]] if price else []), *(["monthly_sold"] if sold is not None else [])),
        reason=_why(m, price is None),
        version=VERSION,
        unit="money_per_month_at_least",
    )
    found["excludes"] = list(EXCLUDES)
    return found.put("price_basis", price[0] if price else None, m.why("new"))


def _why(m: Metrics, no_price: bool) -> Reason:
    """The price is missing, or only a proxy of the velocity is known."""
    return m.why("new") if no_price and m.get("monthly_sold") else Reason.NOT_COMPUTABLE
