"""The graph of all inputs, in short: how much there is, what stands in the middle, what the inputs disagree on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from keepa_cli.research.brief.collect import Link
from keepa_cli.research.graph.find import Source
from keepa_cli.research.graph.model import NodeType

PER_TYPE = 5
_COUNTED = (
    (NodeType.PRODUCT, "product", "products"),
    (NodeType.BRAND, "brand", "brands"),
    (NodeType.CATEGORY, "category", "categories"),
    (NodeType.SELLER, "seller", "sellers"),
)
MOST_CONFLICTS = 20
MOST_PROOFS = 10


def summary(merged: Mapping[str, Any], graphs: Sequence[Source], link: Callable[[Link], str]) -> dict[str, Any]:
    """`link` numbers the evidence. A node is proved by the first source that holds it."""
    graph = merged["research_graph"]
    degrees = Counter(end for e in graph["edges"] for end in (e["source"], e["target"]))
    held = _places(graphs)
    rows: dict[str, list[dict[str, Any]]] = {}
    for node in sorted(graph["nodes"], key=lambda n: (-degrees[n["id"]], n["id"])):
        listed = rows.setdefault(node["type"], [])
        place = held.get(node["id"])
        if node["type"] != NodeType.RESEARCH_GRAPH and place and len(listed) < PER_TYPE:
            entry = {"id": node["id"], "label": node["label"], "connections": degrees[node["id"]]}
            listed.append(entry | {"evidence": [link(place)]})
    conflicts = merged["diff"]["conflicts"]
    return {
        **merged["summary"],
        "statements": _statements(merged, degrees, graphs, link),
        "entities": {kind: rows[kind] for kind in sorted(rows) if rows[kind]},
        "conflicts": [
            {"where": c["where"], "field": c["field"], "chosen": c["chosen"], "resolution": c["resolution"]}
            for c in conflicts["shown"][:MOST_CONFLICTS]
        ],
        "orphan_count": merged["diagnostics"]["orphans"]["count"],
    }


def _statements(
    merged: Mapping[str, Any], degrees: Mapping[str, int], graphs: Sequence[Source], link: Callable[[Link], str]
) -> list[dict[str, Any]]:
    """What can be counted in the graph, as sentences; their evidence is the graphs themselves."""
    by_type = merged["summary"]["nodes_by_type"]
    named = [f"{n} {one if n == 1 else many}" for kind, one, many in _COUNTED if (n := by_type.get(kind, 0))]
    if not named:
        return []
    evidence = [link(Link(s.name, s.path)) for s in graphs[:MOST_PROOFS]]
    texts = [f"The inputs connect {', '.join(named)}."]
    products = [n for n in merged["research_graph"]["nodes"] if n["type"] == NodeType.PRODUCT]
    if len(products) > 1:
        most = max(products, key=lambda n: (degrees[n["id"]], n["id"]))
        texts.append(f"{most['label']} ({most['id']}) has the most connections: {degrees[most['id']]}.")
    return [{"text": text, "basis": "counted in the merged graph", "evidence": evidence} for text in texts]


def _places(graphs: Sequence[Source]) -> dict[str, Link]:
    """Where each node stands first. A graph that was made of a raw product has the product as its place."""
    found: dict[str, Link] = {}
    for source in graphs:
        nodes = source.graph.get("nodes") if isinstance(source.graph, Mapping) else None
        for i, node in enumerate(nodes if isinstance(nodes, list) else []):
            name = node.get("id") if isinstance(node, Mapping) else None
            if isinstance(name, str) and name not in found:
                inside = f"{source.path}.nodes[{i}]" if source.held else source.path
                found[name] = Link(source.name, inside)
    return found
