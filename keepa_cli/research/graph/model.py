"""The nodes and edges of a research graph, and the one way to build it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

GRAPH = "research_graph"
"""The member of a view that holds its graph."""
LONGEST_LABEL = 120
LOCAL = frozenset({"evidence_path"})
"""Attributes that mean something only beside the body that the graph was made from: a merge leaves them out."""


class NodeType(StrEnum):
    PRODUCT = "product"
    BRAND = "brand"
    MANUFACTURER = "manufacturer"
    CATEGORY = "category"
    SELLER = "seller"
    VARIATION = "variation"
    SEARCH_TERM = "search_term"
    SELECTION = "selection"
    DEAL_SET = "deal_set"
    DEAL = "deal"
    SELLER_REQUEST = "seller_request"
    SELLER_RANKING = "seller_ranking"
    RESEARCH_GRAPH = "research_graph"


class EdgeType(StrEnum):
    MADE_BY = "made_by"
    MANUFACTURED_BY = "manufactured_by"
    IN_CATEGORY = "in_category"
    PARENT_OF = "parent_of"
    BUYBOX_SOLD_BY = "buybox_sold_by"
    VARIATION_OF = "variation_of"
    HAS_VARIATION = "has_variation"
    MATCHED_CATEGORY = "matched_category"
    HAS_CANDIDATE = "has_candidate"
    FILTERS_CATEGORY = "filters_category"
    RETURNS_PRODUCT = "returns_product"
    CONTAINS_DEAL = "contains_deal"
    FOR_PRODUCT = "for_product"
    SELLS_PRODUCT = "sells_product"
    INCLUDES_GRAPH = "includes_graph"


def node_id(type: str, key: str) -> str:  # noqa: A002
    """`product:US:B001GZ6QEC`. `key` holds the marketplace where one and the same id can exist in several."""
    return f"{type}:{key}"


def name_key(text: str) -> str:
    """The key of what is known by its name only, a brand for instance: spelling, not case or spaces, tells apart."""
    return " ".join(text.casefold().split())[:LONGEST_LABEL]


def bare_label(name: str) -> str:
    """What a node without a label is called: the end of its id."""
    return name.rpartition(":")[2] or name


def label_of(value: Any, otherwise: str) -> str:
    """A label of bearable length; it stays plain data, whatever stands in it."""
    text = value.strip() if isinstance(value, str) else ""
    text = text or otherwise
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"


class Graph:
    """A graph under construction. `root` is the id of the node that the graph is about.

    Nodes and edges that are added twice are one; what a later addition says more is kept. Attributes without a value
    are left out.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self._nodes: dict[str, dict[str, Any]] = {}
        self._edges: dict[tuple[str, str, str], dict[str, Any]] = {}

    def node(self, type: str, key: str, label: Any = None, **attributes: Any) -> str:  # noqa: A002
        """Add a node; its id."""
        return self.add(node_id(type, key), type, label, **attributes)

    def add(self, found: str, type: str, label: Any = None, **attributes: Any) -> str:  # noqa: A002
        """Add a node of which the id is known: a variation has the id of the product that it is."""
        bare = bare_label(found)
        known = self._nodes.setdefault(found, {"id": found, "type": str(type), "label": bare})
        if known["label"] == bare:
            known["label"] = label_of(label, bare)
        _add(known, attributes)
        return found

    def edge(self, type: str, source: str, target: str, **attributes: Any) -> None:  # noqa: A002
        """Connect two nodes. An edge from a node to itself says nothing and is left out."""
        if source != target:
            key = (str(type), source, target)
            edge = self._edges.setdefault(key, {"type": key[0], "source": source, "target": target})
            _add(edge, attributes)

    def as_dict(self) -> dict[str, Any]:
        """`{root, nodes, edges}`, the root first, in one order however the graph was built. Edges whose ends were
        never added are left out."""
        return ordered(self.root, self._nodes, self._edges)


def ordered(
    root: str, nodes: Mapping[str, dict[str, Any]], edges: Mapping[tuple[str, str, str], dict[str, Any]]
) -> dict[str, Any]:
    """A graph in the order that all graphs have."""
    return {
        "root": root,
        "nodes": sorted(nodes.values(), key=lambda n: (n["id"] != root, n["type"], n["id"])),
        "edges": [edges[key] for key in sorted(edges) if key[1] in nodes and key[2] in nodes],
    }


def _add(known: dict[str, Any], attributes: Mapping[str, Any]) -> None:
    for name, value in attributes.items():
        if value is not None and name not in known:
            known[name] = value
