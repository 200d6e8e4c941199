"""When an attempt is repeated."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.transport.policy import NO_RETRY, RetryPolicy


def failure(kind: Kind, charged: str = "no", **details: Any) -> KeepaCliError:
    return KeepaCliError(kind, "m", details={"charged": charged} | details)


FREE = [Kind.TRANSPORT_ERROR, Kind.NOT_ENOUGH_TOKEN, Kind.RATE_LIMITED, Kind.UPSTREAM_UNAVAILABLE]


@pytest.mark.parametrize("kind", list(Kind))
def test_only_failures_that_charged_nothing_are_repeated(kind: Kind) -> None:
    policy = RetryPolicy()
    assert (policy.decide(1, failure(kind)) is not None) == (kind in FREE)
    assert policy.decide(1, failure(kind, "yes")) is None
    assert policy.decide(1, failure(kind, "unknown")) is None


def test_attempts_and_budget_are_bounds() -> None:
    policy = RetryPolicy(attempts=3, budget=10)
    down = failure(Kind.UPSTREAM_UNAVAILABLE)
    assert policy.decide(2, down) is not None
    assert policy.decide(3, down) is None
    assert policy.decide(1, failure(Kind.NOT_ENOUGH_TOKEN, retry_after_ms=11_000)) is None
    assert policy.decide(1, failure(Kind.NOT_ENOUGH_TOKEN, retry_after_ms=6_000), waited=5) is None
    assert NO_RETRY.decide(1, down) is None


def test_not_repeated_where_retrying_cannot_help() -> None:
    error = KeepaCliError(Kind.TRANSPORT_ERROR, "certificate", details={"charged": "no"}, retryable=False)
    assert RetryPolicy().decide(1, error) is None


@given(chances=st.lists(st.floats(0, 1), min_size=3, max_size=3))
def test_waits_grow_whatever_the_jitter(chances: list[float]) -> None:
    policy = RetryPolicy(attempts=9, budget=1000)
    down = failure(Kind.UPSTREAM_UNAVAILABLE)
    waits = [policy.decide(n, down, chance=c) or 0 for n, c in enumerate(chances, 1)]
    assert waits == sorted(waits)
    assert waits[0] < waits[-1]


@given(asked=st.integers(0, 70_000), chance=st.floats(0, 1), kind=st.sampled_from(FREE))
def test_a_wait_that_the_server_names_is_never_cut_short(asked: int, chance: float, kind: Kind) -> None:
    wait = RetryPolicy().decide(1, failure(kind, retry_after_ms=asked), chance=chance)
    assert wait is not None
    assert wait >= asked / 1000
