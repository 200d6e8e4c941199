"""What speaks against a product, each risk with the figure that crossed its limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.research.facts import Reason
from keepa_cli.research.measures import mean, percent, spread
from keepa_cli.research.needs import Need
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.next_actions import offered
from keepa_cli.research.product.values import listed, rows
from keepa_cli.research.product.vitals import Fact, Vitals
from keepa_cli.research.risks import HIGH, MEDIUM, THRESHOLDS, Risk, risk_item, taxonomy

CORE = ("new_price", "sales_rank", "rating", "review_count", "new_offer_count")
LACKING = frozenset({Reason.NOT_COLLECTED, Reason.UNREADABLE})
Item = dict[str, Any]


def section(look: Look) -> dict[str, Any]:
    """`{known_codes, codes, items}`; a product that Keepa cannot access has one risk only."""
    s = look.subject
    if not s.usable:
        why = "Keepa has no data: the ASIN cannot be accessed or does not exist."
        path = s.at("productType") if "productType" in s.product else s.path
        return taxonomy([risk_item(Risk.DATA_MISSING, HIGH, why, path)])
    vitals: Vitals = look.section("vitals")
    rules = (_data, _price, _rank, _reviews, _competition, _buy_box, _category)
    return taxonomy(item for rule in rules for item in rule(look, vitals))


def _data(look: Look, v: Vitals) -> Iterator[Item]:
    core = [n for n in CORE if not (n == "new_price" and v.price_name)]
    lacking = [n for n in core if v[n].reason in LACKING]
    limit = THRESHOLDS[Risk.DATA_MISSING]
    if severity := limit.severity(len(lacking)):
        why = f"Asked for, but not there: {', '.join(lacking)}."
        again = offered(look, Need.GET_PRODUCT, {"update": 0}, "Have Keepa collect the product now.")
        yield risk_item(
            Risk.DATA_MISSING, severity, why, [v[n].path for n in lacking], metric=limit.metric(len(lacking)),
            follow_up=_brief(again),
        )  # fmt: skip


def _price(look: Look, v: Vitals) -> Iterator[Item]:
    s, limit = look.subject, THRESHOLDS[Risk.PRICE_UNSTABLE]
    found = spread(s, v.price_type, 90)
    if severity := limit.severity(found):
        why = f"The price ({v.price_type.name}) spreads by {found:g} % around its 90-day mean."
        yield risk_item(Risk.PRICE_UNSTABLE, severity, why, s.series_path(v.price_type), metric=limit.metric(found))


def rank_worsening(look: Look, v: Vitals) -> tuple[float | None, int | None, int | None]:
    """How much the rank got worse, and the means of the last 30 days and of the 60 days before."""
    s, sales = look.subject, BY_NAME["SALES"]
    recent, before = mean(s, sales, 30), mean(s, sales, 90, until=30)
    both = [percent(recent, before), percent(v.value("sales_rank"), before)]
    known = [p for p in both if p is not None]
    return (min(known) if len(known) == len(both) else None), recent, before


def _rank(look: Look, v: Vitals) -> Iterator[Item]:
    limit = THRESHOLDS[Risk.RANK_DECLINING]
    worse, recent, before = rank_worsening(look, v)
    if severity := limit.severity(worse):
        why = f"Mean rank {recent:,} in the last 30 days and {v.value('sales_rank'):,} now, {before:,} before."
        path = look.subject.series_path("SALES")
        yield risk_item(Risk.RANK_DECLINING, severity, why, path, metric=limit.metric(worse))


def _reviews(look: Look, v: Vitals) -> Iterator[Item]:
    limit, found = THRESHOLDS[Risk.LOW_REVIEW_COUNT], v["review_count"]
    if severity := limit.severity(found.value):
        why = f"Only {found.value} ratings."
        yield risk_item(Risk.LOW_REVIEW_COUNT, severity, why, found.path, metric=limit.metric(found.value))


def _competition(look: Look, v: Vitals) -> Iterator[Item]:
    limit, found = THRESHOLDS[Risk.OFFER_COMPETITION_HIGH], v["new_offer_count"]
    if severity := limit.severity(found.value):
        why = f"{found.value} offers in new condition."
        more = None
        if not look.subject.asked.offers:
            more = offered(look, Need.GET_OFFERS, {"offers": 20}, "See who the sellers are.")
        yield risk_item(
            Risk.OFFER_COMPETITION_HIGH, severity, why, found.path, metric=limit.metric(found.value),
            follow_up=_brief(more),
        )  # fmt: skip


def _buy_box(look: Look, v: Vitals) -> Iterator[Item]:
    """Asked for, and nobody holds it. Not asked for, not collected and not sold through a buy box are no risk."""
    price, seller = v["buy_box_price"], v["buy_box_seller"]
    if price.known or not nobody(price, seller):
        return
    limit, offers = THRESHOLDS[Risk.BUYBOX_MISSING], v.value("new_offer_count") or 0
    severity = limit.severity(offers) or MEDIUM
    why = f"Nobody holds the buy box, with {offers} offers in new condition."
    path = price.path if price.reason is Reason.NONE else seller.path
    yield risk_item(Risk.BUYBOX_MISSING, severity, why, path, metric=limit.metric(offers))


def nobody(price: Fact, seller: Fact) -> bool:
    """Whether it is known that nobody holds the buy box: there is no price, or no seller where no price is known."""
    unknown = {Reason.NOT_REQUESTED, Reason.NOT_APPLICABLE}
    return not {price.reason, seller.reason} & unknown and Reason.NONE in {price.reason, seller.reason}


def _category(look: Look, v: Vitals) -> Iterator[Item]:
    found = dict(_contradictions(look.subject.product, v))
    limit = THRESHOLDS[Risk.CATEGORY_MISMATCH]
    if severity := limit.severity(len(found)):
        path = [look.subject.at(name) for name in found]
        yield risk_item(
            Risk.CATEGORY_MISMATCH, severity, " ".join(found.values()), path, metric=limit.metric(len(found))
        )


def _contradictions(product: Mapping[str, Any], v: Vitals) -> Iterator[tuple[str, str]]:
    """(field, sentence) of every id that stands in no branch of the product's category tree."""
    ids = [n["catId"] for n in rows(product.get("categoryTree")) if type(n.get("catId")) is int]
    if not ids:
        return
    root = product.get("rootCategory")
    if type(root) is int and root > 0 and root != ids[0]:
        yield "rootCategory", f"The root category {root} is not that of the tree ({ids[0]})."
    leaves = [n for n in listed(product.get("categories")) if type(n) is int]
    if v.rank_category and v.rank_category[0] not in {*ids, *leaves, root if type(root) is int else 0}:
        yield "salesRankReference", f"The sales rank counts in category {v.rank_category[0]}, outside the tree."


def _brief(action: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """An action as a pointer: what it is called and how to run it."""
    return None if action is None else {"action": action["action"], "cli": action["cli"]}
