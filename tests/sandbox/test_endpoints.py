"""The category tree and searches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests

from keepa_cli.keepa.contract import check

Get = Callable[..., requests.Response]


@pytest.mark.parametrize(
    ("schema", "path", "params"),
    [
        ("category", "/category", {"category": 0, "parents": 1}),
        ("category", "/category", {"category": 9_223_372_036_854_775_807}),
        ("search_category", "/search", {"type": "category", "term": "kitchen", "parents": 1}),
        ("search_category", "/search", {"type": "category", "term": "nothing here"}),
        ("search_product", "/search", {"type": "product", "term": "kettle", "stats": 90, "rating": 1}),
        ("search_product", "/search", {"type": "product", "term": "kettle", "asins-only": 1}),
        ("search_product", "/search", {"type": "product", "term": "nothing here"}),
        ("token", "/token", {}),
    ],
)
def test_answers_keep_the_contract(get: Get, schema: str, path: str, params: dict[str, Any]) -> None:
    answer = get(path, domain=1, **params)
    verdict = check(schema, answer.json(), answer.text)
    assert (answer.status_code, verdict.errors, verdict.unknown_fields) == (200, [], {})


def test_the_tree_can_be_walked_from_the_roots_down(get: Get) -> None:
    roots = get("/category", domain=1, category=0).json()["categories"]
    assert all(c["parent"] == 0 and c["websiteDisplayGroup"] for c in roots.values())
    root = next(iter(roots.values()))
    below = get("/category", domain=1, category=",".join(map(str, root["children"])), parents=1).json()
    assert {c["parent"] for c in below["categories"].values()} == {root["catId"]}
    assert below["categoryParents"] == {str(root["catId"]): root}
    leaf = next(iter(below["categories"].values()))["children"][0]
    found = get("/category", domain=1, category=leaf, parents=1).json()
    assert found["categories"][str(leaf)]["children"] is None
    assert len(found["categoryParents"]) == 2


def test_unknown_ids_are_left_out(get: Get) -> None:
    assert get("/category", domain=1, category="1,2").json()["categories"] == {}


def test_parents_are_not_sent_unless_asked_for(get: Get) -> None:
    assert "categoryParents" not in get("/search", domain=1, type="category", term="kettles").json()


def test_every_word_of_a_category_search_must_match_in_any_case(get: Get) -> None:
    found = get("/search", domain=1, type="category", term="KITCHEN dining").json()["categories"]
    assert [c["name"] for c in found.values()] == ["Kitchen & Dining"]


def test_categories_differ_between_marketplaces(get: Get) -> None:
    ids = [set(get("/category", domain=d, category=0).json()["categories"]) for d in (1, 3)]
    assert ids[0] and not ids[0] & ids[1]


def test_a_product_stands_in_the_tree(get: Get) -> None:
    product = get("/product", domain=1, asin="B0AMAZON01").json()["products"][0]
    ids = ",".join(str(node["catId"]) for node in product["categoryTree"])
    assert len(get("/category", domain=1, category=ids).json()["categories"]) == len(product["categoryTree"]) == 3
    assert product["salesRankReference"] == product["rootCategory"]
    assert set(product["salesRanks"]) == {str(product["rootCategory"]), str(product["categories"][0])}


def test_search_results_are_the_products_themselves(get: Get) -> None:
    asins = get("/search", domain=1, type="product", term="kettle", asins_only=1).json()["asinList"]
    found = get("/search", domain=1, type="product", term="Kettle", stats=90).json()["products"]
    assert [p["asin"] for p in found] == asins
    assert found == get("/product", domain=1, asin=",".join(asins), stats=90).json()["products"]
