"""A research graph at a glance: who is connected with whom while that can be read, else how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli.research.figures.layout import COLUMNS, TYPES, known_type, place
from keepa_cli.research.figures.model import SCHEMA, Figure, heading, values
from keepa_cli.research.figures.text import cut

MOST_NODES = 60
"""More nodes than this are counted, not drawn."""
MOST_IN_COLUMN = 24
WIDTH = 868
ROW = 30
HEAD = 26
STAGGER = 7
"""Neighbouring columns are a little out of line, so that an edge passes beside the nodes between its ends."""


def graph(found: Mapping[str, Any], basis: str) -> Figure | str:
    """The overview of a graph `{root, nodes, edges}`, or why there is none."""
    nodes = [n for n in found.get("nodes") or [] if isinstance(n, Mapping) and n.get("id") and n.get("type")]
    ids = {n["id"] for n in nodes}
    edges = [
        e for e in found.get("edges") or [] if isinstance(e, Mapping) and {e.get("source"), e.get("target")} <= ids
    ]
    if not nodes:
        return "The input holds no research graph."
    types = Counter(str(n["type"]) for n in nodes)
    drawn = len(nodes) <= MOST_NODES and max(types.values()) <= MOST_IN_COLUMN
    kinds = Counter(str(e["type"]) for e in edges)
    about = f"{len(nodes)} nodes, {len(edges)} edges: " + ", ".join(f"{t} {n}" for t, n in sorted(kinds.items()))
    spec = _drawn(nodes, edges) if drawn else _counted(types, kinds)
    return Figure(
        name="graph",
        title="Research graph",
        description=f"Research graph of {found.get('root')}: {about}.",
        spec={"$schema": SCHEMA, "title": heading("Research graph", cut(about, 125)), **spec},
        data={
            "root": found.get("root"),
            "node_counts": dict(sorted(types.items())),
            "edge_counts": dict(sorted(kinds.items())),
            "nodes": [{k: n.get(k) for k in ("id", "type", "label")} for n in nodes],
            "edges": [{k: e.get(k) for k in ("type", "source", "target")} for e in edges],
        },
        data_basis=basis,
        points=len(nodes) + len(edges),
    )


def _drawn(nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    placed = place(nodes, edges)
    columns = sorted({p.column for p in placed.values()})
    height = max(ROW * max(p.of for p in placed.values()), 3 * ROW)
    step = WIDTH / len(columns)
    room = int((step - 34) / 6.2)

    def at(name: str) -> tuple[float, float]:
        p = placed[name]
        nth = columns.index(p.column)
        y = (p.place + 0.5) * height / p.of + (STAGGER if nth % 2 else -STAGGER)
        return round(nth * step + 10 + p.indent * 12, 1), round(y, 1)

    rows = [_node(n, at(n["id"]), room - 2 * placed[n["id"]].indent) for n in nodes]
    ties = [_edge(at(e["source"]), at(e["target"])) for e in edges]
    types = {r["type"] for r in rows}
    heads = [_head(columns.index(c) * step + 4, [t for t in COLUMNS[c] if t in types], room + 4) for c in columns]
    return {
        "width": WIDTH,
        "height": height + HEAD,
        "view": {"stroke": None},
        "encoding": {"x": _plain("x", [0, WIDTH]), "y": _plain("y", [height, -HEAD])},
        "layer": [layer for layer in _layers(rows, ties, heads) if layer["data"]["values"]],
    }


def _plain(name: str, domain: list[float]) -> dict[str, Any]:
    return {"field": name, "type": "quantitative", "scale": {"domain": domain, "nice": False}, "axis": None}


def _layers(
    rows: list[dict[str, Any]], ties: list[dict[str, Any]], heads: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Edges, then the labels with a rim that keeps edges off them, the nodes, and the heads of the columns."""
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    text = {"text": {"field": "text"}}
    color = {
        "color": {
            "field": "type",
            "type": "nominal",
            "scale": {"domain": list(TYPES), "range": "nodes"},
            "legend": None,
        }
    }
    label = {"type": "text", "align": "left", "dx": 9, "aria": False, "fontSize": 11}
    node = {"type": "circle", "size": 90, "opacity": 1, "aria": False}
    return [
        {"data": values(ties), "mark": {"type": "rule", "style": "edge", "aria": False}, "encoding": ends},
        {"data": values(rows), "mark": label | {"style": "halo"}, "encoding": text},
        {"data": values(rows), "mark": node, "encoding": color},
        {"data": values(rows), "mark": label | {"style": "value"}, "encoding": text},
        {"data": values(heads), "mark": label | {"dx": 0, "style": "muted"}, "encoding": text},
    ]


def _node(node: Mapping[str, Any], at: tuple[float, float], room: int) -> dict[str, Any]:
    label = str(node.get("label") or node["id"])
    key = str(node["id"]).rpartition(":")[2]
    if node["type"] in {"product", "variation"} and key not in label:
        label = f"{key} {label}"
    return {"x": at[0], "y": at[1], "type": known_type(node["type"]), "text": cut(label, max(room, 6))}


def _edge(a: tuple[float, float], b: tuple[float, float]) -> dict[str, Any]:
    return {"x": a[0], "y": a[1], "x2": b[0], "y2": b[1]}


def _head(x: float, types: list[str], room: int) -> dict[str, Any]:
    return {"x": x, "y": -HEAD / 2, "text": cut(", ".join(t.replace("_", " ") for t in types), room)}


def _counted(types: Counter[str], kinds: Counter[str]) -> dict[str, Any]:
    return {"vconcat": [_bars(title, c) for title, c in (("Nodes by type", types), ("Edges by type", kinds)) if c]}


def _bars(title: str, counts: Counter[str]) -> dict[str, Any]:
    rows = [
        {"type": cut(t.replace("_", " "), 24), "count": n}
        for t, n in sorted(counts.items(), key=lambda c: (-c[1], c[0]))
    ]
    y = {
        "field": "type", "type": "nominal", "sort": [r["type"] for r in rows],
        "axis": {"title": None, "minExtent": 140, "maxExtent": 140, "ticks": False, "domain": False,
                 "labelFontSize": 12},
    }  # fmt: skip
    x = {
        "field": "count", "type": "quantitative", "axis": None,
        "scale": {"domain": [0, max(counts.values()) * 1.12], "nice": False},
    }  # fmt: skip
    return {
        "title": {"text": title, "fontSize": 13},
        "width": 726,
        "height": 26 * len(rows),
        "data": values(rows),
        "encoding": {"x": x, "y": y},
        "layer": [
            {"mark": {"type": "bar", "style": "bar", "aria": False}},
            {
                "mark": {"type": "text", "style": "value", "align": "left", "dx": 4, "aria": False},
                "encoding": {"text": {"field": "count", "format": ","}},
            },
        ],
    }
