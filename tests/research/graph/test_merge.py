from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.research.graph.merge import merge_graphs
from keepa_cli.research.graph.model import EdgeType, Graph, NodeType
from tests.support.views import problems

IDS = st.sampled_from(["product:US:A", "product:US:B", "brand:x", "category:US:1", "research_graph:g", "odd", ""])
NODES = st.fixed_dictionaries(
    {"id": IDS, "type": st.sampled_from(["product", "brand", "variation", "research_graph", "spaceship"])},
    optional={"label": st.sampled_from(["One", "Two", " ", "A", "x" * 200]), "rank": st.integers(1, 3)},
)
EDGES = st.fixed_dictionaries(
    {"type": st.sampled_from(["made_by", "includes_graph", "flies"]), "source": IDS, "target": IDS},
    optional={"weight": st.integers(1, 2)},
)
GRAPHS = st.fixed_dictionaries(
    {"root": st.one_of(IDS, st.none()), "nodes": st.lists(NODES, max_size=5), "edges": st.lists(EDGES, max_size=5)}
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "type", "label", "nodes", "edges", "root", "source", "target", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
SOURCES = st.lists(st.tuples(st.sampled_from(["a.json", "b.json", "c.json"]), GRAPHS), max_size=4)


def kettle(label: str = "Kettle", **more: Any) -> dict[str, Any]:
    g = Graph("product:US:A")
    product = g.node(NodeType.PRODUCT, "US:A", label, **more)
    g.edge(EdgeType.MADE_BY, product, g.node(NodeType.BRAND, "acme", "Acme"))
    return g.as_dict()


def node(merged: dict[str, Any], name: str) -> dict[str, Any]:
    return next(n for n in merged["research_graph"]["nodes"] if n["id"] == name)


@settings(max_examples=150, deadline=None)
@given(SOURCES, st.randoms(use_true_random=False), st.sampled_from([None, "a.json", "product:US:A", 1]))
def test_the_order_of_the_sources_changes_nothing(sources: Any, random: Any, wish: Any) -> None:
    shuffled = list(sources)
    random.shuffle(shuffled)
    before = copy.deepcopy(sources)
    assert json.dumps(merge_graphs(sources, "all", wish)) == json.dumps(merge_graphs(shuffled, "all", wish))
    assert sources == before


@settings(max_examples=150, deadline=None)
@given(SOURCES)
def test_merging_again_changes_nothing(sources: Any) -> None:
    graph = merge_graphs(sources, "all")["research_graph"]
    assert merge_graphs([("merged.json", graph)], "all")["research_graph"] == graph
    assert merge_graphs([("one", graph), ("two", graph)], "all")["research_graph"] == graph
    assert merge_graphs([*sources, *sources], "all")["research_graph"] == graph


@settings(max_examples=150, deadline=None)
@given(SOURCES)
def test_a_merged_graph_is_whole(sources: Any) -> None:
    merged = merge_graphs(sources, "all")
    graph = merged["research_graph"]
    ids = [n["id"] for n in graph["nodes"]]
    assert len(ids) == len(set(ids)) and graph["root"] == "research_graph:all" == ids[0]
    assert all(n["label"] for n in graph["nodes"])
    assert {e[end] for e in graph["edges"] for end in ("source", "target")} <= set(ids)
    said = {n["id"] for _, g in sources for n in g["nodes"] if n["id"]}
    assert said <= set(ids)
    assert problems(merged) == []


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), JSON), max_size=3))
def test_nothing_that_comes_raises(sources: Any) -> None:
    merged = merge_graphs(sources, "all")
    json.dumps(merged, allow_nan=False)
    assert len(merged["sources"]) <= len(sources)


def test_what_is_no_graph_is_reported() -> None:
    hostile = {
        "root": 7,
        "nodes": [3, {"type": "product"}, {"id": "a"}, {"id": "a", "type": "product", "deep": {"x": 1}}],
        "edges": [None, {"type": "made_by", "source": "a"}, {"type": "made_by", "source": "a", "target": "gone"},
                  {"type": "made_by", "source": "a", "target": "a"}],
    }  # fmt: skip
    merged = merge_graphs([("bad.json", hostile), ("list.json", [1])], "all")
    found = merged["diagnostics"]
    assert found["unreadable"] == {
        "attribute_left_out": 1, "edge_to_itself": 1, "edge_without_ends": 1, "edge_without_type": 1,
        "node_without_id": 2, "node_without_type": 1, "not_a_graph": 1, "root_missing": 1,
    }  # fmt: skip
    assert found["dangling_edges"]["shown"] == [{"type": "made_by", "source": "a", "target": "gone"}]
    assert found["orphans"]["shown"] == ["a"]
    assert [s["confidence"] for s in merged["sources"]] == ["low", "low"]


def test_an_edge_may_lead_into_another_source() -> None:
    left = {"root": "a", "nodes": [{"id": "a", "type": "product"}], "edges": [
        {"type": "made_by", "source": "a", "target": "b"}]}  # fmt: skip
    right = {"root": "b", "nodes": [{"id": "b", "type": "brand"}], "edges": []}
    merged = merge_graphs([("left", left), ("right", right)], "all")
    assert {"type": "made_by", "source": "a", "target": "b"} in merged["research_graph"]["edges"]
    assert merged["diagnostics"]["dangling_edges"]["count"] == 0


def test_most_sources_decide_and_equal_graphs_are_one_witness() -> None:
    two, three = [("a", kettle("Old")), ("b", kettle("New"))], [("c", kettle("New", price=1))]
    first = merge_graphs(two, "all")
    assert node(first, "product:US:A")["label"] == "New"
    assert first["diff"]["conflicts"]["shown"][0]["resolution"] == "first_in_order"
    merged = merge_graphs([*two, *three], "all")
    assert merged["diff"]["conflicts"]["shown"] == [
        {
            "where": "product:US:A",
            "field": "label",
            "chosen": "New",
            "resolution": "most_frequent",
            "variants": [{"value": "New", "sources": [1, 2]}, {"value": "Old", "sources": [0]}],
        }
    ]
    again = merge_graphs([("a", kettle("Zebra")), ("a2", kettle("Zebra")), ("b", kettle("Ant"))], "all")
    assert node(again, "product:US:A")["label"] == "Ant"
    assert again["diagnostics"]["identical_sources"]["shown"] == [{"index": 1, "same_as": 0}]


def test_the_preferred_source_decides() -> None:
    sources = [("a", kettle("Ant")), ("b", kettle("Bee")), ("c", kettle("Bee", x=1))]
    by_name, by_index = merge_graphs(sources, "all", "a"), merge_graphs(sources, "all", "0")
    assert node(by_name, "product:US:A") == node(by_index, "product:US:A")
    assert node(by_name, "product:US:A")["label"] == "Ant"
    assert by_name["diff"]["conflicts"]["shown"][0]["resolution"] == "prefer_source"
    assert by_name["diff"]["preferred_sources"] == [0]
    assert merge_graphs(sources, "all", "nobody")["diff"]["preferred_sources"] == []


def test_the_root_includes_what_was_merged_and_evidence_of_one_body_stays_behind() -> None:
    merged = merge_graphs([("a", kettle(evidence_path="$.products[0].asin", asin="A"))], "deal hunt")
    graph = merged["research_graph"]
    assert graph["nodes"][0] == {"id": "research_graph:deal hunt", "type": "research_graph", "label": "deal hunt"}
    included = {"type": "includes_graph", "source": "research_graph:deal hunt", "target": "product:US:A"}
    assert included in graph["edges"]
    assert node(merged, "product:US:A") == {"id": "product:US:A", "type": "product", "label": "Kettle", "asin": "A"}
    assert merged["summary"]["nodes_by_type"] == {"brand": 1, "product": 1, "research_graph": 1}
    assert merged["sources"][0]["source_weight"] == 0.6


def test_graphs_that_include_each_other_are_reported() -> None:
    def graph(a: str, b: str) -> dict[str, Any]:
        return {
            "root": a,
            "nodes": [{"id": a, "type": "research_graph"}],
            "edges": [{"type": "includes_graph", "source": a, "target": b}],
        }

    merged = merge_graphs([("1", graph("research_graph:a", "research_graph:b")),
                           ("2", graph("research_graph:b", "research_graph:a"))], "top")  # fmt: skip
    assert merged["diagnostics"]["include_cycles"]["shown"] == ["research_graph:a", "research_graph:b"]


def test_a_large_graph_is_merged_in_linear_time() -> None:
    nodes = [{"id": f"product:US:{i}", "type": "product", "label": str(i)} for i in range(30_000)]
    edges = [
        {"type": "includes_graph", "source": f"product:US:{i}", "target": f"product:US:{i + 1}"} for i in range(29_999)
    ]
    merged = merge_graphs([("big", {"root": "product:US:0", "nodes": nodes, "edges": edges})], "all")
    assert merged["summary"]["node_count"] == 30_001
    assert merged["summary"]["edge_count"] == 30_000
    assert merged["diagnostics"]["include_cycles"]["count"] == 0


def test_a_variation_becomes_the_product_it_is() -> None:
    variation = {"id": "product:US:A", "type": "variation", "label": "A"}
    family = {"root": "product:US:P", "nodes": [{"id": "product:US:P", "type": "product"}, variation], "edges": []}
    merged = merge_graphs([("family", family), ("kettle", kettle())], "all")
    assert node(merged, "product:US:A") == {"id": "product:US:A", "type": "product", "label": "Kettle"}
    assert merged["diff"]["conflicts"]["count"] == 0
