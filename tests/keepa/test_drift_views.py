"""What drifts in an answer that keeps the contract never breaks what is shown of it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli import ops
from keepa_cli.core.schema import bind
from keepa_cli.keepa import contract, doubts
from tests.keepa.test_contract import BODIES, places

GIVEN: dict[str, dict[str, Any]] = {
    "bestsellers.get": {"category": "1000"},
    "business.profit": {"asin": "B000000001", "cost": "4"},
    "categories.get": {"category": [1]},
    "categories.products": {"category": "1000"},
    "categories.search": {"term": "kitchen"},
    "deals.query": {"price_type": "NEW"},
    "finder.query": {"title": "kettle"},
    "products.by-code": {"code": ["0747474801770"]},
    "products.compare": {"asin": ["B000000001"]},
    "products.get": {"asin": ["B000000001"]},
    "products.search": {"term": "kettle"},
    "products.summary": {"asin": ["B000000001"]},
    "sellers.get": {"seller": ["A0000000000001"]},
    "sellers.query": {"rating": "90.."},
    "topsellers.list": {"category": "1000"},
    "tracking.add": {"tracking": [{"asin": "B000000001"}]},
    "tracking.get": {"asin": "B000000001"},
    "tracking.remove": {"asin": "B000000001"},
    "tracking.webhook": {"url": "https://hooks.example/a"},
}
VIEWS = [op for op in ops.load_all() if op.remote and op.view and op.returns]
ODD: list[Any] = [None, True, 5, -1, 2**70, 1.5, "x", "", [], ["x"], [1], [None], [[1]], {}, {"x": 1}]
PRODUCT_PARTS: list[tuple[tuple[Any, ...], str]] = [
    (("products", 0), "product_object"),
    (("products", 0, "stats"), "stats_object"),
    (("products", 0, "offers", 0), "offer_object"),
]
OBJECTS: dict[str, list[tuple[tuple[Any, ...], str]]] = {
    "product": PRODUCT_PARTS,
    "search_product": PRODUCT_PARTS,
    "category": [(("categories", "1"), "category_object")],
    "search_category": [(("categories", "1"), "category_object")],
    "deals": [(("deals", "dr", 0), "deal_object")],
    "finder": [(("searchInsights",), "insights_object")],
    "sellers": [(("sellers", "A0000000000001"), "seller_object")],
    "lightningdeal": [(("lightningDeals", 0), "lightningdeal_object")],
    "tracking": [(("trackings", 0), "tracking_object"), (("notifications", 0), "notification_object")],
}
plain = st.none() | st.booleans() | st.sampled_from([0, 5, -1, -2, 2**70, 1.5, "x", "", "-1"])
anything = plain | st.lists(plain, max_size=2) | st.dictionaries(st.sampled_from(["asin", "x"]), plain, max_size=2)


def bound(name: str) -> dict[str, Any]:
    op = ops.find(name)
    names = {a.name for a in op.args}
    return bind(op, {k: v for k, v in GIVEN.get(name, {}).items() if k in names})


@pytest.mark.parametrize("op", VIEWS, ids=lambda op: op.name)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_views_take_whatever_keeps_the_contract(op: Any, data: st.DataObject) -> None:
    body: Any = copy.deepcopy(BODIES[op.returns])
    for _ in range(data.draw(st.integers(1, 3))):
        *inner, last = data.draw(st.sampled_from(places(body)[1:]))
        parent = body
        for step in inner:
            parent = parent[step]
        parent[last] = data.draw(anything)
    if contract.check(op.returns, body).ok:
        assert json.dumps(op.view(body, bound(op.name)))


@pytest.mark.parametrize("op", [op for op in VIEWS if op.returns in OBJECTS], ids=lambda op: op.name)
def test_views_take_every_field_of_every_type(op: Any) -> None:
    """Each documented field of the object in each odd form, one at a time."""
    given = bound(op.name)
    for path, name in OBJECTS[op.returns]:
        for field in contract.schema(name)["properties"]:
            for value in ODD:
                body: Any = copy.deepcopy(BODIES[op.returns])
                held = body
                for step in path:
                    held = held[step]
                held[field] = value
                if contract.check(op.returns, body).ok:
                    assert isinstance(op.view(body, given), dict), (field, value)
                    list(doubts.doubts("/product", {"asin": "B000000001", "stats": "90", "offers": "20"}, body))
