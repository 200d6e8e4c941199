from __future__ import annotations

import json
from typing import Any

from keepa_cli import ops
from tests.support.sandbox import KEY
from tests.support.views import problems


def data(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["ok"], found
    return found["data"]


def test_a_new_user_is_told_that_nothing_can_be_spent(cli: Any, home: Any) -> None:
    found = data(cli("--json", "context", "policy"))
    assert problems(found) == []
    assert found["mode"] == {"value": "replay", "origin": "default"}
    assert "recordings" in found["answers_come_from"]
    assert found["live"]["possible"] is False and found["live"]["by_default"] is False
    assert found["live"]["auth"] == {"configured": False, "origin": "none"}
    assert found["limits"]["max_tokens_per_day"] is None
    assert found["consent"]["confirm_above_tokens"] == 10
    assert found["folders"]["written"]["outputs"] == str(home / "work")


def test_the_key_is_told_of_but_never_shown(cli: Any) -> None:
    for env in ({"KEEPA_API_KEY": KEY}, {"KEEPA_API_KEY": KEY, "KEEPA_CLI_MODE": "live"}):
        result = cli("--json", "context", "policy", env=env)
        assert KEY not in result.stdout + result.stderr
        live = data(result)["live"]
        assert live["possible"] is True and live["auth"] == {"configured": True, "origin": "environment"}
        assert live["by_default"] is ("KEEPA_CLI_MODE" in env)
    blocked = data(cli("--json", "context", "policy", env={"KEEPA_API_KEY": KEY, "CI": "1"}))["live"]
    assert (blocked["possible"], blocked["blocked_by"]) == (False, ["CI is set"])
    allowed = {"KEEPA_API_KEY": KEY, "CI": "1", "KEEPA_CLI_ALLOW_LIVE_IN_CI": "1"}
    assert data(cli("--json", "context", "policy", env=allowed))["live"]["possible"] is True


def test_a_broken_configuration_is_told_and_stops_live_calls(cli: Any, home: Any) -> None:
    (home / "config.toml").write_text("mode = [")
    result = json.loads(cli("--json", "context", "policy", env={"KEEPA_API_KEY": KEY}).stdout)
    assert result["warnings"][0]["code"] == "config_error"
    assert result["data"]["live"]["blocked_by"] == ["the configuration is broken"]


def test_every_command_is_in_its_lists(cli: Any) -> None:
    found = data(cli("--json", "context", "policy"))
    groups = found["operations"]
    every = {op.name for op in ops.load_all()}
    assert set(groups["this_machine_only"]) | set(groups["may_ask_keepa"]) == every
    assert not set(groups["this_machine_only"]) & set(groups["may_ask_keepa"])
    assert {"products.get", "cassettes.record", "tracking.add"} <= set(groups["may_ask_keepa"])
    assert {"research.resolve", "docs.read", "research-graph.merge"} <= set(groups["this_machine_only"])
    assert set(groups["change_something_at_keepa"]) == {op.name for op in ops.load_all() if op.effect == "write_remote"}
    assert {tool for tools in found["toolsets"].values() for tool in tools} == {op.tool for op in ops.load_all()}
    assert [step["command"] for step in found["first_steps"]][:3] == [
        "context.policy", "research.resolve", "research.query",
    ]  # fmt: skip
    assert {step["command"] for step in found["first_steps"]} <= every
