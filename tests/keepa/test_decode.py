from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.keepa.decode import decode_stats, product_problems, seller_events, text_problems
from keepa_cli.keepa.domains import resolve
from tests.keepa.test_series import anything

US = resolve("US")


def test_a_negative_delta_is_a_value() -> None:
    assert decode_stats({"deltaPercent90_monthlySold": -2}, US) == {"deltaPercent90_monthlySold": -2}


def test_flags_shares_and_deal_times() -> None:
    stats = {"isLowest": [True, False], "outOfStockPercentage90": [100, -1, 0], "lightningDealInfo": [8040456, -1]}
    assert decode_stats(stats, US) == {
        "isLowest": {"AMAZON": True, "NEW": False},
        "outOfStockPercentage90": {"AMAZON": 100, "NEW": None, "USED": 0},
        "lightningDealInfo": {"start": "2026-04-15T15:36:00Z", "end": None},
    }


def test_slots_beyond_the_table_are_kept_by_number() -> None:
    assert decode_stats({"current": [-1] * 36 + [7]}, US)["current"]["CSV_36"] == 7


def test_the_log_of_refreshes() -> None:
    assert decode_stats({"current": [None] * 15 + [-1]}, US)["current"] == {"EXTRA_INFO_UPDATES": None}
    assert decode_stats({"current": [None] * 15 + [-2]}, US)["current"]["EXTRA_INFO_UPDATES"]["complete"] is False


NAMES = ["current", "min", "isLowest", "lastOffersUpdate", "buyBoxPrice", "buyBoxSellerId", "lightningDealInfo", "x"]


@given(st.dictionaries(st.sampled_from(NAMES), anything) | anything)
def test_odd_stats_never_raise(stats: Any) -> None:
    decoded = decode_stats(stats, US)
    assert set(decoded) == (set(stats) if isinstance(stats, dict) else set())


def test_unknown_fields_pass_through() -> None:
    stats = {"future": {"x": [None, -2]}, "word": "-2", "share": -2.0, "flag": False, "low": -1, "unasked": -2}
    assert decode_stats(stats, US) == stats | {"unasked": None}


@pytest.mark.parametrize(
    ("product", "path"),
    [
        ({"csv": [None, [1, 2, 3]]}, "$.csv[1]"),
        ({"csv": [None] * 7 + [[1, 2, 3, 4]]}, "$.csv[7]"),
        ({"salesRanks": {"283155": [2, 1, 1, 1]}}, "$.salesRanks['283155']"),
        ({"monthlySoldHistory": [1]}, "$.monthlySoldHistory"),
        ({"couponHistory": [1, -5]}, "$.couponHistory"),
        ({"reviews": {"ratingCount": "x"}}, "$.reviews.ratingCount"),
        ({"offers": [{}, {"offerCSV": [1, 2]}]}, "$.offers[1].offerCSV"),
        ({"buyBoxSellerIdHistory": ["5", "A", "4", "B"]}, "$.buyBoxSellerIdHistory"),
        ({"buyBoxUsedHistory": ["5", "A", "2"]}, "$.buyBoxUsedHistory"),
        ({"parentAsinHistory": ["x", "B000000001"]}, "$.parentAsinHistory"),
    ],
)
def test_every_packed_array_is_checked(product: dict[str, Any], path: str) -> None:
    assert [p["path"] for p in product_problems(product)] == [path]


@given(anything, anything)
def test_odd_products_never_raise(a: Any, b: Any) -> None:
    product_problems({"csv": a, "salesRanks": b, "offers": [b], "reviews": a, "buyBoxUsedHistory": a})
    product_problems(a)
    text_problems(b, 2)
    seller_events(a)


@pytest.mark.parametrize("file", ["product-B0D8W1YVBX-US-20260510.json", "product-B0D8W1YVBX-US-20260510-stats0.json"])
def test_real_products_have_no_problems(file: str, shared_data: Path) -> None:
    product = json.loads((shared_data / file).read_text(encoding="utf-8"))["products"][0]
    assert product_problems(product) == []
    spoilt = copy.deepcopy(product)
    spoilt["csv"][3].append(1)
    assert product_problems(spoilt)


def test_holders_of_the_buy_box() -> None:
    events = seller_events(["6838744", "A1", "6838804", "-1", "x", "A2", "6838864", "-2", "9"])
    assert [(e["holder"], e["seller"]) for e in events] == [
        ("seller", "A1"), ("none_qualified", None), ("unknown_seller", None),
    ]  # fmt: skip
