"""A whole research by an MCP client: policy, target, what is here, plan, steps, risks, graph, brief, report.

Answers come from the recordings that ship with keepa-cli, so nothing is spent. The client checks what it is told: the
mode, the price of every step, and the risks of the product against the published taxonomy.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from jsonschema import Draft202012Validator
from mcp_example_support import Failed, Server, address, main, server

ASIN = "B0PPJ248DY"


async def research(asked: argparse.Namespace) -> dict[str, Any]:
    async with server("--toolset", "all", "--profile", "live_read_allowed") as session:
        policy = (await session.call("context_policy"))["data"]
        spends = policy["mode"]["value"] in ("live", "record")
        target = (await session.call("resolve_research_target", {"text": asked.asin}))["data"]
        here = (await session.call("query_research_context", {"text": asked.asin}))["data"]
        plan = (await session.call("workflow_plan", {"name": "product-research", "asin": asked.asin}))["data"]
        steps = await run(session, plan, spends=spends)
        return {
            "mode": policy["mode"]["value"],
            "target": {key: target[key] for key in ("view", "status", "kind", "best") if key in target},
            "matches_on_this_machine": len(here.get("matches", [])),
            "plan": {"steps": len(plan["steps"]), "worst_case_tokens": plan["totals"]["worst_case_tokens"]},
            "steps": {name: done and done["cache_key"] for name, done in steps.items()},
            "risks": await risks(session, steps["products"]),
            **await conclusions(session, steps),
            "budget_ledger": (await session.read("keepa://context/policy"))["budget_ledger"],
            "answers": session.answers,
        }


async def run(session: Server, plan: dict[str, Any], *, spends: bool) -> dict[str, Any]:
    """Every step as it is planned. One that asks for consent is left out where it would spend: no person is here."""
    listed = await session.tools()
    steps: dict[str, Any] = {}
    context: dict[str, Any] = {}
    for step in plan["steps"]:
        if step["mcp_tool"] not in listed or (spends and step["requires_confirmation"]):
            steps[step["id"]] = context[step["id"]] = None
            continue
        arguments = dict(step["mcp"]["arguments"])
        if step["input_refs"]:
            arguments["workflow_context"] = {"steps": context}
        found = await session.answer(step["mcp_tool"], arguments)
        if not found["ok"] and found["error"]["kind"] != "dependency_missing" and not step["optional"]:
            raise Failed(f"{step['id']}: {found['error']['message']}")
        steps[step["id"]] = found if found["ok"] else None
        context[step["id"]] = {"resource_uri": address(found)} if found["ok"] else None
    return steps


async def risks(session: Server, products: dict[str, Any]) -> dict[str, Any]:
    """The risks of the product, held against the schema that the server publishes."""
    schema = await session.read("keepa://schema/risk-taxonomy")
    taxonomy = products["data"]["products"][0]["risk_taxonomy"]
    broken = [error.json_path + ": " + error.message for error in Draft202012Validator(schema).iter_errors(taxonomy)]
    if broken:
        raise Failed(f"The risks do not keep to their schema: {'; '.join(broken)}")
    known = schema["properties"]["codes"]["items"]["enum"]
    return {"known": sorted(known), "found": taxonomy["codes"], "with_evidence": len(taxonomy["items"])}


async def conclusions(session: Server, steps: dict[str, Any]) -> dict[str, Any]:
    """What all steps say together, read again by address, and a report where the server can build one."""
    audit = await session.read(address(steps["products"]))
    graph = await session.read(address(steps["graph"]) + "/graph")
    brief = await session.read(address(steps["brief"]) + "/brief")
    report = None
    if "reports_build" in await session.tools():
        uris = [address(steps[name]) for name in ("products", "brief") if steps[name]]
        arguments = {"resource_uris": uris, "format": "markdown", "title": "Product research", "no_figures": True}
        report = (await session.call("reports_build", arguments))["data"]
    return {
        "provenance": audit["provenance"]["mode"],
        "graph": graph["summary"],
        "brief": {
            "statements": [row["text"] for row in brief["decision_summary"]["statements"]],
            "next_actions": len(brief["next_actions"]),
        },
        "report": report and {key: report[key] for key in ("view", "format", "title", "sections") if key in report},
    }


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--asin", default=ASIN, help=f"a product that is recorded (default {ASIN})")


if __name__ == "__main__":
    sys.exit(main(research, __doc__, options))
