"""The fields of a /query selection, made from families. Source: keepa-api.md §6.11."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.selection import BOOL, IDS, INT, INT_MAX, LONG_MAX, TEXT, TEXTS, Field

TYPES: tuple[str, ...] = tuple(t.name for t in CSV_TYPES if t.index not in {15, 23, 24, 25, 26, 34, 35})
BOUNDS = ("gte", "lte")
CONTROL = ("minMatch", "page", "perPage", "sort")

BYTE = Field("int", low=-128, high=127)
SHORT = Field("int", low=-(2**15), high=2**15 - 1)
SCORE = Field("int", low=-1, high=50)
AVERAGES = "avg{1,7,30,90,180,365}"
TYPED_RANGES: Mapping[str, Field] = {
    "current": INT, AVERAGES: INT, "delta{1,7,30,90}": INT, "deltaPercent{1,7,30,90}": SHORT, "deltaLast": INT,
    "lastPriceChange": INT,
}  # fmt: skip
TYPED_FLAGS = ("backInStock", "isLowest")

RANGES = """
availabilityAmazonMinDelayInDays buyBoxEligibleOfferCounts{NewFBA,NewFBM,UsedFBA,UsedFBM}
buyBoxStandardDeviation{30,90,365} buyBoxStatsAmazon{30,90,180,365} buyBoxStatsTopSeller{30,90,180,365}
buyBoxStatsSellerCount{30,90,180,365} couponOneTimeAbsolute couponOneTimePercent couponSNSPercent
deltaPercent90_monthlySold fbaFees imageCount itemDimension itemHeight itemLength itemWidth itemWeight
lastBusinessDiscountUpdate lastOffersUpdate lastPriceChange lastRatingUpdate lastUpdate lightningStart lightningEnd
listedSince monthlySold nextUpdate numberOfItems numberOfPages numberOfTrackings offerCountFBA offerCountFBM
outOfStockCountAmazon{30,90} outOfStockPercentage90 outOfStockPercentage90_{BB,BB_USED,NEW,USED}
outOfStockPercentageInInterval packageDimension packageHeight packageLength packageWidth packageWeight packageQuantity
publicationDate releaseDate salesRankDrops{30,90,180,365} srAvg{0,1,2}{00,01,02,03,04,05,06,07,08,09,10,11}
totalOfferCount trackingSince variationCount variationRatingCount variationReviewCount
"""
BYTE_RANGES = "businessDiscount flipability{30,90,365} salesRankTopPct videoCount"
NUMBER_RANGES = "unitValue"
FLAGS = """
batteriesIncluded batteriesRequired buyBoxIsAmazon buyBoxIsBackorder buyBoxIsFBA buyBoxIsPreorder
buyBoxIsPrimeEligible buyBoxIsPrimeExclusive buyBoxIsUnqualified buyBoxUsedIsFBA hasAPlus hasAPlusFromManufacturer
hasMainVideo hasParentASIN hasReviews isAdultProduct isDeal isEligibleForSuperSaverShipping isEligibleForTradeIn
isHazMat isHeatSensitive isHighestOffer isLowestOffer isMerchOnDemand isPrimeExclusive isSNS launchpad newPriceIsMAP
singleVariation
"""
TEXT_LISTS = """
activeIngredients author binding brand brandStoreName brandStoreUrlName buyBoxSellerId buyBoxShippingCountry
buyBoxStatsTopSellerId{30,90,180,365} color dealType edition format genre historicalSellerIds itemForm itemTypeKeyword
label languages manufacturer model partNumber platform productGroup publisher sellerIds sellerIdsFBA sellerIdsFBM
sellerIdsLowestFBA sellerIdsLowestFBM size specialIngredients studio targetAudienceKeyword type websiteDisplayGroup
websiteDisplayGroupName material pattern scent style unitType
"""
TEXT_FIELDS = "buyBoxUsedSellerId historicalParentASIN title title_flag"
NUMBER_LISTS: Mapping[str, Field] = {
    "availabilityAmazon": Field("int", many=True, low=-1, high=4),
    "blackList": Field("int", many=True),
    "buyBoxUsedCondition": Field("int", many=True, low=2, high=5),
    "categories_exclude": IDS,
    "categories_include": IDS,
    "productType": Field("int", many=True, choices=(0, 1, 2, 5)),
    "returnRate": Field("int", many=True, low=1, high=2),
    "rootCategory": IDS,
    "warehouseCondition": Field("int", many=True, low=0, high=5),
}
REFERENCE = Field("id", low=-2, high=LONG_MAX)

DOCUMENTED_RANGES = "monthlySoldPeak monthlySoldPeakDate monthlySoldLastKnown monthlySoldLastKnownDate"
DOCUMENTED_LISTS = "frequentlyBoughtTogether"

LEGACY_RANGES = "couponSNSAbsolute stockAmazon stockBuyBox"
LEGACY_LISTS = "department mpn"
LEGACY_NUMBERS = "hazardousMaterialType promotions"


def expand(pattern: str) -> Iterator[str]:
    """`a{1,2}b` -> a1b, a2b; several groups multiply."""
    group = re.search(r"\{([^}]*)\}", pattern)
    if group is None:
        yield pattern
        return
    for choice in group[1].split(","):
        yield from expand(pattern[: group.start()] + choice + pattern[group.end() :])


def _names(words: str) -> Iterator[str]:
    for word in words.split():
        yield from expand(word)


def _bounds(names: Iterable[str], spec: Field) -> dict[str, Field]:
    return {f"{name}_{bound}": spec for name in names for bound in BOUNDS}


@cache
def client_fields() -> Mapping[str, Field]:
    """The fields of Keepa's own client: filters and control fields."""
    found: dict[str, Field] = {}
    for pattern, spec in TYPED_RANGES.items():
        for family in expand(pattern):
            for name in TYPES:
                scored = name == "RATING" and family.startswith(("current", "avg"))
                found |= _bounds([f"{family}_{name}"], SCORE if scored else spec)
    found |= {f"{family}_{name}": BOOL for family in TYPED_FLAGS for name in TYPES}
    found |= _bounds(_names(RANGES), INT) | _bounds(_names(BYTE_RANGES), BYTE)
    found |= _bounds(_names(NUMBER_RANGES), Field("float"))
    found |= dict.fromkeys(_names(FLAGS), BOOL) | dict.fromkeys(_names(TEXT_LISTS), TEXTS)
    found |= dict.fromkeys(_names(TEXT_FIELDS), TEXT) | dict(NUMBER_LISTS)
    found["salesRankReference"] = REFERENCE
    return found | dict.fromkeys(CONTROL, Field("int", low=0, high=INT_MAX))


@cache
def fields() -> Mapping[str, Field]:
    """Every filter that can be asked for today, by name: those of the client and those only the documentation has."""
    found = {name: spec for name, spec in client_fields().items() if name not in CONTROL}
    found |= {f"isLowest90_{name}": BOOL for name in TYPES}
    return found | _bounds(_names(DOCUMENTED_RANGES), INT) | dict.fromkeys(_names(DOCUMENTED_LISTS), TEXTS)


@cache
def legacy_fields() -> Mapping[str, Field]:
    """Filters that Keepa took away; its servers may still know them."""
    found = {f"isHighest_{name}": BOOL for name in TYPES} | _bounds(_names(LEGACY_RANGES), INT)
    found |= dict.fromkeys(_names(LEGACY_LISTS), TEXTS)
    return found | dict.fromkeys(_names(LEGACY_NUMBERS), Field("int", many=True))


@cache
def sortable() -> frozenset[str]:
    """Names that `sort` takes: the numeric fields without their bound."""
    return frozenset(name.removesuffix("_gte") for name in fields() if name.endswith("_gte"))
