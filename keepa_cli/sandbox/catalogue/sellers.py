"""The sellers of the invented shop, their ratings over time and what they sell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from keepa_cli.keepa.clock import DAY
from keepa_cli.sandbox.catalogue.entry import SALES, Entry
from keepa_cli.sandbox.catalogue.history import AMAZON_SELLER, SELLERS, rivals
from keepa_cli.sandbox.catalogue.seeds import Item, rng
from keepa_cli.sandbox.catalogue.steps import Steps, even, flat, value_at, walk
from keepa_cli.sandbox.catalogue.words import BRANDS

QUIET = 260
"""Sellers that are known, and rated, but offer nothing in the shop."""
FIRST_TRACKED = 5_800_000
WINDOWS = (30, 90, 365)
MOST_LISTED = 10
COUNTRIES = ("US", "GB", "DE", "CN", "FR", "JP")


@cache
def known(seed: int) -> tuple[str, ...]:
    """Amazon first, then who sells in the shop, then who does not."""
    alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
    quiet = ("A" + "".join(rng(seed, "quiet seller", i).choices(alphabet, k=13)) for i in range(QUIET))
    return AMAZON_SELLER, *SELLERS, *quiet


@cache
def name_of(seller: str) -> str:
    if seller == AMAZON_SELLER:
        return "Amazon"
    source = rng("seller name", seller)
    return f"{source.choice(BRANDS)} {source.choice(('Trading', 'Outlet', 'Direct', 'Store', 'Goods'))} {seller[-3:]}"


def country_of(seller: str) -> str:
    return str(rng("seller country", seller).choice(COUNTRIES))


def storefront(seller: str, entries: Iterable[Entry], seed: int, domain: int) -> list[Entry]:
    """What the seller offers on a marketplace."""
    if seller == AMAZON_SELLER:
        return [e for e in entries if "amazon" in e.card.special]
    if seller not in SELLERS:
        return []
    return [e for e in entries if seller in rivals(Item(seed, e.asin, domain))]


def ratings(seller: str, domain: int, now: int) -> tuple[Steps, Steps]:
    """Percent of good ratings, and their number, from when tracking began."""
    start = even(FIRST_TRACKED + rng("tracked", seller).randrange(600 * DAY))
    busy = 2.0 if seller == AMAZON_SELLER else rng("busy", seller).uniform(4, 40)
    counting, judging = rng("rated", seller, domain), rng("judged", seller, domain)
    count = walk(counting, start, now, busy, counting.randrange(5, 60), lambda v: v + counting.randrange(1, 9))
    good = walk(
        judging,
        start,
        now,
        60,
        judging.randrange(80, 100),
        lambda v: max(60, min(100, v + judging.choice((-2, -1, 1, 2)))),
    )
    return good, count


def seller(seller_id: str, domain: int, sold: Sequence[Entry], now: int, *, with_storefront: bool) -> dict[str, Any]:
    """The Seller object."""
    good, count = ratings(seller_id, domain, now)
    source = rng("seller", seller_id, domain)
    updated = now - source.randrange(720) * 2
    per_window = [
        max(0, count[-1][1] - value_at(count, now - days * DAY)) if count[0][0] <= now - days * DAY else count[-1][1]
        for days in WINDOWS
    ]
    rated = [*per_window, count[-1][1]]
    positive, neutral = good[-1][1], (100 - good[-1][1]) // 2
    found: dict[str, Any] = {
        "address": [f"{source.randrange(1, 200)} Sandbox Road", "Example Town", country_of(seller_id)],
        "businessName": f"{name_of(seller_id)} Ltd",
        "csv": [flat(good), flat(count)],
        "currentRating": positive,
        "currentRatingCount": count[-1][1],
        "domainId": domain,
        "hasFBA": source.random() < 0.7,
        "lastRatingUpdate": updated,
        "lastUpdate": updated,
        "negativeRating": [100 - positive - neutral] * 4,
        "neutralRating": [neutral] * 4,
        "positiveRating": [positive] * 4,
        "ratingCount": rated,
        "ratingsLast30Days": rated[0],
        "recentFeedback": [
            {"date": t, "isStriked": False, "rating": 50 if positive >= 90 else 40} for t, _ in count[-3:]
        ],
        "sellerId": seller_id,
        "sellerName": name_of(seller_id),
        "shipsFromChina": country_of(seller_id) == "CN",
        "totalStorefrontAsins": [updated, len(sold)] if sold else None,
        "trackedSince": good[0][0],
    }
    found |= _statistics(sold)
    return found | (_front(sold, updated, good[0][0]) if with_storefront else {})


def _front(sold: Sequence[Entry], updated: int, since: int) -> dict[str, Any]:
    return {
        "asinList": [e.asin for e in sold],
        "asinListLastSeen": [updated] * len(sold),
        "totalStorefrontAsinsCSV": [since, max(0, len(sold) - 1), updated, len(sold)],
    }


def _statistics(sold: Sequence[Entry]) -> dict[str, Any]:
    """What is sold by category and by brand, the greatest ten of each."""
    if not sold:
        return {}
    return {
        "sellerBrandStatistics": _groups(sold, "brand", {e.asin: e.card.brand.lower() for e in sold}),
        "sellerCategoryStatistics": _groups(sold, "catId", {e.asin: e.root for e in sold}),
    }


def _groups(sold: Sequence[Entry], label: str, of: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = []
    for value, count in Counter(of.values()).most_common(MOST_LISTED):
        members = [e for e in sold if of[e.asin] == value]
        ranks = [r for r in (e.average(SALES, 30) for e in members) if r > 0]
        found.append(
            {
                label: value,
                "avg30SalesRank": sum(ranks) // len(ranks) if ranks else -1,
                "productCount": count,
                "productCountWithAmazonOffer": sum(e.current(0) >= 0 for e in members),
            }
        )
    return found
