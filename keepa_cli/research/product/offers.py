"""Who sells it: offer counts, the buy box and its holders, live offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.buybox import NOBODY, buy_box_stats, holders
from keepa_cli.keepa.clock import DAY, field_time, iso
from keepa_cli.keepa.csvtypes import BY_NAME, CSV_TYPES
from keepa_cli.keepa.decode import HOLDERS as HOLDERS
from keepa_cli.keepa.decode import used_seller_events
from keepa_cli.keepa.money import money
from keepa_cli.keepa.offers import CONDITIONS, SHIPPED_PRICES, coupon, live_places
from keepa_cli.keepa.series import OK, Series, read_series, state_of
from keepa_cli.research.facts import Confidence, Reason, Section
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.values import listed, number, why_none
from keepa_cli.research.subject import Subject

COUNTS: Mapping[str, str] = {
    "new_offer_count": "COUNT_NEW",
    "used_offer_count": "COUNT_USED",
    "new_fba_offer_count": "COUNT_NEW_FBA",
    "new_fbm_offer_count": "COUNT_NEW_FBM",
}
TOTALLED = ("COUNT_NEW", "COUNT_USED", "COUNT_REFURBISHED", "COUNT_COLLECTIBLE")
SHARE_DAYS = 90
SELLERS_SHOWN, SELLERS_WHOLE = 3, 50
OFFERS_SHOWN, OFFERS_WHOLE = 5, 100
SELLER = "seller"


def section(look: Look) -> Section:
    s, wants = look.subject, look.wants("offers")
    found = Section()
    if wants("total_offer_count"):
        found.put("total_offer_count", _total(s), why_none(s, "COUNT_NEW"))
    for name, which in COUNTS.items():
        if wants(name):
            found.put(name, number(s, which), why_none(s, which))
    lacking = Reason.NOT_COLLECTED if s.asked.buybox else Reason.NOT_REQUESTED
    if wants("buy_box"):
        found.put("buy_box", _buy_box(s), lacking)
    if wants("buy_box_used"):
        _add_used(found, s)
    if wants("buy_box_share"):
        _add_shares(found, look, lacking)
    if wants("live"):
        _add_live(found, look)
    return found


def _add_used(found: Section, s: Subject) -> None:
    """Who holds the used buy box, where its history is told."""
    events = [e for e in used_seller_events(s.product.get("buyBoxUsedHistory")) if e["at"] <= iso(s.now)]
    if not events:
        return
    last = events[-1]
    seller = last["seller"]
    fact = Section(holder=last["holder"]).put("seller_id", seller[:60] if isinstance(seller, str) else None)
    fact.put("condition", last["condition"] and last["condition"].lower(), Reason.NOT_APPLICABLE)
    fact.put("is_fba", last["is_fba"], Reason.NOT_COLLECTED if seller else Reason.NOT_APPLICABLE)
    fact["at"], fact["evidence_path"] = last["at"], s.at("buyBoxUsedHistory")
    found["buy_box_used"] = fact


def _total(s: Subject) -> Section | None:
    """Keepa's total of all conditions, else the sum of those that are known."""
    told = s.stats.get("totalOfferCount")
    if type(told) is int and told >= 0:
        fact = Section(value=told).put("at", field_time(s.stats.get("lastOffersUpdate")), Reason.NOT_COLLECTED)
        fact["evidence_path"] = s.at("stats", "totalOfferCount")
        return fact
    known = [one for which in TOTALLED if (one := number(s, which))]
    if not known:
        return None
    at = max((one["at"] for one in known if one["at"]), default=None)
    total = Section(value=sum(one["value"] for one in known)).put("at", at, Reason.NOT_REQUESTED)
    total["evidence_path"] = [one["evidence_path"] for one in known]
    return total


def _buy_box(s: Subject) -> Section | None:
    """Who holds it now, or that nobody qualifies, or that the seller is unknown."""
    known = [(t, who) for t, who in holders(s.product.get("buyBoxSellerIdHistory")) if t <= s.now]
    told = s.stats.get("buyBoxSellerId")
    if known:
        at, who = known[-1]
        fact = _holder(s, who, s.at("buyBoxSellerIdHistory"))
        fact["at"] = iso(at)
    elif isinstance(told, str):
        fact = _holder(s, told, s.at("stats", "buyBoxSellerId"))
        fact.put("at", field_time(s.stats.get("lastBuyBoxUpdate")), Reason.NOT_COLLECTED)
    else:
        return None
    return fact


def _holder(s: Subject, who: str, path: str) -> Section:
    fact = Section(holder=HOLDERS.get(who, SELLER))
    if who in NOBODY:
        reason = Reason.NONE if HOLDERS[who] == "none_qualified" else Reason.NOT_COLLECTED
        fact.lack("seller_id", reason).lack("is_fba", Reason.NOT_APPLICABLE).lack("is_amazon", Reason.NOT_APPLICABLE)
    else:
        fact["seller_id"] = who[:60]
        fact.put("is_fba", _told(s, who, "buyBoxIsFBA", "isFBA"), Reason.NOT_COLLECTED)
        fact.put("is_amazon", _told(s, who, "buyBoxIsAmazon", "isAmazon"), Reason.NOT_COLLECTED)
    fact["evidence_path"] = path
    return fact


def _told(s: Subject, seller: str, in_stats: str, in_offer: str) -> bool | None:
    """What Keepa says of this very seller: in `stats`, in its buy box statistics, in the offers."""
    if s.stats.get("buyBoxSellerId") == seller and isinstance(s.stats.get(in_stats), bool):
        return bool(s.stats[in_stats])
    won = s.stats.get("buyBoxStats")
    mine = won.get(seller) if isinstance(won, Mapping) else None
    offers = [o for o in listed(s.product.get("offers")) if isinstance(o, Mapping) and o.get("sellerId") == seller]
    for source in (mine, *offers):
        if isinstance(source, Mapping) and isinstance(source.get(in_offer), bool):
            return bool(source[in_offer])
    return None


def shares(s: Subject, days: int) -> list[tuple[str, dict[str, Any]]]:
    """Keepa's buy box statistics of each seller over the last `days`, greatest share first."""
    row = [s.series(t) if t.index in (11, 18) else Series(t) for t in CSV_TYPES]
    won = buy_box_stats(s.product, row, s.now - days * DAY, s.now)
    return sorted(won.items(), key=lambda item: (-item[1]["percentageWon"], item[0]))


def _add_shares(found: Section, look: Look, lacking: Reason) -> None:
    """Shares need not sum to 100: nobody may have held the buy box for a while."""
    s = look.subject
    if not isinstance(s.product.get("buyBoxSellerIdHistory"), list):
        found.lack("buy_box_share", lacking)
        return
    won = shares(s, SHARE_DAYS)
    shown = SELLERS_WHOLE if look.whole else SELLERS_SHOWN
    found.put("buy_box_share", [_share(s, seller, figures) for seller, figures in won[:shown]], Reason.NONE)
    if won:
        found["buy_box_seller_count"] = len(won)
        found["buy_box_share_basis"] = {
            "method": "share_of_time",
            "inputs": {"window_days": SHARE_DAYS},
            "confidence": Confidence.EXACT.value,
            "evidence_path": [s.at("buyBoxSellerIdHistory"), s.series_path("BUY_BOX_SHIPPING")],
        }


def _share(s: Subject, seller: str, figures: Mapping[str, Any]) -> Section:
    fact = Section(seller_id=seller[:60], percentage_won=round(figures["percentageWon"], 2))
    known = figures["avgPrice"]
    fact.put("average_price", money(known, s.domain) if known >= 0 else None, Reason.NOT_COMPUTABLE)
    is_fba = figures["isFBA"]
    return fact.put("is_fba", is_fba if isinstance(is_fba, bool) else None, Reason.NOT_COLLECTED)


def _add_live(found: Section, look: Look) -> None:
    """The live offers in Amazon's order."""
    s = look.subject
    if not s.asked.offers:
        found.lack("live", Reason.NOT_REQUESTED)
        return
    if not isinstance(s.product.get("liveOffersOrder"), list):
        found.lack("live", Reason.NOT_COLLECTED)
        return
    places = live_places(s.product)
    found["live_offer_count"] = len(places)
    shown = places[: OFFERS_WHOLE if look.whole else OFFERS_SHOWN]
    found.put("live", [_offer(s, i) for i in shown], Reason.NONE)


def _offer(s: Subject, place: int) -> Section:
    """One offer with its newest price; sentinels never enter a sum."""
    offer = s.product["offers"][place]
    known: Mapping[str, Any] = offer if isinstance(offer, Mapping) else {}
    seller, condition = known.get("sellerId"), known.get("condition")
    fact = Section().put("seller_id", seller[:60] if isinstance(seller, str) else None, Reason.NOT_COLLECTED)
    fact.put("condition", CONDITIONS.get(condition) if type(condition) is int else None, Reason.NOT_COLLECTED)
    for name, field in {"is_fba": "isFBA", "is_prime": "isPrime", "is_amazon": "isAmazon"}.items():
        fact.put(name, known.get(field) if isinstance(known.get(field), bool) else None, Reason.NOT_COLLECTED)
    _add_offer_price(fact, s, known)
    stock = read_series(known.get("stockCSV"), BY_NAME["COUNT_NEW"])
    fact.put("stock", stock.values[-1] if len(stock) and stock.values[-1] >= 0 else None, _why_no_stock(known))
    one = coupon(known.get("coupon"), s.domain)
    if one:
        fact["coupon"] = one if "percent" in one else money(known["coupon"], s.domain)
    fact.put("last_seen_at", field_time(known.get("lastSeen")), Reason.NOT_COLLECTED)
    fact["evidence_path"] = s.at("offers", place)
    return fact


def _add_offer_price(fact: Section, s: Subject, offer: Mapping[str, Any]) -> None:
    series = read_series(offer.get("offerCSV"), SHIPPED_PRICES)
    price, shipping = (series.values[-1], series.shipping[-1]) if len(series) else (-2, -2)
    known = state_of(price, SHIPPED_PRICES.kind) == OK
    lacking = Reason.NONE if price == -1 else Reason.NOT_COLLECTED
    fact.put("price", money(price, s.domain) if known else None, lacking)
    fact.put("shipping", money(shipping, s.domain) if known and shipping >= 0 else None, Reason.NOT_COLLECTED)
    total = money(price + shipping, s.domain) if known and shipping >= 0 else None
    fact.put("total", total, Reason.NOT_COMPUTABLE)
    fact.put("at", iso(series.times[-1]) if len(series) else None, Reason.NOT_COLLECTED)


def _why_no_stock(offer: Mapping[str, Any]) -> Reason:
    return Reason.NOT_COLLECTED if "stockCSV" in offer else Reason.NOT_REQUESTED
