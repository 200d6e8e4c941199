from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import validate

from keepa_cli.agent.resources.reference import runtime_schema
from keepa_cli.agent.session import AgentSession
from keepa_cli.agent.uris import decode_text, encode_text, parse_uri
from keepa_cli.core.context import Context

ASIN = "B0PPJ248DY"


@pytest.fixture
def session(clean_env: dict[str, str], home: Path) -> AgentSession:
    return AgentSession(Context(env=clean_env, cwd=home / "work"))


def test_an_earlier_answer_gives_the_asins_of_the_next_step(session: AgentSession) -> None:
    key = session.call("products.get", {"asin": ASIN})["cache_key"]
    found = session.call_tool("products_get", {"resource_uri": f"keepa://research/{key}"})
    assert found["ok"]
    assert found["data"]["workflow_resolution"]["asin"] == [ASIN]
    assert found["data"]["workflow_resolution"]["payload_count"] == 1


@pytest.mark.parametrize(
    "runtime",
    [
        {"artifact": {"data": {"rows": [{"asin": ASIN}]}}},
        {"artifacts": [{"data": {"candidates": [{"asin": ASIN}]}}]},
        {"workflow_context": {"steps": {"search": {"data": {"items": [{"asin": ASIN}]}}}}},
        {"workflow_context": {"artifact": {"products": [{"identity": {"asin": ASIN}}]}}},
        {"workflow_inputs": {"outputs": [{"data": {"asins": [ASIN]}}]}},
    ],
)
def test_artifacts_are_found_in_every_container(session: AgentSession, runtime: dict[str, Any]) -> None:
    found = session.call_tool("products_get", runtime)
    assert found["ok"], found
    assert found["data"]["items"][0]["asked"] == ASIN


def test_what_the_caller_says_counts_more_than_a_reference(session: AgentSession) -> None:
    found = session.call_tool("products_get", {"asin": ASIN, "artifact": {"data": {"rows": [{"asin": "B001GZ6QEC"}]}}})
    assert found["data"]["items"][0]["asked"] == ASIN


def test_an_output_file_is_followed_inside_the_roots_only(session: AgentSession, home: Path) -> None:
    file = home / "work" / "rows.json"
    file.write_text(json.dumps({"data": {"rows": [{"asin": ASIN}]}}), "utf-8")
    assert session.call_tool("products_get", {"artifact": {"output": {"path": "rows.json"}}})["ok"]
    assert session.call_tool("products_get", {"resource_uri": "keepa://output/" + encode_text(str(file))})["ok"]
    (home / "secret.json").write_text("{}", "utf-8")
    refused = session.call_tool("products_get", {"artifact": {"output": {"path": "../secret.json"}}})
    assert refused["error"]["kind"] == "invalid_arguments"


@pytest.mark.parametrize(
    "runtime",
    [
        {"resource_uri": "keepa://research/nothing"},
        {"resource_uri": "https://example.com"},
        {"resource_uris": ["keepa://graphs/root"]},
        {"artifact": {"data": {}}},
        {"workflow_context": {}},
    ],
)
def test_what_cannot_be_resolved_says_what_is_missing(session: AgentSession, runtime: dict[str, Any]) -> None:
    error = session.call_tool("products_get", runtime)["error"]
    assert error["kind"] in {"missing_inputs", "invalid_arguments"}
    if error["kind"] == "missing_inputs":
        assert "asin" in error["details"]["missing_inputs"]
        assert error["details"]["accepted_sources"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    value=JSON, name=st.sampled_from(["artifact", "artifacts", "resource_uris", "workflow_context", "workflow_inputs"])
)
def test_hostile_references_are_answered(session: AgentSession, value: Any, name: str) -> None:
    found = session.call_tool("products_get", {name: value})
    assert found["ok"] or found["error"]["kind"] in {"missing_inputs", "invalid_arguments", "cassette_miss"}


@given(st.text())
def test_addresses_are_read_or_refused(text: str) -> None:
    parse_uri(text)
    parse_uri("keepa://" + text)
    assert decode_text(encode_text(text.encode("utf-8", "replace").decode())) is not None
    assert parse_uri("keepa://output/../x") is None
    assert parse_uri("file:///etc/passwd") is None


def test_a_call_refers_to_a_bounded_number_of_answers(session: AgentSession) -> None:
    found = session.call_tool("find_fast_movers", {"resource_uris": ["keepa://research/x"] * 500})
    assert found["error"]["kind"] == "invalid_arguments"
    assert found["error"]["details"]["field"] == "artifacts"


def test_a_failure_stays_small_whatever_it_was_given(session: AgentSession) -> None:
    given = {"asin": ["B0PPJ248DY"] * 100_000, "stats": "x" * 1_000_000, "domain": {str(n): n for n in range(5000)}}
    found = session.call_tool("products_get", given)
    assert found["error"]["kind"] == "invalid_arguments"
    assert len(json.dumps(found)) < 20_000


def test_a_call_names_a_bounded_number_of_paths(session: AgentSession) -> None:
    found = session.call_tool("inventory_audit", {"input": ["a.json"] * 5000})
    assert found["error"]["kind"] == "invalid_arguments"


def test_paths_that_no_system_takes_are_outside(session: AgentSession) -> None:
    for text in ("\ud83d", "~nobody-of-this-name/x", "a" * 5000):
        found = session.call_tool("inventory_audit", {"input": [text]})
        assert found["error"]["kind"] in {"invalid_arguments", "missing_inputs", "io_error"}, text


def test_the_graph_of_an_answer_is_that_of_its_products_where_it_has_none_itself(session: AgentSession) -> None:
    key = session.call_tool("products_get", {"asin": ASIN, "full": True, "view": "research"})["cache_key"]
    for reference in (f"keepa://research/{key}/graph", f"keepa://research/{key}"):
        found = session.call_tool("research_graph_merge", {"resource_uri": reference})
        assert found["ok"], found["error"]
        assert found["data"]["workflow_resolution"]["graph_count"] == 1
        assert found["data"]["research_graph"]["nodes"]
    merged = session.call_tool(
        "research_brief_export", {"resource_uri": f"keepa://research/{found['cache_key']}/graph"}
    )
    assert merged["ok"] and merged["data"]["workflow_resolution"]["graph_count"] == 1


@pytest.mark.parametrize(
    "references",
    [
        {"workflow_context": {"steps": {"k" * 5000 + str(n): "nope" for n in range(190)}}},
        {"resource_uris": ["x" * 500] * 190},
        {"artifacts": [{"products": [{"asin": f"B{n:09d}"}]} for n in range(190)]},
    ],
    ids=["names", "addresses", "artifacts"],
)
def test_the_record_of_a_call_stays_short(session: AgentSession, home: Path, references: dict[str, Any]) -> None:
    product = session.call("products.get", {"asin": ASIN})
    (home / "work" / "product.json").write_text(json.dumps(product), "utf-8")
    given = {} if "artifacts" in references else {"input": ["product.json"]}
    found = session.call_tool("find_fast_movers", given | references)
    assert found["ok"], found["error"]
    resolution = found["data"]["workflow_resolution"]
    assert len(json.dumps(resolution)) < 9_000
    if "artifacts" in references:
        assert (resolution["payload_count"], resolution["total"]["sources"]) == (190, 190)


@pytest.mark.parametrize(
    "arguments",
    [
        {"input": ["product.json"], "resource_uri": "keepa://research/none"},
        {"artifact": {"output": {"path": "product.json"}}},
        {"artifacts": [{"products": [{"asin": ASIN}]}] * 40},
        {"input": [{"$from": "step.get"}], "workflow_context": {"steps": {"get": "ANSWER"}}},
    ],
    ids=["nothing found", "file", "artifacts", "step"],
)
def test_the_record_keeps_to_the_schema_that_is_told(
    session: AgentSession, home: Path, arguments: dict[str, Any]
) -> None:
    answer = session.call("products.get", {"asin": ASIN})
    (home / "work" / "product.json").write_text(json.dumps(answer), "utf-8")
    given = json.loads(json.dumps(arguments).replace('"ANSWER"', json.dumps(answer)))
    found = session.call_tool("find_fast_movers", given)
    assert found["ok"], found["error"]
    validate(found["data"]["workflow_resolution"], runtime_schema()["properties"]["workflow_resolution"])
