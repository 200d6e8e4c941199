"""From recordings to something to read: one graph, a brief, figures, a report, a site. All on this machine.

The server runs with the toolset reports and the profile offline_fixture_only. Figures and the site are made where the
server can make them; the summary says what was left out and why.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp_example_support import Server, address, main, server

FIXTURES = ("product_B0PPJ248DY_full", "category_search_kitchen")


async def report(asked: argparse.Namespace) -> dict[str, Any]:
    folder = asked.out_dir or Path(tempfile.mkdtemp(prefix="keepa-report-"))
    folder.mkdir(parents=True, exist_ok=True)
    async with server("--toolset", "reports", "--profile", "offline_fixture_only", cwd=folder) as session:
        tools = await session.tools()
        merged = await session.call("research_graph_merge", {"fixture": [FIXTURES[0]], "root": "report"})
        brief = await session.call(
            "research_brief_export",
            {"resource_uris": [address(merged)], "fixture": [FIXTURES[0]], "title": "Report"},
        )
        made = {
            "figures": await made_by(
                session,
                tools,
                "figures_research",
                {"fixture": [FIXTURES[0]], "out_dir": "figures", "figure_set": "all"},
            ),
            "report": await made_by(
                session, tools, "reports_build", {"fixture": [FIXTURES[0]], "out": "report.html", "format": "html"}
            ),
            "browse": await made_by(session, tools, "browse_snapshot", {"fixture": [FIXTURES[0]], "out_dir": "site"}),
        }
        again = await session.read(address(brief) + "/brief")
        return {
            "tools": sorted(tools),
            "graph": (await session.read(address(merged) + "/graph"))["summary"],
            "graph_sources": (await session.read("keepa://graphs/product:US:B0PPJ248DY"))["count"],
            "brief": [row["text"] for row in again["decision_summary"]["statements"]],
            "folder": str(folder),
            **made,
            "files": sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()),
            "budget_ledger": brief["budget_ledger"],
        }


async def made_by(session: Server, tools: dict[str, Any], tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a tool wrote; or why nothing."""
    if tool not in tools:
        return {"left_out": "this server has no such tool"}
    known = tools[tool].input_schema["properties"]
    found = await session.answer(tool, {k: v for k, v in arguments.items() if k in known})
    if not found["ok"]:
        return {"left_out": found["error"]["message"]}
    return {key: value for key, value in found["data"].items() if key in ("view", "count", "format", "output", "path")}


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out-dir", type=Path, metavar="DIR", help="where files go (default: a new temporary folder)")


if __name__ == "__main__":
    sys.exit(main(report, __doc__, options))
