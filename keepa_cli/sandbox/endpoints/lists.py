"""/bestsellers, /topseller and /lightningdeal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from keepa_cli.keepa import costs
from keepa_cli.keepa.clock import DAY, to_datetime
from keepa_cli.sandbox import params as read
from keepa_cli.sandbox.catalogue import lightning, sellers
from keepa_cli.sandbox.catalogue.entry import SALES, Entry
from keepa_cli.sandbox.catalogue.tree import Tree, display_group
from keepa_cli.sandbox.finder.values import month_bounds
from keepa_cli.sandbox.messages import Call, invalid_parameter
from keepa_cli.sandbox.shop import Answer, Shop

RANGES = (0, 30, 90, 180)
MONTHS_KEPT = 36
STATES = frozenset({"AVAILABLE", "WAITLIST", "SOLDOUT", "WAITLISTFULL", "EXPIRED", "SUPPRESSED", "UPCOMING"})
Rank = Callable[[Entry], int]


def bestsellers(shop: Shop, call: Call, now: int, _: Sequence[str]) -> Answer:
    """Ranked products of a category or of a display group; an unknown one has no list and costs nothing."""
    domain, asked = read.domain(call.params, call.path), call.params.get("category", "").strip()
    if not asked:
        raise invalid_parameter("category")
    rank, every = _rank(call, now), read.flag(call.params, "variations")
    place = _place(shop.catalogue.tree(domain), asked)
    if place is None:
        return Answer()
    category, root = place
    inside = [e for e in shop.catalogue.entries(domain, now) if (root or category) in {n.id for n in e.path}]
    ranked = sorted((r, e.asin, e) for e in inside if (r := rank(e)) > 0)
    asins = [asin for _, _, e in ranked for asin in _family(e, every=every)]
    found = {"asinList": list(dict.fromkeys(asins)), "categoryId": category, "domainId": domain}
    return Answer({"bestSellersList": found | {"lastUpdate": now - now % 60}}, costs.bestsellers().estimated)


def _place(tree: Tree, asked: str) -> tuple[int, int] | None:
    """(category id, 0) of a node, (0, root) of a display group; None where there is none."""
    if asked.isdecimal():
        return (int(asked), 0) if int(asked) in tree.nodes else None
    named = [i for i in tree.roots if asked.lower() in {tree.nodes[i].name.lower(), display_group(tree.nodes[i].name)}]
    return (0, named[0]) if named else None


def _rank(call: Call, now: int) -> Rank:
    """How products are ranked: now, by an average, in a month, or within their own category."""
    days, month, year = (read.integer(call.params, name) for name in ("range", "month", "year"))
    within = read.flag(call.params, "sublist")
    if days is not None and days not in RANGES:
        raise invalid_parameter("range")
    if (month is None) != (year is None):
        raise invalid_parameter("month")
    if sum((bool(days), month is not None, within)) > 1:
        raise invalid_parameter("range")
    if month is not None and year is not None:
        start, end = _month(year, month, now)
        return lambda e: e.average_in(SALES, start, end)
    if days:
        return lambda e: e.average(SALES, days)
    return _own_rank if within else lambda e: e.rank


def _own_rank(entry: Entry) -> int:
    ranks = entry.market.histories.leaf_ranks
    return ranks[-1][1] if ranks else -1


def _month(year: int, month: int, now: int) -> tuple[int, int]:
    today = to_datetime(now)
    if not 1 <= month <= 12 or not 1 <= today.year * 12 + today.month - (year * 12 + month) <= MONTHS_KEPT:
        raise invalid_parameter("month")
    return month_bounds(year, month)


def _family(entry: Entry, *, every: bool) -> list[str]:
    """The product, with its siblings where every variation is asked for."""
    return [entry.asin, *(m for m in entry.market.members if m != entry.asin)] if every else [entry.asin]


def topseller(shop: Shop, call: Call, now: int, _: Sequence[str]) -> Answer:
    """Everybody by number of ratings, as counted at midnight."""
    domain, midnight = read.domain(call.params, call.path), now - now % DAY
    counts = {s: sellers.ratings(s, domain, midnight)[1][-1][1] for s in sellers.known(shop.catalogue.seed)}
    ids = sorted(counts, key=lambda s: (-counts[s], s))
    return Answer({"sellerIdList": ids}, costs.topseller().estimated)


def lightningdeal(shop: Shop, call: Call, now: int, _: Sequence[str]) -> Answer:
    domain, asin, state = read.domain(call.params, call.path), call.params.get("asin"), call.params.get("state", "")
    if asin is not None and not read.ASIN.fullmatch(asin):
        raise invalid_parameter("asin")
    if state and state not in STATES:
        raise invalid_parameter("state")
    entries = [shop.catalogue.entry(asin, domain, now)] if asin else shop.catalogue.entries(domain, now)
    found: list[dict[str, Any]] = [deal for entry in entries if entry is not None for deal in lightning.deals(entry)]
    shown = [deal for deal in found if not state or deal["dealState"] == state]
    return Answer({"lightningDeals": shown}, costs.lightningdeal(asin).estimated)
