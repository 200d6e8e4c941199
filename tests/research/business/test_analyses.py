"""Many products: ranked only with their like, told apart where they cannot be, decision first."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.research.business import analyses
from keepa_cli.research.business.opportunity import competition_points, velocity_points
from keepa_cli.research.business.report import Wish
from keepa_cli.research.business.scales import AMAZON_CAP, WEIGHTS
from keepa_cli.research.business.sources import merged
from tests.research.business.support import DAY, NOW, body, plan, product, read, real
from tests.support.views import problems

ALL = ("velocity", "seller_metrics", "inventory", "cashflow")
A, B, C, D = "B000000001", "B000000002", "B000000003", "B000000004"


def run(name: str, answer: Any, *, sort: str = "input", shown: Sequence[str] = ALL, **wish: Any) -> Any:
    kept, dropped = merged([read(answer)])
    more = [[30, 90]] if name == "seller_metrics" else []
    wanted = Wish(analysis=name, shown=tuple(shown), sort=sort, **wish)
    view = getattr(analyses, name)(kept, dropped, [{"name": "a.json"}], wanted, plan, *more)
    assert problems(view, answer) == []
    assert list(view)[:4] == ["view", "analysis", "version", "brief"]
    return view


def places(view: Any) -> list[tuple[str, str, int]]:
    return [(p["asin"], p["ranking"]["group"], p["ranking"]["position"]) for p in view["products"]]


def no_badge(asin: str, drops: int) -> dict[str, Any]:
    return product(asin, monthlySold=None, stats={"salesRankDrops30": drops})


def test_units_and_rank_drops_are_never_one_ranking() -> None:
    answer = body(no_badge(A, 5000), product(B, monthlySold=100), product(C, monthlySold=2000), no_badge(D, 3))
    view = run("find_fast_movers", answer, sort="velocity")
    units, drops = "units_per_month_at_least", "rank_drops_per_30_days"
    assert places(view) == [(C, units, 1), (B, units, 2), (A, drops, 1), (D, drops, 2)]
    assert any("Rank drops stand in" in r and A in r for r in view["brief"]["risk"])
    assert view["brief"]["decision"].startswith("1 of 2 products with known sales sell at least 1,000")


def test_equal_brackets_share_a_position() -> None:
    answer = body(product(B, monthlySold=500), product(A, monthlySold=500), product(C, monthlySold=100))
    view = run("find_fast_movers", answer, sort="velocity")
    assert [(asin, position) for asin, _, position in places(view)] == [(A, 1), (B, 1), (C, 3)]


def test_filters_and_limits_are_counted() -> None:
    answer = body(no_badge(A, 50), *(product(x, monthlySold=n) for x, n in ((B, 10), (C, 300), (D, 900))))
    view = run("find_fast_movers", answer, sort="velocity", min_confidence="lower_bound", min_monthly_sold=100, limit=1)
    assert [p["asin"] for p in view["products"]] == [D]
    left = {"below_min_confidence": 1, "below_min_monthly_sold": 1, "beyond_limit": 1}
    assert view["summary"]["left_out"] == left
    assert view["summary"]["products_read"] == 4


def test_money_of_two_currencies_is_neither_summed_nor_ranked_together() -> None:
    answer = body(product(A, price=1000), product(B, price=90_000, domainId=5), product(C, price=2000))
    view = run("find_fast_movers", answer, sort="turnover")
    assert places(view) == [(B, "turnover_JPY", 1), (C, "turnover_USD", 1), (A, "turnover_USD", 2)]
    sums = {t["currency"]: t["amount"] for t in view["summary"]["turnover_at_least"]}
    assert sums == {"JPY": "45000000", "USD": "15000.00"}
    assert any("never added up" in r for r in view["brief"]["risk"])
    scores = run("market_opportunity", answer, sort="score")
    assert {p["ranking"]["group"] for p in scores["products"]} == {"score_USD", "score_JPY"}


def test_offers_are_ranked_fewest_first_and_lower_bounds_apart() -> None:
    bound = product(C, csv=None, buyBoxSellerIdHistory=[str(NOW - DAY), "S1"])
    answer = body(product(A, offers=8), product(B, offers=2), bound)
    view = run("inventory_audit", answer, sort="offers")
    assert places(view) == [(B, "offers", 1), (A, "offers", 2), (C, "offers_at_least", 1)]


def test_the_likeliest_to_run_out_comes_first() -> None:
    gone = product(B)
    gone["csv"][1] = [NOW - 400 * DAY, 2000, NOW - 3 * DAY, -1]
    view = run("inventory_audit", body(product(A), gone, product(C, csv=None)), sort="stock_out")
    assert [asin for asin, _, _ in places(view)] == [B, A]
    assert view["summary"]["risk_levels"] == {"out_of_stock_now": 1, "high": 0, "medium": 0, "low": 1}
    assert [p["asin"] for p in view["not_rankable"]] == [C]
    assert "1 of 2 products is out of stock now" in view["brief"]["decision"]


def test_the_score_is_the_sum_of_its_parts() -> None:
    answer = body(product(A, offers=2, monthlySold=1000, price=1000), product(B, offers=6, monthlySold=100, price=5000))
    view = run("market_opportunity", answer, sort="score")
    for one in view["products"]:
        parts = one["score"]["parts"]
        assert {n: p["weight"] for n, p in parts.items()} == dict(WEIGHTS)
        assert one["score"]["value"] == round(sum(p["weighted"] for p in parts.values()), 2)
        assert one["score"]["confidence"] == "low"
    first = view["products"][0]["score"]["parts"]
    assert view["products"][0]["asin"] == A
    assert [first[n]["points"] for n in WEIGHTS] == [60.0, 90.0, 100.0, 100.0]
    assert view["products"][1]["score"]["parts"]["cashflow"]["points"] == 50.0
    assert sum(WEIGHTS.values()) == 100


def test_what_lacks_an_input_is_listed_with_reasons_and_not_scored() -> None:
    answer = body(product(A), no_badge(B, 9), product(C, csv=None), product(D, productType=3))
    view = run("market_opportunity", answer, sort="score")
    assert [p["asin"] for p in view["products"]] == [A]
    reasons = {p["asin"]: p["reason"] for p in view["not_rankable"]}
    assert "no units sold" in reasons[B]
    assert "number of offers is absent" in reasons[C] and "Out-of-stock" in reasons[C]
    assert reasons[D] == "Keepa has no data of this ASIN."
    asked = next(a for a in view["brief"]["next_actions"] if a["action"] == "get_product")
    assert asked["params"]["asin"] == [B, C]


@given(st.integers(0, 10**9), st.integers(0, 10**6))
def test_points_are_bounded_and_monotone(sold: int, offers: int) -> None:
    assert 0 <= velocity_points(sold) <= velocity_points(sold + 1) <= 100
    assert 0 <= competition_points(offers + 1, False) <= competition_points(offers, False) <= 100
    assert competition_points(offers, True) <= AMAZON_CAP


def test_nothing_to_rank_is_said() -> None:
    for name, sort in (
        ("find_fast_movers", "velocity"),
        ("market_opportunity", "score"),
        ("inventory_audit", "stock_out"),
    ):
        view = run(name, body(product(A, productType=4)), sort=sort)
        assert view["products"] == []
        assert view["brief"]["decision"].startswith("There is nothing to rank")


def test_each_product_tells_its_velocity_in_the_order_given() -> None:
    view = run("velocity", body(product(B, monthlySold=1), product(A), no_badge(C, 2), product(D, productType=3)))
    assert [p["asin"] for p in view["products"]] == [B, A, C, D]
    assert "ranking" not in view["products"][0]
    assert view["brief"]["decision"].startswith("2 of 4 products tell units sold")


def test_sellers_come_with_the_buy_box_where_it_was_requested(shared_data: Path) -> None:
    (found,) = run("seller_metrics", real(shared_data), shown=("seller_metrics",))["products"]
    assert set(found["metrics"]["seller_metrics"]["buy_box_share"]["windows"]) == {"30", "90"}
    (bare,) = run("seller_metrics", body(product()), shown=("seller_metrics",))["products"]
    assert bare["metrics"]["seller_metrics"]["buy_box_share"]["absent"]["windows"] == "not_requested"


def test_figures_that_are_not_shown_raise_no_alarm() -> None:
    view = run("seller_metrics", body(product()), shown=("seller_metrics",))
    assert view["brief"]["risk"] == []
    assert "turnover_at_least" not in view["summary"]


def test_hostile_titles_and_asins_stay_data() -> None:
    odd = product("<script>", title="a\u202eb\x00<img onerror=x>")
    view = run("find_fast_movers", body(odd, product(A)), sort="velocity")
    assert {p["asin"] for p in view["products"]} == {"<script>", A}
    assert "script" not in json.dumps(view["brief"]["next_actions"])


NAMES = ("find_fast_movers", "inventory_audit", "market_opportunity", "seller_metrics", "velocity", "inventory")
SORTS = {"find_fast_movers": "velocity", "inventory_audit": "stock_out", "market_opportunity": "score"}
ODD: tuple[Any, ...] = (
    None,
    -1,
    -2,
    0,
    10**30,
    "",
    "x",
    [],
    [1],
    {},
    [7_900_000, -1],
    True,
    1.5,
    [[1, 2]],
    float("nan"),
)


@pytest.mark.parametrize("seed", range(12))
def test_mutated_real_bodies_never_raise(shared_data: Path, seed: int) -> None:
    chance = random.Random(seed)
    answer = real(shared_data)
    for _ in range(12):
        own = copy.copy(answer["products"][0])
        own["csv"], own["stats"] = list(own["csv"]), dict(own["stats"])
        for _ in range(6):
            where: Any = chance.choice([own, own["csv"], own["stats"]])
            where = where if isinstance(where, dict | list) and where else own
            keys = list(where) if isinstance(where, dict) else range(len(where))
            key = chance.choice([k for k in keys if where is not own or k not in {"csv", "stats"}])
            where[key] = chance.choice(ODD)
        name = chance.choice(NAMES)
        run(name, {**answer, "products": [own]}, sort=SORTS.get(name, "input"))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(
                ["asin", "csv", "monthlySold", "stats", "domainId", "offers", "liveOffersOrder", "monthlySoldHistory"]
            ),
            st.one_of(st.none(), st.integers(), st.text(max_size=3), st.lists(st.integers(-2, 9 * 10**6), max_size=6)),
            max_size=6,
        ),
        max_size=4,
    ),
    st.sampled_from(NAMES),
)
def test_odd_products_never_raise(products: list[dict[str, Any]], name: str) -> None:
    run(name, body(*products), sort=SORTS.get(name, "input"))
