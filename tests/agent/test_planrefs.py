from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepa_cli.agent.session import AgentSession
from keepa_cli.core.context import Context

ASIN = "B0PPJ248DY"


@pytest.fixture
def session(clean_env: dict[str, str], home: Path) -> AgentSession:
    return AgentSession(Context(env=clean_env, cwd=home / "work"))


def ran(session: AgentSession, plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every step of a plan as it stands, each with the addresses of the answers before it."""
    steps: dict[str, Any] = {}
    answers = {}
    for step in session.call_tool("workflow_plan", plan)["data"]["steps"]:
        context = {"workflow_context": {"steps": dict(steps)}} if step["input_refs"] else {}
        found = answers[step["id"]] = session.call_tool(step["mcp_tool"], step["mcp"]["arguments"] | context)
        assert found["ok"], (step["id"], found["error"])
        steps[step["id"]] = {"resource_uri": f"keepa://research/{found['cache_key']}"}
    return answers


@pytest.mark.parametrize(
    ("plan", "drawn"),
    [
        ({"name": "product-research", "asin": ASIN}, [ASIN]),
        ({"name": "category-research", "term": "kitchen", "top": 3}, None),
        ({"name": "tracking-audit"}, None),
    ],
)
def test_a_plan_runs_as_it_is_written(session: AgentSession, plan: dict[str, Any], drawn: list[str] | None) -> None:
    pytest.importorskip("vl_convert")
    answers = ran(session, plan)
    assert session.budget_ledger()["session_consumed"] == 0
    if "comparison" in answers:
        assert answers["comparison"]["data"]["workflow_resolution"]["from_steps"][0]["count"] == 3
        assert len(answers["comparison"]["data"]["items"]) == 3
    if drawn:
        assert answers["graph"]["data"]["workflow_resolution"]["from_steps"] == [
            {"param": "input", "step": "products", "count": 1},
            {"param": "input", "step": "offers", "count": 1},
        ]


def test_a_skipped_step_is_left_out_and_a_missing_one_is_named(session: AgentSession) -> None:
    key = session.call_tool("products_get", {"asin": ASIN, "full": True, "view": "research"})["cache_key"]
    asked = {"input": [{"$from": "step.products", "artifact": "a"}, {"$from": "step.offers", "artifact": "b"}]}
    steps = {"products": f"keepa://research/{key}"}
    found = session.call_tool(
        "research_graph_merge", asked | {"workflow_context": {"steps": {**steps, "offers": None}}}
    )
    assert found["ok"], found["error"]
    refused = session.call_tool("research_graph_merge", asked | {"workflow_context": {"steps": steps}})
    assert refused["error"]["kind"] == "missing_inputs"
    assert refused["error"]["details"]["unresolved"] == [{"param": "input", "from": "step offers"}]


def test_inputs_of_a_plan_are_filled_in(session: AgentSession) -> None:
    found = session.call_tool(
        "products_get", {"asin": {"$input": "asin"}, "workflow_inputs": {"given": {"asin": [ASIN]}}}
    )
    assert found["data"]["items"][0]["asked"] == ASIN
    refused = session.call_tool("products_get", {"asin": {"$input": "asin"}, "workflow_inputs": {"x": 1}})
    assert refused["error"]["details"]["missing_inputs"] == ["asin"]


def test_paths_give_at_most_what_was_asked_for_once_each(session: AgentSession) -> None:
    rows = [{"asin": ASIN}, {"asin": ASIN}, {"asin": "B001GZ6QEC"}, {"asin": None}, {}]
    context = {"workflow_context": {"steps": {"s": {"data": {"rows": rows}}}}}
    ref = {"$from": "step.s", "path": "$.data.rows[*].asin", "limit": 1}
    assert session.call_tool("products_get", {"asin": ref} | context)["data"]["items"][0]["asked"] == ASIN
    lost = session.call_tool("products_get", {"asin": ref | {"path": "$.data.none[*].asin"}} | context)
    assert lost["error"]["kind"] == "missing_inputs"


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=10) | st.sampled_from(["step.s", "$.data[*]", "keepa://research/x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["$from", "$input", "path", "limit", "body", "name", "value", "data"]), inner)
    ),
    max_leaves=6,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(JSON, JSON)
def test_any_reference_is_resolved_or_refused(session: AgentSession, value: Any, held: Any) -> None:
    found = session.call_tool("products_get", {"asin": value, "workflow_context": {"steps": {"s": held}}})
    if not found["ok"]:
        assert found["error"]["kind"] in {"missing_inputs", "invalid_arguments", "cassette_miss"}, found["error"]
    json.dumps(found)
