from __future__ import annotations

from keepa_cli.research.graph.find import graphs_in
from keepa_cli.research.graph.model import EdgeType, Graph, NodeType


def test_a_graph_has_one_order_and_no_doubles() -> None:
    forward, backward = Graph("product:US:A"), Graph("product:US:A")
    for g, order in ((forward, (0, 1)), (backward, (1, 0))):
        for step in order:
            if step:
                g.node(NodeType.BRAND, "acme", "Acme")
            else:
                g.node(NodeType.PRODUCT, "US:A", "Kettle", price=None)
        g.node(NodeType.PRODUCT, "US:A")
        g.edge(EdgeType.MADE_BY, "product:US:A", "brand:acme")
        g.edge(EdgeType.MADE_BY, "product:US:A", "brand:acme")
    assert forward.as_dict() == backward.as_dict()
    assert forward.as_dict() == {
        "root": "product:US:A",
        "nodes": [
            {"id": "product:US:A", "type": "product", "label": "Kettle"},
            {"id": "brand:acme", "type": "brand", "label": "Acme"},
        ],
        "edges": [{"type": "made_by", "source": "product:US:A", "target": "brand:acme"}],
    }


def test_edges_without_their_nodes_and_to_themselves_are_left_out() -> None:
    g = Graph("product:US:A")
    a = g.node(NodeType.PRODUCT, "US:A", 7)
    g.edge(EdgeType.MADE_BY, a, "brand:never added")
    g.edge(EdgeType.VARIATION_OF, a, a)
    assert g.as_dict()["edges"] == []
    assert g.as_dict()["nodes"][0]["label"] == "A"


def test_long_labels_are_cut() -> None:
    g = Graph("product:US:A")
    g.node(NodeType.PRODUCT, "US:A", "x" * 500)
    assert len(g.as_dict()["nodes"][0]["label"]) == 120


def test_every_graph_in_a_document_is_found_with_its_path() -> None:
    graph = {"root": "a", "nodes": [], "edges": []}
    data = {"data": {"research_graph": graph, "products": [{"research_graph": {**graph, "research_graph": 1}}, 3]}}
    assert [path for path, _ in graphs_in(data)] == ["$.data.research_graph", "$.data.products[0].research_graph"]
    assert list(graphs_in(graph)) == [("$", graph)]
    assert list(graphs_in([1, {"research_graph": None}, {"research_graph": 5}])) == [("$[2].research_graph", 5)]
    assert list(graphs_in("text")) == []
