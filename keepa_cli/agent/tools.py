"""The tools that agents see: which operations, under which names, in which toolsets, with which schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from keepa_cli import ops
from keepa_cli.agent.profiles import ALL, PROFILES, Profile
from keepa_cli.core.registry import Operation
from keepa_cli.core.schema import arg_schema

_ANYWHERE = ("research", "audit", "reports", "business", "curation")
TABLE: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "products_get": ("Products: get", ("research", "business")),
    "products_compare": ("Products: compare", ("research", "business", "reports")),
    "categories_search": ("Categories: search", ("research",)),
    "categories_products": ("Categories: list products", ("research",)),
    "categories_finder_selection": ("Categories: draft a finder selection", ("research",)),
    "finder_query": ("Product finder: query", ("research",)),
    "deals_query": ("Deals: query", ("research",)),
    "sellers_get": ("Sellers: get", ("research",)),
    "bestsellers_get": ("Best sellers: get", ("research",)),
    "topsellers_list": ("Top sellers: list", ("research",)),
    "workflow_plan": ("Workflow: plan", ("research", "business", "reports")),
    "find_fast_movers": ("Business: find fast movers", ("research", "business")),
    "inventory_audit": ("Business: audit inventory", ("research", "business")),
    "market_opportunity": ("Business: market opportunity", ("research", "business")),
    "agent_profile_generate": ("Agent: client configuration", ("research", "audit")),
    "research_graph_merge": ("Research: merge graphs", ("research", "reports")),
    "research_brief_export": ("Research: export a brief", ("research", "reports")),
    "docs_index": ("Documentation: index", _ANYWHERE),
    "docs_read": ("Documentation: read", _ANYWHERE),
    "context_policy": ("Context: policy", (*_ANYWHERE, "tracking-readonly")),
    "resolve_research_target": ("Research: resolve a target", ("research",)),
    "query_research_context": ("Research: query what is here", ("research", "audit", "curation")),
    "audit_cost": ("Audit: cost of a call", ("research", "audit", "tracking-readonly")),
    "reports_build": ("Reports: build", ("research", "reports")),
    "figures_research": ("Figures: draw", ("research", "reports")),
    "browse_snapshot": ("Browse: static site", ("reports",)),
    "cassettes_sanitize": ("Cassettes: sanitize", ("curation",)),
    "cassettes_promote": ("Cassettes: promote", ("curation",)),
    "cassettes_promote_and_verify": ("Cassettes: promote and verify", ("curation",)),
    "tracking_list": ("Tracking: list", ("tracking-readonly",)),
    "tracking_list_names": ("Tracking: list names", ("tracking-readonly",)),
    "tracking_get": ("Tracking: get", ("tracking-readonly",)),
    "tracking_notifications": ("Tracking: notifications", ("tracking-readonly",)),
}
"""Title and toolsets of every tool, in the order in which they are listed."""
STARTERS = (
    "context_policy", "resolve_research_target", "query_research_context", "workflow_plan", "products_get",
    "products_compare", "categories_search", "docs_index",
)  # fmt: skip
"""The first page of the toolset `all`."""
LONG = frozenset({"reports_build", "figures_research", "cassettes_promote_and_verify"})
"""Tools that may take long: they report progress, can be cancelled, and run as tasks where a client wants that."""
RUNTIME = ("resource_uri", "resource_uris", "artifact", "artifacts", "workflow_inputs", "workflow_context")
"""Arguments that are resolved to parameters before the operation runs."""
_FEEDABLE = frozenset({"input", "files", "payload", "asin", "category", "graphs"})

_TEXT, _FLAG, _OBJECT = {"type": "string"}, {"type": "boolean"}, {"type": "object", "additionalProperties": True}


def _named(schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


EVERY_CALL: Mapping[str, dict[str, Any]] = {
    "from_cache": _named(_TEXT, "cache_key of an earlier answer."),
    "profile": {"type": "string", "enum": list(PROFILES)},
}
REMOTE_CALL: Mapping[str, dict[str, Any]] = {
    "fixture": _named(_TEXT, "Answer from this fixture."),
    "dry_run": _named(_FLAG, "Show request and cost only."),
    "yes": _named(_FLAG, "Consent to the cost, after a person agreed."),
    "quote_token": _TEXT,
    "max_tokens": {"type": "integer", "minimum": 0},
    "no_cache": _FLAG,
    "idempotency_key": _TEXT,
    "out": _named(_TEXT, "File for the raw body."),
}
RUNTIME_CALL: Mapping[str, dict[str, Any]] = {
    "resource_uri": _named(_TEXT, "keepa:// resource to take inputs from."),
    "resource_uris": {"type": "array", "items": _TEXT},
    "artifact": _named(_OBJECT, "An earlier answer, or its output.path."),
    "artifacts": {"type": "array", "items": _OBJECT},
    "workflow_inputs": _OBJECT,
    "workflow_context": _OBJECT,
}
OUTPUT: dict[str, Any] = {
    "type": "object",
    "additionalProperties": True,
    "required": ["ok", "command", "cache_key", "cache_hit", "budget_ledger"],
    "properties": {
        "ok": _FLAG,
        "command": _TEXT,
        "cache_key": _TEXT,
        "cache_hit": _FLAG,
        "budget_ledger": {"type": "object"},
        "data": {"type": "object"},
        "error": {"type": "object"},
    },
}
"""Accepts answers and failures alike: clients check failures against it too."""


@dataclass(frozen=True)
class Tool:
    """One tool: an operation with its name, title and toolsets."""

    name: str
    op: Operation
    title: str
    groups: tuple[str, ...]

    @property
    def takes_runtime(self) -> bool:
        """Whether earlier answers can be handed to it by reference."""
        return any(a.name in _FEEDABLE for a in self.op.args)

    @property
    def reaches_keepa(self) -> bool:
        return self.op.remote or self.op.passes_mode

    @cached_property
    def call_arguments(self) -> dict[str, dict[str, Any]]:
        """What may be given beside the parameters of the operation."""
        found = dict(EVERY_CALL) | (dict(REMOTE_CALL) if self.reaches_keepa else {})
        found |= dict(RUNTIME_CALL) if self.takes_runtime else {}
        return {k: v for k, v in found.items() if k not in {a.name for a in self.op.args}}

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """A closed schema in the subset that every known host takes: one type each, no references, no root choices."""
        own = {a.name: portable(arg_schema(a)) for a in self.op.args if not a.spec.hidden}
        required = [a.name for a in self.op.args if a.required and not self.takes_runtime]
        schema = {"type": "object", "properties": own | self.call_arguments, "additionalProperties": False}
        return schema | ({"required": required} if required else {})

    @property
    def annotations(self) -> dict[str, Any]:
        writes = self.op.effect != "read"
        return {
            "title": self.title,
            "readOnlyHint": not writes,
            "destructiveHint": writes,
            "idempotentHint": not writes,
            "openWorldHint": self.reaches_keepa,
        }

    def x_keepa(self, profile: Profile) -> dict[str, Any]:
        """What the contract adds to a tool; hosts that drop unknown keys find a copy in `_meta`."""
        reason = inactive_reason(self, profile)
        return {
            "service_command": self.op.name,
            "groups": list(self.groups),
            "category": self.name.partition("_")[0],
            "returns": self.op.returns or self.op.name,
            "active": reason is None,
            "inactive_reason": reason,
            "workflow_runtime": self.takes_runtime,
        }

    def listed(self, profile: Profile) -> dict[str, Any]:
        """The entry of tools/list."""
        extra = self.x_keepa(profile)
        return {
            "name": self.name,
            "title": self.title,
            "description": " ".join(f"{self.op.summary} {self.op.doc.partition(chr(10) * 2)[0]}".split()),
            "inputSchema": self.input_schema,
            "outputSchema": OUTPUT,
            "annotations": self.annotations,
            "execution": {"taskSupport": "optional" if self.name in LONG else "forbidden"},
            "x-keepa": extra,
            "_meta": {"x-keepa": extra},
        }


def inactive_reason(tool: Tool, profile: Profile) -> str | None:
    """Why a profile does not allow a tool; None where it does."""
    if profile.groups.isdisjoint(tool.groups):
        return f"The profile {profile.name} allows the toolsets {', '.join(sorted(profile.groups))} only."
    return None


def tools() -> dict[str, Tool]:
    """Every tool whose operation exists, in the order of the table."""
    by_tool = {op.tool: op for op in ops.load_all()}
    return {n: Tool(n, by_tool[n], title, groups) for n, (title, groups) in TABLE.items() if n in by_tool}


def of_toolset(found: Mapping[str, Tool], name: str) -> Iterator[Tool]:
    """The tools of a toolset; of `all` the starters come first."""
    if name == ALL:
        yield from (found[n] for n in STARTERS if n in found)
        yield from (tool for n, tool in found.items() if n not in STARTERS)
        return
    yield from (tool for tool in found.values() if name in tool.groups)


def portable(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema with one type everywhere: text where text and numbers are taken, for text arrives unchanged."""
    found = {k: v for k, v in schema.items() if k != "anyOf"}
    kind = found.get("type")
    if isinstance(kind, list):
        found["type"] = "string" if "string" in kind else kind[0]
        if found["type"] != "string":
            found.pop("pattern", None)
    if found.get("type") == "object":
        found.setdefault("additionalProperties", True)
    if isinstance(found.get("items"), dict):
        found["items"] = portable(found["items"])
    if "anyOf" in schema:
        found["anyOf"] = [portable(option) for option in schema["anyOf"]]
    return found
