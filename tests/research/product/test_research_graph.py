from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.paths import parse
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.research.graph.merge import merge_graphs
from keepa_cli.research.product.look import Look
from keepa_cli.research.subject import subject, subjects
from tests.support.views import problems

US = DOMAINS[1]
ODD = st.none() | st.integers() | st.text(max_size=4) | st.lists(st.none() | st.text(max_size=3), max_size=4)


def graph_of(product: Any, body: Any = None) -> dict[str, Any]:
    about = subject(product, "$.products[0]", body or {"timestamp": 1778000000000}, US, {})
    return Look(about, lambda *_: {}, "research").section("research_graph")


def links(graph: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(e["type"], e["source"], e["target"]) for e in graph["edges"]}


@pytest.mark.parametrize("name", ["product-B0D8W1YVBX-US-20260510.json", "product-B0D8W1YVBX-US-20260510-stats0.json"])
def test_a_real_product(shared_data: Path, name: str) -> None:
    body = json.loads((shared_data / name).read_bytes())
    look = Look(next(subjects(body, US, {})), lambda *_: {}, "research")
    graph = look.section("research_graph")
    assert problems(graph, body) == []
    assert len(json.dumps(graph, ensure_ascii=False, separators=(",", ":")).encode()) <= 2560
    product = "product:US:B0D8W1YVBX"
    assert graph["root"] == graph["nodes"][0]["id"] == product
    expected = {
        ("made_by", product, "brand:eqqualberry"),
        ("manufactured_by", product, "manufacturer:boosters"),
        ("in_category", product, "category:US:7792528011"),
        ("parent_of", "category:US:3760911", "category:US:11060451"),
    }
    assert expected <= links(graph)
    sellers = {("buybox_sold_by", product, "seller:US:AFZNN5H6MIT2Z")} if "stats0" not in name else set()
    assert {link for link in links(graph) if link[0] == "buybox_sold_by"} == sellers
    for node in graph["nodes"]:
        parse(node["evidence_path"]).get(body)


def test_a_child_names_its_parent_and_siblings() -> None:
    family = [
        {"asin": "B000000001", "attributes": [{"dimension": "Color", "value": "Red"}]},
        {"asin": "B000000002", "attributes": [{"dimension": "Color", "value": "Blue"}]},
    ]
    child = {"asin": "B000000001", "parentAsin": "B00000000P", "variations": family}
    graph = graph_of(child)
    assert links(graph) == {
        ("variation_of", "product:US:B000000001", "product:US:B00000000P"),
        ("has_variation", "product:US:B00000000P", "product:US:B000000002"),
    }
    sibling = next(n for n in graph["nodes"] if n["id"] == "product:US:B000000002")
    assert sibling["type"] == "variation" and sibling["variation"] == "Color: Blue"
    other = graph_of({"asin": "B000000002", "parentAsin": "B00000000P", "title": "Blue kettle"})
    merged = merge_graphs([("a", graph), ("b", other)], "family")
    known = next(n for n in merged["research_graph"]["nodes"] if n["id"] == "product:US:B000000002")
    assert (known["type"], known["label"]) == ("product", "Blue kettle")
    assert merged["diff"]["conflicts"]["count"] == 0


def test_a_large_family_is_counted_and_cut() -> None:
    family = [{"asin": f"B{n:09d}", "attributes": None} for n in range(500)]
    graph = graph_of({"asin": "B00000000P", "productType": 5, "variations": family})
    assert graph["nodes"][0]["variation_count"] == 500
    assert len(graph["edges"]) == 6
    assert len(json.dumps(graph)) < 2560


def test_the_buy_box_of_the_history_counts_until_now() -> None:
    ahead = {"asin": "B0", "buyBoxSellerIdHistory": ["7000000", "ANOW", "9999999", "ALATER"]}
    graph = graph_of(ahead)
    assert graph["edges"] == [
        {
            "type": "buybox_sold_by",
            "source": "product:US:B0",
            "target": "seller:US:ANOW",
            "since_at": "2024-04-23T02:40:00Z",
        }
    ]
    assert graph_of({"asin": "B0", "buyBoxSellerIdHistory": ["7000000", "ANOW", "7000002", "-2"]})["edges"] == []


def test_a_product_without_an_asin_has_no_graph() -> None:
    for product in ({}, {"asin": None}, {"asin": 5}, {"asin": "x" * 500}):
        assert graph_of(product) == {"root": None, "absent": {"root": "unreadable"}, "nodes": [], "edges": []}


@settings(max_examples=200, deadline=None)
@given(
    st.fixed_dictionaries(
        {"asin": st.just("B000000001") | ODD},
        optional={
            "title": ODD, "brand": ODD, "manufacturer": ODD, "parentAsin": ODD, "categories": ODD,
            "categoryTree": ODD | st.lists(st.dictionaries(st.sampled_from(["catId", "name"]), ODD), max_size=12),
            "variations": ODD | st.lists(st.dictionaries(st.sampled_from(["asin", "attributes"]), ODD), max_size=9),
            "stats": ODD | st.dictionaries(st.just("buyBoxSellerId"), ODD), "buyBoxSellerIdHistory": ODD,
        },
    )
)  # fmt: skip
def test_odd_products_never_raise(product: dict[str, Any]) -> None:
    graph = graph_of(product)
    assert problems(graph, {"products": [product]}) == []
    ids = {n["id"] for n in graph["nodes"]}
    assert all({e["source"], e["target"]} <= ids for e in graph["edges"])
