"""What a merge tells about itself: counts, sources, doubles, orphans, disagreements and how they were decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keepa_cli.research.facts import Confidence, Reason, Section
from keepa_cli.research.graph.model import EdgeType
from keepa_cli.research.graph.reading import Read
from keepa_cli.research.graph.settle import Settled

SHOWN = 50
"""Lists of findings show this many; `count` tells how many there are."""


def summary(graph: Mapping[str, Any], read: Sequence[Read], notes: Sequence[Settled]) -> dict[str, Any]:
    """The graph in numbers."""
    return {
        "root": graph["root"],
        "source_count": len(read),
        "node_count": len(graph["nodes"]),
        "edge_count": len(graph["edges"]),
        "nodes_by_type": counted(n["type"] for n in graph["nodes"]),
        "edges_by_type": counted(e["type"] for e in graph["edges"]),
        "conflict_count": sum(n.field is not None for n in notes),
    }


def sources(
    read: Sequence[Read], graph: Mapping[str, Any], notes: Sequence[Settled], preferred: frozenset[int]
) -> list[dict[str, Any]]:
    """Each source: `source_weight` is its share of the nodes and edges of the result, `confidence` tells whether it
    was read whole and agrees with the result."""
    nodes = {n["id"] for n in graph["nodes"]}
    edges = {_key(e) for e in graph["edges"]}
    overruled = Counter(i for n in notes if n.field for _, who in n.variants[1:] for i in who)
    first: dict[str, int] = {}
    rows = []
    for i, one in enumerate(read):
        held = len(nodes & {n["id"] for n in one.nodes}) + len(edges & {_key(e) for e in one.edges})
        row = Section(index=i, name=one.source.name, path=one.source.path, sha256=one.sha256)
        row.put("root", one.root, Reason.UNREADABLE)
        row |= {"node_count": len(one.nodes), "edge_count": len(one.edges)}
        row["source_weight"] = round(held / max(1, len(nodes) + len(edges)), 2)
        row |= _confidence(one, overruled[i]) | {
            "preferred": i in preferred,
            "problems": dict(sorted(one.problems.items())),
        }
        if one.sha256 in first:
            row["same_as"] = first[one.sha256]
        first.setdefault(one.sha256, i)
        rows.append(dict(row))
    return rows


def _confidence(one: Read, overruled: int) -> dict[str, Any]:
    if not one.nodes:
        return {"confidence": Confidence.LOW.value, "confidence_reason": "it holds no readable node"}
    if one.problems:
        return {"confidence": Confidence.LOW.value, "confidence_reason": "parts of it could not be read"}
    if overruled:
        reason = f"{overruled} of its values were overruled by other sources"
        return {"confidence": Confidence.MEDIUM.value, "confidence_reason": reason}
    return {"confidence": Confidence.HIGH.value, "confidence_reason": "read whole, and nothing in it was overruled"}


def diagnostics(
    read: Sequence[Read], graph: Mapping[str, Any], notes: Sequence[Settled], dangling: Sequence[tuple[str, str, str]]
) -> dict[str, Any]:
    """What a reader should know before relying on the graph. Doubles are normal: several sources know one thing."""
    touched = {end for e in graph["edges"] for end in (e["source"], e["target"])}
    orphans = [n["id"] for n in graph["nodes"] if n["id"] not in touched and n["id"] != graph["root"]]
    doubles = [n for n in notes if n.field is None]
    nodes = {n["id"] for n in graph["nodes"]}
    rows = sources(read, graph, notes, frozenset())
    weights = [r["source_weight"] for r in rows]
    problems: Counter[str] = sum((r.problems for r in read), Counter())
    return {
        "duplicate_nodes": _list([_double(n) for n in doubles if n.where in nodes]),
        "duplicate_edges": _list([_double(n) for n in doubles if n.where not in nodes]),
        "orphans": _list(orphans),
        "dangling_edges": _list([{"type": t, "source": s, "target": e} for t, s, e in dangling]),
        "label_conflicts": sum(n.field == "label" for n in notes),
        "type_conflicts": sum(n.field == "type" for n in notes),
        "attribute_conflicts": sum(n.field not in (None, "label", "type") for n in notes),
        "include_cycles": _list(cycles(graph["edges"])),
        "identical_sources": _list([{"index": r["index"], "same_as": r["same_as"]} for r in rows if "same_as" in r]),
        "unreadable": dict(sorted(problems.items())),
        "source_weight_range": {"min": min(weights, default=0.0), "max": max(weights, default=0.0)},
    }


def diff(notes: Sequence[Settled], wish: str | int | None, preferred: frozenset[int]) -> dict[str, Any]:
    """Every disagreement: what each source says, what was chosen and by which rule."""
    conflicts = [
        {
            "where": n.where,
            "field": n.field,
            "chosen": n.variants[0][0],
            "resolution": n.resolution,
            "variants": [{"value": value, "sources": list(who)} for value, who in n.variants],
        }
        for n in notes
        if n.field
    ]
    asked = Section().put("prefer_source", wish, Reason.NOT_REQUESTED)
    return dict(asked) | {"preferred_sources": sorted(preferred), "conflicts": _list(conflicts)}


def cycles(edges: Iterable[Mapping[str, Any]]) -> list[str]:
    """The graphs that include each other in a circle, and those between two circles."""
    pairs = {(e["source"], e["target"]) for e in edges if e["type"] == EdgeType.INCLUDES_GRAPH}
    left = _without_ends(pairs)
    return sorted({name for pair in _without_ends({(b, a) for a, b in left}) for name in pair})


def _without_ends(pairs: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs that do not lead to an end: every path along them goes on for ever."""
    into: dict[str, list[str]] = {}
    out: Counter[str] = Counter(source for source, _ in pairs)
    for source, target in pairs:
        into.setdefault(target, []).append(source)
    ends = [target for target in into if not out[target]]
    gone = set(ends)
    while ends:
        for source in into.get(ends.pop(), ()):
            out[source] -= 1
            if not out[source]:
                ends.append(source)
                gone.add(source)
    return {(source, target) for source, target in pairs if source not in gone and target not in gone}


def counted(values: Iterable[str]) -> dict[str, int]:
    """How often each value occurs, in the order of the values."""
    return dict(sorted(Counter(values).items()))


def _double(note: Settled) -> dict[str, Any]:
    return {"where": note.where, "times": note.times, "sources": list(note.sources)}


def _list(items: Sequence[Any]) -> dict[str, Any]:
    return {"count": len(items), "shown": list(items[:SHOWN])}


def _key(edge: Mapping[str, Any]) -> tuple[str, str, str]:
    return (edge["type"], edge["source"], edge["target"])
