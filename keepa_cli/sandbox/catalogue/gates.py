"""What of a product a request gets to see: locked series, null or left-out fields, trimmed histories, statistics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.csvtypes import CSV_TYPES, is_open
from keepa_cli.keepa.stats import compute_stats
from keepa_cli.sandbox.catalogue import identity as names
from keepa_cli.sandbox.catalogue.history import AMAZON_SELLER, packed_text
from keepa_cli.sandbox.catalogue.market import Market, steps_of
from keepa_cli.sandbox.catalogue.offers import is_live, offers
from keepa_cli.sandbox.catalogue.options import Options
from keepa_cli.sandbox.catalogue.steps import even

HISTORY_FIELDS = (
    "csv", "salesRanks", "monthlySoldHistory", "parentAsinHistory", "couponHistory", "buyBoxSellerIdHistory",
    "buyBoxUsedHistory", "salesRankReferenceHistory",
)  # fmt: skip
"""Left out with history=0."""
STRIDES = {"couponHistory": 3, "buyBoxUsedHistory": 4}

NULLS = (
    "author", "binding", "brand", "buyBoxSellerIdHistory", "categories", "categoryTree", "color", "coupon", "csv",
    "description", "eanList", "ebayListingIds", "edition", "fbaFees", "features", "format", "frequentlyBoughtTogether",
    "images", "itemTypeKeyword", "languages", "liveOffersOrder", "manufacturer", "model", "monthlySoldHistory",
    "parentAsin", "partNumber", "productGroup", "promotions", "salesRankDisplayGroup", "salesRankReferenceHistory",
    "salesRanks", "size", "stats", "title", "type", "upcList", "urlSlug", "variations", "websiteDisplayGroup",
    "websiteDisplayGroupName",
)  # fmt: skip
ZEROS = (
    "g", "itemHeight", "itemLength", "itemWeight", "itemWidth", "lastEbayUpdate", "lastPriceChange", "lastRatingUpdate",
    "lastSoldUpdate", "listedSince", "monthlySold", "packageHeight", "packageLength", "packageWeight", "packageWidth",
    "publicationDate", "referralFeePercent", "releaseDate", "rootCategory", "trackingSince",
)  # fmt: skip
FALSE = (
    "hasReviews", "isAdultProduct", "isEligibleForSuperSaverShipping", "isEligibleForTradeIn", "isHeatSensitive",
    "isRedirectASIN", "isSNS", "launchpad", "offersSuccessful",
)  # fmt: skip


def blank(asin: str, domain: int, kind: int, updated: int) -> dict[str, Any]:
    """The entry of an ASIN without data: productType 3 or 4, and nothing in the other fields."""
    unknown = dict.fromkeys(("availabilityAmazon", "numberOfItems", "numberOfPages", "packageQuantity"), -1)
    return {
        **dict.fromkeys(NULLS),
        **dict.fromkeys(ZEROS, 0),
        **dict.fromkeys(FALSE, False),
        **unknown,
        "asin": asin,
        "buyBoxEligibleOfferCounts": [0] * 8,
        "domainId": domain,
        "lastUpdate": updated,
        "productType": kind,
        "referralFeePercentage": 0.0,
        "salesRankReference": -1,
    }


def visible(market: Market, asked: Options, now: int) -> dict[str, Any]:
    """The Product object for one request at minute `now`."""
    with_offers = asked.offers is not None and market.sells_offers
    box = asked.buybox or with_offers
    rating = asked.rating or with_offers
    csv = [
        row if is_open(kind, offers=with_offers, buybox=asked.buybox, rating=asked.rating) else None
        for kind, row in zip(CSV_TYPES, market.histories.csv, strict=True)
    ]
    product: dict[str, Any] = {
        **market.fields,
        "buyBoxSellerIdHistory": packed_text(list(market.histories.holders)) if box and market.sells_offers else None,
        "csv": csv,
        "liveOffersOrder": None,
        "offersSuccessful": with_offers,
    }
    if rating:
        product["reviews"] = _reviews(market)
    if box and "used" in market.special:
        product["buyBoxUsedHistory"] = packed_text([(t, s, 3, 0) for t, s in market.histories.used_holders])
    if with_offers:
        product |= _offers(market, asked)
    product |= _optional(market, asked)
    product["stats"] = _stats(product, market, asked, now, box) if asked.with_stats else None
    return _trimmed(product, asked, now)


def _reviews(market: Market) -> dict[str, Any]:
    counts = steps_of(market.histories, 17)
    return {
        "lastUpdate": market.fields["lastRatingUpdate"],
        "ratingCount": [],
        "reviewCount": [n for t, v in counts[::4] for n in (t, max(1, v // 9))],
    }


def _offers(market: Market, asked: Options) -> dict[str, Any]:
    new, used = steps_of(market.histories, 1), steps_of(market.histories, 2)
    amazon = (market.histories.rows.get(0) or [-1])[-1] >= 0
    found = offers(market.item, new, used, amazon, market.updated, asked.offers or 0)
    live = [i for i, offer in enumerate(found) if is_live(offer, market.updated)]
    if asked.only_live_offers:
        found = [found[i] for i in live]
    if not asked.stock:
        found = [{name: value for name, value in offer.items() if name != "stockCSV"} for offer in found]
    return {"liveOffersOrder": live or None, "offers": found}


def _optional(market: Market, asked: Options) -> dict[str, Any]:
    """Fields that are left out when they were not asked for or there is nothing to say."""
    found: dict[str, Any] = {
        "videos": names.videos(market.item) if asked.videos else None,
        "aPlus": names.a_plus(market.item) if asked.aplus else None,
        "historicalVariations": market.members[:2] if asked.historical_variations and market.members else None,
        "lastStockUpdate": market.updated if asked.stock and asked.offers is not None else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _stats(product: dict[str, Any], market: Market, asked: Options, now: int, box: bool) -> dict[str, Any]:
    """Keepa's statistics over what is unlocked; fields that no history holds come from the market."""
    own: dict[str, Any] = {"lastOffersUpdate": market.updated}
    if box and market.sells_offers:
        own |= _buy_box(product, market)
    if "offers" in product:
        own |= _offer_figures(product["offers"], market, asked)
    return compute_stats({**product, "stats": own}, now, asked.stats)


def _buy_box(product: dict[str, Any], market: Market) -> dict[str, Any]:
    held = market.histories.holders[-1][1]
    somebody = not held.startswith("-")
    amazon = held == AMAZON_SELLER
    sellers = {s for _, s in market.histories.holders}
    fba = {seller: seller == AMAZON_SELLER or hash_bit(seller) for seller in sellers}
    flags = dict.fromkeys(
        ("buyBoxIsBackorder", "buyBoxIsMAP", "buyBoxIsPreorder", "buyBoxIsUsed", "buyBoxIsWarehouseDeal"), False
    )
    return {
        **flags,
        "buyBoxAvailabilityMessage": "IN_STOCK" if somebody else None,
        "buyBoxCondition": 1 if somebody else None,
        "buyBoxIsAmazon": amazon,
        "buyBoxIsFBA": fba[held] if somebody else False,
        "buyBoxIsFreeShippingEligible": somebody and fba[held],
        "buyBoxIsPrimeEligible": somebody and fba[held],
        "buyBoxIsShippable": somebody,
        "buyBoxIsUnqualified": not somebody,
        "buyBoxStats": {seller: {"isFBA": value} for seller, value in fba.items()},
        **({"buyBoxShippingTime": [0, 24]} if somebody else {}),
    }


def hash_bit(text: str) -> bool:
    """A coin that always falls the same way for the same text."""
    return sum(text.encode()) % 2 == 0


def _offer_figures(found: list[dict[str, Any]], market: Market, asked: Options) -> dict[str, Any]:
    live = [offer for offer in found if is_live(offer, market.updated)]
    fba = [o for o in live if o["isFBA"]]
    fbm = [o for o in live if not o["isFBA"]]
    figures: dict[str, Any] = {
        "offerCountFBA": len(fba),
        "offerCountFBM": len(fbm),
        "retrievedOfferCount": len(live),
        "sellerIdsLowestFBA": _cheapest(fba),
        "sellerIdsLowestFBM": _cheapest(fbm),
    }
    if asked.stock:
        figures |= {"stockAmazon": sum(min(10, o["stockCSV"][-1]) for o in live if o["isAmazon"])}
        figures |= {"stockBuyBox": min(10, live[0]["stockCSV"][-1])} if live else {}
    return figures


def _cheapest(found: Iterable[dict[str, Any]]) -> list[str] | None:
    lowest = min(found, key=lambda o: o["offerCSV"][-2], default=None)
    return None if lowest is None else [lowest["sellerId"]]


def _trimmed(product: dict[str, Any], asked: Options, now: int) -> dict[str, Any]:
    if not asked.history:
        return {name: value for name, value in product.items() if name not in HISTORY_FIELDS}
    if asked.days is None or asked.days <= 0:
        return product
    start = even(now - asked.days * DAY)
    for name in HISTORY_FIELDS:
        if isinstance(product.get(name), list) and name != "csv":
            product[name] = since_start(product[name], STRIDES.get(name, 2), start)
    product["csv"] = [
        since_start(row, t.stride, start) or None for t, row in zip(CSV_TYPES, product["csv"], strict=True)
    ]
    product["salesRanks"] = {
        name: since_start(row, 2, start) for name, row in (product.get("salesRanks") or {}).items()
    }
    for offer in product.get("offers", ()):
        offer["offerCSV"] = since_start(offer["offerCSV"], 3, start)
    return product


def since_start(packed: list[Any] | None, stride: int, start: int) -> list[Any]:
    """The groups from minute `start` on; times may be text."""
    packed = packed or []
    for i in range(0, len(packed), stride):
        if int(packed[i]) >= start:
            return packed[i:]
    return []
