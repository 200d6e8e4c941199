"""The histories of one product: the 36 slots of `csv` and what goes with them, as if everything were unlocked."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import Any

from keepa_cli.keepa.clock import DAY, from_iso
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.sandbox.catalogue.seeds import Item, rng
from keepa_cli.sandbox.catalogue.steps import Steps, flat, merge, since, value_at, walk
from keepa_cli.sandbox.catalogue.traits import SHOWN

SINCE_FBA_COUNTS = from_iso("2026-02-11")
SINCE_COUPONS = from_iso("2024-06-15")
BRACKETS = (50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 2000, 3000, 4000, 5000, 10000, 20000, 50000, 100000)
UNIT_PRICE = {"JPY": 1.5, "INR": 80.0, "MXN": 18.0, "BRL": 5.0}
"""What a US cent is in the smallest unit of a currency, roughly; 1 for the others."""
LIGHTNING_SHARE = 0.7
"""The price of a lightning deal as a share of the usual one."""
SELLERS = tuple("A" + "".join(rng("seller", i).choices("ABCDEFGHJKMNPQRSTUVWXYZ23456789", k=13)) for i in range(40))
AMAZON_SELLER = "ATVPDKIKX0DER"


class Rows:
    """The slots of `csv` that a product has, each drawn when it is asked for."""

    def __init__(self, drawn_by: Mapping[int, Callable[[], list[int]]]) -> None:
        self._drawn_by: dict[int, Callable[[], list[int]]] = dict(drawn_by)
        self._drawn: dict[int, list[int]] = {}

    def get(self, slot: int) -> list[int] | None:
        if slot in self._drawn_by and slot not in self._drawn:
            self._drawn[slot] = self._drawn_by[slot]()
        return self._drawn.get(slot)

    def keep(self, slots: Container[int]) -> None:
        """Leave out every other slot."""
        self._drawn_by = {slot: draw for slot, draw in self._drawn_by.items() if slot in slots}

    def change(self, slot: int, work: Callable[[list[int]], list[int]]) -> None:
        """Let a slot be what `work` makes of it."""
        before = self._drawn_by.get(slot, list)
        self._drawn_by[slot] = lambda: work(before())


class Histories:
    """`rows` by slot; `ranks` without the gaps of slot 3; `holders` are (minute, seller) of the buy box."""

    def __init__(self, maker: _Maker) -> None:
        self._maker = maker
        self.rows = Rows(maker.slots())

    @property
    def csv(self) -> list[list[int] | None]:
        return [self.rows.get(t.index) for t in CSV_TYPES]

    @property
    def ranks(self) -> Steps:
        return self._maker.rank

    @property
    def rank_gaps(self) -> tuple[int, ...]:
        return self._maker.gaps

    @cached_property
    def leaf_ranks(self) -> Steps:
        return self._maker.ranks("leaf", 6.0)

    @cached_property
    def holders(self) -> list[tuple[int, str]]:
        return self._maker.holders()

    @cached_property
    def used_holders(self) -> list[tuple[int, str]]:
        used = self._maker.used
        sellers = merge(used, used, lambda v, _: v * 7 % len(SELLERS) if v >= 0 else -1)
        return [(t, SELLERS[i] if i >= 0 else "") for t, i in sellers]

    @cached_property
    def sold(self) -> Steps:
        return self._maker.sold()

    @cached_property
    def coupons(self) -> list[tuple[int, int, int]]:
        return self._maker.coupons()


def histories(item: Item, special: frozenset[str], start: int, end: int) -> Histories:
    """Everything from `start`, when tracking began, to `end`."""
    return Histories(_Maker(item, special, start, end))


def base_price(item: Item) -> int:
    """Around what the product costs, in the smallest unit of its marketplace."""
    unit = UNIT_PRICE.get(DOMAINS[item.domain].currency, 1.0) if item.domain in DOMAINS else 1.0
    return int(item.shared("price").choice((899, 1499, 2499, 3999, 6999, 12999)) * unit)


def rounded(value: float, domain: int) -> int:
    """A price as shops write it: ending in 99 cents, or in a zero where the currency has no decimals."""
    if domain in DOMAINS and DOMAINS[domain].digits == 0:
        return max(10, int(value) // 10 * 10)
    return max(99, int(value) // 100 * 100 - 1)


def lightning_gap(item: Item) -> float:
    """Days between two lightning deals of a product; the one that shows them is never long without."""
    return 0.5 if item.asin in SHOWN else 60


def flash_starts(item: Item, start: int, share: float, gap: float) -> Iterator[int]:
    """When prices of some hours begin, without end."""
    source, time = item.rng(f"flash:{share}"), start
    while True:
        time += max(DAY, int(source.expovariate(1 / (gap * DAY)))) // 2 * 2
        yield time


@lru_cache(maxsize=16_384)
def rivals(item: Item) -> tuple[str, ...]:
    """The sellers that hold the buy box in turn."""
    return tuple(item.rng("holders").sample(SELLERS, 3))


class _Maker:
    """Draws the series of one product; every series has a generator of its own."""

    def __init__(self, item: Item, special: frozenset[str], start: int, end: int) -> None:
        self.item, self.special, self.start, self.end = item, special, start, end
        self.unit = UNIT_PRICE.get(DOMAINS[item.domain].currency, 1.0) if item.domain in DOMAINS else 1.0
        self.base = base_price(item)
        self.rank_gap = 0.12 if "large" in special else 4.0

    def steps(self, part: str, gap: float, first: int, change: Callable[[random.Random, int], int]) -> Steps:
        source = self.item.rng(part)
        return walk(source, self.start, self.end, gap, first, lambda value: change(source, value))

    def price(self, part: str, share: float, gap: float, gone: float) -> Steps:
        """A price around `share` of the base that is absent now and then, with chance `gone`."""

        def change(source: random.Random, value: int) -> int:
            if value >= 0 and source.random() < gone:
                return -1
            return self.round(self.base * share * source.uniform(0.78, 1.12))

        return self.steps(part, gap / (8 if "large" in self.special else 1), self.round(self.base * share), change)

    def round(self, value: float) -> int:
        return rounded(value, self.item.domain)

    def never(self) -> Steps:
        return [(self.start, -1)]

    def ranks(self, part: str, gap: float) -> Steps:
        first = self.item.rng(part + ":first").randrange(40, 90_000)
        return self.steps(part, gap, first, lambda s, v: max(1, min(900_000, int(v * s.uniform(0.72, 1.37)))))

    @cached_property
    def rank(self) -> Steps:
        return self.ranks("rank", self.rank_gap)

    @cached_property
    def gaps(self) -> tuple[int, ...]:
        """Times at which the reference category was lost, each between two ranks."""
        source = self.item.rng("rank gaps")
        spots = [(a, b) for (a, _), (b, _) in pairwise(self.rank) if b - a > 8]
        return tuple((a + (b - a) // 4 * 2) for a, b in spots if source.random() < 0.012)

    @cached_property
    def amazon(self) -> Steps:
        if "amazon" not in self.special or "single" in self.special:
            return self.never()
        return self.price("amazon", 1.0, 21, 0.18)

    @cached_property
    def new(self) -> Steps:
        """The lowest new price, which Amazon's can be."""
        if "single" in self.special:
            return [(self.start, self.base)]
        market = self.price("market", 1.03, 17, 0.04)
        return merge(self.amazon, market, lambda a, m: min((v for v in (a, m) if v >= 0), default=-1))

    @cached_property
    def used(self) -> Steps:
        return self.price("used", 0.6, 34, 0.25) if "used" in self.special else self.never()

    @cached_property
    def box(self) -> tuple[list[tuple[int, int, int]], Steps]:
        """The buy box as triples, and its prices: the lowest new offer, but suppressed at times."""
        source = self.item.rng("buy box")
        shipping = source.choice((0, 0, 0, int(499 * self.unit)))
        prices = [(t, -1 if v < 0 or source.random() < 0.05 else v) for t, v in self.new]
        prices = merge(prices, prices, lambda a, _: a)
        return [(t, v, shipping if v >= 0 else -1) for t, v in prices], prices

    def holders(self) -> list[tuple[int, str]]:
        source, found = self.item.rng("holders"), list[tuple[int, str]]()
        sellers = source.sample(SELLERS, 3)
        for time, value in self.box[1]:
            seller = source.choice(sellers)
            if value < 0:
                seller = source.choice(("-1", "-2"))
            elif value_at(self.amazon, time) == value:
                seller = AMAZON_SELLER
            if not found or found[-1][1] != seller:
                found.append((time, seller))
        return found

    def slots(self) -> dict[int, Callable[[], list[int]]]:
        """How each slot of `csv` is drawn, those left out that this product has nothing for."""
        always: dict[int, Callable[[], Sequence[tuple[int, ...]]]] = {
            0: lambda: self.amazon,
            1: lambda: self.new,
            2: lambda: self.used,
            3: lambda: sorted([*self.rank, *((t, -1) for t in self.gaps)]),
            4: self.list_price,
            7: lambda: self.with_shipping(self.price("fbm", 1.1, 30, 0.1), int(399 * self.unit)),
            10: lambda: self.price("fba", 1.05, 24, 0.08),
            11: lambda: self.offers,
            15: self.refreshes,
            16: self.stars,
            17: self.reviews,
            18: lambda: self.box[0],
        }
        if self.end > SINCE_FBA_COUNTS:
            start = max(self.start, SINCE_FBA_COUNTS)
            always[34] = lambda: since(self.fba_offers, start)
            always[35] = lambda: since(merge(self.offers, self.fba_offers, lambda n, f: n - f), start)
        draws = always | {
            slot: draw
            for trait, found in self._of_traits().items()
            if trait in self.special
            for slot, draw in found.items()
        }
        return {slot: partial(_packed, draw) for slot, draw in draws.items()}

    def _of_traits(self) -> dict[str, dict[int, Callable[[], Sequence[tuple[int, ...]]]]]:
        return {
            "refurbished": {
                6: lambda: self.price("refurbished", 0.75, 45, 0.3),
                13: lambda: self.steps("renewed", 50, 1, _count(4)),
            },
            "used": {
                9: lambda: self.price("warehouse", 0.85, 40, 0.4),
                12: self.used_offers,
                20: lambda: self.with_shipping(self.used, int(399 * self.unit)),
                32: lambda: self.with_shipping(self.used, 0),
            },
            "lightning": {8: lambda: self.flashes(LIGHTNING_SHARE, lightning_gap(self.item))},
            "prime": {33: lambda: self.flashes(0.85, 120)},
        }

    def list_price(self) -> Steps:
        first = self.round(self.base * 1.25)
        return self.steps("list", 160, first, lambda s, v: self.round(v * s.uniform(1, 1.08)))

    def with_shipping(self, prices: Steps, shipping: int) -> list[tuple[int, int, int]]:
        return [(t, v, shipping if v >= 0 else -1) for t, v in prices]

    def flashes(self, share: float, gap: float) -> Steps:
        """Prices that last some hours, with nothing between them."""
        found: Steps = []
        for time in flash_starts(self.item, self.start, share, gap):
            if time + 720 > self.end:
                break
            found += [(time, self.round(self.base * share)), (time + 360, -1)]
        return found or self.never()

    @cached_property
    def offers(self) -> Steps:
        return merge(self.steps("offers", 15, 4, _count(18)), self.new, lambda n, price: n if price >= 0 else 0)

    @cached_property
    def fba_offers(self) -> Steps:
        return merge(self.steps("fba offers", 20, 2, _count(6)), self.offers, min)

    def used_offers(self) -> Steps:
        return merge(self.steps("used offers", 40, 2, _count(9)), self.used, lambda n, p: n if p >= 0 else 0)

    def stars(self) -> Steps:
        first = self.item.shared("rating").randrange(36, 48)
        return self.steps("rating", 60, first, lambda s, v: max(30, min(50, v + s.choice((-1, 1)))))

    def reviews(self) -> Steps:
        return self.steps("reviews", 1 if "large" in self.special else 9, 1, lambda s, v: v + s.randrange(1, 40))

    def refreshes(self) -> Steps:
        gap = 0.5 if "large" in self.special else 14
        return self.steps("refreshes", gap, 1, lambda s, _: s.choice((1, 2, 3, 4, 5, -3)))

    def sold(self) -> Steps:
        def change(source: random.Random, value: int) -> int:
            i = BRACKETS.index(value) + source.choice((-1, 1, 1))
            return BRACKETS[max(0, min(i, len(BRACKETS) - 1))]

        return self.steps("sold", 30, 50, change)

    def coupons(self) -> list[tuple[int, int, int]]:
        """(minute, one-time, subscribe and save) with percent below zero; empty without the trait."""
        start = max(self.start, SINCE_COUPONS)
        if "coupon" not in self.special or start > self.end:
            return []
        source = self.item.rng("coupons")
        kinds = {0: (0, 0), 1: (-10, 0), 2: (int(200 * self.unit), 0), 3: (0, -5)}
        steps = walk(source, start, self.end, 25, 1, lambda v: 0 if v else source.choice((1, 2, 3)))
        return [(t, *kinds[v]) for t, v in steps]


def _count(most: int) -> Callable[[random.Random, int], int]:
    return lambda source, value: max(0, min(most, value + source.choice((-2, -1, 1, 1, 2))))


def packed_text(points: list[tuple[Any, ...]]) -> list[str]:
    """An array of strings, as Keepa sends histories of sellers."""
    return [str(value) for point in points for value in point]


def _packed(draw: Callable[[], Sequence[tuple[int, ...]]]) -> list[int]:
    return flat(draw())
