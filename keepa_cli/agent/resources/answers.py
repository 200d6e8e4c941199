"""What this session answered, and files that calls wrote."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli.agent.compact import linked, manifest, written_files
from keepa_cli.agent.resources import library
from keepa_cli.agent.resources.model import Content, Reading, as_json, not_found, tool_call
from keepa_cli.agent.roots import output_folder
from keepa_cli.agent.uris import decode_text
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.files import read_bytes

LARGEST = 8 << 20
BRIEF, MERGE, FIGURES, PLAN = "research_brief_export", "research_graph_merge", "figures_research", "workflow_plan"
AUDITED = ("agent_brief", "brief", "data_quality", "evidence_index", "next_actions", "summary", "risk_summary", "view")
KINDS = {
    ".json": "application/json", ".jsonl": "application/jsonl", ".csv": "text/csv", ".md": "text/markdown",
    ".html": "text/html", ".svg": "image/svg+xml", ".txt": "text/plain", ".png": "image/png",
    ".parquet": "application/vnd.apache.parquet",
}  # fmt: skip
BINARY = frozenset({"image/png", "application/vnd.apache.parquet"})


def research(reading: Reading) -> Content:
    """An earlier answer: what an audit needs, its brief, its graph, or figures drawn from it."""
    held = reading.session.cached(reading.uri.name)
    if held is None:
        raise not_found(reading, "this session holds no such answer; cache_key of a tool result names one")
    whole = held.get("data")
    data: dict[str, Any] = whole if isinstance(whole, dict) else {}
    part, _, name = reading.uri.rest.partition("/")
    if part == "":
        return as_json(_audit(reading, held, data))
    if part in ("brief", "graph") and "/" in reading.uri.rest:
        raise not_found(reading, f"keepa://research/{{cache_key}}/{part}")
    if part == "brief":
        return as_json(data if data.get("view") == BRIEF else tool_call(reading, BRIEF, {"payload": dict(data)}))
    if part == "graph":
        return as_json(_graph(reading, data))
    if part == "figures":
        return as_json(_figures(reading, data, name or "all"))
    raise not_found(reading, "keepa://research/{cache_key}[/brief|/graph|/figures[/{figure_set}]]")


def _audit(reading: Reading, held: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    products = data.get("products")
    briefs = [p.get("agent_brief") for p in products if isinstance(p, Mapping)] if isinstance(products, list) else []
    return {
        "command": held["command"],
        "cache_key": reading.uri.name,
        **{name: data[name] for name in AUDITED if name in data},
        **({"products": [b for b in briefs if b]} if briefs else {}),
        "provenance": held.get("provenance"),
        "budget_ledger": reading.session.budget_ledger(),
        "research_graph": _graph_summary(data),
    }


def _graph(reading: Reading, data: Mapping[str, Any]) -> dict[str, Any]:
    """The graph of an answer; where it has one for each product, or none but products, all of them merged."""
    if not isinstance(data.get("research_graph"), Mapping):
        data = tool_call(reading, MERGE, {"payload": dict(data)})
    return {"summary": _graph_summary(data), "research_graph": data["research_graph"]}


def _graph_summary(data: Mapping[str, Any]) -> dict[str, Any] | None:
    return next(_summaries(data), None)


def _summaries(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Its own graph, else those of its products."""
    products = data.get("products")
    inner = [p.get("research_graph") for p in products if isinstance(p, Mapping)] if isinstance(products, list) else []
    for graph in [data.get("research_graph"), *inner]:
        if isinstance(graph, Mapping):
            yield _summary(graph)


def _summary(graph: Mapping[str, Any]) -> dict[str, Any]:
    counts: dict[str, int] = {}
    nodes, edges = graph.get("nodes"), graph.get("edges")
    for node in nodes if isinstance(nodes, list) else []:
        kind = str(node.get("type")) if isinstance(node, Mapping) else "unknown"
        counts[kind] = counts.get(kind, 0) + 1
    return {"root": graph.get("root"), "nodes": counts, "edges": len(edges) if isinstance(edges, list) else 0}


def _figures(reading: Reading, data: Mapping[str, Any], chosen: str) -> dict[str, Any]:
    folder = output_folder(reading.session.ctx) / "figures"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    drawn = tool_call(reading, FIGURES, {"payload": dict(data), "figure_set": chosen, "out_dir": str(folder)})
    return drawn | manifest(linked(written_files({"data": drawn})))


def graphs(reading: Reading) -> Content:
    """Where graphs of that root come from: answers of this session, and fixtures whose request names it."""
    root = reading.uri.name
    rows = [row for row in _graph_rows(reading) if row["root"] == root]
    rows += library.sources_of(reading, root)
    return as_json({"root": root, "sources": rows, "count": len(rows)})


def _graph_rows(reading: Reading) -> Iterator[dict[str, Any]]:
    for key in reading.session.cache.keys():  # noqa: SIM118 - not a mapping
        held = reading.session.cached(key)
        data = held.get("data") if held else None
        for summary in _summaries(data) if isinstance(data, Mapping) else ():
            yield {"source": f"keepa://research/{key}", "command": held["command"] if held else None, **summary}


def cache_key(reading: Reading) -> Content:
    """The key that a call would have, and whether it is answered already."""
    params = _encoded_params(reading, reading.uri.rest)
    try:
        key = reading.session.key_of(reading.uri.name, params)
    except KeepaCliError as error:
        raise not_found(reading, error.message) from None
    return as_json({"command": reading.uri.name, "cache_key": key, "kept": reading.session.cached(key) is not None})


def workflow_policy(reading: Reading) -> Content:
    """The policy, totals and steps of a plan in short; the plan itself is a tool call away."""
    if reading.uri.rest != "policy":
        raise not_found(reading, "keepa://workflow/{encoded_params}/policy")
    plan = tool_call(reading, PLAN, _encoded_params(reading, reading.uri.name))
    steps = plan.get("steps")
    short = ("id", "tool", "command", "depends_on", "parallel_group", "worst_case_tokens", "requires_confirmation")
    rows = (
        [{k: s[k] for k in short if k in s} for s in steps if isinstance(s, Mapping)] if isinstance(steps, list) else []
    )
    return as_json({"workflow_policy": plan.get("workflow_policy"), "totals": plan.get("totals"), "steps": rows})


def _encoded_params(reading: Reading, name: str) -> dict[str, Any]:
    text = decode_text(name)
    try:
        found = json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise not_found(reading, "parameters are a JSON object as base64url without padding")
    return found


def file(reading: Reading) -> Content:
    """A file that a call wrote, inside the folders of this server."""
    named = reading.uri.decoded
    if named is None:
        raise not_found(reading, "the path is base64url without padding")
    try:
        path = reading.session.roots.inside(named, "uri")
        raw = read_bytes(path, limit=LARGEST)
    except KeepaCliError as error:
        raise not_found(reading, error.message) from None
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise not_found(reading, f"files of the kinds {', '.join(KINDS)} can be read")
    if kind in BINARY:
        return Content(mime=kind, blob=base64.b64encode(raw).decode())
    return Content(reading.session.ctx.redactor.text(raw.decode("utf-8", "replace")), kind)


def task_result(reading: Reading) -> Content:
    """The result of a task of this session."""
    held = reading.session.task_results.get(reading.uri.name)
    if held is None or reading.uri.rest != "result":
        raise not_found(reading, "no task of this session has that result")
    return as_json(held)
