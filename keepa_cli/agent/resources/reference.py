"""References: schemas, guides, policy, tools, prompts, documentation pages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from keepa_cli.agent import profiles, prompts
from keepa_cli.agent.planrefs import CONTAINERS
from keepa_cli.agent.resources.model import MARKDOWN, Content, Reading, as_json, not_found, tool_call
from keepa_cli.agent.runtime import ACCEPTED
from keepa_cli.agent.tools import FEEDABLE, RUNTIME, RUNTIME_CALL, of_toolset

GUIDES: Mapping[str, str] = {
    "cassette-promotion": "cassettes",
    "categories": "guides/categories",
    "marketplaces": "guides/marketplaces",
    "agent-profile": "guides/agent-profile",
}
"""Documentation pages that the guides show."""
RUNTIME_CONTRACT = "workflow-runtime-contract"


def schema(reading: Reading) -> Content:
    """A schema by its stable name, or by its path in the schema folder."""
    name = "/".join(p for p in (reading.uri.name, reading.uri.rest) if p).removesuffix(".json")
    if name == RUNTIME_CONTRACT:
        return as_json(runtime_schema())
    documents = _documents()
    for path in (f"{name}.json", f"view/{name}.json", f"response/{name}.json", f"input/{name}.json"):
        if path in documents:
            return as_json(documents[path])
    raise not_found(reading, f"schemas: {', '.join(sorted(documents))[:2000]}")


@cache
def _documents() -> dict[str, dict[str, Any]]:
    """Every schema by its path: the same for the life of the process."""
    from keepa_cli.ops import _schemas

    return _schemas.documents()


def guide(reading: Reading) -> Content:
    page = GUIDES.get(reading.uri.name)
    if page is None:
        raise not_found(reading, f"guides: {', '.join(GUIDES)}")
    return Content(tool_call(reading, "docs_read", {"page": page})["text"], MARKDOWN)


def policy(reading: Reading) -> Content:
    data = tool_call(reading, "context_policy", {})
    session = reading.session
    return as_json(
        {
            **data,
            "server": {
                "live": session.live,
                "profile": session.profile.name,
                "toolset": session.toolset,
                "roots": [str(folder) for folder in session.roots.folders],
                "profiles": {p.name: p.summary for p in profiles.PROFILES.values()},
                "toolsets": dict(profiles.TOOLSETS),
            },
            "budget_ledger": session.budget_ledger(),
        }
    )


def tools_index(reading: Reading) -> Content:
    found = reading.surface.tools
    sets = {
        name: {"summary": text, "tools": [t.name for t in of_toolset(found, name)]}
        for name, text in profiles.TOOLSETS.items()
    }
    rows = [_compact(reading, name) for name in found]
    return as_json({"toolsets": sets, "tools": rows, "tool_resource": "keepa://tools/{name}"})


def toolset(reading: Reading) -> Content:
    if reading.uri.name not in profiles.TOOLSETS:
        raise not_found(reading, f"toolsets: {', '.join(profiles.TOOLSETS)}")
    chosen = of_toolset(reading.surface.tools, reading.uri.name)
    return as_json({"toolset": reading.uri.name, "tools": [_compact(reading, tool.name) for tool in chosen]})


def tool(reading: Reading) -> Content:
    found = reading.surface.tools.get(reading.uri.name)
    if found is None:
        raise not_found(reading, f"tools: {', '.join(reading.surface.tools)}")
    return as_json(found.listed(reading.session.profile))


def prompts_index(reading: Reading) -> Content:
    return as_json(
        {"prompts": [p.listed() for p in prompts.PROMPTS.values()], "prompt_resource": "keepa://prompts/{name}"}
    )


def prompt(reading: Reading) -> Content:
    """The definition; of a prompt that needs nothing also its messages."""
    found = prompts.PROMPTS.get(reading.uri.name)
    if found is None:
        raise not_found(reading, f"prompts: {', '.join(prompts.PROMPTS)}")
    rendered = {} if any(a.required for a in found.arguments) else {"rendered": prompts.render(found.name, {})}
    return as_json(found.listed() | rendered)


def wiki(reading: Reading) -> Content:
    """Documentation: where to start, the table of contents, all pages, one page."""
    kind, slug = reading.uri.name, reading.uri.rest
    if reading.uri.collection == "zread":  # the first edition's spelling: keepa://zread/wiki/...
        kind, _, slug = slug.partition("/")
    if kind == "page":
        return Content(tool_call(reading, "docs_read", {"page": slug.removesuffix(".md")})["text"], MARKDOWN)
    if kind == "current":
        return Content(tool_call(reading, "docs_read", {"page": "index"})["text"], MARKDOWN)
    if kind not in ("toc", "pages"):
        raise not_found(reading, "wiki: current, toc, pages, page/{slug}")
    pages = tool_call(reading, "docs_index", {})["pages"]
    rows = [{**page, "resource_uri": f"keepa://wiki/page/{page['page']}"} for page in pages]
    return as_json({"pages": rows} if kind == "pages" else {"toc": [[r["title"], r["resource_uri"]] for r in rows]})


def runtime_contract(reading: Reading) -> Content:
    fed = [t for t in reading.surface.tools.values() if t.takes_runtime]
    return as_json(
        {
            "runtime_arguments": list(RUNTIME),
            "tools": [{"tool": t.name, "fills": [a.name for a in t.op.args if a.name in FEEDABLE]} for t in fed],
            "containers": list(CONTAINERS),
            "accepted_sources": list(ACCEPTED),
            "record": "data.workflow_resolution",
            "missing": "error.kind missing_inputs, error.details.missing_inputs",
            "schema_resource_uri": f"keepa://schema/{RUNTIME_CONTRACT}",
        }
    )


def runtime_schema() -> dict[str, Any]:
    """The JSON Schema of the runtime arguments and of what is recorded about them."""
    resolution = {
        "type": "object",
        "required": ["sources", "filled", "payload_count", "graph_count", "unresolved"],
        "properties": {
            "sources": {"type": "array", "items": {"type": "string"}},
            "filled": {"type": "array", "items": {"type": "string"}},
            "payload_count": {"type": "integer"},
            "graph_count": {"type": "integer"},
            "asin": {"type": "array", "items": {"type": "string"}},
            "category": {"type": "array"},
            "temporary_files": {"type": "array", "items": {"type": "string"}},
            "total": {"type": "object", "description": "Lengths of lists of which only the first items are shown."},
            "from_steps": {"type": "array", "items": {"type": "object"}},
            "unresolved": {"type": "array", "items": {"type": "object"}},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"keepa://schema/{RUNTIME_CONTRACT}",
        "title": "Runtime arguments of tools and data.workflow_resolution",
        "type": "object",
        "properties": {
            "arguments": {"type": "object", "properties": dict(RUNTIME_CALL)},
            "workflow_resolution": resolution,
        },
    }


def _compact(reading: Reading, name: str) -> dict[str, Any]:
    found = reading.surface.tools[name]
    return {"name": name, "title": found.title, "summary": found.op.summary} | found.x_keepa(reading.session.profile)
