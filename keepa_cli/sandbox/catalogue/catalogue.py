"""The shop of one seed: products made when they are asked for, and kept while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from keepa_cli.sandbox.catalogue.gates import blank, visible
from keepa_cli.sandbox.catalogue.identity import code_of, invented_asin, leaf_index, words_of
from keepa_cli.sandbox.catalogue.market import Market, build
from keepa_cli.sandbox.catalogue.options import Options
from keepa_cli.sandbox.catalogue.seeds import Item
from keepa_cli.sandbox.catalogue.traits import INVALID, SHOWN, UNACCESSIBLE, product_type
from keepa_cli.sandbox.catalogue.tree import Tree
from keepa_cli.sandbox.catalogue.words import TREE

T = TypeVar("T")
SHELF = 1200
"""How many products a search looks through."""
SHELF_SEED = "shelf"
KEPT_MARKETS = 128
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


class Catalogue:
    """The same seed gives the same data for the same ASIN, marketplace and minute, in any order of asking."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._markets = Kept(KEPT_MARKETS)
        self._trees: Kept = Kept(16)

    def tree(self, domain: int) -> Tree:
        return self._trees.made(domain, lambda: Tree(self.seed, domain))

    def product(self, asin: str, domain: int, asked: Options, now: int) -> dict[str, Any]:
        """The Product object as seen at the even minute `now`."""
        kind, updated = product_type(asin), self.updated(asin, domain, asked.update, now)
        if kind in {UNACCESSIBLE, INVALID}:
            return blank(asin, domain, kind, updated)
        return visible(self._market(asin, domain, updated), asked, now)

    def updated(self, asin: str, domain: int, update: int, now: int) -> int:
        """When the product was last refreshed: within `update` hours, at a minute of its own."""
        if update == 0:
            return now
        period = (DAY_HOURS if update < 0 else min(update, DAY_HOURS)) * HOUR
        offset = self._item(asin, domain).rng("refresh").randrange(period // 2) * 2
        return now - (now + offset) % period

    def _item(self, asin: str, domain: int) -> Item:
        return Item(self.seed, asin, domain)

    def _market(self, asin: str, domain: int, updated: int) -> Market:
        item = self._item(asin, domain)
        return self._markets.made((asin, domain, updated), lambda: build(item, self.tree(domain), updated))

    @cached_property
    def _shelf(self) -> list[tuple[str, str]]:
        """ASIN and searchable text of what stands in the shop."""
        leaves = [
            f"{root} {group} {leaf}".lower()
            for root, groups in TREE.items()
            for group, names in groups.items()
            for leaf in names
        ]
        asins = [*(a for a in SHOWN), *(invented_asin(self.seed, SHELF_SEED, i) for i in range(SHELF))]
        known = [Item(self.seed, asin, 1) for asin in asins if product_type(asin) not in {UNACCESSIBLE, INVALID}]
        return [(i.asin, f"{words_of(i)[1].lower()} {leaves[leaf_index(i)]}") for i in known]

    def search(self, words: list[str]) -> list[str]:
        """Up to 20 ASINs whose title or category holds every word."""
        hits = (asin for asin, text in self._shelf if all(word in text for word in words))
        return [asin for asin, _ in zip(hits, range(MAX_RESULTS), strict=False)]

    @cached_property
    def _codes(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for asin, _ in self._shelf:
            found.setdefault(code_of(Item(self.seed, asin, 1)).lstrip("0"), []).append(asin)
        return found

    def by_code(self, code: str) -> list[str]:
        """The ASINs of an EAN, UPC or GTIN among what stands in the shop, or the one of an ISBN-13."""
        if len(code) == 13 and code.startswith("978"):
            check = -sum(int(d) * (10 - i) for i, d in enumerate(code[3:12])) % 11
            return [code[3:12] + ("X" if check == 10 else str(check))]
        return self._codes.get(code.lstrip("0"), [])
