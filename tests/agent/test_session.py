from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.agent.compact import LIMIT, encoded
from keepa_cli.agent.problems import ProtocolError
from keepa_cli.agent.roots import output_folder
from keepa_cli.agent.session import AgentSession
from keepa_cli.agent.sessioncache import SessionCache
from keepa_cli.agent.stopping import StopSign
from keepa_cli.core.context import Context
from keepa_cli.sandbox import Sandbox
from tests.support.sandbox import KEY, running_sandbox

ASIN = "B0PPJ248DY"
KEYS = {"ok", "command", "cache_key", "cache_hit", "budget_ledger"}


def pointing_at(sandbox: Sandbox) -> dict[str, str]:
    return {"KEEPA_BASE_URL": sandbox.base_url, "KEEPA_API_KEY": KEY}


@pytest.fixture
def ctx(clean_env: dict[str, str], home: Path) -> Context:
    return Context(env=clean_env, cwd=home / "work")


@pytest.fixture
def session(ctx: Context) -> AgentSession:
    return AgentSession(ctx)


def test_the_same_call_is_answered_from_the_session(session: AgentSession) -> None:
    first = session.call("products.get", {"asin": ASIN})
    again = session.call("products.get", {"asin": [ASIN.lower()], "domain": "1"})
    assert first["ok"] and set(first) >= KEYS
    assert (first["cache_hit"], again["cache_hit"]) == (False, True)
    assert again["cache_key"] == first["cache_key"]
    assert again["data"] == first["data"]
    assert again["budget_ledger"]["cache_hits"] > first["budget_ledger"]["cache_hits"]


def test_what_is_kept_cannot_be_changed_from_outside(session: AgentSession) -> None:
    first = session.call("products.get", {"asin": ASIN})
    first["data"].clear()
    assert session.call("products.get", {"asin": ASIN})["data"]


def test_from_cache_gives_an_answer_of_the_same_command_only(session: AgentSession) -> None:
    key = session.call("domains.list", {})["cache_key"]
    assert session.call("domains.list", {"from_cache": key})["cache_hit"]
    for params in ({"from_cache": key}, {"from_cache": "products.get:none"}):
        refused = session.call("products.get", {"asin": ASIN, **params})
        assert refused["error"]["kind"] == "invalid_arguments"


def test_from_cache_agrees_with_all_that_is_said_beside_it(session: AgentSession) -> None:
    kept = session.call_tool("products_get", {"asin": ASIN, "full": True, "view": "research"})["cache_key"]
    for said in ({}, {"asin": ASIN}, {"asin": [ASIN], "domain": "us", "full": True}, {"view": "research"}):
        found = session.call_tool("products_get", {**said, "from_cache": kept})
        assert (found["ok"], found["cache_hit"], found["cache_key"]) == (True, True, kept)
    for said in ({"asin": "B000000009"}, {"view": "summary"}, {"full": False}, {"no_cache": True}, {"out": "o.json"}):
        found = session.call_tool("products_get", {**said, "from_cache": kept})
        assert found["error"]["details"]["field"] == "from_cache", said


def test_an_answer_that_wrote_files_never_stands_for_a_call(session: AgentSession) -> None:
    asked = {"asin": ASIN, "chunks_dir": "chunks"}
    first = session.call_tool("products_get", asked)
    written = [Path(chunk["path"]) for chunk in first["data"]["chunks"]]
    for path in written:
        path.unlink()
    again = session.call_tool("products_get", asked)
    assert (first["cache_hit"], again["cache_hit"]) == (False, False)
    assert all(path.is_file() for path in written)
    refused = session.call_tool("products_get", {**asked, "from_cache": again["cache_key"]})
    assert refused["error"]["details"]["field"] == "from_cache"
    assert "wrote files" in refused["error"]["message"]


def test_a_changed_input_file_is_another_call(session: AgentSession, home: Path) -> None:
    file = home / "work" / "notes.json"
    file.write_text('{"title": "kettle"}', "utf-8")
    first = session.call("cassettes.scan", {"paths": ["notes.json"]})
    assert first["ok"] and session.call("cassettes.scan", {"paths": ["notes.json"]})["cache_hit"]
    file.write_text('{"title": "grinder"}', "utf-8")
    assert not session.call("cassettes.scan", {"paths": ["notes.json"]})["cache_hit"]


def test_a_client_never_widens_the_mode(ctx: Context) -> None:
    wide = replace(ctx, env={**ctx.env, "KEEPA_CLI_MODE": "live", "KEEPA_API_KEY": "A" * 64})
    session = AgentSession(wide)
    missed = session.call("products.get", {"asin": "B001GZ6QEC"})
    assert missed["error"]["kind"] == "cassette_miss"
    assert session.call("products.get", {"asin": ASIN, "live": True})["error"]["kind"] == "invalid_arguments"
    recorded = session.call("cassettes.record", {"command": "products.get", "param": [f"asin={ASIN}"], "name": "x"})
    assert not recorded["ok"]
    probed = session.call("doctor", {"live": True})
    assert "recordings only" in json.dumps(probed)


def test_a_live_session_spends_and_counts(ctx: Context) -> None:
    with running_sandbox() as sandbox:
        live = AgentSession(replace(ctx, env={**ctx.env, **pointing_at(sandbox)}), live=True)
        found = live.call("products.get", {"asin": ASIN})
        assert found["provenance"]["mode"] == "live"
        assert found["budget_ledger"]["session_consumed"] == 1
        assert live.call("products.get", {"asin": ASIN})["cache_hit"]
        blocked = live.call("bestsellers.get", {"category": "4255431"})
        assert blocked["error"]["kind"] == "confirmation_required"
        assert live.budget_ledger()["blocked_actions"][0]["command"] == "bestsellers.get"
        safe = live.call_tool("products_get", {"asin": "B001GZ6QEC", "profile": "dry_run_default"})
        assert safe["error"]["kind"] == "profile_requires_fixture_or_dry_run"
        assert len(sandbox.log) == 1


def test_an_agent_narrows_the_limit_of_a_call_and_never_widens_it(ctx: Context) -> None:
    Path(ctx.env["KEEPA_CLI_CONFIG"]).write_text("max_tokens = 20\n", "utf-8")
    with running_sandbox() as sandbox:
        asks = {"category": "4255431", "yes": True}
        live = AgentSession(replace(ctx, env={**ctx.env, **pointing_at(sandbox)}), live=True)
        for limit in (None, 20, 49, 1000):
            found = live.call_tool("bestsellers_get", {**asks, "max_tokens": limit})
            assert found["error"]["kind"] == "budget_exceeded", limit
        assert live.call_tool("products_get", {"asin": ASIN, "max_tokens": 0})["error"]["kind"] == "budget_exceeded"
        assert live.call_tool("products_get", {"asin": ASIN, "max_tokens": 1000})["ok"]
        person = AgentSession(replace(ctx, env={**ctx.env, **pointing_at(sandbox)}), live=True, anywhere=True)
        assert person.call("bestsellers.get", {**asks, "max_tokens": 50})["ok"]


def test_a_key_of_another_request_is_refused_also_where_the_answer_is_kept(ctx: Context) -> None:
    with running_sandbox() as sandbox:
        live = AgentSession(replace(ctx, env={**ctx.env, **pointing_at(sandbox)}), live=True)
        assert live.call_tool("products_get", {"asin": ASIN, "idempotency_key": "once"})["ok"]
        assert live.call_tool("products_get", {"asin": "B000000009"})["ok"]
        for name in ("products_get", "tracking_get"):
            found = live.call_tool(name, {"asin": "B000000009", "idempotency_key": "once"})
            assert found["error"]["kind"] == "invalid_arguments"
        again = live.call_tool("products_get", {"asin": ASIN, "idempotency_key": "once"})
        assert again["cache_hit"] and len(sandbox.log) == 2


def test_a_person_may_consent_to_exactly_what_was_quoted(ctx: Context) -> None:
    asked: list[dict[str, Any]] = []
    with running_sandbox() as sandbox:
        live = AgentSession(replace(ctx, env={**ctx.env, **pointing_at(sandbox)}), live=True)
        no = live.call_tool("bestsellers_get", {"category": "4255431"}, confirm=lambda d: bool(asked.append(d)))
        assert no["error"]["kind"] == "confirmation_required"
        yes = live.call_tool("bestsellers_get", {"category": "4255431"}, confirm=lambda d: True)
        assert yes["ok"] and yes["budget_ledger"]["session_consumed"] == 50
    assert asked[0]["worst_case_tokens"] == 50


@pytest.mark.parametrize("value", ["../outside.json", "/etc/passwd", "~/x.json", "link/x.json", "a\x00b", " "])
def test_paths_outside_the_roots_are_refused(session: AgentSession, home: Path, value: str) -> None:
    (home / "work" / "link").symlink_to(home)
    for name, params in (("products.get", {"asin": ASIN, "out": value}), ("cassettes.scan", {"paths": [value]})):
        refused = session.call(name, params)
        assert refused["error"]["kind"] == "invalid_arguments", refused
    assert not (home / "outside.json").exists()


def test_an_inactive_tool_never_reaches_the_operation(session: AgentSession) -> None:
    refused = session.call_tool("cassettes_promote", {"file": "x", "name": "y"})
    assert refused["error"]["kind"] == "inactive_tool"
    with pytest.raises(ProtocolError):
        session.call_tool("products.get", {})


def test_a_tool_speaks_of_arguments_and_not_of_flags(session: AgentSession) -> None:
    error = session.call_tool("products_get", {})["error"]
    assert "code" in error["message"] and "--" not in error["message"]
    assert error["next_actions"] == ["Read keepa://tools/products_get"]
    assert "--" not in str(session.call_tool("finder_query", {})["error"]["next_actions"])
    unknown = session.call_tool("products_get", {"asin": ASIN, "nonsense": 1})["error"]
    assert unknown["next_actions"] == ["Read keepa://tools/products_get"]
    assert session.call("products.get", {"nonsense": 1})["error"]["next_actions"] == ["kc products get --help"]
    missed = session.call_tool("products_get", {"asin": "B001GZ6QEC"})["error"]
    assert any(step.startswith("kc products get") and "--record" in step for step in missed["next_actions"])


def test_whole_numbers_may_come_with_a_point(session: AgentSession) -> None:
    assert session.call_tool("products_get", {"asin": ASIN, "max_tokens": 5.0})["ok"]


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"asin": ASIN, "yes": "true"}, "yes"),
        ({"asin": ASIN, "max_tokens": -1}, "max_tokens"),
        ({"asin": ASIN, "max_tokens": True}, "max_tokens"),
        ({"asin": ASIN, "max_tokens": 1.5}, "max_tokens"),
        ({"asin": ASIN, "max_tokens": float("inf")}, "max_tokens"),
        ({"asin": ASIN, "profile": "root"}, "profile"),
        ({"asin": ASIN, "nonsense": 1}, "nonsense"),
        ({"asin": 5.5}, "asin"),
    ],
)
def test_wrong_arguments_are_named(session: AgentSession, arguments: dict[str, Any], field: str) -> None:
    error = session.call_tool("products_get", arguments)["error"]
    assert error["kind"] == "invalid_arguments"
    assert error["details"]["errors"][0]["field"] == field


def test_nulls_stand_for_what_is_not_given(session: AgentSession) -> None:
    found = session.call_tool("products_get", {"asin": ASIN, "stats": None, "offers": "null", "yes": None})
    assert found["ok"]


def test_a_stopped_call_ends_and_the_next_one_is_served(session: AgentSession) -> None:
    stop = StopSign()
    stop.set()
    assert session.call("domains.list", {}, stop=stop)["error"]["kind"] == "timeout"
    assert session.call("domains.list", {})["ok"]


def test_large_answers_come_with_the_way_to_the_rest(ctx: Context, session: AgentSession) -> None:
    found = session.call_tool("categories_search", {"term": "kitchen"})
    assert found["ok"]
    from keepa_cli.agent.compact import compacted

    rows = [{"asin": f"B{i:09}", "title": "t" * 80} for i in range(3000)]
    big = compacted({"ok": True, "command": "x", "data": {"rows": rows, "body": {"products": rows}}}, "x:1", ctx)
    text = json.dumps(big)
    assert len(text) < LIMIT + 4000
    assert big["data"]["body"]["omitted"]
    assert big["data"]["truncated"][0]["total"] == 3000
    assert all(row in rows for row in big["data"]["rows"])
    (resource,) = big["mcp_resource_manifest"]["resources"]
    assert json.loads(Path(resource["path"]).read_text("utf-8"))["data"]["rows"] == rows
    assert Path(resource["path"]).parent == output_folder(ctx)


def test_the_cache_is_bounded_and_forgets_what_was_used_longest_ago() -> None:
    cache = SessionCache(limit=1000)
    for i in range(10):
        cache.put(f"k{i}", "x", encoded({"text": os.urandom(90).hex()}))
        cache.get("k0")
    assert cache.size <= 1000
    assert "k0" in cache.keys() and "k1" not in cache.keys()  # noqa: SIM118
    cache.put("huge", "x", encoded({"text": os.urandom(450).hex()}))
    assert cache.get("huge") is None
