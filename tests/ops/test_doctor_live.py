"""doctor --live: one free request, and a sentence for whatever comes of it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.engine import Options, run
from keepa_cli.sandbox import Sandbox
from tests.support.sandbox import KEY, running_sandbox

NOWHERE = "http://127.0.0.1:1"


def doctor(home: Path, url: str, key: str | None = KEY, **env: str) -> dict[str, Any]:
    """The data of `kc doctor --live`; it must never fail."""
    base = {
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
        "KEEPA_CLI_DATA_DIR": str(home / "data"),
        "KEEPA_BASE_URL": url,
    }
    waits: list[float] = []
    named = base | ({"KEEPA_API_KEY": key} if key else {}) | env
    ctx = Context(env=named, cwd=home / "work", sleep=waits.append, stdout=io.StringIO())
    found = run(ops.find("doctor"), {"live": True}, ctx, Options(find=ops.find))
    assert found["ok"], found
    assert waits == []
    assert KEY not in json.dumps(dict(found))
    data: dict[str, Any] = found["data"]
    return data


def row(data: dict[str, Any]) -> dict[str, Any]:
    [found] = [c for c in data["checks"] if c["check"] == "live"]
    return found


def paths(sandbox: Sandbox) -> list[str]:
    return [entry.path for entry in sandbox.log]


def test_a_good_key_tells_latency_rate_and_balance_and_costs_nothing(home: Path) -> None:
    with running_sandbox(tokens=250, rate=20) as sandbox:
        data = doctor(home, sandbox.base_url)
        assert sandbox.bucket.state().tokens_left == 250
    live = data["live"]
    assert (live["tokens_left"], live["refill_rate_per_minute"], live["capacity"]) == (250, 20, 1200)
    assert 0 <= live["refill_in_ms"] <= 60_000
    assert 0 <= live["round_trip_ms"] < 60_000
    assert row(data)["status"] == "ok"
    assert f"{live['round_trip_ms']} ms: 250 tokens left, 20 a minute" in row(data)["message"]
    assert data["auth"]["last_worked_at"] is not None
    assert data["healthy"]


def test_without_the_flag_nothing_is_asked(home: Path, cli: Any) -> None:
    found = json.loads(cli("--json", "doctor", env={"KEEPA_BASE_URL": NOWHERE, "KEEPA_API_KEY": KEY}).stdout)
    assert "live" not in found["data"]
    assert [c for c in found["data"]["checks"] if c["check"] == "live"] == []


@pytest.mark.parametrize("tokens", [0, -40])
def test_an_empty_bucket_is_a_warning(home: Path, tokens: int) -> None:
    with running_sandbox(tokens=tokens) as sandbox:
        data = doctor(home, sandbox.base_url)
    assert (row(data)["status"], row(data)["next_step"]) == ("warning", "kc tokens status --live")
    assert f"{tokens} tokens left" in row(data)["message"]
    assert data["healthy"]


@pytest.mark.parametrize(
    ("config", "key", "kind"),
    [({"deny_keys": [KEY]}, KEY, "auth_error"), ({}, "too-short-to-be-a-key", "request_rejected")],
    ids=["402", "400"],
)
def test_a_refused_key_is_a_problem_and_is_remembered(
    home: Path, config: dict[str, Any], key: str, kind: str, cli: Any
) -> None:
    with running_sandbox(**config) as sandbox:
        data = doctor(home, sandbox.base_url, key)
    assert (row(data)["status"], row(data)["next_step"]) == ("problem", "kc config set-token")
    assert not data["healthy"]
    assert data["live"]["error"]["kind"] == kind
    assert data["auth"]["last_error"] == kind
    assert data["auth"]["last_failed_at"] is not None
    assert key not in json.dumps(data)
    assert [c["status"] for c in data["checks"] if c["check"] == "key"] == ["warning"]


@pytest.mark.parametrize(
    ("fault", "kind", "status"),
    [
        ("429=30000", "not_enough_token", "warning"),
        ("500", "upstream_unavailable", "warning"),
        ("503", "upstream_unavailable", "warning"),
        ("html", "outcome_unknown", "problem"),
        ("reset-after-request", "outcome_unknown", "problem"),
    ],
)
def test_a_server_in_trouble_is_told_from_a_bad_key(home: Path, fault: str, kind: str, status: str) -> None:
    with running_sandbox(faults=[f"{fault}x1@/token"]) as sandbox:
        data = doctor(home, sandbox.base_url)
    assert data["live"]["error"]["kind"] == kind, data["live"]
    assert row(data)["status"] == status
    assert data["auth"]["last_failed_at"] is None


def test_a_server_that_cannot_be_reached_is_a_problem(home: Path) -> None:
    data = doctor(home, NOWHERE)
    assert data["live"]["error"]["kind"] == "transport_error"
    assert (row(data)["status"], row(data)["next_step"]) == ("problem", "kc doctor --live")
    assert data["auth"] | {"last_failed_at": None, "last_worked_at": None} == data["auth"]


def test_without_a_key_nothing_is_sent(home: Path) -> None:
    with running_sandbox() as sandbox:
        data = doctor(home, sandbox.base_url, key=None)
        assert paths(sandbox) == []
    assert data["live"]["error"]["kind"] == "auth_missing"
    assert (row(data)["status"], row(data)["next_step"]) == ("problem", "kc config set-token")


def test_in_ci_nothing_is_sent_unless_it_is_allowed(home: Path) -> None:
    with running_sandbox() as sandbox:
        data = doctor(home, sandbox.base_url, CI="true")
        assert paths(sandbox) == []
        assert row(data)["status"] == "warning"
        assert "KEEPA_CLI_ALLOW_LIVE_IN_CI=1" in row(data)["next_step"]
        assert doctor(home, sandbox.base_url, CI="true", KEEPA_CLI_ALLOW_LIVE_IN_CI="1")["live"]["ok"]
        assert paths(sandbox) == ["/token"]
