"""The brief itself. Every sentence names its evidence; what nobody gave is `not_requested`, never made up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from keepa_cli.keepa.domains import Domain
from keepa_cli.research.brief import entities
from keepa_cli.research.brief.collect import Collected, Item, Link
from keepa_cli.research.brief.documents import Document, gather, kind_of
from keepa_cli.research.brief.slots import EXTERNAL
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.graph.inputs import sources_of
from keepa_cli.research.graph.merge import VIEW as MERGED
from keepa_cli.research.graph.merge import merge_graphs
from keepa_cli.research.graph.settle import canonical
from keepa_cli.research.inputs import unwrapped
from keepa_cli.research.needs import Planner
from keepa_cli.research.risks import SEVERITIES

VIEW = "research_brief_export"
READ_ORDER = (
    "decision_summary", "risk_summary", "entity_graph_summary", "follow_up_plan", "data_quality", "ip_risk_inputs",
    "claim_risk_inputs", "external_signal_stub", "evidence_links",
)  # fmt: skip
MOST_STATEMENTS, MOST_RISKS, MOST_STEPS, MOST_TEXTS, MOST_GAPS = 50, 100, 20, 60, 100
LONGEST_TEXT = 300
TEXTS = ("title", "feature", "description")
Replan = Callable[[Mapping[str, Any]], dict[str, Any] | None]
"""An entry of `next_actions` checked anew: complete and runnable as it stands. None where it would not run, nothing
where a brief has no use for it."""


class Links:
    """The evidence of a brief: each place once, numbered in the order in which it is first needed."""

    def __init__(self) -> None:
        self._known: dict[Link, dict[str, str]] = {}

    def of(self, link: Link) -> str:
        number = f"E{len(self._known) + 1}"
        return self._known.setdefault(link, {"id": number, "source": link.source, "path": link.path})["id"]

    def all(self) -> list[dict[str, str]]:
        return list(self._known.values())


def build(
    documents: Sequence[Document], title: str, domain: Domain, plan: Planner, replan: Replan
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The brief of what the documents say, and the merge of their graphs."""
    found, links = gather(documents, domain, plan), Links()
    graphs = [s for d in documents for s in sources_of(d.name, d.data, domain)]
    merged = merge_graphs(graphs, title)
    decisions = _decisions(found, links)
    parts = {
        "decision_summary": decisions,
        "risk_summary": _risks(found, links),
        "entity_graph_summary": entities.summary(merged, graphs, links.of),
        "follow_up_plan": _steps(found, links, replan),
        "external_signal_stub": EXTERNAL,
        "ip_risk_inputs": _ip(found, links),
        "claim_risk_inputs": _claims(found, links),
        "data_quality": _quality(documents, found, merged, links),
    }
    if not decisions["statements"] and parts["entity_graph_summary"]["statements"]:
        decisions |= {"status": "graph_only", "statements": parts["entity_graph_summary"]["statements"]}
    head = {"view": VIEW, "title": title, "recommended_read_order": list(READ_ORDER)}
    return {**head, **parts, "evidence_links": links.all()}, merged


def _decisions(found: Collected, links: Links) -> dict[str, Any]:
    said = _distinct(found.statements)
    rows = [_about(i) | {"text": i.value, "evidence": [links.of(i.link)]} for i in said[:MOST_STATEMENTS]]
    contexts = _distinct(found.contexts)
    return {
        "status": "stated" if rows else "nothing_stated",
        "statements": rows,
        "statement_count": len(said),
        "contexts": [
            _about(i) | {"context": i.value, "evidence": [links.of(i.link)]} for i in contexts[:MOST_STATEMENTS]
        ],
    }


def _risks(found: Collected, links: Links) -> dict[str, Any]:
    """Risks, the worst first. Without a risk taxonomy in the inputs nobody looked: that is not "no risk"."""
    known = _distinct(found.risks, lambda v: (v["code"], v["reason"]))
    known.sort(key=lambda i: (-SEVERITIES.index(i.value["severity"]), i.value["code"], i.about or ""))
    rows = []
    for item in known[:MOST_RISKS]:
        row = {name: item.value[name] for name in ("code", "severity", "reason")}
        asins = [a for a in item.value.get("asins", []) if isinstance(a, str)]
        rows.append(_about(item) | row | ({"asins": asins} if asins else {}) | {"evidence": [links.of(item.link)]})
    by_code: dict[str, dict[str, Any]] = {}
    for item in known:
        code = by_code.setdefault(item.value["code"], {"count": 0, "worst": item.value["severity"]})
        code["count"] += 1
    warnings = _distinct(found.warnings)
    return {
        "status": "assessed" if found.risks_assessed else "not_assessed",
        "by_code": dict(sorted(by_code.items())),
        "items": rows,
        "item_count": len(known),
        "warnings": [_about(i) | {"text": i.value, "evidence": [links.of(i.link)]} for i in warnings[:MOST_STATEMENTS]],
    }


def _steps(found: Collected, links: Links, replan: Replan) -> dict[str, Any]:
    """What the inputs suggest, each call once, the cheapest first; what would not run is counted and left out."""
    merged: dict[str, dict[str, Any]] = {}
    refused = 0
    for item in found.actions:
        key = canonical([item.value["command"], item.value["params"]])
        if key not in merged:
            step = replan(item.value)
            if step is None:
                refused += 1
            if not step:
                continue
            merged[key] = step | {"for": [], "evidence": []}
        for name, value in (("for", item.about), ("evidence", links.of(item.link))):
            if value and value not in merged[key][name]:
                merged[key][name].append(value)
    steps = sorted(merged.values(), key=lambda s: (s["requires_confirmation"], s["worst_case_tokens"], s["cli"]))
    shown = steps[:MOST_STEPS]
    return {
        "steps": [{"step": n + 1} | s for n, s in enumerate(shown)],
        "step_count": len(steps),
        "not_executable": refused,
        "worst_case_tokens": sum(s["worst_case_tokens"] for s in shown),
    }


def _ip(found: Collected, links: Links) -> dict[str, Any]:
    """What a search for trademarks and patents would start from. The search itself is not done here."""
    data: dict[str, Any] = {}
    for kind, name in (("brand", "brands"), ("manufacturer", "manufacturers")):
        rows: dict[str, dict[str, Any]] = {}
        for item in (i for k, i in found.names if k == kind):
            row = rows.setdefault(item.value.casefold(), {"name": item.value, "asins": [], "evidence": []})
            if item.about and item.about not in row["asins"]:
                row["asins"].append(item.about)
                row["evidence"].append(links.of(item.link))
        data[name] = [rows[key] for key in sorted(rows)]
    searches = {
        s: {"status": Reason.NOT_REQUESTED.value} for s in ("trademark_search", "patent_search", "design_search")
    }
    return data | searches


def _claims(found: Collected, links: Links) -> dict[str, Any]:
    """What the listings claim, word for word, for a review that is not done here."""
    seen: dict[tuple[str | None, str, str], Item] = {}
    for kind, item in sorted(found.texts, key=lambda t: (t[1].about or "", TEXTS.index(t[0]))):
        seen.setdefault((item.about, kind, item.value), item)
    rows = []
    for (_, kind, text), item in list(seen.items())[:MOST_TEXTS]:
        row = _about(item) | {"kind": kind, "text": text[:LONGEST_TEXT]}
        row |= {"truncated": True} if len(text) > LONGEST_TEXT else {}
        rows.append(row | {"evidence": [links.of(item.link)]})
    return {"texts": rows, "text_count": len(seen), "compliance_review": {"status": Reason.NOT_REQUESTED.value}}


def _quality(
    documents: Sequence[Document], found: Collected, merged: Mapping[str, Any], links: Links
) -> dict[str, Any]:
    gaps: dict[tuple[str, str], dict[str, Any]] = {}
    for item in found.gaps:
        key = (item.value["fact"], item.value["reason"])
        row = gaps.setdefault(key, {"fact": key[0], "reason": key[1], "for": [], "evidence": []})
        if item.about and item.about not in row["for"]:
            row["for"].append(item.about)
        if (number := links.of(item.link)) not in row["evidence"]:
            row["evidence"].append(number)
    notes = []
    if not found.statements:
        notes.append("No input states a conclusion: give product views, comparisons or business analyses.")
    if not found.risks_assessed:
        notes.append("No input holds a risk assessment: the absence of risks here means nothing.")
    if conflicts := merged["summary"]["conflict_count"]:
        notes.append(f"The inputs disagree on {conflicts} labels, types or attributes of entities.")
    notes += [
        f"{d.name}: {n} disagreements between its sources; see diff there." for d in documents if (n := _decided(d))
    ]
    return {
        "level": "empty"
        if not found.statements and not merged["sources"]
        else "partial"
        if notes or gaps
        else "complete",
        "inputs": [{"source": d.name, "kind": kind_of(d.data), "sha256": d.sha256} for d in documents],
        "missing": [gaps[key] for key in sorted(gaps)][:MOST_GAPS],
        "missing_count": len(gaps),
        "notes": notes,
    }


def _decided(document: Document) -> int:
    """How many disagreements a merged graph among the inputs has behind it."""
    inner = unwrapped(document.data)
    summary = inner.get("summary") if isinstance(inner, Mapping) and inner.get("view") == MERGED else None
    count = summary.get("conflict_count") if isinstance(summary, Mapping) else None
    return count if type(count) is int and count > 0 else 0


def _about(item: Item) -> Section:
    return Section().put("about", item.about, Reason.NOT_APPLICABLE)


def _distinct(items: Iterable[Item], key: Callable[[Any], Any] = canonical) -> list[Item]:
    """Each thing once: several inputs may hold the same view."""
    found: dict[Any, Item] = {}
    for item in items:
        found.setdefault((item.about, key(item.value)), item)
    return list(found.values())
