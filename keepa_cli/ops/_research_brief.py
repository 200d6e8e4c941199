"""A brief of given inputs, checked next steps and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.keepa import domains
from keepa_cli.keepa.strictjson import dump_json
from keepa_cli.ops import _names as names
from keepa_cli.ops import _outputs
from keepa_cli.ops._actions import COMMANDS, action, planner
from keepa_cli.ops._inputs import Given
from keepa_cli.research.needs import Need

FILES = ("out", "out_dir", "chunks_dir")
LONGEST_TITLE = 200
LONGEST_REASON = 300
OWN = frozenset({names.RESEARCH_BRIEF, names.RESEARCH_GRAPH_MERGE})
"""Suggestions that lead to a brief: this is it."""
BRIEF, GRAPH = "brief.json", "research-graph.json"


def brief(
    ctx: Context, given: Sequence[Given], title: str, domain: str, out: str | None, out_dir: str | None
) -> dict[str, Any]:
    from keepa_cli.research.brief.build import build
    from keepa_cli.research.brief.documents import Document

    if not title.strip() or len(title) > LONGEST_TITLE:
        raise invalid(f"--title takes 1 to {LONGEST_TITLE} characters.", field="title", value=title[:80])
    if out:
        _outputs.target(ctx, out)
    if out_dir:
        _outputs.target(ctx, out_dir, folder=True)
    documents = [Document(g.name, g.data, g.sha256) for g in given]
    place = domains.resolve(domain)
    data, merged = build(documents, title.strip(), place, planner(ctx), lambda entry: replanned(ctx, entry))
    data["next_actions"] = _next(ctx, out, out_dir)
    text = (dump_json(data) + "\n").encode()
    if out:
        data["output"] = _outputs.write(ctx, out, text, format="json", count=len(data["evidence_links"]))
    if out_dir:
        files = {BRIEF: text, GRAPH: (dump_json(merged) + "\n").encode()}
        written = _outputs.write_all(ctx, out_dir, files).values()
        data["outputs"] = [{k: v for k, v in one.items() if v is not None} for one in written]
    return data


def replanned(ctx: Context, entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """A suggestion of an input, made anew. Inputs come from anywhere: what writes upstream or names a file of this
    machine is never taken over from them."""
    try:
        op = ops.find(str(entry["command"]))
        if op.name in OWN:
            return {}
        known = op.effect == "read" or op.name in COMMANDS.values()
        if not known or op.effect == "write_remote" or any(entry["params"].get(name) for name in FILES):
            return None
        made = action(ctx, op.name, entry["params"])
    except (KeepaCliError, TypeError, ValueError, AttributeError):
        return None
    what, reason = (str(entry.get(name) or "")[:LONGEST_REASON] for name in ("action", "reason"))
    return {"action": what or op.tool, "reason": reason} | made


def _next(ctx: Context, out: str | None, out_dir: str | None) -> list[dict[str, Any]]:
    """A report of the brief, where it was written to a file."""
    written = out or (f"{out_dir.rstrip('/')}/{BRIEF}" if out_dir else None)
    try:
        reason = "make a report that people read"
        return [planner(ctx)(Need.BUILD_REPORT, {"input": [written]}, reason)] if written else []
    except KeepaCliError:
        return []
