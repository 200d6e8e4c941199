"""A graph from anywhere, read without trust: what is not a node or an edge is counted and left out."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.research.graph.find import Source
from keepa_cli.research.graph.model import LOCAL, EdgeType, NodeType, bare_label, label_of

LONGEST_ID = 512
NODE_KEYS = frozenset({"id", "type", "label"})
EDGE_KEYS = frozenset({"type", "source", "target"})
NODE_TYPES = frozenset(t.value for t in NodeType)
EDGE_TYPES = frozenset(t.value for t in EdgeType)


@dataclass
class Read:
    """What one source holds. Nodes and edges are in the order of the source, doubles included; `problems` counts by
    code what was left out or is odd."""

    source: Source
    sha256: str
    root: str | None = None
    nodes: list[dict[str, Any]] = field(default_factory=list)
    edges: list[dict[str, Any]] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)

    @property
    def order(self) -> tuple[str, str, str]:
        """Where the source stands among others, whatever order they were given in."""
        return (self.source.name, self.source.path, self.sha256)


def read_graph(source: Source) -> Read:
    """Everything in a source that is a graph."""
    found = Read(source, fingerprint(source.graph))
    graph = source.graph
    if not isinstance(graph, Mapping):
        found.problems["not_a_graph"] += 1
        return found
    found.root = _word(graph.get("root"))
    if found.root is None:
        found.problems["root_missing"] += 1
    found.nodes = [n for item in _items(graph, "nodes", found) if (n := _node(item, found)) is not None]
    found.edges = [e for item in _items(graph, "edges", found) if (e := _edge(item, found)) is not None]
    return found


def fingerprint(value: Any) -> str:
    """A hash of any data, the same for the same content."""
    try:
        text = json.dumps(value, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _items(graph: Mapping[str, Any], name: str, found: Read) -> Iterator[Any]:
    items = graph.get(name)
    if isinstance(items, list):
        yield from items
    else:
        found.problems[f"{name}_missing"] += 1


def _node(item: Any, found: Read) -> dict[str, Any] | None:
    name = _word(item.get("id")) if isinstance(item, Mapping) else None
    type_ = _word(item.get("type")) if isinstance(item, Mapping) else None
    if name is None or type_ is None:
        found.problems["node_without_id" if name is None else "node_without_type"] += 1
        return None
    if type_ not in NODE_TYPES:
        found.problems["node_of_unknown_type"] += 1
    known: dict[str, Any] = {"id": name, "type": type_}
    label = label_of(item.get("label"), "")
    if label and label != bare_label(name):
        known["label"] = label
    return known | _attributes(item, NODE_KEYS, found)


def _edge(item: Any, found: Read) -> dict[str, Any] | None:
    words = [_word(item.get(k)) if isinstance(item, Mapping) else None for k in ("type", "source", "target")]
    type_, source, target = words
    if type_ is None or source is None or target is None:
        found.problems["edge_without_type" if type_ is None else "edge_without_ends"] += 1
        return None
    if type_ not in EDGE_TYPES:
        found.problems["edge_of_unknown_type"] += 1
    if source == target:
        found.problems["edge_to_itself"] += 1
        return None
    return {"type": type_, "source": source, "target": target} | _attributes(item, EDGE_KEYS, found)


def _attributes(item: Mapping[str, Any], own: frozenset[str], found: Read) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in item.items():
        if not isinstance(name, str) or name in own or name in LOCAL or value is None:
            continue
        if _plain(value) or (isinstance(value, list) and all(_plain(v) for v in value)):
            kept[name] = value
        else:
            found.problems["attribute_left_out"] += 1
    return kept


def _plain(value: Any) -> bool:
    return isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value))


def _word(value: Any) -> str | None:
    """An id or type: text that is not empty and of bearable length."""
    return value if isinstance(value, str) and 0 < len(value) <= LONGEST_ID else None
