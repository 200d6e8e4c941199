"""What the fields of a finder or deals selection mean, in words with units."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.csvtypes import BY_NAME, SeriesKind
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.money import amount
from keepa_cli.research.names import name_of

BOUNDS = {"_gte": "at least", "_lte": "at most"}
FAMILIES = (
    (r"current", "the current {what}"),
    (r"avg(\d+)", "the {days}-day average of {what}"),
    (r"deltaPercent(\d+)", "the change of {what} in percent of its {days}-day average; positive where it fell"),
    (r"delta(\d+)", "the change of {what} against its {days}-day average; positive where it fell"),
    (r"deltaLast", "the change of {what} against the previous value; positive where it fell"),
    (r"isLowest90", "{what} is at its lowest of 90 days"),
    (r"isLowest", "{what} is at its lowest since tracking began"),
    (r"backInStock", "{what} came back within 60 days"),
)
MEANINGS: Mapping[str, str] = {
    "rootCategory": "root categories: products of the whole tree below them",
    "categories_include": "categories, any of them",
    "categories_exclude": "categories that are left out",
    "includeCategories": "categories, any of them",
    "excludeCategories": "categories that are left out",
    "productType": "kinds of products: 0 standard, 1 downloadable, 2 e-book, 5 variation parent (without a price)",
    "sort": "order of the result: pairs of field and asc or desc",
    "page": "page of the result, from 0",
    "perPage": "ids per page; 1 token per 100",
    "title": "words that the title must hold",
    "titleSearch": "words that the title must hold",
    "brand": "brands, any of them",
    "monthlySold": "units bought in the past month, the lower end of a bracket",
    "availabilityAmazon": "Amazon's own offer: -1 none, 0 in stock, 1 pre-order, 2 unknown, 3 back-order, 4 delayed",
    "buyBoxIsFBA": "the buy box offer is fulfilled by Amazon",
    "buyBoxIsAmazon": "Amazon itself holds the buy box",
    "offerCountFBA": "offers fulfilled by Amazon",
    "offerCountFBM": "offers fulfilled by their seller",
    "totalOfferCount": "offers of all conditions",
    "outOfStockPercentage90": "percent of the last 90 days without Amazon's offer",
    "salesRankDrops30": "drops of the sales rank in 30 days: a proxy of sales",
    "salesRankDrops90": "drops of the sales rank in 90 days: a proxy of sales",
    "buyBoxStatsAmazon90": "percent of the last 90 days in which Amazon held the buy box",
    "buyBoxStatsSellerCount90": "sellers that held the buy box within 90 days",
    "hasReviews": "the product has reviews",
    "singleVariation": "one product of every family of variations",
    "trackingSince": "Keepa minute since which the product is tracked",
    "packageWeight": "weight of the package in grams",
    "packageQuantity": "items in the package",
    "domainId": "number of the marketplace",
    "priceTypes": "the price type of the deals, exactly one",
    "dateRange": "interval of the change: 0 day, 1 week, 2 month (31 days), 3 90 days",
    "sortType": "order: 1 newest first, 2 difference, 3 sales rank, 4 percent; negative inverts",
    "currentRange": "current value of the price type, lower and upper end",
    "deltaRange": "difference to the average of the interval, lower and upper end; positive where it fell",
    "deltaPercentRange": "difference to the average in percent, lower and upper end; from 10, of sales ranks from 80",
    "salesRankRange": "sales rank, lower and upper end; an upper end of -1 leaves it open",
    "isRangeEnabled": "switch that makes Keepa look at the ranges",
    "isFilterEnabled": "switch that makes Keepa look at the filters",
    "isLowest": "at the lowest value since tracking began",
    "isLowest90": "at the lowest value of 90 days",
    "isOutOfStock": "went out of stock within 24 hours",
    "isBackInStock": "came back into stock within 24 hours",
    "minRating": "least rating in tenths: 45 is 4.5",
    "filterErotic": "leave out adult items",
}
TYPED = re.compile(r"(?P<family>[a-zA-Z]+\d*)_(?P<type>[A-Z][A-Z_]+)")


def field_notes(selection: Mapping[str, Any], domain: Domain) -> list[dict[str, Any]]:
    """One note per field of the selection: `{field, value, meaning}`."""
    return [
        {"field": name, "value": value, "meaning": meaning(name, value, domain)} for name, value in selection.items()
    ]


def meaning(name: str, value: Any, domain: Domain) -> str:
    """A sentence part on a field; its unit with the value in it where that is an amount."""
    bound = next((words for suffix, words in BOUNDS.items() if name.endswith(suffix)), None)
    bare = re.sub("_[gl]te$", "", name)
    said = MEANINGS.get(bare) or _typed(bare) or "see the fields of Keepa's product finder"
    unit = _unit(bare, value, domain)
    return (f"{said}: {bound} this value" if bound else said) + (f" ({unit})" if unit else "")


def _typed(field: str) -> str | None:
    found = TYPED.fullmatch(field)
    if not found or found["type"] not in BY_NAME:
        return None
    t = BY_NAME[found["type"]]
    name = name_of(t).replace("_", " ").replace(" shipping", " price with shipping").replace("fbm price", "FBM price")
    what = name if "price" in name or not t.is_price else f"{name} price"
    for pattern, words in FAMILIES:
        fits = re.fullmatch(pattern, found["family"])
        if fits:
            return words.format(what=what, days=fits[1] if fits.groups() else "")
    return None


def _unit(name: str, value: Any, domain: Domain) -> str | None:
    found = TYPED.fullmatch(name)
    kind = BY_NAME[found["type"]].kind if found and found["type"] in BY_NAME else None
    if name.startswith(("deltaPercent", "isLowest", "backInStock")) or type(value) is not int:
        return None
    if kind is SeriesKind.SCORE:
        return f"in tenths: {value} is {abs(value) / 10:.1f}" if value >= 0 else "-1 is none"
    if kind is not SeriesKind.PRICE:
        return None
    if value == -1:
        return "-1 is no offer"
    return ("-" if value < 0 else "") + f"{amount(abs(value), domain)} {domain.currency}"
