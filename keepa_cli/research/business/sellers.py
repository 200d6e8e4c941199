"""How many compete for a product, and who ships: offer counts first, lower bounds from seller samples last."""

from __future__ import annotations

from keepa_cli.research.business.record import Fact, Metrics
from keepa_cli.research.business.scales import FEW_OFFERS, SOME_OFFERS, VERSION
from keepa_cli.research.facts import Confidence, Reason, Section, derived


def seller_metrics(m: Metrics) -> Section:
    """The number of offers with its method, the split by fulfilment, and whether Amazon sells."""
    found = _count(m)
    if found["value"] is not None:
        found["competition"] = _level(found["value"])
    found.put("fulfilment", _split(m), Reason.NOT_COMPUTABLE)
    amazon = m.get("amazon_sells")
    return found.put("amazon_sells", amazon.value if amazon else None, m.why("amazon_sells"))


def _count(m: Metrics) -> Section:
    total, new, sample = m.get("total_offer_count"), m.get("new_offer_count"), m.get("seller_sample")
    fba, fbm = m.get("new_fba_offer_count"), m.get("new_fbm_offer_count")
    if total:
        exact = total.via != "csv"
        method = "total_offer_count" if exact else "sum_of_offer_counts"
        return _figure(m, total.value, method, ("total_offer_count",), Confidence.EXACT if exact else Confidence.HIGH)
    if new:
        return _figure(m, new.value, "new_offer_count", ("new_offer_count",), Confidence.LOWER_BOUND)
    if fba or fbm:
        both = sum(f.value for f in (fba, fbm) if f)
        names = ("new_fba_offer_count", "new_fbm_offer_count")
        return _figure(m, both, "fba_plus_fbm_new_offers", names, Confidence.LOWER_BOUND)
    if sample:
        return _figure(m, sample.value, f"seller_sample:{sample.via}", ("seller_sample",), Confidence.LOWER_BOUND)
    return _figure(m, None, "total_offer_count", (), Confidence.LOW)


def _figure(m: Metrics, value: int | None, method: str, names: tuple[str, ...], confidence: Confidence) -> Section:
    return derived(
        value,
        method=method,
        inputs={n: m.value(n) for n in names},
        confidence=confidence,
        evidence_path=m.evidence(*names),
        reason=m.why("total_offer_count"),
        version=VERSION,
        unit="offers_at_least" if confidence is Confidence.LOWER_BOUND else "offers",
    )


def _level(offers: int) -> str:
    return "low" if offers <= FEW_OFFERS else "medium" if offers <= SOME_OFFERS else "high"


def _split(m: Metrics) -> Section | None:
    """The share of new offers that Amazon ships (FBA); the rest ships itself (FBM)."""
    fba, fbm = m.get("new_fba_offer_count"), m.get("new_fbm_offer_count")
    if not (fba and fbm):
        return None
    return derived(
        _share(fba, fbm),
        method="fba_share_of_new_offers",
        inputs={"new_fba_offer_count": fba.value, "new_fbm_offer_count": fbm.value},
        confidence=Confidence.EXACT,
        evidence_path=[fba.path, fbm.path],
        version=VERSION,
        unit="percent",
    )


def _share(fba: Fact, fbm: Fact) -> float | None:
    both = fba.value + fbm.value
    return round(fba.value * 100 / both, 2) if both else None
