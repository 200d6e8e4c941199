"""The running account of a session: what was estimated, what it cost, what was blocked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keepa_cli.engine.budget import MOST_BLOCKED, account_of, budget_of
from tests.support.money import ONE, call, context
from tests.support.sandbox import running_sandbox
from tests.support.scripted_server import ScriptedServer


def test_a_blocked_call_is_listed_with_what_was_spent_before(home: Path) -> None:
    with running_sandbox() as box:
        ctx = context(home, box.base_url, "max_tokens_per_session = 20\n")
        call(ctx, params=ONE | {"buybox": True})
        call(ctx, idempotency_key="k")
        call(ctx, idempotency_key="k")
        asked = call(ctx, params=ONE | {"offers": 20}, yes=False)["error"]
        assert asked["kind"] == "confirmation_required"
        refused = call(ctx, params=ONE | {"offers": 40})["error"]
        assert refused["kind"] == "budget_exceeded" and len(box.log) == 2
    assert asked["details"]["budget_ledger"]["blocked_actions"] == [
        {"command": "products.get", "reason": "confirmation_required", "worst_case_tokens": 12}
    ]
    assert refused["details"]["budget_ledger"] == {
        "session_estimated": 4,
        "session_consumed": 4,
        "remaining_limit": 16,
        "blocked_actions": [
            {"command": "products.get", "reason": "confirmation_required", "worst_case_tokens": 12},
            {"command": "products.get", "reason": "budget_exceeded", "worst_case_tokens": 24},
        ],
        "cache_hits": 1,
        "consumed_source": "keepa",
    }


def test_the_list_of_blocked_calls_is_bounded(home: Path) -> None:
    ctx = context(home, "https://api.keepa.com")
    for _ in range(MOST_BLOCKED + 5):
        result = call(ctx, max_tokens=0)
    assert len(result["error"]["details"]["budget_ledger"]["blocked_actions"]) == MOST_BLOCKED
    assert budget_of(ctx).as_dict(None)["remaining_limit"] is None


def test_other_failures_are_not_blocked_calls(home: Path) -> None:
    with running_sandbox(faults=["200-with-error"]) as box:
        ctx = context(home, box.base_url)
        assert "budget_ledger" not in call(ctx)["error"]["details"]
    assert budget_of(ctx).as_dict(None)["blocked_actions"] == []


def test_what_is_left_counts_calls_of_unknown_outcome_and_other_sessions_of_the_process(home: Path) -> None:
    with ScriptedServer([{"fault": "reset_before_answer"}]) as server:
        ctx = context(home, server.url, "max_tokens_per_session = 2\n")
        assert call(ctx)["error"]["kind"] == "outcome_unknown"
    neighbour = context(home, server.url)
    for one in (ctx, neighbour):
        found = account_of(one)
        assert (found["session_consumed"], found["remaining_limit"]) == (0, 1)
    offline = replace(neighbour, offline=True)
    assert account_of(offline)["remaining_limit"] == 2
