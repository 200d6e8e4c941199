"""Signals, data quality, evidence and next actions: Keepa's numbers, reasons for what lacks, nothing invented."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.paths import parse
from keepa_cli.keepa.clock import DAY
from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.keepa.decode import product_problems
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.needs import Need
from keepa_cli.research.product.evidence_index import WHERE
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.next_actions import offered, wishes
from keepa_cli.research.product.view import product_view
from keepa_cli.research.product.vitals import SERIES
from keepa_cli.sandbox.catalogue.traits import SHOWN
from tests.research.product.made import MINE, NOW, body, days, judged, look, product, subjects_of, triples
from tests.support.mutations import mutated, shortened
from tests.support.products import FULL, PLAN, made
from tests.support.views import problems

REAL = ("product-B0D8W1YVBX-US-20260510.json", "product-B0D8W1YVBX-US-20260510-stats0.json")


@pytest.fixture(params=REAL)
def real(request: pytest.FixtureRequest, shared_data: Path) -> Any:
    return json.loads((shared_data / request.param).read_text("utf-8"))


def test_facts_are_what_keepa_calls_current(real: Any) -> None:
    current = real["products"][0]["stats"]["current"]
    vitals = look(real).section("vitals")
    for name, code in SERIES.items():
        told = current[BY_NAME[code].index]
        assert vitals.value(name) == (told if told >= 0 else None), name
    assert vitals.value("monthly_sold") == real["products"][0]["monthlySold"]


def test_signals_are_made_of_keepas_statistics(real: Any) -> None:
    stats = real["products"][0]["stats"]
    seen = look(real)
    vitals, signals = seen.section("vitals"), seen.section("selection_signals")
    slot = vitals.price_type.index
    told = signals["price_position"]["inputs"]
    assert told["current"]["raw"] == stats["current"][slot]
    assert told["mean_90d"]["raw"] == stats["avg90"][slot]
    assert signals["price_position"]["value"] == round((told["current"]["raw"] / told["mean_90d"]["raw"] - 1) * 100, 2)
    assert signals["rank_trend"]["inputs"]["mean_30d"] == stats["avg30"][3]
    assert signals["stock_outs"]["value"] == stats["outOfStockPercentage90"][slot]
    assert signals["competition"]["value"] == stats["current"][11]
    assert signals["demand"]["confidence"] == "lower_bound"


def test_the_first_buy_box_seller_of_the_real_product(shared_data: Path) -> None:
    real = json.loads((shared_data / REAL[0]).read_text("utf-8"))
    found = look(real).section("selection_signals")["buy_box_concentration"]
    assert found["inputs"]["seller_id"] == real["products"][0]["stats"]["buyBoxSellerId"]
    assert found["value"] == 95.3


@pytest.mark.parametrize("profile", ["summary", "deal", "research", "audit"])
def test_nothing_is_wrong_with_the_judgement_of_real_products(real: Any, profile: str) -> None:
    found = judged(real, profile)
    assert problems(found, real) == []
    for entry in found["evidence_index"]:
        parse(entry["path"]).get(real)


def test_the_evidence_index_names_the_smallest_profile_that_shows_a_fact(real: Any) -> None:
    views = {p: product_view(subjects_of(real)[0], PLAN, p) for p in ("summary", "deal", "research")}
    for entry in judged(real)["evidence_index"]:
        if entry["fact"] in WHERE:
            section, member = WHERE[entry["fact"]]
            showing = [p for p, view in views.items() if member in view.get(section, {})]
            assert entry["view"] in showing or "truncated" in views[entry["view"]], entry
            assert entry["section"] == section


def test_the_mean_weighs_by_time() -> None:
    """80 days at 10.00 and 10 at 20.00 make 11.11, whatever happened in the hours between."""
    whole = body(product({"buy_box": triples((400, 1000), (10, 2000))}))
    told = judged(whole)["selection_signals"]["price_position"]
    assert told["inputs"]["mean_90d"]["formatted"] == "11.11 USD"
    assert told["value"] == 80.02


def test_a_price_is_never_called_by_another_name() -> None:
    """Without a buy box price the price of new offers is taken, and is said to be that."""
    gone = judged(body(product({"buy_box": triples((400, 1999), (3, -1))})))
    assert gone["selection_signals"]["price_position"]["inputs"]["series"] == "new"
    assert "(new)" in gone["agent_brief"]["one_line"]
    nothing = judged(body(product({"buy_box": None, "new": None})))
    assert nothing["selection_signals"]["price_position"]["absent"] == {"value": "not_collected"}


def test_without_a_sales_figure_the_rank_gives_a_word_and_no_number() -> None:
    found = judged(body(product(monthlySold=...)))["selection_signals"]["demand"]
    assert (found["value"], found["level"], found["confidence"]) == (None, "very_high", "low")
    neither = judged(body(product({"sales_rank": None}, monthlySold=-1)))["selection_signals"]["demand"]
    assert neither["absent"] == {"value": "none"}
    assert "level" not in neither


def test_zero_sales_and_zero_offers_are_figures() -> None:
    found = judged(body(product({"new_offer_count": days((400, 0))}, monthlySold=0)))["selection_signals"]
    assert (found["demand"]["value"], found["demand"]["level"]) == (0, "low")
    assert (found["competition"]["value"], found["competition"]["level"]) == (0, "none")


def test_statistics_stand_in_where_the_history_was_left_out() -> None:
    current = [-1] * 36
    current[1], current[3] = 1500, 77
    averages = [-1] * 36
    averages[1] = 2000
    whole = body(product(csv=..., stats={"current": current, "avg90": averages}))
    found = judged(whole)
    assert found["selection_signals"]["price_position"]["value"] == -25.0
    assert found["agent_brief"]["key_facts"]["sales_rank"] == 77
    assert found["next_actions"][0]["action"] == "get_history"
    assert problems(found, whole) == []


def test_completeness_counts_what_was_asked_for() -> None:
    found = judged(
        body(
            product({"review_count": None}, brand=None),
        ),
        rating=True,
    )["data_quality"]
    assert [m["fact"] for m in found["missing"]] == ["brand", "review_count"]
    inputs = found["completeness"]["inputs"]
    assert found["completeness"]["value"] == round(inputs["known"] / inputs["asked"], 2) < 1
    assert found["not_requested"] == ["live_offer_count"]


def test_arrays_that_break_their_layout_are_counted_and_the_first_shown() -> None:
    broken = product()
    broken["csv"][1] = [NOW, 1, 2]
    broken["csv"][2:9] = ["x"] * 7
    found = judged(body(broken))["data_quality"]
    assert found["problem_count"] == len(product_problems(broken, "$.products[0]")) == 8
    assert found["problems"] == product_problems(broken, "$.products[0]")[:3]
    assert len(found["problems"]) == 3
    assert judged(body(product()))["data_quality"]["problem_count"] == 0


def test_the_reach_of_a_history_is_told_in_days() -> None:
    reach = judged(body(product({"sales_rank": None})))["data_quality"]["history_reach"]
    assert reach["buy_box_price_days"] == 400
    assert reach["absent"] == {"sales_rank_days": "not_collected"}


@pytest.mark.parametrize(
    ("members", "params", "first"),
    [
        ({"csv": ...}, {}, "get_history"),
        ({}, {}, "get_offers"),
        ({"offers": [], "liveOffersOrder": []}, {}, "export_history"),
        ({"videos": None}, {"offers": 20}, "get_content"),
    ],
)
def test_only_what_was_not_asked_for_is_proposed(members: dict[str, Any], params: dict[str, Any], first: str) -> None:
    (subject,) = subjects_of(body(product(**members)), **params)
    assert next(iter(wishes(subject)))[0].value == first


def test_rating_and_buy_box_come_before_offers() -> None:
    bare = product({"rating": None, "review_count": None, "buy_box": None}, buyBoxSellerIdHistory=None)
    found = judged(body(bare))["next_actions"]
    assert [a["action"] for a in found[:3]] == ["get_rating", "get_buybox", "get_offers"]
    assert found[0]["cli"] == "kc products get B00AAAAAA1 --rating --full"
    assert [len(judged(body(bare), p)["next_actions"]) for p in ("summary", "deal")] == [1, 3]


def test_related_products_are_compared() -> None:
    whole = product(variations=[{"asin": "B00BBBBBB2"}, "x"], frequentlyBoughtTogether=["B00CCCCCC3", "B00AAAAAA1"])
    found = {w[0]: w[1] for w in wishes(subjects_of(body(whole))[0])}
    assert found[Need.COMPARE_PRODUCTS] == {"asin": ["B00AAAAAA1", "B00BBBBBB2", "B00CCCCCC3"]}


def test_what_cannot_be_asked_is_not_proposed() -> None:
    for asin in ("nonsense", None, "<script>", 7):
        found = judged(body(product(asin=asin)))
        assert found["next_actions"] == []
        assert problems(found) == []
    assert offered(look(body(product(asin="x"))), Need.GET_OFFERS, {"offers": 20}, "") is None


def test_yen_have_no_decimals() -> None:
    whole = body(product(domainId=5))
    brief = judged(whole)["agent_brief"]
    assert brief["key_facts"]["price"] == {
        "raw": 1999, "amount": "1999", "currency": "JPY", "formatted": "1,999 JPY",
    }  # fmt: skip
    assert "1,999 JPY" in brief["one_line"]
    assert DOMAINS[5].currency == "JPY"


def test_the_order_of_members_says_nothing() -> None:
    whole = product({"sales_rank": days((400, 1000), (30, 9000))})
    turned = dict(reversed(list(whole.items())))
    assert judged(body(whole)) == judged(body(turned))


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
PACKED = st.none() | st.lists(st.integers(-3, NOW + 10) | st.sampled_from([NOW, NOW - DAY, 10**30, -1, -2]), max_size=9)
MEMBERS = (
    *product(), "offers", "liveOffersOrder",
    "reviews", "monthlySoldHistory", "couponHistory", "salesRanks", "parentAsin",
    "variations", "frequentlyBoughtTogether", "imagesCSV",
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(MEMBERS), ODD, max_size=5),
    st.lists(PACKED | ODD, max_size=38) | st.none(),
    st.sampled_from(["summary", "deal", "research"]),
)
def test_odd_products_are_judged_without_complaint(members: dict[str, Any], csv: Any, profile: str) -> None:
    whole = body(
        product(**({"csv": csv} if csv is not None else {}), **{k: v for k, v in members.items() if k != "csv"})
    )
    before = copy.deepcopy(whole)
    found = judged(whole, profile)
    assert problems(found, whole) == []
    assert whole == before
    assert json.dumps(found)


@pytest.mark.parametrize("whole", [{}, {"products": None}, {"products": [None, 7, [], {}]}, [], None])
def test_an_answer_without_products_has_nothing_to_judge(whole: Any) -> None:
    for subject in subjects_of(whole):
        seen = Look(subject, PLAN, "research")
        assert problems({name: seen.section(name) for name in MINE}) == []


BARE = {"history": "0"}


@pytest.mark.parametrize("asin", SHOWN)
@pytest.mark.parametrize(
    "query", [{}, {"stats": "90", "rating": "1", "buybox": "1"}, {"offers": "20"}, {"history": "0"}]
)
def test_every_special_product_of_the_sandbox_is_judged(asin: str, query: dict[str, str]) -> None:
    whole = made(asin, **(FULL | query))
    found = judged(whole)
    assert problems(found, whole) == []
    for entry in found["evidence_index"]:
        parse(entry["path"]).get(whole)


def test_the_statistics_of_the_sandbox_are_met() -> None:
    for asin in ("B0AMAZON01", "B0LARGES01", "B0COUPON01"):
        whole = made(asin, **(FULL | {"stats": "90", "rating": "1", "buybox": "1"}))
        stats = whole["products"][0]["stats"]
        seen = look(whole)
        signals, slot = seen.section("selection_signals"), seen.section("vitals").price_type.index
        assert signals["price_position"]["inputs"]["mean_90d"]["raw"] == stats["avg90"][slot]
        assert signals["stock_outs"]["value"] == stats["outOfStockPercentage90"][slot]
        assert signals["rank_trend"]["inputs"]["mean_30d"] == stats["avg30"][3]
        top = signals["buy_box_concentration"]
        told = stats["buyBoxStats"][top["inputs"]["seller_id"]]["percentageWon"]
        assert top["value"] == round(told, 2)


def test_mutations_of_the_real_body_are_judged(shared_data: Path) -> None:
    real = json.loads((shared_data / REAL[0]).read_text("utf-8"))
    small = real | {"products": [shortened(real["products"][0], 40)]}
    rng = random.Random(7)
    for _ in range(300):
        whole = mutated(copy.deepcopy(small), rng, rng.randrange(1, 12))
        for subject in subjects_of(whole):
            seen = Look(subject, PLAN, rng.choice(["summary", "research"]))
            assert problems({name: seen.section(name) for name in MINE}, whole) == []
