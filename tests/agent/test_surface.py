from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.agent.problems import ProtocolError
from keepa_cli.agent.prompts import PROMPTS
from keepa_cli.agent.resources.table import RESOURCES, TEMPLATES
from keepa_cli.agent.session import AgentSession
from keepa_cli.agent.surface import Surface
from keepa_cli.agent.uris import encode_text
from keepa_cli.core.context import Context

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
    key = session.call("products.get", {"asin": ASIN})["cache_key"]
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
    for name in ("../outside.json", "key.pem", "missing.json", "/etc/passwd", "~/x.json"):
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
