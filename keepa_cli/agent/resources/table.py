"""Every resource and template, in the order in which they are listed."""

from __future__ import annotations

from keepa_cli.agent.resources import answers, library, reference
from keepa_cli.agent.resources.model import MARKDOWN, Content, Read, Reading, Resource, Template, bounded, not_found
from keepa_cli.agent.uris import SCHEME


def _resource(path: str, description: str, read: Read, mime: str = "application/json") -> Resource:
    return Resource(SCHEME + path, path.replace("/", "-"), description, read, mime)


def _template(path: str, name: str, description: str, read: Read, mime: str = "application/json") -> Template:
    return Template(SCHEME + path, name, description, read, mime)


RESOURCES: tuple[Resource, ...] = (
    _resource("context/policy", "What this server allows: mode, profile, roots, budget. Read first.", reference.policy),
    _resource("tools/index", "Toolsets and tools in short.", reference.tools_index),
    _resource("prompts/index", "Prompts with their arguments.", reference.prompts_index),
    _resource("schema/products-agent-view", "Schema of the product view.", reference.schema),
    _resource("schema/risk-taxonomy", "Risk codes and the shape of a risk.", reference.schema),
    _resource(f"schema/{reference.RUNTIME_CONTRACT}", "Schema of runtime arguments.", reference.schema),
    _resource("workflow/runtime-contract", "Which tools take earlier answers, and how.", reference.runtime_contract),
    _resource("fixtures/manifest", "Fixtures that can be replayed here.", library.fixtures_manifest),
    _resource("evidence/recent", "The newest rows of the evidence manifest.", library.evidence_recent),
    *(
        _resource(f"guides/{name}", f"Guide: {name.replace('-', ' ')}.", reference.guide, MARKDOWN)
        for name in reference.GUIDES
    ),
    _resource("wiki/current", "Documentation: where to start.", reference.wiki, MARKDOWN),
    _resource("wiki/toc", "Documentation: table of contents.", reference.wiki),
    _resource("wiki/pages", "Documentation: all pages with their addresses.", reference.wiki),
)
TEMPLATES: tuple[Template, ...] = (
    _template("schema/{name}", "schema", "A schema by name.", reference.schema),
    _template("fixtures/{name}", "fixture", "The body of a fixture.", library.fixture),
    _template("cassettes/{name}", "cassette", "What a cassette holds, with its evidence.", library.cassette),
    _template("cache-key/{command}/{encoded_params}", "cache-key", "The cache key of a call.", answers.cache_key),
    _template("workflow/{encoded_params}/policy", "workflow-policy", "The policy of a plan.", answers.workflow_policy),
    _template("research/{cache_key}", "research", "An earlier answer, for an audit.", answers.research),
    _template("research/{cache_key}/brief", "research-brief", "Its brief.", answers.research),
    _template("research/{cache_key}/graph", "research-graph", "Its graph.", answers.research),
    _template("research/{cache_key}/figures", "research-figures", "All figures from it.", answers.research),
    _template("research/{cache_key}/figures/{figure_set}", "research-figure-set", "Some of them.", answers.research),
    _template("graphs/{root}", "graphs", "Where graphs of a root come from.", answers.graphs),
    _template("toolsets/{toolset}", "toolset", "The tools of a toolset in short.", reference.toolset),
    _template("tools/{name}", "tool", "One tool with its schemas.", reference.tool),
    _template("prompts/{name}", "prompt", "One prompt.", reference.prompt),
    _template("asin/{asin}/fixture", "asin-fixture", "Fixtures for an ASIN.", library.asin_fixture),
    _template("evidence/{encoded_logical_path}", "evidence", "Evidence of a cassette.", library.evidence),
    _template("wiki/page/{slug}", "wiki-page", "A page of the documentation.", reference.wiki, MARKDOWN),
    _template("chunk/{encoded_path}", "chunk", "A chunk file that a call wrote.", answers.file),
    _template("output/{encoded_path}", "output", "A file that a call wrote.", answers.file),
    _template("tasks/{task_id}/result", "task-result", "The result of a task.", answers.task_result),
)
BODIES = frozenset({"schema", "fixtures", "chunk", "output", "wiki", "zread", "guides", "tasks"})
"""Families whose readers ask for a whole body."""
_FIXED = {r.uri: r for r in RESOURCES}
_FAMILIES = {
    "schema": reference.schema,
    "fixtures": library.fixture,
    "cassettes": library.cassette,
    "cache-key": answers.cache_key,
    "workflow": answers.workflow_policy,
    "research": answers.research,
    "graphs": answers.graphs,
    "toolsets": reference.toolset,
    "tools": reference.tool,
    "prompts": reference.prompt,
    "guides": reference.guide,
    "asin": library.asin_fixture,
    "evidence": library.evidence,
    "wiki": reference.wiki,
    "zread": reference.wiki,
    "chunk": answers.file,
    "output": answers.file,
    "tasks": answers.task_result,
}


def read(reading: Reading) -> Content:
    """What stands at an address. Raises a ProtocolError for one that is not there."""
    fixed = _FIXED.get(reading.address)
    if fixed is not None:
        return bounded(reading, fixed.read(reading))
    family = _FAMILIES.get(reading.uri.collection)
    if family is None or not reading.uri.name:
        raise not_found(reading)
    found = family(reading)
    return found if reading.uri.collection in BODIES else bounded(reading, found)
