"""The research graph of one product: its brand, maker, categories, family and who sells it. Every node and edge names
what in the body it was read from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keepa_cli.keepa.buybox import NOBODY, holders
from keepa_cli.keepa.clock import iso
from keepa_cli.research.facts import ABSENT, Reason
from keepa_cli.research.graph.model import EdgeType, Graph, NodeType, name_key, node_id
from keepa_cli.research.product.look import Look
from keepa_cli.research.subject import Subject

MOST_VARIATIONS = 6
MOST_CATEGORIES = 8
LONGEST_ID = 40


def section(look: Look) -> dict[str, Any]:
    """`{root, nodes, edges}`. Of a large family the first variations are shown; the product's node has the count."""
    subject = look.subject
    asin = _id(subject.asin)
    if asin is None:
        return {"root": None, ABSENT: {"root": Reason.UNREADABLE.value}, "nodes": [], "edges": []}
    key = f"{subject.domain.code}:{asin}"
    graph = Graph(node_id(NodeType.PRODUCT, key))
    where = subject.at("title" if isinstance(subject.product.get("title"), str) else "asin")
    family = list(_variations(subject))
    count = len(family) or None
    graph.node(NodeType.PRODUCT, key, subject.product.get("title"), evidence_path=where, variation_count=count)
    _makers(graph, subject)
    _categories(graph, subject)
    _family(graph, subject, family)
    _seller(graph, subject)
    return graph.as_dict()


def _makers(graph: Graph, subject: Subject) -> None:
    for field, type_, edge in (
        ("brand", NodeType.BRAND, EdgeType.MADE_BY),
        ("manufacturer", NodeType.MANUFACTURER, EdgeType.MANUFACTURED_BY),
    ):
        name = subject.product.get(field)
        if isinstance(name, str) and name.strip():
            graph.edge(edge, graph.root, graph.node(type_, name_key(name), name, evidence_path=subject.at(field)))


def _categories(graph: Graph, subject: Subject) -> None:
    """The path from the root to the leaf; without it the leaves alone."""
    code = subject.domain.code
    above = None
    for number, name, where in _path(subject):
        category = graph.node(NodeType.CATEGORY, f"{code}:{number}", name, evidence_path=where)
        if above:
            graph.edge(EdgeType.PARENT_OF, above, category)
        above = category
    if above:
        graph.edge(EdgeType.IN_CATEGORY, graph.root, above)
        return
    leaves = subject.product.get("categories")
    for i, number in enumerate(leaves if isinstance(leaves, list) else []):
        if type(number) is int and number > 0 and i < MOST_CATEGORIES:
            leaf = graph.node(NodeType.CATEGORY, f"{code}:{number}", evidence_path=subject.at("categories", i))
            graph.edge(EdgeType.IN_CATEGORY, graph.root, leaf)


def _path(subject: Subject) -> Iterator[tuple[int, Any, str]]:
    tree = subject.product.get("categoryTree")
    for i, item in enumerate(tree[-MOST_CATEGORIES:] if isinstance(tree, list) else []):
        number = item.get("catId") if isinstance(item, dict) else None
        if type(number) is int and number > 0:
            at = i + max(0, len(tree) - MOST_CATEGORIES) if isinstance(tree, list) else i
            yield number, item.get("name"), subject.at("categoryTree", at)


def _variations(subject: Subject) -> Iterator[tuple[str, Any, str]]:
    """(ASIN, dimensions, path) of each variation."""
    listed = subject.product.get("variations")
    for i, item in enumerate(listed if isinstance(listed, list) else []):
        asin = _id(item.get("asin")) if isinstance(item, dict) else None
        if asin:
            yield asin, _dimensions(item.get("attributes")), subject.at("variations", i)


def _dimensions(attributes: Any) -> str | None:
    pairs = [a for a in attributes if isinstance(a, dict)] if isinstance(attributes, list) else []
    return ", ".join(f"{a.get('dimension')}: {a.get('value')}" for a in pairs)[:80] or None


def _family(graph: Graph, subject: Subject, family: list[tuple[str, Any, str]]) -> None:
    code, parent = subject.domain.code, _id(subject.product.get("parentAsin"))
    top = graph.root
    if parent and parent != subject.asin:
        where = subject.at("parentAsin")
        top = graph.node(NodeType.PRODUCT, f"{code}:{parent}", evidence_path=where)
        graph.edge(EdgeType.VARIATION_OF, graph.root, top, evidence_path=where)
    others = [v for v in family if v[0] not in (subject.asin, parent)]
    for asin, dimensions, where in others[:MOST_VARIATIONS]:
        variation = node_id(NodeType.PRODUCT, f"{code}:{asin}")
        graph.add(variation, NodeType.VARIATION, variation=dimensions, evidence_path=where)
        graph.edge(EdgeType.HAS_VARIATION, top, variation)


def _seller(graph: Graph, subject: Subject) -> None:
    """Who holds the buy box: as `stats` says, else as the history says for now."""
    found, where, since = _id(subject.stats.get("buyBoxSellerId")), subject.at("stats", "buyBoxSellerId"), None
    if found is None or found in NOBODY:
        held = [h for h in holders(subject.product.get("buyBoxSellerIdHistory")) if h[0] <= subject.now]
        found = _id(held[-1][1]) if held else None
        if found is None or found in NOBODY:
            return
        since, where = iso(held[-1][0]), subject.at("buyBoxSellerIdHistory")
    seller = graph.node(NodeType.SELLER, f"{subject.domain.code}:{found}", evidence_path=where)
    graph.edge(EdgeType.BUYBOX_SOLD_BY, graph.root, seller, since_at=since)


def _id(value: Any) -> str | None:
    """What can be an ASIN or a seller id."""
    return value if isinstance(value, str) and 0 < len(value) <= LONGEST_ID else None
