"""Schemas of merged research graphs and of the brief that is made of many results."""

from __future__ import annotations

from keepa_cli.research.brief import build as brief_view
from keepa_cli.research.brief.slots import EXTERNAL
from keepa_cli.research.facts import Reason
from keepa_cli.research.graph import merge
from keepa_cli.research.graph.model import EdgeType, NodeType
from keepa_cli.research.graph.settle import FIRST, MOST, PREFERRED
from keepa_cli.research.risks import CODES, SEVERITIES
from keepa_cli.research.schemas.build import (
    ANY,
    COUNT,
    FLAG,
    NUMBER,
    PATH,
    SHA256,
    TEXT,
    WHOLE,
    Schema,
    closed,
    const,
    either,
    listed,
    maybe,
    one_of,
    table,
)
from keepa_cli.research.schemas.lists import closed_as_is
from keepa_cli.research.schemas.shared import ACTIONS, CONFIDENCE, GRAPH, INPUT, OUTPUT, WORD, call, counted

NAMES = listed(TEXT)
EVIDENCE: Schema = listed({"type": "string", "pattern": "^E[0-9]+$"})
RULES = one_of((PREFERRED, MOST, FIRST))
NOT_REQUESTED = closed({"status": const(Reason.NOT_REQUESTED.value)})


def _counts(names: type[NodeType | EdgeType]) -> Schema:
    return {"type": "object", "propertyNames": one_of(names), "additionalProperties": COUNT}


def summary() -> dict[str, Schema]:
    """The graph in numbers."""
    counts = dict.fromkeys(("source_count", "node_count", "edge_count", "conflict_count"), COUNT)
    return {"root": TEXT, "nodes_by_type": _counts(NodeType), "edges_by_type": _counts(EdgeType), **counts}


def graph_merge() -> Schema:
    """`data` of research-graph merge."""
    source = closed(
        {
            "index": COUNT, "name": TEXT, "path": PATH, "sha256": SHA256, "root": maybe(TEXT), "node_count": COUNT,
            "edge_count": COUNT, "source_weight": NUMBER, "confidence": CONFIDENCE, "confidence_reason": TEXT,
            "preferred": FLAG, "problems": table(COUNT),
        },
        {"same_as": COUNT},
    )  # fmt: skip
    indexes = listed(WHOLE)
    variant = closed_as_is({"value": ANY, "sources": indexes})
    conflict = closed_as_is(
        {"where": TEXT, "field": TEXT, "chosen": ANY, "resolution": RULES, "variants": listed(variant)}
    )
    diff = closed({"prefer_source": maybe(TEXT), "preferred_sources": indexes, "conflicts": counted(conflict)})
    needed = {
        "view": const(merge.VIEW), "research_graph": GRAPH, "summary": closed(summary()), "sources": listed(source),
        "diagnostics": _diagnostics(), "diff": diff, "inputs": listed(INPUT), "data_quality": _graph_quality(),
        "evidence_index": listed(closed({"fact": TEXT, "source": TEXT, "path": PATH})), "next_actions": ACTIONS,
    }  # fmt: skip
    return closed(needed, {"output": OUTPUT})


def _diagnostics() -> Schema:
    double = closed({"where": TEXT, "times": COUNT, "sources": listed(WHOLE)})
    edge = closed({"type": TEXT, "source": TEXT, "target": TEXT})
    return closed(
        {
            "duplicate_nodes": counted(double), "duplicate_edges": counted(double), "orphans": counted(TEXT),
            "dangling_edges": counted(edge), "label_conflicts": COUNT, "type_conflicts": COUNT,
            "attribute_conflicts": COUNT, "include_cycles": counted(ANY),
            "identical_sources": counted(closed({"index": COUNT, "same_as": COUNT})), "unreadable": table(COUNT),
            "source_weight_range": closed({"min": NUMBER, "max": NUMBER}),
        }
    )  # fmt: skip


def _graph_quality() -> Schema:
    level = one_of(("partial", "contested", "complete"))
    return closed({"level": level, "conflicts": COUNT, "unreadable": COUNT, "notes": NAMES})


def brief() -> Schema:
    """`data` of research brief."""
    needed = {
        "view": const(brief_view.VIEW), "title": TEXT,
        "recommended_read_order": listed(one_of(brief_view.READ_ORDER)), "decision_summary": _decisions(),
        "risk_summary": _risks(), "entity_graph_summary": _entities(), "follow_up_plan": _steps(),
        "external_signal_stub": _external(), "ip_risk_inputs": _ip(), "claim_risk_inputs": _claims(),
        "data_quality": _quality(), "evidence_links": listed(_link()), "next_actions": ACTIONS,
    }  # fmt: skip
    return closed(needed, {"output": OUTPUT, "outputs": listed(closed({}, OUTPUT_PARTS))})


OUTPUT_PARTS: dict[str, Schema] = {
    "path": TEXT, "format": TEXT, "size_bytes": COUNT, "result_count": COUNT, "sha256": SHA256,
}  # fmt: skip


def _link() -> Schema:
    return closed({"id": {"type": "string", "pattern": "^E[0-9]+$"}, "source": TEXT, "path": PATH})


def _said(**more: Schema) -> Schema:
    return closed({"about": maybe(TEXT), "evidence": EVIDENCE, **more})


def _counted_sentence() -> Schema:
    return closed({"text": TEXT, "basis": TEXT, "evidence": EVIDENCE})


def _decisions() -> Schema:
    statement = either(_said(text=TEXT), _counted_sentence())
    status = one_of(("stated", "nothing_stated", "graph_only"))
    context = table({"type": ["string", "null"]})
    return closed(
        {"status": status, "statements": listed(statement), "statement_count": COUNT,
         "contexts": listed(_said(context=context))}
    )  # fmt: skip


def _risks() -> Schema:
    severity = one_of(SEVERITIES)
    item = closed(
        {"about": maybe(TEXT), "code": one_of(CODES), "severity": severity, "reason": TEXT, "evidence": EVIDENCE},
        {"asins": NAMES},
    )
    by_code = closed({}, dict.fromkeys(CODES, closed({"count": COUNT, "worst": severity})))
    return closed(
        {"status": one_of(("assessed", "not_assessed")), "by_code": by_code, "items": listed(item),
         "item_count": COUNT, "warnings": listed(_said(text=TEXT))}
    )  # fmt: skip


def _entities() -> Schema:
    entity = closed({"id": TEXT, "label": TEXT, "connections": COUNT, "evidence": EVIDENCE})
    conflict = closed_as_is({"where": TEXT, "field": TEXT, "chosen": ANY, "resolution": RULES})
    by_type = {"type": "object", "propertyNames": one_of(NodeType), "additionalProperties": listed(entity)}
    return closed(
        {**summary(), "statements": listed(_counted_sentence()), "entities": by_type, "conflicts": listed(conflict),
         "orphan_count": COUNT}
    )  # fmt: skip


def _steps() -> Schema:
    step = call(WORD)
    step = closed({"step": COUNT, **step["properties"], "for": NAMES, "evidence": EVIDENCE})
    return closed({"steps": listed(step), "step_count": COUNT, "not_executable": COUNT, "worst_case_tokens": COUNT})


def _external() -> Schema:
    slot = closed({"status": const(Reason.NOT_REQUESTED.value), "expects": TEXT, "signals": listed(ANY, maxItems=0)})
    slots = closed(dict.fromkeys(EXTERNAL["slots"], slot))
    return closed({"status": const(EXTERNAL["status"]), "note": TEXT, "slots": slots})


def _ip() -> Schema:
    name = closed({"name": TEXT, "asins": NAMES, "evidence": EVIDENCE})
    searches = dict.fromkeys(("trademark_search", "patent_search", "design_search"), NOT_REQUESTED)
    return closed({"brands": listed(name), "manufacturers": listed(name), **searches})


def _claims() -> Schema:
    kind = one_of(brief_view.TEXTS)
    text = closed({"about": maybe(TEXT), "kind": kind, "text": TEXT, "evidence": EVIDENCE}, {"truncated": FLAG})
    return closed({"texts": listed(text), "text_count": COUNT, "compliance_review": NOT_REQUESTED})


def _quality() -> Schema:
    gap = closed({"fact": TEXT, "reason": TEXT, "for": NAMES, "evidence": EVIDENCE})
    source = closed({"source": TEXT, "kind": TEXT, "sha256": SHA256})
    level = one_of(("empty", "partial", "complete"))
    return closed(
        {"level": level, "inputs": listed(source), "missing": listed(gap), "missing_count": COUNT, "notes": NAMES}
    )


def views() -> dict[str, tuple[str, Schema]]:
    return {
        merge.VIEW: ("Research graphs merged into one", graph_merge()),
        brief_view.VIEW: ("A brief of many results", brief()),
    }
