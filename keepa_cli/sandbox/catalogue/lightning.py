"""The lightning deals of a product: past, running and announced ones."""

from __future__ import annotations

from typing import Any

from keepa_cli.keepa.clock import DAY
from keepa_cli.sandbox.catalogue.entry import Entry
from keepa_cli.sandbox.catalogue.history import (
    AMAZON_SELLER,
    LIGHTNING_SHARE,
    base_price,
    flash_starts,
    lightning_gap,
    rounded,
)
from keepa_cli.sandbox.catalogue.seeds import rng
from keepa_cli.sandbox.catalogue.sellers import name_of

LASTS = 360
LISTED, ANNOUNCED = 4 * DAY, DAY
RUNNING_STATES = ("AVAILABLE", "AVAILABLE", "AVAILABLE", "WAITLIST", "SOLDOUT", "WAITLISTFULL")
RATING, REVIEWS, NEW = 16, 17, 1


def starts(entry: Entry) -> list[int]:
    """When the deals of the last four days and of the next one begin."""
    if "lightning" not in entry.card.special:
        return []
    market = entry.market
    found: list[int] = []
    for start in flash_starts(market.item, market.since, LIGHTNING_SHARE, lightning_gap(market.item)):
        if start > entry.now + ANNOUNCED:
            return found
        if start + LASTS > entry.now - LISTED:
            found.append(start)
    return found


def running(entry: Entry) -> int:
    """The end of the running deal, 0 without one."""
    return next((s + LASTS for s in starts(entry) if s <= entry.now < s + LASTS), 0)


def deals(entry: Entry) -> list[dict[str, Any]]:
    """The LightningDeal objects, the latest first."""
    return [_deal(entry, start) for start in reversed(starts(entry))]


def _deal(entry: Entry, start: int) -> dict[str, Any]:
    market, now = entry.market, entry.now
    source = rng(market.item.seed, entry.asin, market.item.domain, "lightning", start)
    announced = start > now
    price = -1 if announced else rounded(base_price(market.item) * LIGHTNING_SHARE, market.item.domain)
    regular = -1 if announced else entry.series(NEW).value_before(start)
    claimed = source.randrange(5, 100)
    done = min(1.0, max(0, now - start) / LASTS)
    seller = AMAZON_SELLER if entry.current(0) >= 0 else market.histories.holders[0][1]
    state = "UPCOMING" if announced else "EXPIRED" if now >= start + LASTS else source.choice(RUNNING_STATES)
    return {
        "asin": entry.asin,
        "currentPrice": regular,
        "dealId": f"{source.getrandbits(32):08x}",
        "dealPrice": price,
        "dealState": state,
        "domainId": market.item.domain,
        "endTime": start + LASTS,
        "image": market.fields["images"][0]["m"],
        "isFulfilledByAmazon": source.random() < 0.8,
        "isPrimeEligible": True,
        "lastUpdate": market.updated,
        "percentClaimed": 100 if state in {"SOLDOUT", "WAITLISTFULL"} else int(claimed * done),
        "percentOff": max(0, 100 - price * 100 // regular) if min(price, regular) > 0 else 0,
        "rating": max(0, entry.current(RATING)),
        "sellerId": seller,
        "sellerName": name_of(seller),
        "startTime": start,
        "title": entry.card.title,
        "totalReviews": max(0, entry.current(REVIEWS)),
        "variation": [{"dimension": "Color", "value": entry.card.color}],
    }
