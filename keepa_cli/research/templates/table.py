"""The templates. Amounts are in the smallest unit of the marketplace's currency, ratings in tenths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.core.errors import invalid
from keepa_cli.research.templates.model import DEALS, FINDER, Slot, Template

BY_RANK = [["current_SALES", "asc"]]
STANDARD: dict[str, Any] = {"productType": [0], "sort": BY_RANK}

CATEGORY = Slot("category", "categories_include", "categories, any of them", kind="id", many=True)
ROOT = Slot("root_category", "rootCategory", "root categories, any of them", kind="id", many=True)
PER_PAGE = Slot("per_page", "perPage", "ids per page; 1 token per 100", 50)
FINDING = (CATEGORY, ROOT, PER_PAGE)


def _rank(worst: int) -> Slot:
    return Slot("max_rank", "current_SALES_lte", "worst current sales rank", worst)


def _sold(least: int) -> Slot:
    return Slot("min_sold", "monthlySold_gte", "units bought in the past month, at least", least)


PRICES = (
    Slot("min_price", "current_NEW_gte", "lowest new price, at least", 1500),
    Slot("max_price", "current_NEW_lte", "lowest new price, at most", 6000),
)
DEAL_CATEGORY = Slot("category", "includeCategories", "categories, any of them", kind="id", many=True)
INTERVAL = Slot("date_range", "dateRange", "interval of the change: 0 day, 1 week, 2 month, 3 90 days", 1)
DEAL_RANK = Slot("max_rank", "salesRankRange", "worst current sales rank", 100_000, end=1)
DEALING = (DEAL_CATEGORY, INTERVAL, DEAL_RANK)


def _type(number: int) -> Slot:
    return Slot("price_type", "priceTypes", "price type: 0 Amazon, 1 new, 18 buy box, 10 new FBA", number)


def _percent(least: int) -> Slot:
    return Slot("min_percent", "deltaPercentRange", "least fall below the average, in percent", least, end=0)


TEMPLATES: tuple[Template, ...] = (
    Template(
        "low-competition", FINDER, "Demand with few offers and few reviews",
        "Products that sell although few sellers offer them and few people reviewed them.", STANDARD,
        (
            Slot("max_offers", "current_COUNT_NEW_lte", "new offers, at most", 5),
            Slot("max_reviews", "current_COUNT_REVIEWS_lte", "reviews, at most", 300),
            _rank(50_000), _sold(100), *PRICES, *FINDING,
        ),
        "Keepa tells monthlySold for a part of all products only; min_sold leaves the others out.",
    ),
    Template(
        "price-drop", FINDER, "New price well below its average",
        "Products whose lowest new price fell below its 90-day average, and that still rank well.",
        STANDARD | {"sort": [["deltaPercent90_NEW", "desc"]]},
        (
            Slot("min_percent", "deltaPercent90_NEW_gte", "fall below the 90-day average, in percent", 20),
            _rank(100_000), *FINDING,
        ),
        "A fall can be a price war as well as an offer: look at the offer count before buying.",
    ),
    Template(
        "amazon-out-of-stock", FINDER, "Amazon does not offer it",
        "Products in demand that Amazon itself does not sell now, and seldom sold in the last 90 days.",
        STANDARD | {"availabilityAmazon": [-1]},
        (
            Slot("min_out_of_stock", "outOfStockPercentage90_gte", "percent of 90 days without Amazon's offer", 50),
            _rank(50_000), *FINDING,
        ),
        "Where Amazon never sold it, 100 percent of the time counts as out of stock.",
    ),
    Template(
        "fast-movers", FINDER, "Sells often",
        "Products whose sales rank improves again and again, most sold first.",
        STANDARD | {"sort": [["monthlySold", "desc"]]},
        (
            Slot("min_drops", "salesRankDrops30_gte", "drops of the sales rank in 30 days, at least", 60),
            _sold(300), *FINDING,
        ),
        "Drops of the rank are a proxy of sales; with many sales an hour they undercount.",
    ),
    Template(
        "weak-listings", FINDER, "Demand in spite of poor ratings",
        "Products that sell although buyers rate them low: room for a better one.", STANDARD,
        (
            Slot("max_rating", "current_RATING_lte", "rating in tenths, at most: 38 is 3.8", 38),
            Slot("min_reviews", "current_COUNT_REVIEWS_gte", "reviews, at least", 50),
            _sold(100), *FINDING,
        ),
    ),
    Template(
        "rising-demand", FINDER, "Sales rank improving",
        "Products whose current sales rank is well below (better than) its 90-day average.",
        STANDARD | {"sort": [["deltaPercent90_SALES", "desc"]]},
        (
            Slot("min_percent", "deltaPercent90_SALES_gte", "fall of the rank below its average, in percent", 40),
            _rank(100_000), *FINDING,
        ),
        "Seasons move ranks too: kc history trend shows whether the year before looked the same.",
    ),
    Template(
        "shared-buy-box", FINDER, "Many sellers share the buy box, Amazon seldom does",
        "Products for resellers: the buy box rotates between sellers and is rarely Amazon's.",
        STANDARD | {"buyBoxIsAmazon": False},
        (
            Slot("max_amazon_percent", "buyBoxStatsAmazon90_lte", "Amazon's share of 90 days, at most", 10),
            Slot("min_sellers", "buyBoxStatsSellerCount90_gte", "sellers that held it within 90 days, at least", 3),
            _rank(50_000), *FINDING,
        ),
    ),
    Template(
        "brand-range", FINDER, "The range of a brand",
        "Everything of one or more brands, best ranked first.", STANDARD,
        (Slot("brand", "brand", "brands, any of them", kind="text", many=True), *FINDING),
        required=("brand",),
    ),
    Template(
        "deal-price-drop", DEALS, "Fresh price drops",
        "Deals whose price fell well below its average of the interval, largest fall first.",
        {"sortType": 4, "hasReviews": True}, (_type(1), _percent(20), *DEALING),
    ),
    Template(
        "deal-lowest-ever", DEALS, "At the lowest price ever",
        "Deals at the lowest price since tracking began.", {"sortType": 4, "isLowest": True}, (_type(1), *DEALING),
    ),
    Template(
        "deal-back-in-stock", DEALS, "Amazon has it again",
        "Products whose offer of Amazon came back within 24 hours.", {"sortType": 1, "isBackInStock": True},
        (_type(0), *DEALING),
    ),
    Template(
        "deal-rank-jump", DEALS, "Sudden demand",
        "Products whose sales rank improved by 80 percent and more.", {"priceTypes": 3, "sortType": 4},
        (_percent(80), *DEALING),
        "Keepa has deals of ranks from 80 percent on only.",
    ),
)  # fmt: skip
BY_NAME: Mapping[str, Template] = {t.name: t for t in TEMPLATES}


def template(name: str) -> Template:
    """The template of that name. Raises `invalid_arguments` with the nearest ones."""
    word = name.strip().lower().replace("_", "-")
    if word in BY_NAME:
        return BY_NAME[word]
    import difflib

    close = difflib.get_close_matches(word, BY_NAME, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    raise invalid(f"There is no template {name[:60]!r}.{hint}", field="name", value=name[:60], allowed=list(BY_NAME))
