"""The shop of one seed: products made when they are asked for, and kept while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, TypeVar

from keepa_cli.sandbox.catalogue.cards import Card, card
from keepa_cli.sandbox.catalogue.entry import Entry
from keepa_cli.sandbox.catalogue.gates import blank, visible
from keepa_cli.sandbox.catalogue.identity import code_of, invented_asin
from keepa_cli.sandbox.catalogue.market import Change, Market, build
from keepa_cli.sandbox.catalogue.options import Options
from keepa_cli.sandbox.catalogue.seeds import Item
from keepa_cli.sandbox.catalogue.traits import INVALID, SHOWN, UNACCESSIBLE, product_type
from keepa_cli.sandbox.catalogue.tree import Tree

T = TypeVar("T")
SHELF = 1200
"""How many products stand in the shop, besides those that show something: what searches, filters and lists know."""
SHELF_SEED = "shelf"
KEPT_MARKETS = 128
KEPT_SHELF = 2 * SHELF
MAX_RESULTS = 20
HOUR, DAY_HOURS = 60, 24


class Kept(OrderedDict[Any, Any]):
    """The newest `room` values, made under one lock. Sizes are counted by `weigh`."""

    def __init__(self, room: int, weigh: Callable[[Any], int] = lambda _: 1) -> None:
        super().__init__()
        self._room, self._weigh, self._used, self._lock = room, weigh, 0, threading.RLock()

    def made(self, key: Any, make: Callable[[], T]) -> T:
        with self._lock:
            if key in self:
                self.move_to_end(key)
                found: T = self[key]
                return found
        value = make()
        with self._lock:
            if key not in self:
                self[key] = value
                self._used += self._weigh(value)
            while self._used > self._room and len(self) > 1:
                self._used -= self._weigh(self.popitem(last=False)[1])
        return value


_STANDING = Kept(KEPT_SHELF)
"""What stands in the shops of a process: the same seed gives the same, so sandboxes share it."""


@lru_cache(maxsize=16_384)
def _refresh_minute(item: Item, period: int) -> int:
    return item.rng("refresh").randrange(period // 2) * 2


class Catalogue:
    """The same seed gives the same data for the same ASIN, marketplace and minute, in any order of asking."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.changes = 0
        """How many prices were changed by hand."""
        self._markets = Kept(KEPT_MARKETS)
        self._trees: Kept = Kept(16)
        self._changed: dict[tuple[str, int], list[Change]] = {}

    def tree(self, domain: int) -> Tree:
        return self._trees.made(domain, lambda: Tree(self.seed, domain))

    def product(self, asin: str, domain: int, asked: Options, now: int) -> dict[str, Any]:
        """The Product object as seen at the even minute `now`."""
        kind, updated = product_type(asin), self.updated(asin, domain, asked.update, now)
        if kind in {UNACCESSIBLE, INVALID}:
            return blank(asin, domain, kind, updated)
        return visible(self._market(asin, domain, updated), asked, now)

    def updated(self, asin: str, domain: int, update: int, now: int) -> int:
        """When the product was last refreshed: within `update` hours, at a minute of its own, or when changed."""
        if update == 0:
            return now
        period = (DAY_HOURS if update < 0 else min(update, DAY_HOURS)) * HOUR
        offset = _refresh_minute(self._item(asin, domain), period)
        regular = now - (now + offset) % period
        return max([regular, *(c.minute for c in self._changed.get((asin, domain), ()) if c.minute <= now)])

    def change_price(self, change: Change) -> None:
        """Let a price be another one from a minute on, until its history moves by itself."""
        self._changed.setdefault((change.asin, change.domain), []).append(change)
        self.changes += 1

    def market(self, asin: str, domain: int, now: int) -> Market | None:
        """Everything about a product as of its last hourly refresh; None for one without data."""
        if product_type(asin) in {UNACCESSIBLE, INVALID}:
            return None
        return self._market(asin, domain, self.updated(asin, domain, 1, now))

    def entries(self, domain: int, now: int) -> list[Entry]:
        """What stands in the shop, in an order that never changes."""
        return [self._entry(c, domain, now) for c in self._shelf]

    def entry(self, asin: str, domain: int, now: int) -> Entry | None:
        """Any product, also one that does not stand in the shop; None for one without data."""
        if product_type(asin) in {UNACCESSIBLE, INVALID}:
            return None
        return self._entry(card(Item(self.seed, asin, 1)), domain, now)

    def _entry(self, known: Card, domain: int, now: int) -> Entry:
        def make() -> Market:
            updated = self.updated(known.asin, domain, 1, now)
            changes = tuple(self._changed.get((known.asin, domain), ()))
            key = (self.seed, known.asin, domain, updated, changes)
            return _STANDING.made(key, lambda: self._built(known.asin, domain, updated))

        return Entry(known, self.tree(domain), now, make)

    def _item(self, asin: str, domain: int) -> Item:
        return Item(self.seed, asin, domain)

    def _market(self, asin: str, domain: int, updated: int) -> Market:
        key = (asin, domain, updated, self.changes)
        return self._markets.made(key, lambda: self._built(asin, domain, updated))

    def _built(self, asin: str, domain: int, updated: int) -> Market:
        changes = self._changed.get((asin, domain), ())
        return build(self._item(asin, domain), self.tree(domain), updated, changes)

    @cached_property
    def _shelf(self) -> list[Card]:
        asins = [*SHOWN, *(invented_asin(self.seed, SHELF_SEED, i) for i in range(SHELF))]
        return [card(Item(self.seed, a, 1)) for a in asins if product_type(a) not in {UNACCESSIBLE, INVALID}]

    @cached_property
    def _texts(self) -> list[tuple[str, str]]:
        return [(c.asin, c.text) for c in self._shelf]

    def search(self, words: list[str]) -> list[str]:
        """Up to 20 ASINs whose title or category holds every word."""
        hits = (asin for asin, text in self._texts if all(word in text for word in words))
        return [asin for asin, _ in zip(hits, range(MAX_RESULTS), strict=False)]

    @cached_property
    def _codes(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for known in self._shelf:
            found.setdefault(code_of(Item(self.seed, known.asin, 1)).lstrip("0"), []).append(known.asin)
        return found

    def by_code(self, code: str) -> list[str]:
        """The ASINs of an EAN, UPC or GTIN among what stands in the shop, or the one of an ISBN-13."""
        if len(code) == 13 and code.startswith("978"):
            check = -sum(int(d) * (10 - i) for i, d in enumerate(code[3:12])) % 11
            return [code[3:12] + ("X" if check == 10 else str(check))]
        return self._codes.get(code.lstrip("0"), [])
