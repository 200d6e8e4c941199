"""A product's first facts, from odd and from real answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.keepa.productview import SHOWN, view_product

US = DOMAINS[1]


def test_current_of_a_real_product_is_what_its_statistics_say(shared_data: Path) -> None:
    product = json.loads((shared_data / "product-B0D8W1YVBX-US-20260510.json").read_text(encoding="utf-8"))["products"][
        0
    ]
    told = view_product(product, US)
    without_history = view_product({k: v for k, v in product.items() if k != "csv"}, US)
    assert told["kind"] == "standard" and told["history"] and not without_history["history"]
    for t in SHOWN:
        ours, theirs = told["current"][t.name], without_history["current"][t.name]
        if theirs["state"] == "ok":
            value = ours.get("total") or ours.get("price") or ours.get("value")
            assert value == (theirs.get("price") or theirs.get("value")), t.name
        else:
            assert ours["state"] in {"no_data", "out_of_stock", "unknown"}, t.name
    assert told["lowest"]["NEW"]["price"] == "14.99"


def test_a_price_of_the_future_is_not_current() -> None:
    csv = [None] * 8 + [[100, 999, 200, -1]]
    told = view_product({"asin": "B000000001", "csv": csv, "lastUpdate": 150}, US)
    assert told["current"]["LIGHTNING_DEAL"]["price"] == "9.99"
    ended = view_product({"asin": "B000000001", "csv": csv, "lastUpdate": 250}, US)
    assert ended["current"]["LIGHTNING_DEAL"]["state"] == "out_of_stock"
    announced = view_product({"asin": "B000000001", "csv": [[500, 1]], "lastUpdate": 250}, US)
    assert announced["current"]["AMAZON"] == {"state": "no_data"}


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["current", "min", "asin"]), inner),
)
FIELDS = ["csv", "stats", "variations", "variationCSV", "productType", "lastUpdate", "parentAsin"]


@settings(max_examples=120, deadline=None)
@given(st.dictionaries(st.sampled_from(FIELDS), odd))
def test_odd_products_never_break(product: dict[str, Any]) -> None:
    told = view_product(product, US)
    assert len(told["current"]) == len(SHOWN) == 35
    json.dumps(told)
