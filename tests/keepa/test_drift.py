"""The history of Keepa's contract, replayed: what changed when, and what is said about an answer of that day."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from keepa_cli.keepa.contract import check, is_tolerant, schema
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.doubts import doubts

SLOTS = len(CSV_TYPES)
ENVELOPE = {
    "timestamp": 1780000000000, "tokensLeft": 10, "refillIn": 100, "refillRate": 5, "tokenFlowReduction": 0.0,
    "tokensConsumed": 1, "processingTimeInMs": 1,
}  # fmt: skip
STATS = {"current": [-1] * SLOTS, "buyBoxPrice": 1999, "buyBoxAvailabilityMessage": "IN_STOCK"}
PRODUCT: dict[str, Any] = {
    "asin": "B000000001", "domainId": 1, "productType": 0, "title": "kettle", "csv": [[10, 5], *[None] * (SLOTS - 1)],
    "rootCategory": 172282, "websiteDisplayGroup": "kitchen", "websiteDisplayGroupName": "Kitchen", "launchpad": False,
    "brandStoreName": "Acme", "brandStoreUrl": "/stores/acme", "features": ["a"], "productGroup": None,
    "referralFeePercent": 15, "referralFeePercentage": 15.01, "isSNS": False, "monthlySold": 100,
    "promotions": [{"type": "SNS", "amount": 5}], "reviews": {"lastUpdate": 1, "ratingCount": None},
    "deals": [{"accessType": "ALL", "badge": "Deal", "dealType": "LIMITED_TIME_DEAL"}], "stats": STATS,
    "images": [{"m": "a.jpg", "variant": "MAIN"}], "offersSuccessful": True,
    "offers": [{"offerId": 1, "sellerId": "A1", "condition": 1, "offerCSV": [1, 2, 3]}],
}  # fmt: skip
ASKED = {"domain": "1", "asin": "B000000001", "stats": "90", "offers": "20", "rating": "1"}
CATEGORY = {"domainId": 1, "catId": 5, "name": "A", "contextFreeName": "A", "children": None, "parent": 0}
SELLER = {"sellerId": "A1", "sellerName": "x", "csv": [None, None], "hasFBA": True}
NOTIFICATION = {"asin": "B000000001", "notificationId": "n", "currentPrices": None}

Change = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Drift:
    """A dated change; `says` is part of what the verdict says, "" for one that says nothing."""

    date: str
    what: str
    change: Change
    verdict: str
    says: str = ""
    schema: str = "product"


def put(**fields: Any) -> Change:
    return lambda product: product.update(fields)


def drop(*names: str) -> Change:
    return lambda product: [product.pop(name, None) for name in names]


def stats(**fields: Any) -> Change:
    return lambda product: product["stats"].update(fields)


def slots(count: int) -> Change:
    return lambda product: product.update(csv=[[10, 5], *[None] * (count - 1)])


UNKNOWN = "are not in the known contract"
LOG = (
    Drift("2015-10-29", "csv of 15 price types", slots(15), "warning", "fewer than the 36 known slots"),
    Drift("2016-07-08", "csv grows to 28", slots(28), "warning", "fewer than the 36 known slots"),
    Drift("2017-04-25", "csv grows to 31", slots(31), "warning", "fewer than the 36 known slots"),
    Drift("2022-12-23", "csv grows to 34", slots(34), "warning", "fewer than the 36 known slots"),
    Drift("2026-02-10", "csv grows to 36", slots(36), "fine"),
    Drift("next", "csv grows to 37", slots(37), "warning", "$.products[*].csv[36]"),
    Drift("next", "csv turns into a map", put(csv={"0": [1, 2]}), "error", "$.products[0].csv must be array or null"),
    Drift("2018-02-17", "one hazardous material type", put(hazardousMaterialType="x"), "warning", UNKNOWN),
    Drift("2020-03-16", "ean, mpn, label, studio go", drop("ean", "mpn", "label", "studio"), "fine"),
    Drift("before 2020-03-16", "ean, mpn still sent", put(ean="4006381", mpn="K1"), "warning", "$.products[*].ean"),
    Drift("2020-03-16", "order quantity from truth to number", stats(buyBoxMinOrderQuantity=1), "fine"),
    Drift("before 2020-03-16", "order quantity as truth", stats(buyBoxMinOrderQuantity=True), "warning",
          "$.products[*].stats.buyBoxMinOrderQuantity is boolean where integer is documented"),
    Drift("next", "truth from truth to number", put(isSNS=1), "warning", "isSNS is integer where boolean"),
    Drift("2020-08-06", "availability of a new kind", put(availabilityAmazon=5), "warning", "holds 5, which is no"),
    Drift("2020-11-04", "a marketplace goes", put(domainId=13), "fine"),
    Drift("2024-01-10", "percentage beside percent", put(referralFeePercentage=15.01), "fine"),
    Drift("2024-01-10", "percent as fraction", put(referralFeePercent=15.01), "warning", "is number where integer"),
    Drift("2024-01-19", "promotions with identities", put(promotions=[{"type": "SNS", "promotionId": "x"}]), "warning",
          "$.products[*].promotions[*].promotionId"),
    Drift("before 2024-12-03", "promotion of an old type", put(promotions=[{"type": "BuyAmountXGetAmountOffX"}]),
          "warning", "promotions[*].type holds 'BuyAmountXGetAmountOffX'"),
    Drift("2024-08-20", "type returns", put(type="KETTLE"), "fine"),
    Drift("2025-04-24", "display group as list", put(websiteDisplayGroup=["kitchen"]), "warning",
          "websiteDisplayGroup is array where string is documented"),
    Drift("2025-04-24", "display group name as list", put(websiteDisplayGroupName=["Kitchen"]), "warning",
          "websiteDisplayGroupName is array"),
    Drift("2025-04-29", "display group as text again", put(websiteDisplayGroup="kitchen"), "fine"),
    Drift("2025-02-02", "brand store as list", put(brandStoreName=["Acme"]), "warning", "brandStoreName is array"),
    Drift("2025-02-02", "brand store link as list", put(brandStoreUrl=["/a"]), "warning", "brandStoreUrl is array"),
    Drift("2025-04-24", "root category as list of texts", put(rootCategory=["172282"]), "warning",
          "rootCategory is array where integer is documented"),
    Drift("next", "features as one text", put(features="a"), "warning", "features is string where array is documented"),
    Drift("next", "features as numbers", put(features=[1]), "warning", "features[*] is integer where string"),
    Drift("2025-04-29", "launchpad goes", drop("launchpad"), "fine"),
    Drift("2026-03-18", "launchpad returns", put(launchpad=True), "fine"),
    Drift("2025-09-03", "buyBoxWasPrice for a day", stats(buyBoxWasPrice=2999), "warning",
          "$.products[*].stats.buyBoxWasPrice"),
    Drift("2025-09-03", "renamed buyBoxSavingBasis", stats(buyBoxSavingBasis=2999), "fine"),
    Drift("2025-10-01", "deals of a product", put(deals=[{"dealType": "PRIME_DAY", "accessType": "ALL"}]), "fine"),
    Drift("next", "a new deal type", put(deals=[{"dealType": "MOON_DAY"}]), "warning", "dealType holds 'MOON_DAY'"),
    Drift("next", "a new access type", put(deals=[{"accessType": "VIP"}]), "warning", "accessType holds 'VIP'"),
    Drift("next", "deals turn into one object", put(deals={"dealType": "PRIME_DAY"}), "error", "[0].deals must"),
    Drift("2026-01-01", "why the price is struck", stats(buyBoxSavingBasisType="LIST_PRICE"), "fine"),
    Drift("next", "another reason", stats(buyBoxSavingBasisType="MOON"), "warning", "BasisType holds 'MOON'"),
    Drift("2026-02-10", "rental fields go", drop("rentalDetails", "rentalSellerId", "rentalPrices"), "fine"),
    Drift("2026-02-10", "reviews come", put(reviews={"lastUpdate": 1, "ratingCount": [1, 2]}), "fine"),
    Drift("before 2026-02-10", "no reviews although asked", drop("reviews"), "warning", "reviews is absent"),
    Drift("before 2026-04-20", "message as free text", stats(buyBoxAvailabilityMessage="Only 3 left in stock."),
          "warning", "buyBoxAvailabilityMessage holds 'Only 3 left in stock.'"),
    Drift("2026-04-20", "message as enumeration", stats(buyBoxAvailabilityMessage="BACKORDER_NO_ETA"), "fine"),
    Drift("2026-04-20", "imagesCSV, newPriceIsMAP, variationCSV go", drop("imagesCSV", "newPriceIsMAP", "variationCSV"),
          "fine"),
    Drift("before 2026-04-20", "imagesCSV and newPriceIsMAP still sent", put(imagesCSV="a.jpg", newPriceIsMAP=False),
          "fine"),
    Drift("2026-04-20", "productGroup goes", drop("productGroup"), "fine"),
    Drift("before 2026-04-20", "times of deals still sent", put(deals=[{"startTime": 1, "percentClaimed": 5}]), "fine"),
    Drift("2026-08-18", "images with their variant", put(images=[{"m": "a.jpg", "variant": "PT01"}]), "fine"),
    Drift("next", "images with a new size", put(images=[{"xl": "a.jpg"}]), "warning", "$.products[*].images[*].xl"),
    Drift("next", "asin goes", drop("asin"), "error", "$.products[0].asin is missing"),
    Drift("next", "asin turns into a number", put(asin=5), "error", "$.products[0].asin must be string"),
    Drift("next", "stats are missing although asked", drop("stats"), "warning", "Statistics were asked for"),
    Drift("next", "stats are null although asked", put(stats=None), "warning", "Statistics were asked for"),
    Drift("next", "stats turn into a list", put(stats=[]), "error", "$.products[0].stats must be"),
    Drift("next", "histories are missing although asked", drop("csv"), "warning", "Histories were asked for"),
    Drift("next", "every history is empty", put(csv=[None] * SLOTS), "warning", "Every history in csv is empty"),
    Drift("next", "offers are missing although asked", drop("offers"), "warning", "Offers were asked for"),
    Drift("next", "offers failed", put(offersSuccessful=False, offers=None), "warning", "could not be fetched"),
    Drift("next", "buy box not given although asked", stats(buyBoxPrice=-2), "warning", "The buy box was asked for"),
    Drift("2026-02-11", "offers without isScam", put(offers=[{"offerId": 1, "condition": 1}]), "fine"),
    Drift("next", "an offer of a new condition", put(offers=[{"condition": 12}]), "warning", "condition holds 12"),
    Drift("2026-04-20", "contextFreeName goes", drop("contextFreeName"), "fine", schema="category"),
    Drift("2025-04-24", "averages of a category", put(avgBuyBox=3, sellerCount=4), "fine", schema="category"),
    Drift("next", "a category without a name", put(name=None), "fine", schema="category"),
    Drift("next", "category names by language", put(name={"en": "A"}), "warning", "name is object where string",
          schema="category"),
    Drift("2018-05-11", "ranks beyond 32 bits", put(highestRank=2**40), "fine", schema="category"),
    Drift("2020-02-27", "ratings of sellers", put(currentRating=99, currentRatingCount=5), "fine", schema="sellers"),
    Drift("2026-02-10", "isScammer goes", drop("isScammer"), "fine", schema="sellers"),
    Drift("next", "sellers without identity", drop("sellerId"), "error", "sellerId is missing", schema="sellers"),
    Drift("2026-08-06", "notifications with identity", put(notificationId="n-1"), "fine", schema="tracking"),
    Drift("next", "identity as number", put(notificationId=17), "fine", schema="tracking"),
    Drift("next", "identity as truth", put(notificationId=True), "warning", "Id is boolean", schema="tracking"),
)  # fmt: skip
HELD = {
    "product": ("/product", lambda item: {"products": [item]}, PRODUCT),
    "category": ("/category", lambda item: {"categories": {"5": item}}, CATEGORY),
    "sellers": ("/seller", lambda item: {"sellers": {"A1": item}}, SELLER),
    "tracking": ("/tracking", lambda item: {"notifications": [item]}, NOTIFICATION),
}


def judged(name: str, path: str, query: dict[str, str], body: dict[str, Any]) -> tuple[str, list[str]]:
    """The verdict of the engine in one word, and everything that it says."""
    found = check(name, body)
    said = [f"{e['path']} {e['message']}" for e in found.errors]
    found.warnings += doubts(path, query, body) if found.ok else []
    said += [json.dumps(note, ensure_ascii=False) for note in found.notes()]
    return found.word, said


@pytest.mark.parametrize("row", LOG, ids=lambda row: f"{row.date} {row.what}")
def test_each_dated_change_gets_its_verdict(row: Drift) -> None:
    path, hold, current = HELD[row.schema]
    item = copy.deepcopy(current)
    row.change(item)
    word, said = judged(row.schema, path, ASKED if row.schema == "product" else {}, ENVELOPE | hold(item))
    assert (row.verdict, bool(said)) == (word, word != "fine"), said
    assert not row.says or any(row.says in text for text in said), said


@pytest.mark.parametrize("name", HELD)
def test_the_answers_of_today_are_fine(name: str) -> None:
    path, hold, current = HELD[name]
    assert judged(name, path, ASKED, ENVELOPE | hold(current)) == ("fine", [])


@pytest.mark.parametrize(
    ("path", "name", "query", "body", "verdict", "says"),
    [
        ("/bestsellers", "bestsellers", {}, {"bestSellersList": {"asinList": ["B0"]}}, "fine", ""),
        ("/bestsellers", "bestsellers", {}, {"asinList": ["B0"]}, "warning", "where bestSellersList is documented"),
        ("/bestsellers", "bestsellers", {}, {}, "warning", "cost 1 tokens and has no bestSellersList or asinList"),
        ("/bestsellers", "bestsellers", {}, {"tokensConsumed": 0}, "fine", ""),
        ("/bestsellers", "bestsellers", {}, {"bestSellersList": ["B0"]}, "error", "$.bestSellersList must be"),
        ("/query", "finder", {}, {"asinList": ["B0"], "totalResults": 1}, "fine", ""),
        ("/query", "finder", {"stats": "1"}, {"asinList": ["B0"]}, "warning", "Insights were asked for"),
        ("/query", "finder", {"selection": "{}"}, {"asinList": [], "totalResults": 7}, "warning", "counts 7 results"),
        ("/query", "finder", {"selection": '{"page":3}'}, {"asinList": [], "totalResults": 7}, "fine", ""),
        ("/query", "finder", {"selection": "{"}, {"asinList": [], "totalResults": 7}, "fine", ""),
        ("/query", "finder", {}, {"totalResults": 0}, "warning", "has no asinList"),
        ("/deal", "deals", {}, {"deals": {"dr": []}}, "fine", ""),
        ("/deal", "deals", {}, {"deals": []}, "error", "$.deals must be"),
        ("/deal", "deals", {}, {"deals": {"dr": [{"title": "x"}]}}, "error", "$.deals.dr[0].asin is missing"),
        ("/search", "search_product", {"term": "x"}, {"products": []}, "fine", ""),
        ("/product", "product", {"asin": "B0,B1"}, {"products": None}, "warning", "0 of 2 ASINs; missing: B0, B1"),
        ("/product", "product", {"asin": "B0,B0"}, {"products": [{"asin": "B0", "productType": 4}]}, "fine", ""),
        ("/product", "product", {"code": "1"}, {"tokensConsumed": 0}, "fine", ""),
        ("/token", "token", {}, {"tokensConsumed": 0}, "fine", ""),
    ],
)  # fmt: skip
def test_sections_that_move_or_are_missing(
    path: str, name: str, query: dict[str, str], body: dict[str, Any], verdict: str, says: str
) -> None:
    word, said = judged(name, path, query, ENVELOPE | body)
    assert word == verdict, said
    assert any(says in text for text in said) or not says


def test_many_products_with_one_doubt_are_one_sentence() -> None:
    asins = [f"B{n:09d}" for n in range(100)]
    products = [PRODUCT | {"asin": asin, "stats": None, "brandStoreName": ["x"]} for asin in asins]
    word, said = judged("product", "/product", ASKED | {"asin": ",".join(asins)}, ENVELOPE | {"products": products})
    assert word == "warning"
    assert len(said) == 2
    assert "(100 times, first at $.products[0].brandStoreName)" in said[0]
    assert "B000000004 and 95 more" in said[1]


plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
anything = plain | st.lists(plain, max_size=2) | st.dictionaries(st.text(max_size=2), plain, max_size=2)
TOLERANT = sorted(n for n, raw in schema("product_object")["properties"].items() if is_tolerant(raw))


@hypothesis_settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(TOLERANT), anything, max_size=4), st.booleans())
def test_no_plain_field_of_any_type_breaks_an_answer(fields: dict[str, Any], keep_asin: bool) -> None:
    """Whatever an optional plain field turns into, the answer that was paid for is delivered."""
    word, said = judged("product", "/product", ASKED, ENVELOPE | {"products": [PRODUCT | fields]})
    assert word != "error", said
    assert all(isinstance(text, str) for text in said)
