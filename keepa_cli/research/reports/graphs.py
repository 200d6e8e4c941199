"""The research graph of a report: entities by kind, relations, and what the sources disagree on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.research.reports.cards import rows, section
from keepa_cli.research.reports.texts import label, text_of

MOST = 200
"""Entities and relations that are shown to people; the JSON report holds all."""


def report(merged: Mapping[str, Any]) -> dict[str, Any]:
    """The graph as it is in a JSON report."""
    graph = section(merged, "research_graph")
    return {
        "summary": merged.get("summary", {}),
        "entity_counts": section(merged, "summary").get("nodes_by_type", {}),
        "root": graph.get("root", ""),
        "nodes": graph.get("nodes", []),
        "edges": graph.get("edges", []),
        "sources": merged.get("sources", []),
        "diagnostics": merged.get("diagnostics", {}),
        "diff": merged.get("diff", {}),
    }


def shown(found: Mapping[str, Any]) -> dict[str, Any]:
    """The same as tables for people."""
    nodes, edges = list(rows(found.get("nodes"), 1_000_000)), list(rows(found.get("edges"), 1_000_000))
    names = {str(n.get("id")): text_of(n.get("label")) or str(n.get("id")) for n in nodes}
    return {
        "counts": [
            {"kind": label(k), "count": f"{n:,}"}
            for k, n in section(found, "entity_counts").items()
            if type(n) is int and k != "research_graph"
        ],
        "entities": [
            {"kind": label(n.get("type")), "label": names[str(n.get("id"))], "id": text_of(n.get("id")) or ""}
            for n in nodes[:MOST]
        ],
        "relations": [
            {
                "source": names.get(str(e.get("source"))) or text_of(e.get("source")) or "",
                "relation": label(e.get("type")).lower(),
                "target": names.get(str(e.get("target"))) or text_of(e.get("target")) or "",
            }
            for e in edges[:MOST]
        ],
        "more_entities": max(len(nodes) - MOST, 0),
        "more_relations": max(len(edges) - MOST, 0),
        "conflicts": _conflicts(found),
    }


def _conflicts(found: Mapping[str, Any]) -> list[dict[str, str]]:
    """What the sources disagree on, and what was chosen by which rule."""
    listed = section(section(found, "diff"), "conflicts").get("shown")
    return [
        {
            "where": text_of(c.get("where")) or "",
            "field": label(c.get("field")),
            "chosen": text_of(c.get("chosen")) or "",
            "others": ", ".join(t for v in list(rows(c.get("variants")))[1:] if (t := text_of(v.get("value")))),
            "rule": label(c.get("resolution")).lower(),
        }
        for c in rows(listed, MOST)
    ]
