"""The facts that every judgement of a product starts from, read once: what is known, where it stands, else why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa.buybox import NOBODY, holders
from keepa_cli.keepa.csvtypes import BY_NAME, CsvType
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.money import money, tenths
from keepa_cli.keepa.offers import live_places
from keepa_cli.research.facts import Reason
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.values import current, rows, why_none
from keepa_cli.research.subject import Subject

SERIES: Mapping[str, str] = {
    "new_price": "NEW", "buy_box_price": "BUY_BOX_SHIPPING", "amazon_price": "AMAZON", "sales_rank": "SALES",
    "rating": "RATING", "review_count": "COUNT_REVIEWS", "new_offer_count": "COUNT_NEW",
}  # fmt: skip
"""Facts that are the newest value of a series."""
PRICES = ("buy_box_price", "new_price", "amazon_price")
"""What a buyer pays, in the order in which it is believed: the first that is known is the price of a product."""
NO_BUY_BOX = frozenset({"downloadable", "ebook", "variation_parent"})
"""Kinds of products that are not sold through a buy box (source: keepa-api.md §6.1)."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: its raw value, or the reason why there is none; `path` leads to where it stands, or should stand."""

    value: Any
    reason: Reason | None
    path: str
    at: int | None = None
    type: CsvType | None = None

    @property
    def known(self) -> bool:
        return self.reason is None

    def shown(self, domain: Domain) -> Any:
        """The value as views show it: money with its currency, a rating as text, else as it is."""
        if self.reason is not None or self.type is None:
            return self.value
        if self.type.is_price:
            return money(self.value, domain)
        return tenths(self.value) if self.type.name == "RATING" else self.value


@dataclass(frozen=True)
class Vitals:
    """The facts by name. `price_name` is the first of PRICES that has a value now."""

    facts: Mapping[str, Fact]
    price_name: str | None
    rank_category: tuple[int, str | None] | None

    def __getitem__(self, name: str) -> Fact:
        return self.facts[name]

    def value(self, name: str) -> Any:
        return self.facts[name].value

    @property
    def price(self) -> Fact | None:
        return self.facts[self.price_name] if self.price_name else None

    @property
    def price_type(self) -> CsvType:
        """The type that the price is taken from, that of new offers where there is no price now."""
        return BY_NAME[SERIES[self.price_name or "new_price"]]


def section(look: Look) -> Vitals:
    """Not shown itself: other sections read it."""
    s = look.subject
    found = {name: _newest(s, code) for name, code in SERIES.items()}
    if s.kind in NO_BUY_BOX and not found["buy_box_price"].known:
        found["buy_box_price"] = Fact(None, Reason.NOT_APPLICABLE, s.series_path("BUY_BOX_SHIPPING"))
    found |= {
        "title": _text(s, "title"),
        "brand": _text(s, "brand"),
        "category": _category(s),
        "image_count": _images(s),
        "monthly_sold": _monthly_sold(s),
        "buy_box_seller": _seller(s),
        "live_offer_count": _live_offers(s),
        "video_count": _count(s, "videos", asked=s.asked.videos),
        "aplus_module_count": _modules(s),
    }
    price = next((name for name in PRICES if found[name].known), None)
    return Vitals(found, price, _rank_category(s))


def _newest(s: Subject, code: str) -> Fact:
    found, t = current(s, code), BY_NAME[code]
    if found is None:
        return Fact(None, why_none(s, code), s.series_path(t), None, t)
    return Fact(found.landed, None, found.path, found.at, t)


def _field(s: Subject, name: str) -> str:
    return s.at(name) if name in s.product else s.path


def _text(s: Subject, name: str) -> Fact:
    value = s.product.get(name)
    if isinstance(value, str) and value.strip():
        return Fact(value, None, _field(s, name))
    reason = Reason.NOT_COLLECTED if value is None or isinstance(value, str) else Reason.UNREADABLE
    return Fact(None, reason, _field(s, name))


def _count(s: Subject, name: str, *, asked: bool) -> Fact:
    """How many there are; an empty list is 0. What Keepa left out although asked was not collected."""
    value = s.product.get(name)
    if isinstance(value, list):
        return Fact(len(value), None, _field(s, name))
    if value is not None:
        return Fact(None, Reason.UNREADABLE, _field(s, name))
    return Fact(None, Reason.NOT_COLLECTED if asked else Reason.NOT_REQUESTED, _field(s, name))


def _images(s: Subject) -> Fact:
    """Older answers hold the names of the pictures as comma text."""
    text = s.product.get("imagesCSV")
    if isinstance(text, str) and not isinstance(s.product.get("images"), list):
        return Fact(len([name for name in text.split(",") if name]), None, s.at("imagesCSV"))
    return _count(s, "images", asked=True)


def _modules(s: Subject) -> Fact:
    found = _count(s, "aPlus", asked=s.asked.aplus)
    if not found.known:
        return found
    modules = [m for content in rows(s.product["aPlus"]) for m in rows(content.get("module"))]
    return Fact(len(modules), None, found.path)


def _category(s: Subject) -> Fact:
    tree = s.product.get("categoryTree")
    for i, node in enumerate(tree if isinstance(tree, list) else []):
        if isinstance(node, Mapping) and isinstance(node.get("name"), str):
            return Fact(node["name"], None, s.at("categoryTree", i, "name"))
    return Fact(None, Reason.NOT_COLLECTED, _field(s, "categoryTree"))


def _monthly_sold(s: Subject) -> Fact:
    value = s.product.get("monthlySold")
    if type(value) is int and value >= 0:
        return Fact(value, None, _field(s, "monthlySold"))
    reason = Reason.NONE if value == -1 else Reason.NOT_COLLECTED if value is None else Reason.UNREADABLE
    return Fact(None, reason, _field(s, "monthlySold"))


def _seller(s: Subject) -> Fact:
    """Who holds the buy box now."""
    known = [(t, who) for t, who in holders(s.product.get("buyBoxSellerIdHistory")) if t <= s.now]
    who: Any = known[-1][1] if known else s.stats.get("buyBoxSellerId")
    path = s.at("buyBoxSellerIdHistory") if known else _field(s, "buyBoxSellerIdHistory")
    if isinstance(who, str) and who not in NOBODY:
        return Fact(who, None, path if known else s.at("stats", "buyBoxSellerId"), known[-1][0] if known else None)
    if not s.asked.buybox:
        return Fact(None, Reason.NOT_REQUESTED, path)
    if s.kind in NO_BUY_BOX:
        return Fact(None, Reason.NOT_APPLICABLE, path)
    unknown = who is None or who == "-2"
    return Fact(None, Reason.NOT_COLLECTED if unknown else Reason.NONE, path)


def _live_offers(s: Subject) -> Fact:
    """How many live offers were fetched: those that `liveOffersOrder` names."""
    if isinstance(s.product.get("liveOffersOrder"), list) and isinstance(s.product.get("offers"), list):
        return Fact(len(live_places(s.product)), None, s.at("liveOffersOrder"))
    reason = Reason.NOT_COLLECTED if s.asked.offers else Reason.NOT_REQUESTED
    return Fact(None, reason, _field(s, "offers"))


def _rank_category(s: Subject) -> tuple[int, str | None] | None:
    """Id and name of the category that the sales rank counts in."""
    number = s.product.get("salesRankReference")
    if type(number) is not int or number <= 0:
        return None
    tree = s.product.get("categoryTree")
    for node in tree if isinstance(tree, list) else []:
        if isinstance(node, Mapping) and node.get("catId") == number and isinstance(node.get("name"), str):
            return number, node["name"]
    return number, None
