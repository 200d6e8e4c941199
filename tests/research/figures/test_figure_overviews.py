"""Comparisons, small multiples, risks and graphs draw what the views say."""

from __future__ import annotations

import random
from typing import Any

import pytest

from keepa_cli.research.compare import compare
from keepa_cli.research.figures import graph, metrics, risks
from keepa_cli.research.figures.layout import place
from keepa_cli.research.figures.model import Figure
from tests.research.figures.support import A, B, C, made, marks, rows, skipped, texts
from tests.research.product.made import body, days, plan, product, subjects_of, triples


def three() -> dict[str, Any]:
    return body(
        product({"new": days((300, 1000), (150, -1), (100, 2000))}, asin=A),
        product({"buy_box": triples((300, 3999)), "sales_rank": days((300, 90_000), (30, 9))}, asin=B),
        product({"buy_box": None, "new": days((300, 50)), "review_count": days((300, 5))}, asin=C),
    )


def test_bars_have_the_values_of_the_comparison() -> None:
    figure = made(three(), figure_set="compare")["metrics"]
    found = compare(subjects_of(three()), plan())["rows"]
    drawn = {(r["asin"], r["text"]) for r in rows(figure, "text")}
    for row in found:
        assert (row["asin"], f"{row['sales_rank']:,}") in drawn
        assert (row["asin"], row["new_price"]["amount"]) in drawn
    assert (C, "n/a") in drawn, "the buy box of C was not requested"
    assert {p["title"]["text"] for p in figure.spec["concat"]} >= {"Buy box price (USD)", "Sales rank (less is better)"}


def test_a_comparison_draws_the_same_bars_as_its_products() -> None:
    told = {"ok": True, "data": compare(subjects_of(three()), plan())}
    mine, theirs = (made(d, figure_set="compare")["metrics"] for d in (three(), told))
    assert mine.spec == theirs.spec
    assert (mine.data_basis, theirs.data_basis) == ("keepa_answer", "products_compare")


def test_currencies_do_not_share_a_scale() -> None:
    whole = body(product(asin=A), product(asin=B, domainId=5))
    figure = made(whole, figure_set="compare")["metrics"]
    titles = [p["title"]["text"] for p in figure.spec["concat"]]
    assert {"New price (JPY)", "New price (USD)"} <= set(titles)
    assert {"1,999", "19.99"} <= set(texts(figure))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"amount": "1499.00", "currency": "INR"}, "1,499.00"),
        ({"value": 100_000}, "100,000"),
        ({"value": None}, None),
        ("4.3", "4.3"),
        (-3.5, "-3.5"),
        (0, "0"),
        (True, None),
        ("soon", None),
        ([], None),
    ],
)
def test_a_member_of_a_row_is_read_as_it_is_written(value: Any, text: str | None) -> None:
    found = metrics.read(value)
    assert (found.text if found else None) == text


def test_prices_are_indexed_to_their_own_mean_over_one_span_of_days() -> None:
    figure = made(three(), figure_set="compare")["multiples-prices"]
    charts = figure.spec["concat"]
    assert len(charts) == 3
    assert "new, 100 = 0.50 USD" in charts[2]["title"]["subtitle"]
    assert {r["v"] for layer in charts[2]["layer"] for r in layer["data"]["values"]} == {100}
    spans = {tuple(layer["encoding"]["x"]["scale"]["domain"]) for layer in marks(figure, "line")}
    assert len(spans) == 1
    assert len(rows(figure, "rect", "stock-out")) == 1
    assert {tuple(layer["encoding"]["y"]["scale"]["domain"]) for layer in marks(figure, "line")} == {
        tuple(marks(figure, "line")[0]["encoding"]["y"]["scale"]["domain"])
    }


def test_a_rank_that_is_gone_now_is_told_as_none() -> None:
    gone = body(product({"sales_rank": days((300, 10), (200, 2000), (5, -1))}, asin=A), product(asin=B))
    first, second = made(gone, figure_set="compare")["multiples-ranks"].spec["concat"]
    assert first["title"]["subtitle"] == "2,000 to 10, now none"
    assert first["width"] == second["width"] > 390, "two charts fill the figure"
    (line,) = [layer for layer in first["layer"] if layer["mark"]["type"] == "line"]
    assert line["encoding"]["y"]["axis"]["values"] == [10, 100, 1000]


def test_one_product_is_no_comparison() -> None:
    told = skipped(body(product()), figure_set="compare")
    assert set(told) == {"metrics", "multiples-prices", "multiples-ranks"}
    assert "two products" in told["metrics"]


def test_risks_stand_with_their_severity() -> None:
    figure = made(three(), figure_set="audit")["risks"]
    cells = {(r["asin"], r["code"]): r["severity"] for r in rows(figure, "rect")}
    assert cells[C, "low review count"] == "high"
    assert cells[A, "low review count"] == "none"
    assert len(cells) == 3 * 7
    assert {r["code"] for r in rows(figure, "text", "on-strong")} >= {"low review count"}


def test_a_comparison_tells_the_severity_of_the_worst_case_only() -> None:
    judged = [
        risks.Judged(A, [{"code": "price_unstable", "severity": risks.UNRATED}]),
        risks.Judged(B, [{"code": "price_unstable", "severity": "high", "reason": "r"}, {"code": "new_code"}]),
    ]
    figure = risks.risks(judged, "products_compare")
    assert isinstance(figure, Figure)
    cells = {(r["asin"], r["code"]): r["text"] for r in rows(figure, "rect")}
    assert (cells[A, "price unstable"], cells[B, "price unstable"]) == ("found", "high: r")
    assert cells[A, "data missing"] == "–" and (B, "new code") in cells


def test_there_is_room_for_reasons_beside_few_products() -> None:
    few = made(body(product({"review_count": days((300, 5))})), figure_set="audit")["risks"]
    assert "high: Only 5 ratings." in texts(few)
    many = made(three(), figure_set="audit")["risks"]
    assert not any(":" in text for text in texts(many))


def nodes(count: int, type_: str = "product") -> list[dict[str, str]]:
    return [{"id": f"{type_}:{i}", "type": type_, "label": f"{type_} {i}"} for i in range(count)]


def small() -> dict[str, Any]:
    chain = [{"type": "parent_of", "source": f"category:{i}", "target": f"category:{i + 1}"} for i in range(3)]
    into = [{"type": "in_category", "source": f"product:{i}", "target": "category:3"} for i in range(4)]
    made_by = [{"type": "made_by", "source": f"product:{i}", "target": f"brand:{i % 2}"} for i in range(4)]
    return {"root": "x", "nodes": nodes(4) + nodes(4, "category") + nodes(2, "brand"), "edges": chain + into + made_by}


def test_a_small_graph_is_drawn_with_every_node_and_edge() -> None:
    figure = graph.graph(small(), "research_graph")
    assert isinstance(figure, Figure)
    assert len(rows(figure, "circle")) == 10 and len(rows(figure, "rule")) == 11
    assert len({(r["x"], r["y"]) for r in rows(figure, "circle")}) == 10
    ends = {(r["x"], r["y"]) for r in rows(figure, "rule")} | {(r["x2"], r["y2"]) for r in rows(figure, "rule")}
    assert ends == {(r["x"], r["y"]) for r in rows(figure, "circle")}


def test_the_layout_does_not_depend_on_the_order_and_chains_run_downwards() -> None:
    found = small()
    placed = place(found["nodes"], found["edges"])
    for seed in range(5):
        mixed = {k: random.Random(seed).sample(found[k], len(found[k])) for k in ("nodes", "edges")}
        assert place(mixed["nodes"], mixed["edges"]) == placed
    chain = [placed[f"category:{i}"] for i in range(4)]
    assert [p.place for p in chain] == [0, 1, 2, 3] == [p.indent for p in chain]


def test_a_graph_that_runs_in_a_circle_is_drawn() -> None:
    edges = [{"type": "parent_of", "source": f"category:{i}", "target": f"category:{(i + 1) % 3}"} for i in range(3)]
    placed = place(nodes(3, "category"), edges)
    assert sorted(p.place for p in placed.values()) == [0, 1, 2]


def test_a_large_graph_is_counted() -> None:
    found = {"root": "x", "nodes": nodes(61) + nodes(3, "brand"), "edges": small()["edges"][-2:]}
    figure = graph.graph(found, "research_graph")
    assert isinstance(figure, Figure)
    assert {(r["type"], r["count"]) for r in rows(figure, "bar")} <= {("product", 61), ("brand", 3), ("made by", 2)}
    counted = [layer["data"]["values"] for layer in figure.spec["vconcat"]]
    assert counted[0] == [{"type": "product", "count": 61}, {"type": "brand", "count": 3}]


@pytest.mark.parametrize("odd", [{}, {"nodes": None}, {"nodes": [1, {"id": "a"}]}, {"nodes": [], "edges": []}])
def test_what_is_no_graph_gives_a_reason(odd: Any) -> None:
    assert isinstance(graph.graph(odd, "research_graph"), str)
