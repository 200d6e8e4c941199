from __future__ import annotations

import base64
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.agent.compact import compacted, encoded
from keepa_cli.agent.problems import ProtocolError
from keepa_cli.agent.prompts import PROMPTS
from keepa_cli.agent.resources.table import RESOURCES, TEMPLATES
from keepa_cli.agent.session import AgentSession
from keepa_cli.agent.surface import Surface
from keepa_cli.agent.uris import encode_text
from keepa_cli.core.context import Context
from keepa_cli.interfaces.mcp.results import tool_result

ASIN = "B0PPJ248DY"
SURFACE = Surface()


@pytest.fixture
def session(clean_env: dict[str, str], home: Path) -> AgentSession:
    return AgentSession(Context(env=clean_env, cwd=home / "work"))


def text(uri: str, session: AgentSession) -> str:
    (found,) = SURFACE.read(uri, session)
    assert found["uri"] == uri
    return str(found.get("text"))


def data(uri: str, session: AgentSession) -> Any:
    return json.loads(text(uri, session))


def test_lists_page_and_say_how_many_there_are() -> None:
    for make, key in (
        (SURFACE.tools_list, "tools"),
        (SURFACE.resources_list, "resources"),
        (SURFACE.templates_list, "resourceTemplates"),
        (SURFACE.prompts_list, "prompts"),
    ):
        whole, first = make({}), make({"limit": 3})
        assert first[key] == whole[key][:3]
        assert first["_meta"]["has_more"] is True
        assert make({"cursor": first["nextCursor"]})[key] == whole[key][3:]


def test_filters_choose_tools_and_bind_cursors() -> None:
    names = [t["name"] for t in SURFACE.tools_list({"allow_tools": ["products_get", "docs_read"]})["tools"]]
    assert names == ["products_get", "docs_read"]
    assert not [t for t in SURFACE.tools_list({"exclude_tools": "docs_read"})["tools"] if t["name"] == "docs_read"]
    first = SURFACE.tools_list({"toolset": "all"})
    assert len(first["tools"]) <= 8 and first["nextCursor"]
    for other in ({"toolset": "research"}, {"toolset": "all", "profile": "fixture_curation"}):
        with pytest.raises(ProtocolError):
            SURFACE.tools_list({**other, "cursor": first["nextCursor"]})
    for wrong in ({"toolset": "none"}, {"profile": "root"}, {"toolset": 5}, {"allow_tools": [1]}):
        with pytest.raises(ProtocolError):
            SURFACE.tools_list(wrong)


@pytest.mark.parametrize("name", list(PROMPTS))
def test_every_prompt_renders_and_names_what_it_lacks(name: str) -> None:
    prompt = PROMPTS[name]
    given_ = {a.name: "B0PPJ248DY" for a in prompt.arguments}
    (message,) = SURFACE.prompt(name, given_)["messages"]
    assert "{" not in message["content"]["text"]
    if any(a.required for a in prompt.arguments):
        with pytest.raises(ProtocolError):
            SURFACE.prompt(name, {})
    with pytest.raises(ProtocolError):
        SURFACE.prompt(name, {**given_, "other": "x"})


def test_an_earlier_answer_can_be_read_again(session: AgentSession) -> None:
    key = session.call_tool("products_get", {"asin": ASIN})["cache_key"]
    audit = data(f"keepa://research/{key}", session)
    assert audit["command"] == "products.get"
    assert audit["provenance"]["mode"] == "replay"
    params = encode_text(json.dumps({"asin": ASIN}))
    found = data(f"keepa://cache-key/products.get/{params}", session)
    assert found == {"command": "products.get", "cache_key": key, "kept": True}
    with pytest.raises(ProtocolError):
        SURFACE.read("keepa://research/none", session)


def test_recordings_and_evidence_can_be_read(session: AgentSession) -> None:
    manifest = data("keepa://fixtures/manifest", session)
    name = next(r["name"] for r in manifest["fixtures"] if r["endpoint"] == "product")
    assert json.loads(text(f"keepa://fixtures/{name}", session))["products"]
    assert data(f"keepa://cassettes/{name}", session)["interactions"]
    assert data(f"keepa://asin/{ASIN.lower()}/fixture", session)["count"] >= 1
    row = data("keepa://evidence/recent", session)["evidence"][0]
    assert data("keepa://evidence/" + encode_text(row["logical_path"]), session)["row"] == row


def test_references_can_be_read(session: AgentSession) -> None:
    assert data("keepa://tools/products_get", session)["name"] == "products_get"
    assert data("keepa://toolsets/research", session)["tools"]
    assert data("keepa://prompts/project_onboarding", session)["rendered"]["messages"]
    assert "rendered" not in data("keepa://prompts/product_research", session)
    assert data("keepa://schema/workflow-runtime-contract", session)["properties"]["arguments"]
    assert data("keepa://schema/response/product", session)["$id"].endswith("product")
    assert data("keepa://workflow/runtime-contract", session)["tools"]
    assert text("keepa://wiki/page/quickstart", session) == text("keepa://zread/wiki/page/quickstart", session)
    assert data("keepa://wiki/toc", session)["toc"]


def test_files_are_read_inside_the_roots_only(session: AgentSession, home: Path) -> None:
    (home / "work" / "a.json").write_text("[1]", "utf-8")
    (home / "work" / "p.png").write_bytes(b"\x89PNG\r\n")
    (home / "work" / "key.pem").write_text("x", "utf-8")
    (home / "outside.json").write_text("{}", "utf-8")
    assert data("keepa://output/" + encode_text("a.json"), session) == [1]
    (picture,) = SURFACE.read("keepa://chunk/" + encode_text("p.png"), session)
    assert base64.b64decode(picture["blob"]).startswith(b"\x89PNG")
    for name in ("../outside.json", "key.pem", "missing.json", "/etc/passwd", "~/x.json", "~nobody-of-that-name/x"):
        with pytest.raises(ProtocolError):
            SURFACE.read("keepa://output/" + encode_text(name), session)


@given(st.text(max_size=60))
def test_any_address_is_read_or_refused(name: str) -> None:
    session = AgentSession(Context(env={}, cwd=Path.cwd()))
    families = [t.uri.partition("://")[2].partition("/")[0] for t in TEMPLATES]
    for family in ("", *sorted(set(families))):
        try:
            SURFACE.read(f"keepa://{family}/{name}", session)
        except ProtocolError as problem:
            assert problem.message == "Resource not found"


def test_names_of_resources_differ() -> None:
    assert len({r.uri for r in RESOURCES}) == len(RESOURCES)
    assert len({t.uri for t in TEMPLATES}) == len(TEMPLATES)


def test_every_resource_and_template_answers(session: AgentSession, home: Path) -> None:
    """Each with something real; what needs the extra for figures is left out where it is not installed."""
    (home / "work" / "a.json").write_text("[1]", "utf-8")
    key = session.call_tool("products_get", {"asin": ASIN, "full": True, "view": "research"})["cache_key"]
    session.task_results["t1"] = {"ok": True}
    evidence = data("keepa://evidence/recent", session)["evidence"][0]["logical_path"]
    plan = encode_text(json.dumps({"name": "product-research", "asin": ASIN}))
    values = {
        "schema/{name}": "schema/risk-taxonomy",
        "fixtures/{name}": "fixtures/product_B0PPJ248DY",
        "cassettes/{name}": "cassettes/product_B0PPJ248DY",
        "cache-key/{command}/{encoded_params}": f"cache-key/products.get/{encode_text(json.dumps({'asin': ASIN}))}",
        "workflow/{encoded_params}/policy": f"workflow/{plan}/policy",
        "research/{cache_key}": f"research/{key}",
        "research/{cache_key}/brief": f"research/{key}/brief",
        "research/{cache_key}/graph": f"research/{key}/graph",
        "research/{cache_key}/figures": f"research/{key}/figures",
        "research/{cache_key}/figures/{figure_set}": f"research/{key}/figures/history",
        "graphs/{root}": f"graphs/product:US:{ASIN}",
        "toolsets/{toolset}": "toolsets/audit",
        "tools/{name}": "tools/products_get",
        "prompts/{name}": "prompts/product_research",
        "asin/{asin}/fixture": f"asin/{ASIN}/fixture",
        "evidence/{encoded_logical_path}": f"evidence/{encode_text(evidence)}",
        "wiki/page/{slug}": "wiki/page/guides/categories",
        "chunk/{encoded_path}": f"chunk/{encode_text('a.json')}",
        "output/{encoded_path}": f"output/{encode_text('a.json')}",
        "tasks/{task_id}/result": "tasks/t1/result",
    }
    assert {"keepa://" + name for name in values} == {t.uri for t in TEMPLATES}
    for address in [r.uri.removeprefix("keepa://") for r in RESOURCES] + list(values.values()):
        if "/figures" in address and importlib.util.find_spec("vl_convert") is None:
            continue
        (found,) = SURFACE.read("keepa://" + address, session)
        assert len(str(found.get("text") or found["blob"])) > 2
        if not address.startswith(("fixtures/", "wiki/", "guides/")):
            assert len(str(found["text"]).encode()) <= 60_000


def test_briefs_and_graphs_are_made_of_what_was_answered(session: AgentSession) -> None:
    found = session.call_tool("products_get", {"asin": ASIN, "full": True, "view": "research"})
    address = f"keepa://research/{found['cache_key']}"
    brief = data(f"{address}/brief", session)
    assert brief["view"] == "research_brief_export"
    assert brief["decision_summary"]["statements"][0]["about"] == ASIN
    graph = data(f"{address}/graph", session)
    assert graph["summary"]["nodes"]["product"] >= 1
    assert len(graph["research_graph"]["nodes"]) == sum(graph["summary"]["nodes"].values())
    exported = session.call_tool("research_brief_export", {"resource_uri": address})
    again = data(f"keepa://research/{exported['cache_key']}/brief", session)
    assert again["decision_summary"] == exported["data"]["decision_summary"]
    sources = data(f"keepa://graphs/product:US:{ASIN}", session)["sources"]
    assert {"source": address, "command": "products.get"}.items() <= sources[0].items()
    assert "keepa://fixtures/product_B0PPJ248DY_full" in {row["source"] for row in sources}
    assert data("keepa://graphs/product:DE:" + ASIN, session)["count"] == 0


def test_fixtures_of_an_asin_are_found_by_what_was_asked(session: AgentSession) -> None:
    named = {row["name"] for row in data(f"keepa://asin/{ASIN}/fixture", session)["candidates"]}
    assert {"product_B0PPJ248DY", "product_B0PPJ248DY_full"} <= named
    body = json.loads(text("keepa://fixtures/products_kitchen_dining_best", session))
    for product in body["products"]:
        rows = data(f"keepa://asin/{product['asin']}/fixture", session)["candidates"]
        assert "products_kitchen_dining_best" in {row["name"] for row in rows}


def test_a_large_resource_is_cut_and_says_where_all_of_it_is(session: AgentSession) -> None:
    held = {"ok": True, "command": "x", "data": {"research_graph": {"root": "r", "edges": [], "nodes": []}}}
    held["data"]["research_graph"]["nodes"] = [
        {"id": f"n{i}", "type": "product", "label": "x" * 90} for i in range(2000)
    ]
    session.cache.put("x:1", "x", encoded(held))
    found = data("keepa://research/x:1/graph", session)
    assert found["truncated"]
    (link,) = found["mcp_resource_manifest"]["resources"]
    assert len(json.loads(text(link["uri"], session))["data"]["research_graph"]["nodes"]) == 2000


def test_what_a_resource_asked_for_whole_is_cut_for_a_tool(session: AgentSession) -> None:
    rows = [{"id": f"n{i}", "label": "x" * 90} for i in range(2000)]
    key = data(f"keepa://cache-key/docs.index/{encode_text('{}')}", session)["cache_key"]
    session.cache.put(key, "docs.index", encoded({"ok": True, "command": "docs.index", "data": {"pages": rows}}))
    found = session.call_tool("docs_index", {})
    assert found["cache_hit"] and len(json.dumps(found)) < 60_000
    assert found["data"]["truncated"]


def test_the_key_told_for_a_call_is_that_of_the_tool(session: AgentSession) -> None:
    told = data(f"keepa://cache-key/products.get/{encode_text(json.dumps({'asin': ASIN}))}", session)
    assert told["cache_key"] == session.call_tool("products_get", {"asin": ASIN})["cache_key"]


def test_views_keep_to_the_schemas_that_are_told(session: AgentSession) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    view, taxonomy = (data(f"keepa://schema/{n}", session) for n in ("products-agent-view", "risk-taxonomy"))
    for schema in (view, taxonomy):
        jsonschema.Draft202012Validator.check_schema(schema)
    for profile in ("summary", "deal", "research", "audit"):
        asked = {"asin": ASIN, "full": True, "view": profile}
        answer = session.call_tool("products_get", asked)["data"]
        jsonschema.validate(answer, view)
        for product in answer["products"]:
            if "risk_taxonomy" in product:
                jsonschema.validate(product["risk_taxonomy"], taxonomy)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"codes": ["other"], "items": []}, taxonomy)


def test_mark_read_and_writing_a_client_are_for_people(session: AgentSession) -> None:
    for name, argument in (("tracking_notifications", "mark_read"), ("agent_profile_generate", "install")):
        for value in (True, False, "cursor"):
            found = session.call_tool(name, {argument: value, "yes": True})
            assert found["error"]["kind"] == "invalid_arguments"
            assert found["error"]["details"]["field"] in {argument, "yes"}
    assert session.call_tool("tracking_notifications", {})["ok"]
    assert session.call_tool("agent_profile_generate", {"toolset": "business"})["data"]["clients"]["cursor"]


def test_files_that_a_call_wrote_are_linked_as_far_as_there_is_room(session: AgentSession, home: Path) -> None:
    drawn = session.call_tool("figures_research", {"fixture": "product_B0PPJ248DY_full", "out_dir": "figures"})
    manifest = drawn["mcp_resource_manifest"]["resources"]
    assert {r["path"] for r in manifest} == {f["path"] for f in drawn["data"]["figures"]}
    assert {r["mimeType"] for r in manifest} == {"image/svg+xml"}
    [svg] = Surface().read(manifest[0]["uri"], session)
    assert svg["mimeType"] == "image/svg+xml" and "<svg" in svg["text"]
    report = session.call_tool("reports_build", {"fixture": "product_B0PPJ248DY_full", "out_dir": "report"})
    linked = [r["path"] for r in report["mcp_resource_manifest"]["resources"]]
    assert linked == [report["data"]["output"]["path"], *(o["path"] for o in report["data"]["outputs"])]
    key = session.call_tool("products_get", {"asin": "B0PPJ248DY", "full": True, "view": "research"})["cache_key"]
    [read] = Surface().read(f"keepa://research/{key}/figures", session)
    figures = json.loads(read["text"])
    assert [r["path"] for r in figures["mcp_resource_manifest"]["resources"]] == [f["path"] for f in figures["figures"]]


@pytest.mark.parametrize("rows", [0, 100, 250, 2000])
@pytest.mark.parametrize("folder", ["a", "a" * 200])
def test_a_message_with_many_files_stays_within_the_limit(session: AgentSession, rows: int, folder: str) -> None:
    figures = [{"path": str(session.ctx.cwd / folder / f"{n}.svg"), "name": str(n)} for n in range(70)]
    data = {"figures": figures, "rows": ["x" * 100] * rows}
    found = tool_result(
        compacted({"ok": True, "command": "figures.research", "data": data}, "figures.research:1", session.ctx)
    )
    assert found["structuredContent"]["mcp_resource_manifest"]["resources"]
    assert len(json.dumps(found)) < 60_000
