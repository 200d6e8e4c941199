"""Rows in the order asked, leaders that lead, risks and graphs of all, and memory that grows with rows only."""

from __future__ import annotations

import itertools
import json
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.paths import parse
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.bodies import iter_subjects
from keepa_cli.research.compare import compare
from keepa_cli.research.leaders import FIGURES, figure_of
from tests.research.product.made import body, days, plan, product, subjects_of, triples
from tests.support.views import problems

A, B, C = "B00AAAAAA1", "B00BBBBBB2", "B00CCCCCC3"


def three() -> dict[str, Any]:
    return body(
        product({"sales_rank": days((400, 500))}, asin=A, monthlySold=2000),
        product({"sales_rank": days((400, 50)), "buy_box": triples((400, 2999))}, asin=B, monthlySold=9000),
        product({"review_count": days((400, 5)), "buy_box": triples((400, 1499))}, asin=C, monthlySold=9000),
    )


def compared(whole: Any, asked: list[str] | None = None, **options: Any) -> dict[str, Any]:
    found = compare(subjects_of(whole, full=True), plan(), asked or [], **options)
    assert problems(found, whole) == []
    return found


def asins(found: dict[str, Any]) -> list[str]:
    return [row["asin"] for row in found["rows"]]


def test_rows_stand_in_the_order_asked_whatever_order_keepa_answers_in() -> None:
    assert asins(compared(three(), [C, A, B])) == [C, A, B]
    assert asins(compared(three(), [C.lower(), A, C])) == [C, A, B]


def test_every_asin_asked_has_a_row_with_its_status() -> None:
    whole = body(product(asin=A), {"asin": B, "productType": 3}, product(asin="B00DDDDDD4"))
    found = compared(whole, [A, B, C])
    assert [(r["asin"], r["status"]) for r in found["rows"]] == [
        (A, "found"), (B, "invalid"), (C, "not_found"), ("B00DDDDDD4", "unasked"),
    ]  # fmt: skip
    assert found["data_quality"]["not_found"] == [C]
    assert found["data_quality"]["invalid"] == [B]
    assert set(found["rows"][0]) >= set(found["rows"][2]) - {"absent"}
    assert found["risk_summary"]["data_missing"]["asins"] == [B]
    assert "2 without data" in found["agent_brief"]["one_line"]


def test_a_row_has_the_figures_of_its_product() -> None:
    whole = body(product(asin=A, coupon=[-5, 0], aPlus=[{"module": [{}]}]))
    (row,) = compared(whole)["rows"]
    assert row["buy_box_price"] == {
        "raw": 1999, "amount": "19.99", "currency": "USD", "formatted": "19.99 USD",
        "evidence_path": "$.products[0].csv[18]",
    }  # fmt: skip
    figures = {k: row[k] for k in ("sales_rank", "rating", "review_count", "offer_count", "image_count", "video_count")}
    assert figures == {
        "sales_rank": 500, "rating": "4.5", "review_count": 900, "offer_count": 3, "image_count": 7, "video_count": 1,
    }  # fmt: skip
    assert (row["monthly_sold"]["value"], row["monthly_sold"]["confidence"]) == (2000, "lower_bound")
    assert row["price_vs_90d_pct"]["value"] == 0.0
    assert row["has_aplus"] is True
    assert row["coupon"]["one_time"] == {"kind": "percent", "percent": 5}
    for path in row["evidence"].values():
        parse(path).get(whole)


def test_what_was_not_asked_for_is_said_in_rows_and_proposed_once() -> None:
    bare = {"rating": None, "review_count": None, "buy_box": None}
    whole = body(*(product(bare, asin=a, buyBoxSellerIdHistory=None, videos=None) for a in (A, B)))
    found = compare(subjects_of(whole), plan(), [A, B])
    assert found["rows"][0]["absent"]["rating"] == "not_requested"
    assert found["rows"][0]["absent"]["video_count"] == "not_requested"
    assert {"rating", "review_count", "buy_box_price", "video_count"} <= set(found["data_quality"]["not_requested"])
    assert found["next_actions"][0]["cli"] == f"kc products compare {A} {B} --buybox --rating"


def test_the_leader_is_named_with_its_lead() -> None:
    best = compared(three())["best"]
    assert (best["sales_rank"]["asin"], best["sales_rank"]["value"]) == (B, 50)
    assert best["sales_rank"]["next"] == {"asin": A, "value": 500}
    assert (best["sales_rank"]["lead"], best["sales_rank"]["lead_pct"]) == (450, 90.0)
    assert best["buy_box_price"]["asin"] == C
    assert best["buy_box_price"]["value"]["formatted"] == "14.99 USD"
    assert best["buy_box_price"]["lead"]["formatted"] == "5.00 USD"
    assert best["monthly_sold"]["tied_with"] == [C]
    assert "lead" not in best["monthly_sold"]


def test_ranks_of_different_categories_are_not_held_against_each_other() -> None:
    other = {"salesRankReference": 110}
    whole = body(
        product({"sales_rank": days((400, 1))}, asin=A, **other),
        product({"sales_rank": days((400, 20))}, asin=B),
        product({"sales_rank": days((400, 30))}, asin=C),
    )
    found = compared(whole)
    assert found["best"]["sales_rank"]["asin"] == B
    assert found["data_quality"]["ranks_comparable"] is False
    assert found["data_quality"]["rank_category_ids"] == [100, 110]


def test_one_product_has_no_leader() -> None:
    found = compared(body(product()))
    assert found["best"] == {}
    assert found["count"] == 1


@pytest.mark.parametrize("name", FIGURES)
def test_rows_can_be_ordered_by_every_figure_the_best_first(name: str) -> None:
    whole = three()
    whole["products"].append({"asin": "B00DDDDDD4", "productType": 4})
    rows = compared(whole, sort_by=name)["rows"]
    assert rows[-1]["asin"] == "B00DDDDDD4"
    figures = [figure_of(r, name) for r in rows[:-1]]
    assert figures == sorted(figures, reverse=not FIGURES[name].lower_is_better)


def test_risks_are_summed_with_the_gravest_case() -> None:
    whole = three()
    whole["products"][0]["csv"][17] = days((400, 30))
    risk = compared(whole)["risk_summary"]["low_review_count"]
    assert (risk["count"], risk["asins"]) == (2, [A, C])
    assert (risk["worst"]["asin"], risk["worst"]["severity"]) == (C, "high")


def test_the_order_of_the_answer_changes_nothing_but_paths() -> None:
    def plain(found: dict[str, Any]) -> str:
        return json.dumps(found, sort_keys=True)

    for order in itertools.permutations(three()["products"]):
        for item in order:
            item["title"] = f"Kettle {item['asin']}"
        found = compare(subjects_of(body(*order)), plan(), [A, B, C])
        text = plain(found)
        for i, item in enumerate(order):
            text = text.replace(f"$.products[{i}]", item["asin"])
        if order[0]["asin"] == A and order[1]["asin"] == B:
            first = text
        assert text == first


def test_of_two_products_with_one_asin_the_usable_one_counts() -> None:
    dead, alive = {"asin": A, "productType": 3}, product(asin=A)
    for order in ((dead, alive), (alive, dead)):
        (row,) = compared(body(*order), [A])["rows"]
        assert (row["status"], row["sales_rank"]) == ("found", 500)
    assert compared(body(dead, alive), [A])["risk_summary"] == {}


def test_the_graphs_of_all_are_merged() -> None:
    graph = compared(three(), [A, B, C])["research_graph"]
    kinds = [n["type"] for n in graph["nodes"]]
    assert kinds.count("product") == 3
    assert kinds.count("brand") == 1
    assert graph["root"] == "research_graph:products_compare"


def test_the_real_products_side_by_side(shared_data: Path) -> None:
    names = ("product-B0D8W1YVBX-US-20260510.json", "product-B0D8W1YVBX-US-20260510-stats0.json")
    bodies = [json.loads((shared_data / n).read_text("utf-8")) for n in names]
    bodies[1]["products"][0]["asin"] = A
    whole = bodies[0] | {"products": [bodies[0]["products"][0], bodies[1]["products"][0]]}
    row, other = compared(whole, ["B0D8W1YVBX", A])["rows"]
    assert (row["sales_rank"], row["rating"], row["review_count"]) == (23, "4.3", 11598)
    assert other["absent"]["rating"] == "not_requested"
    assert row["price_vs_90d_pct"]["inputs"]["mean_90d"]["raw"] == 1805


def test_memory_grows_with_rows_and_not_with_products() -> None:
    rng = random.Random(4)
    ranks = days(*((i / 100, rng.randrange(400, 600)) for i in range(8_000, 0, -1)))

    def peak(count: int) -> tuple[int, int]:
        one = json.dumps(product({"sales_rank": ranks}, asin="B00AAAA@@@"))
        text = ",".join(one.replace("@@@", f"{i:03}") for i in range(count))
        data = f'{{"products":[{text}]}}'.encode()
        stream: Iterator[Any] = iter_subjects(data, DOMAINS[1])
        del text
        tracemalloc.start()
        found = compare(stream, plan())
        told = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return told, len(json.dumps(found))

    few, _ = peak(2)
    many, _ = peak(12)
    assert many - few < 10 * 40_000 < 10 * 8 * len(ranks)


def test_a_hundred_products_have_a_row_each() -> None:
    names = [f"B00AAAA{i:03}" for i in range(120)]
    whole = body(*(product(asin=n) for n in names))
    assert asins(compared(whole, names[::-1])) == names[::-1]


ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(tuple(product())), ODD, max_size=6) | ODD, max_size=4), ODD)
def test_odd_answers_compare_without_complaint(changes: list[Any], junk: Any) -> None:
    found = [product(**c) if isinstance(c, dict) and set(c) <= set(product()) else c for c in changes]
    compared(body(*found, junk), [A, B], sort_by="sales_rank")
