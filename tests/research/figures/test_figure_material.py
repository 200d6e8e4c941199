"""Every kind of input is read, nothing in it makes the reading fail, and each figure says what it was made from."""

from __future__ import annotations

from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.clock import iso
from keepa_cli.research.compare import compare
from keepa_cli.research.figures import sets
from keepa_cli.research.figures.model import Figure
from keepa_cli.research.graph.merge import merge_graphs
from keepa_cli.research.history.rows import Piece, objects
from keepa_cli.research.history.tracks import tracks
from keepa_cli.research.product.view import product_view
from tests.research.figures.support import A, B, C, made, material, rows, skipped, title_of
from tests.research.product.made import NOW, body, days, look, plan, product, subjects_of, triples

GAPS = {"new": days((300, 1999), (200, -1), (180, 1899)), "buy_box": triples((300, 2500), (50, -1), (20, 2400))}


def exported(whole: Any, **more: Any) -> dict[str, Any]:
    pieces = [Piece(s.asin or "", t, t.times, t.raws) for s in subjects_of(whole) for t in tracks(s).values() if len(t)]
    found = list(chain.from_iterable(objects(p, reasons=True) for p in pieces))
    return {"ok": True, "data": {"view": "history_export", "rows": found, "row_count": len(found)} | more}


def view(whole: Any, profile: str = "research") -> dict[str, Any]:
    return {"ok": True, "data": {"view": "product", "products": [product_view(s, plan(), profile) for s in
                                                                 subjects_of(whole)]}}  # fmt: skip


def test_rows_of_an_export_give_the_figure_of_the_answer() -> None:
    whole = body(product(GAPS))
    now = {"products": [{"asin": A, "now_at": iso(NOW)}]}
    mine, theirs = (made(d, figure_set="history")[f"history-{A}"] for d in (whole, exported(whole, **now)))
    for type_ in ("line", "area", "rect"):
        assert rows(mine, type_) == rows(theirs, type_)
    assert (mine.data_basis, theirs.data_basis) == ("keepa_answer", "history_rows")


def test_rows_that_were_cut_are_told() -> None:
    found = made(exported(body(product(GAPS)), row_count=9_999), figure_set="history")
    assert "of 9,999 rows are in the input" in title_of(found[f"history-{A}"])


def test_a_view_gives_windows_and_risks_but_no_history() -> None:
    told = view(body(product(GAPS), product(asin=B)))
    assert set(made(told)) == {f"windows-{A}", f"windows-{B}", "metrics", "risks", "graph"}
    assert f"no whole history of {A}, {B}" in skipped(told)["history"]
    assert made(told)["graph"].data_basis == "research_graph"


def test_a_comparison_gives_what_it_holds_and_reasons_for_the_rest() -> None:
    told = compare(subjects_of(body(product(), product(asin=B))), plan())
    assert set(made(told)) == {"metrics", "risks", "graph"}
    assert set(skipped(told)) == {"history", "signals", "windows", "multiples-prices", "multiples-ranks"}
    assert material(told).without_history() == {"US": [A, B]}


def test_a_merged_graph_is_drawn_as_it_is() -> None:
    merged = merge_graphs([("a", look(body(product())).section("research_graph"))], "kettles")
    figure = made(merged)["graph"]
    assert figure.data["root"] == "research_graph:kettles"
    assert set(skipped(merged)) == set(sets.ALL) - {"graph"}


def test_an_answer_goes_before_a_view_of_the_same_product() -> None:
    whole = body(product(GAPS))
    found = material(view(whole), whole)
    assert len(found.products) == 1 and found.products[0].basis == "keepa_answer"
    assert f"history-{A}" in made(view(whole), whole)


def test_products_are_chosen_by_asin() -> None:
    whole = body(product(asin=A), product(asin=B), product(asin=C))
    found = made(whole, only=frozenset({A, C}))
    assert f"history-{B}" not in found and {f"history-{A}", f"history-{C}"} <= set(found)
    assert [r["asin"] for r in found["metrics"].data["rows"]] == [A, C]


def test_more_products_than_are_drawn_are_named() -> None:
    many = body(*(product(asin=f"B00AAAAA{i:02}") for i in range(sets.MOST_PRODUCTS + 2)))
    told = skipped(many, figure_set="history")
    assert "B00AAAAA08, B00AAAAA09 are left out: choose with --asin" in told["history-more"]


def test_one_asin_of_two_marketplaces_is_two_products() -> None:
    found = made(body(product(asin=A), product(asin=A, domainId=3)))
    assert {f"history-{A}", f"history-{A}-DE"} <= set(found)
    assert len({r["asin"] for r in found["metrics"].data["rows"]}) == 2


@pytest.mark.parametrize("asin", ["../../etc/passwd", "A" * 300, "a b", "\u202e\x07", "B00/\\:*?"])
def test_what_is_no_asin_never_names_a_file(asin: str) -> None:
    names = set(made(body(product(asin=asin)), figure_set="history"))
    assert names == {"history-product-1", "signals-product-1", "windows-product-1"}


ODD = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 9_000_000) | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=6),
    max_leaves=12,
)
PACKED = st.lists(st.integers(-3, 9_000_000), max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.lists(PACKED | ODD, max_size=36), st.dictionaries(st.sampled_from(["title", "stats", "productType"]), ODD))
def test_odd_products_never_make_it_fail(csv: list[Any], members: dict[str, Any]) -> None:
    whole = body(product(asin=A) | {"csv": csv} | members, product(asin=B))
    assert any(isinstance(f, Figure) for f in sets.figures(material(whole), "all"))


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["view", "rows", "products", "risk_summary", "research_graph", "nodes", "edges", "series"]),
        ODD | st.just("products_compare") | st.just("product") | st.just([{"asin": A, "risk_codes": [1]}]),
    )
)
def test_odd_data_of_any_kind_never_makes_it_fail(data: dict[str, Any]) -> None:
    list(sets.figures(material(data), "all"))
