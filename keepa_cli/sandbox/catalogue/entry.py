"""A product of the shop as filters, deals and rankings see it: everything unlocked, worked out when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.series import Series
from keepa_cli.keepa.stats import average
from keepa_cli.sandbox.catalogue.cards import Card
from keepa_cli.sandbox.catalogue.gates import visible
from keepa_cli.sandbox.catalogue.market import Market
from keepa_cli.sandbox.catalogue.options import Options
from keepa_cli.sandbox.catalogue.seeds import MAX_CATEGORY
from keepa_cli.sandbox.catalogue.tree import Node, Tree

EVERYTHING = Options(
    with_stats=True, stats=90, offers=100, rating=True, buybox=True, stock=True, videos=True, aplus=True,
    historical_variations=True,
)  # fmt: skip
SALES = 3


class Entry:
    """Valid for one question: `now` stands still. `make` builds the market, which the catalogue keeps."""

    def __init__(self, card: Card, tree: Tree, now: int, make: Callable[[], Market]) -> None:
        self.card, self.now = card, now
        self._tree, self._make = tree, make

    @property
    def asin(self) -> str:
        return self.card.asin

    @cached_property
    def market(self) -> Market:
        return self._make()

    @property
    def fields(self) -> dict[str, Any]:
        return self.market.fields

    @cached_property
    def full(self) -> dict[str, Any]:
        """The Product object with every option on, statistics over 90 days included."""
        return visible(self.market, EVERYTHING, self.now)

    @property
    def stats(self) -> dict[str, Any]:
        found: dict[str, Any] = self.full["stats"]
        return found

    @cached_property
    def path(self) -> list[Node]:
        """From the root category to the leaf, without building the market."""
        if "nowhere" in self.card.special:
            return [Node(MAX_CATEGORY, "?")]
        return self._tree.path(self._tree.leaves[self.card.leaf % len(self._tree.leaves)])

    @property
    def root(self) -> int:
        return self.path[0].id

    @property
    def leaf(self) -> int:
        return self.path[-1].id

    def series(self, slot: int) -> Series:
        return self.market.series(slot)

    def current(self, slot: int) -> int:
        """The value of now as statistics count it, -1 without one."""
        return self.series(slot).last()

    def average(self, slot: int, days: int) -> int:
        return average(self.series(slot), self.now - days * DAY, self.now)

    def average_in(self, slot: int, start: int, end: int) -> int:
        return average(self.series(slot), start, min(end, self.now))

    @property
    def rank(self) -> int:
        return self.current(SALES)
