"""The tools that agents see: which operations, under which names, in which toolsets, with which schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any

from keepa_cli import ops
from keepa_cli.agent.portable import parameter, summary
from keepa_cli.agent.profiles import ALL, PROFILES, Profile
from keepa_cli.core.registry import Arg, Operation

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
DATA, COMPUTE, FILTER, OUTPUT_FILES = "DATA", "COMPUTE", "FILTER", "OUTPUT"
KINDS: Mapping[str, Mapping[str, str]] = {
    DATA: {
        "products_get": "products as views",
        "categories_search": "categories by words",
        "categories_products": "best ASINs of a category",
        "sellers_get": "sellers",
        "bestsellers_get": "ASINs by rank",
        "topsellers_list": "seller ids by rank",
        "docs_index": "pages to read, in order",
        "docs_read": "one page",
        "context_policy": "mode, limits, folders",
        "tracking_list": "trackings",
        "tracking_list_names": "names of lists",
        "tracking_get": "one tracking",
        "tracking_notifications": "notifications",
    },
    COMPUTE: {
        "products_compare": "rows to compare",
        "workflow_plan": "steps with prices",
        "find_fast_movers": "products by velocity",
        "inventory_audit": "products by stock risk",
        "market_opportunity": "products by score",
        "research_graph_merge": "one graph",
        "audit_cost": "the price of a call",
    },
    FILTER: {
        "categories_finder_selection": "a selection",
        "finder_query": "ASINs that match",
        "deals_query": "deals that match",
        "resolve_research_target": "what words mean",
        "query_research_context": "what is here on it",
    },
    OUTPUT_FILES: {
        "agent_profile_generate": "a client's configuration",
        "research_brief_export": "brief with evidence",
        "reports_build": "report with figures",
        "figures_research": "SVG and its data",
        "browse_snapshot": "pages of a site",
        "cassettes_sanitize": "a clean cassette",
        "cassettes_promote": "fixture and evidence",
        "cassettes_promote_and_verify": "fixture and verdicts",
    },
}
"""What agents plan with: the part that a tool plays, and what comes back. In few words: hosts read them all."""
_PLAYS = {name: (kind, returns) for kind, named in KINDS.items() for name, returns in named.items()}
STARTERS = (
    "context_policy", "resolve_research_target", "query_research_context", "workflow_plan", "products_get",
    "products_compare", "categories_search", "docs_index",
)  # fmt: skip
"""The first page of the toolset `all`."""
LONG = frozenset({"reports_build", "figures_research", "cassettes_promote_and_verify"})
"""Tools that may take long: they report progress, can be cancelled, and run as tasks where a client wants that."""
RUNTIME = ("resource_uri", "resource_uris", "artifact", "artifacts", "workflow_inputs", "workflow_context")
"""Arguments that are resolved to parameters before the operation runs."""
WITHHELD: Mapping[str, frozenset[str]] = {
    "tracking_notifications": frozenset({"mark_read"}),
    "agent_profile_generate": frozenset({"root", "install", "config", "dry_run", "yes"}),
}
"""Parameters that people alone may give: they consume what is read, or write outside the folders of this server."""
TOLD: Mapping[str, str] = {
    "products_compare": "Hold products against each other: a row each, who leads by what, the risks and the graph of "
    "all. Costs 1 token per product, more with offers, buybox or rating.",
    "categories_products": "List the best selling products of a category as candidates for research. Costs 50 tokens "
    "whatever the limit; finder_query is cheaper (11 tokens).",
    "topsellers_list": "List the sellers with the most ratings, most rated first. Costs 50 tokens. Up to 100,000 "
    "seller ids; sellers_get tells more about them.",
    "agent_profile_generate": "Show how to register this server with MCP clients: command, toolset and profile, never "
    "a key. Writes nothing.",
}
"""Descriptions where that of the operation speaks of commands, or leaves out the price for want of room."""
TOLD_ARGUMENTS: Mapping[tuple[str, str], str] = {
    ("products_get", "chunks_dir"): "Folder for a JSON file of each section of each product",
    ("docs_read", "page"): "Name of a page, as docs_index lists it",
    ("audit_cost", "param"): "NAME=VALUE of the operation, such as asin=B0PPJ248DY",
    ("audit_cost", "plan"): "A saved answer of workflow_plan, instead of an operation",
    ("figures_research", "figure_set"): "history: prices and ranks; compare: rows; audit: risks, graph",
}
FEEDABLE = frozenset({"input", "files", "payload", "asin", "category", "graphs", "param"})
"""Parameters that an earlier answer can give."""

_TEXT, _FLAG, _OBJECT = {"type": "string"}, {"type": "boolean"}, {"type": "object"}


def _named(schema: Mapping[str, Any], description: str) -> dict[str, Any]:
    return {**schema, "description": description}


EVERY_CALL: Mapping[str, dict[str, Any]] = {
    "from_cache": _named(_TEXT, "A cache_key"),
    "profile": {"type": "string", "enum": list(PROFILES)},
}
REMOTE_CALL: Mapping[str, dict[str, Any]] = {
    "fixture": _named(_TEXT, "A fixture, by name"),
    "dry_run": _FLAG,
    "yes": _named(_FLAG, "A person agreed to the cost"),
    "quote_token": _TEXT,
    "max_tokens": {"type": "integer", "minimum": 0},
    "no_cache": _FLAG,
    "idempotency_key": _TEXT,
    "out": _named(_TEXT, "File for the raw body"),
}
RUNTIME_CALL: Mapping[str, dict[str, Any]] = {
    "resource_uri": _named(_TEXT, "keepa:// address of inputs"),
    "resource_uris": {"type": "array", "items": _TEXT},
    "artifact": _OBJECT,
    "artifacts": {"type": "array", "items": _OBJECT},
    "workflow_inputs": _OBJECT,
    "workflow_context": _OBJECT,
}
OUTPUT: dict[str, Any] = {
    "type": "object",
    "required": ["ok", "command"],
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
        return any(a.name in FEEDABLE for a in self.op.args)

    @property
    def reaches_keepa(self) -> bool:
        return self.op.remote or self.op.passes_mode

    @property
    def withheld(self) -> frozenset[str]:
        return WITHHELD.get(self.name, frozenset())

    @property
    def writes(self) -> bool:
        """Whether files or something at Keepa change; a tool without its writing parameters only reads."""
        return self.op.effect != "read" and not self.withheld

    @cached_property
    def call_arguments(self) -> dict[str, dict[str, Any]]:
        """What may be given beside the parameters of the operation."""
        found = dict(EVERY_CALL) | (dict(REMOTE_CALL) if self.reaches_keepa else {})
        found |= dict(RUNTIME_CALL) if self.takes_runtime else {}
        return {k: v for k, v in found.items() if k not in {a.name for a in self.op.args}}

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        """A closed schema in the subset that every known host takes: one type each, no references, no root choices."""
        own = {
            a.name: parameter(a, self._help(a)) for a in self.op.args if not (a.spec.hidden or a.name in self.withheld)
        }
        required = [a.name for a in self.op.args if a.required and not self.takes_runtime]
        more = {k: {n: v for n, v in schema.items() if n != "enum"} for k, schema in self.call_arguments.items()}
        schema = {"type": "object", "properties": own | more, "additionalProperties": False}
        return schema | ({"required": required} if required else {})

    @cached_property
    def view(self) -> str | None:
        """The view that it gives where the call names none: agents read views, not bodies."""
        choices = next((a.choices for a in self.op.args if a.name == "view"), None) or ()
        return next((str(c) for c in choices if c != "raw"), None)

    @property
    def description(self) -> str:
        own = TOLD.get(self.name)
        return own or summary(f"{self.op.summary} {self.op.doc.partition(chr(10) * 2)[0]}")

    def _help(self, arg: Arg) -> str | None:
        own = TOLD_ARGUMENTS.get((self.name, arg.name))
        if own:
            return own
        if arg.name == "view" and self.view and arg.default != self.view:
            return f"Default {self.view}; raw is what Keepa sent." if "raw" in (arg.choices or ()) else None
        return None

    @property
    def annotations(self) -> dict[str, Any]:
        return {
            "readOnlyHint": not self.writes,
            "destructiveHint": self.writes,
            "openWorldHint": self.reaches_keepa,
        }

    def x_keepa(self, profile: Profile) -> dict[str, Any]:
        """What the contract adds to a tool; hosts that drop unknown keys find a copy in `_meta`."""
        reason = inactive_reason(self, profile)
        kind, returns = _PLAYS[self.name]
        return {
            "service_command": self.op.name,
            "groups": list(self.groups),
            "category": kind,
            "returns": returns,
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
            "description": self.description,
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
        allowed = (
            f"the toolsets {', '.join(sorted(profile.groups))} only" if profile.groups else "nothing on this server"
        )
        return f"The profile {profile.name} allows {allowed}."
    return None


@cache
def tools() -> Mapping[str, Tool]:
    """Every tool whose operation exists, in the order of the table."""
    by_tool = {op.tool: op for op in ops.load_all()}
    found = {n: Tool(n, by_tool[n], title, groups) for n, (title, groups) in TABLE.items() if n in by_tool}
    return MappingProxyType(found)


def of_toolset(found: Mapping[str, Tool], name: str) -> Iterator[Tool]:
    """The tools of a toolset; of `all` the starters come first."""
    if name == ALL:
        yield from (found[n] for n in STARTERS if n in found)
        yield from (tool for n, tool in found.items() if n not in STARTERS)
        return
    yield from (tool for tool in found.values() if name in tool.groups)
