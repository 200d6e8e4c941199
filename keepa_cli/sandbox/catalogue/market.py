"""One product on one marketplace with everything unlocked: what the gates then show or hide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.csvtypes import csv_type
from keepa_cli.keepa.series import Series, read_series
from keepa_cli.sandbox.catalogue import identity as names
from keepa_cli.sandbox.catalogue.history import Histories, histories
from keepa_cli.sandbox.catalogue.seeds import MAX_CATEGORY, Item
from keepa_cli.sandbox.catalogue.steps import even
from keepa_cli.sandbox.catalogue.traits import DOWNLOADABLE, EBOOK, VARIATION_PARENT, product_type, traits
from keepa_cli.sandbox.catalogue.tree import Node, Tree, display_group

EARLIEST, LATEST = 6_540_000, 7_590_000
"""Tracking of invented products begins between June 2023 and June 2025."""
SLOTS_OF = {
    DOWNLOADABLE: frozenset({0, 3, 4, 16, 17}),
    EBOOK: frozenset({0, 3, 4, 16, 17}),
    VARIATION_PARENT: frozenset({3, 16, 17}),
}
YEARS_AHEAD = 2


@dataclass(frozen=True)
class Market:
    """Tracked from minute `since` on, refreshed at `updated`. What is drawn at random is drawn when it is needed."""

    item: Item
    kind: int
    special: frozenset[str]
    since: int
    updated: int
    tree: Tree
    histories: Histories
    parent: str | None
    members: list[str]
    _read: dict[int, Series] = field(default_factory=dict)

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The fields that no option changes. Do not change them."""
        return _fields(self)

    def series(self, slot: int) -> Series:
        """A price type's history, split once."""
        if slot not in self._read:
            self._read[slot] = read_series(self.histories.rows.get(slot), slot)
        return self._read[slot]

    @property
    def rating_fresh(self) -> bool:
        return "stale" not in self.special

    @property
    def sells_offers(self) -> bool:
        return self.kind not in SLOTS_OF


@dataclass(frozen=True)
class Change:
    """A price that is set by hand: from `minute` on the series `slot` holds `value`."""

    asin: str
    domain: int
    slot: int
    minute: int
    value: int


def build(item: Item, tree: Tree, updated: int, changes: Sequence[Change] = ()) -> Market:
    """The product as Keepa knew it at its refresh in minute `updated`."""
    kind, special = product_type(item.asin), traits(item)
    since = even(item.shared("tracking").randrange(EARLIEST, LATEST))
    known = histories(item, special, since, max(updated, since))
    for change in changes:
        if since < change.minute <= updated:
            known.rows.change(change.slot, partial(_changed, change))
    if kind in SLOTS_OF:
        known.rows.keep(SLOTS_OF[kind])
    parent, members = names.family(item) if "family" in special else (None, [])
    return Market(item, kind, special, since, updated, tree, known, parent, members)


def _fields(market: Market) -> dict[str, Any]:
    item, special, known = market.item, market.special, market.histories
    child = market.parent is not None and market.kind != VARIATION_PARENT
    found = {
        **names.identity(item),
        **_times(item, special, market.since, market.updated, known),
        **_taxonomy(item, special, market.tree, known),
        **_trade(known, special),
        "domainId": item.domain,
        "fbaFees": {
            "lastUpdate": even(market.updated - 3 * DAY),
            "pickAndPackFee": item.rng("fees").randrange(250, 900),
        },
        "parentAsin": market.parent if child else None,
        "productType": market.kind,
        "variations": names.variations(market.members) if market.members else None,
    }
    return found | ({"parentAsinHistory": [str(market.since), "-1"]} if child else {})


def _changed(change: Change, row: list[int]) -> list[int]:
    """The series with the new point, without points that would repeat the value before them."""
    stride = csv_type(change.slot).stride
    points = {row[i]: row[i + 1 : i + stride] for i in range(0, len(row), stride)}
    points[change.minute] = [change.value] if stride == 2 else [change.value, 0 if change.value >= 0 else -1]
    found: list[int] = []
    for time in sorted(points):
        if not found or found[1 - stride :] != points[time]:
            found += [time, *points[time]]
    return found


def _times(item: Item, special: frozenset[str], since: int, updated: int, known: Histories) -> dict[str, Any]:
    source = item.shared("times")
    listed = even(since - source.randrange(0, 400) * DAY)
    if "future" in special:
        listed = even(updated + YEARS_AHEAD * 365 * DAY)
    rows = [row for slot in (0, 1, 2) if (row := known.rows.get(slot))]
    return {
        "lastEbayUpdate": 0,
        "lastPriceChange": max((row[-2] for row in rows), default=since),
        "lastRatingUpdate": even(updated - 20 * DAY) if "stale" in special else updated,
        "lastSoldUpdate": updated,
        "lastUpdate": updated,
        "listedSince": listed,
        "trackingSince": since,
    }


def _taxonomy(item: Item, special: frozenset[str], tree: Tree, known: Histories) -> dict[str, Any]:
    if "nowhere" in special:
        path = [Node(MAX_CATEGORY, "?")]
    else:
        path = tree.path(tree.leaves[names.leaf_index(item) % len(tree.leaves)])
    root, leaf = path[0], path[-1]
    group = None if root.id == MAX_CATEGORY else display_group(root.name)
    return {
        "categories": [leaf.id],
        "categoryTree": [{"catId": node.id, "name": node.name} for node in path],
        "rootCategory": root.id,
        "salesRankDisplayGroup": group,
        "salesRankReference": root.id,
        "salesRankReferenceHistory": _references(root.id, known),
        "salesRanks": _ranks(root.id, leaf.id, known),
        "websiteDisplayGroup": group,
        "websiteDisplayGroupName": None if group is None else root.name,
    }


def _ranks(root: int, leaf: int, known: Histories) -> dict[str, list[int]]:
    found = {str(root): [n for point in known.ranks for n in point]}
    if leaf != root:
        found[str(leaf)] = [n for t, v in known.leaf_ranks for n in (t, max(1, v // 40))]
    return found


def _references(root: int, known: Histories) -> list[int]:
    """The reference category, lost at every gap and found again with the next rank."""
    found = [known.ranks[0][0], root]
    times = [t for t, _ in known.ranks]
    for gap in known.rank_gaps:
        found += [gap, -1, next(t for t in times if t > gap), root]
    return found


def _trade(known: Histories, special: frozenset[str]) -> dict[str, Any]:
    """Demand, coupons and promotions. Coupons without history are omitted, the current one is null."""
    coupon = known.coupons[-1][1:] if known.coupons else (0, 0)
    amazon = (known.rows.get(0) or [-1])[-1]
    found: dict[str, Any] = {
        "availabilityAmazon": 0 if amazon >= 0 else -1,
        "buyBoxEligibleOfferCounts": [*_eligible(known), 0, 0, 0, 0, 0, 0],
        "coupon": list(coupon) if any(coupon) else None,
        "ebayListingIds": None,
        "isEligibleForSuperSaverShipping": amazon >= 0,
        "isSNS": "coupon" in special,
        "monthlySold": known.sold[-1][1],
        "monthlySoldHistory": [n for point in known.sold for n in point],
        "promotions": None,
        "referralFeePercent": 15,
        "referralFeePercentage": 15.01,
    }
    if known.coupons:
        found["couponHistory"] = [n for point in known.coupons for n in point]
    return found


def _eligible(known: Histories) -> tuple[int, int]:
    fba, fbm = ((known.rows.get(slot) or [0])[-1] for slot in (34, 35))
    return max(fba, 0), max(fbm, 0)


def steps_of(known: Histories, slot: int) -> list[tuple[int, int]]:
    """A pair series as points."""
    row = known.rows.get(slot) or []
    return list(zip(row[::2], row[1::2], strict=True))
