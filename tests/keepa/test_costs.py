from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.core.registry import Cost
from keepa_cli.keepa import costs
from keepa_cli.keepa.clock import DAY, even_minute

NOW = 8_000_000
STORED = {
    "asin": "B000000001",
    "lastUpdate": NOW - 30,
    "lastRatingUpdate": NOW - DAY,
    "lastStockUpdate": NOW - DAY,
    "parentAsin": "B000000000",
    "liveOffersOrder": list(range(23)),
    "offersSuccessful": True,
}


@pytest.mark.parametrize(
    ("count", "params", "estimated", "worst", "confirm"),
    [
        (1, {}, 1, 1, False),
        (150, {}, 150, 150, False),
        (1, {"rating": True, "buybox": True, "stats": "180"}, 4, 4, False),
        (2, {"update": 0}, 2, 4, False),
        (1, {"update": "0"}, 1, 2, False),
        (1, {"update": -1}, 1, 1, False),
        (1, {"offers": 20}, 12, 12, True),
        (3, {"offers": 45, "buybox": True, "stock": True}, 3 * 32, 3 * 32, True),
        (1, {"stock": True}, 1, 1, False),
        (1, {"historical_variations": True}, 2, 2, False),
        (1, {"historical-variations": 1, "rating": 0, "buybox": "0"}, 2, 2, False),
        (2, {"code": ["1", "2"], "code_limit": 5}, 2, 10, False),
        (2, {"code": ["1", "2"], "code-limit": 5, "rating": True}, 4, 20, False),
        (1, {"code": ["1"]}, 1, 1500, False),
    ],
)
def test_product_estimates(count: int, params: dict[str, Any], estimated: int, worst: int, confirm: bool) -> None:
    cost = costs.product(count, params)
    assert (cost.estimated, cost.worst, cost.confirm) == (estimated, worst, confirm)


def test_an_unbounded_code_says_so() -> None:
    assert "--code-limit" in costs.product(1, {"code": ["1"]}).notes[0]


@pytest.mark.parametrize(
    ("cost", "estimated", "worst", "confirm"),
    [
        (costs.search_product(), 10, 10, False),
        (costs.search_product({"rating": True, "update": 0}), 15, 35, False),
        (costs.search_category(), 1, 1, False),
        (costs.category(), 1, 1, False),
        (costs.query(), 11, 11, True),
        (costs.query(10_000), 110, 110, True),
        (costs.query(101, stats=True), 43, 1042, True),
        (costs.deal(), 5, 5, False),
        (costs.seller(7), 7, 7, False),
        (costs.seller(storefront=True), 10, 10, False),
        (costs.sellerquery(250), 13, 13, False),
        (costs.bestsellers(), 50, 50, True),
        (costs.topseller(), 50, 50, True),
        (costs.lightningdeal("B000000001"), 1, 1, False),
        (costs.lightningdeal(), 500, 500, True),
        (costs.graphimage(), 1, 1, False),
        (costs.tracking("add", 3), 3, 3, True),
        (costs.tracking("remove"), 0, 0, True),
        (costs.tracking("list"), 0, 0, False),
        (costs.token(), 0, 0, False),
    ],
)
def test_other_endpoints(cost: Cost, estimated: int, worst: int, confirm: bool) -> None:
    assert (cost.estimated, cost.worst, cost.confirm) == (estimated, worst, confirm)
    assert all(p.name for p in cost.parts)


@pytest.mark.parametrize(
    ("stored", "params", "charged"),
    [
        (STORED, {}, 1),
        (STORED, {"update": "0"}, 2),
        ({**STORED, "lastUpdate": NOW - 60}, {"update": 0}, 1),
        (STORED, {"rating": "1"}, 2),
        ({**STORED, "lastRatingUpdate": NOW - 15 * DAY}, {"rating": 1}, 1),
        ({**STORED, "lastRatingUpdate": 0}, {"rating": 1}, 1),
        (STORED, {"buybox": 1}, 3),
        (STORED, {"buybox": 1, "offers": 20}, 12),
        (STORED, {"offers": "100"}, 18),
        (STORED, {"offers": 20, "stock": 1}, 14),
        ({**STORED, "lastStockUpdate": NOW - 8 * DAY}, {"offers": 20, "stock": 1}, 12),
        ({**STORED, "liveOffersOrder": []}, {"offers": 20}, 5),
        ({**STORED, "offersSuccessful": False}, {"offers": 20}, 1),
        ({**STORED, "offersSuccessful": False}, {"offers": 20, "only-live-offers": 1}, 0),
        ({**STORED, "stats": {"lastOffersUpdate": NOW - 90}}, {"offers": 20, "update": 2}, 5),
        ({**STORED, "stats": {"lastOffersUpdate": NOW - 150}}, {"offers": 20, "update": 2}, 12),
        (STORED, {"historical-variations": 1}, 2),
        ({**STORED, "parentAsin": None}, {"historical-variations": 1}, 1),
        (None, {}, 1),
        (None, {"update": "-1"}, 0),
        (None, {"code": "0747474801770"}, 0),
    ],
)
def test_what_keepa_charges(stored: dict[str, Any] | None, params: dict[str, Any], charged: int) -> None:
    assert costs.charge_product(stored, params, NOW) == charged


def test_charges_of_searches() -> None:
    assert costs.charge_search_product([STORED] * 7, {"rating": 1, "update": 0}, NOW) == 10 + 7 + 5
    assert costs.charge_search_product([STORED] * 3, {"rating": 1}, NOW) == 13
    assert costs.charge_query(101) == 12
    assert costs.charge_query(0, matched=1_000_001) == 42


options = st.fixed_dictionaries(
    {},
    optional={
        "offers": st.integers(20, 100),
        "update": st.integers(-1, 3),
        **{n: st.booleans() for n in ("rating", "buybox", "stock", "historical-variations", "only-live-offers")},
    },
)
ages = st.integers(0, 20 * DAY).map(lambda age: NOW - age)


@given(options, ages, ages, ages, st.booleans(), st.integers(0, 200), st.sampled_from([None, "B000000000"]))
def test_no_charge_is_above_the_worst_case(
    params: dict[str, Any], updated: int, rated: int, stocked: int, offered: bool, live: int, parent: str | None
) -> None:
    stored = {
        "lastUpdate": updated, "lastRatingUpdate": rated, "lastStockUpdate": stocked, "offersSuccessful": offered,
        "liveOffersOrder": [0] * live, "parentAsin": parent, "stats": {"lastOffersUpdate": updated},
    }  # fmt: skip
    charged = costs.charge_product(stored, params, NOW)
    assert 0 <= charged <= costs.product(1, params).worst


@pytest.mark.parametrize(
    ("file", "params"),
    [
        ("product-B0D8W1YVBX-US-20260510.json", {"stats": 180, "rating": 1, "buybox": 1, "videos": 1, "aplus": 1}),
        ("product-B0D8W1YVBX-US-20260510-stats0.json", {"stats": 0, "videos": 1, "aplus": 1}),
    ],
)
def test_real_answers_cost_what_keepa_charged(file: str, params: dict[str, Any], shared_data: Path) -> None:
    body = json.loads((shared_data / file).read_text(encoding="utf-8"))
    charged = costs.charge_product(body["products"][0], params, even_minute(body["timestamp"]))
    assert charged == body["tokensConsumed"] == costs.product(1, params).estimated
