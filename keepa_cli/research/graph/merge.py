"""Several research graphs as one: the same graph whatever order they come in, and every decision on record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keepa_cli.research.graph import diagnose
from keepa_cli.research.graph.find import Source
from keepa_cli.research.graph.model import EdgeType, NodeType, bare_label, label_of, node_id, ordered
from keepa_cli.research.graph.reading import Read, read_graph
from keepa_cli.research.graph.settle import Settled, Votes

VIEW = "research_graph_merge"
EdgeKey = tuple[str, str, str]


def merge_graphs(
    sources: Iterable[tuple[str, Any] | Source], root: str, prefer_source: str | int | None = None
) -> dict[str, Any]:
    """Merge `(name, graph)` pairs below a node `research_graph:ROOT`.

    Where sources differ on a label, a type or an attribute, the preferred source decides: its index in `sources` of
    the result, its name or its root. Else what most sources say (equal graphs count once), else what sorts first.
    Nothing raises: what is no graph, no node or no edge is counted in `diagnostics`.
    """
    read = sorted((read_graph(Source(*s)) for s in sources), key=lambda r: r.order)
    read = [r for i, r in enumerate(read) if not i or r.order != read[i - 1].order]
    top = root if root.startswith(f"{NodeType.RESEARCH_GRAPH}:") else node_id(NodeType.RESEARCH_GRAPH, root)
    votes = Votes(_voters(read), preferred(read, prefer_source))
    nodes, node_notes = _nodes(read, top, votes)
    edges, edge_notes = _edges(read, top, votes)
    graph = ordered(top, nodes, edges)
    dangling = sorted(key for key in edges if key[1] not in nodes or key[2] not in nodes)
    return {
        "view": VIEW,
        "research_graph": graph,
        "summary": diagnose.summary(graph, read, node_notes + edge_notes),
        "sources": diagnose.sources(read, graph, node_notes + edge_notes, votes.preferred),
        "diagnostics": diagnose.diagnostics(read, graph, node_notes + edge_notes, dangling),
        "diff": diagnose.diff(node_notes + edge_notes, prefer_source, votes.preferred),
    }


def preferred(read: Sequence[Read], wish: str | int | None) -> frozenset[int]:
    """The indices of the sources that `wish` names; none where it names nothing."""
    if wish is None:
        return frozenset()
    text = str(wish)
    by_name = frozenset(i for i, r in enumerate(read) if text == r.source.name)
    by_root = frozenset(i for i, r in enumerate(read) if text == r.root)
    if by_name or by_root:
        return by_name or by_root
    at = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else -1
    return frozenset({at}) if 0 <= at < len(read) else frozenset()


def _voters(read: Sequence[Read]) -> list[bool]:
    """Whether a source is counted: one that equals an earlier one is no further witness."""
    first = {r.sha256: i for i, r in reversed(list(enumerate(read)))}
    return [first[r.sha256] == i for i, r in enumerate(read)]


def _nodes(read: Sequence[Read], top: str, votes: Votes) -> tuple[dict[str, dict[str, Any]], list[Settled]]:
    said: dict[str, list[tuple[int, Mapping[str, Any]]]] = {}
    for i, one in enumerate(read):
        for node in one.nodes:
            said.setdefault(node["id"], []).append((i, node))
    merged: dict[str, dict[str, Any]] = {}
    notes: list[Settled] = []
    for name in sorted(said):
        values, found = votes.settle(name, _as_products(said[name]), ("id",))
        label = label_of(values.pop("label", None), bare_label(name))
        merged[name] = {"id": name, "type": values.pop("type"), "label": label} | values
        notes += found
    own = {"type": NodeType.RESEARCH_GRAPH.value, "label": label_of(None, top.partition(":")[2] or top)}
    merged[top] = {"id": top} | merged.get(top, {}) | own
    return merged, notes


def _as_products(said: list[tuple[int, Mapping[str, Any]]]) -> list[tuple[int, Mapping[str, Any]]]:
    """A variation is a product of which little is known: that is no disagreement with a source that knows more."""
    if not any(item["type"] == NodeType.PRODUCT for _, item in said):
        return said
    product = {"type": NodeType.PRODUCT.value}
    return [(i, {**item, **product} if item["type"] == NodeType.VARIATION else item) for i, item in said]


def _edges(read: Sequence[Read], top: str, votes: Votes) -> tuple[dict[EdgeKey, dict[str, Any]], list[Settled]]:
    said: dict[EdgeKey, list[tuple[int, Mapping[str, Any]]]] = {}
    for i, one in enumerate(read):
        for edge in one.edges:
            said.setdefault((edge["type"], edge["source"], edge["target"]), []).append((i, edge))
    merged: dict[EdgeKey, dict[str, Any]] = {}
    notes: list[Settled] = []
    for key in sorted(said):
        kind, source, target = key
        values, found = votes.settle(f"{source} {kind} {target}", said[key], ("type", "source", "target"))
        merged[key] = {"type": kind, "source": source, "target": target} | values
        notes += found
    for one in read:
        if one.root and one.root != top:
            key = (EdgeType.INCLUDES_GRAPH.value, top, one.root)
            merged.setdefault(key, {"type": key[0], "source": top, "target": one.root})
    return merged, notes
