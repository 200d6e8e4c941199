"""The token bucket: one step a minute, admission above zero, charge afterwards."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.sandbox import Sandbox
from keepa_cli.sandbox.bucket import Bucket
from tests.sandbox.conftest import ask
from tests.support.sandbox import Clock, running_sandbox


def test_a_bucket_is_full_at_sixty_minutes_of_its_rate() -> None:
    bucket = Bucket(20, 1200, None, Clock())
    assert bucket.state().tokens_left == 1200


def test_refill_comes_in_one_step_per_minute_and_stops_at_capacity() -> None:
    clock = Clock()
    bucket = Bucket(20, 1200, 0, clock)
    assert bucket.state().refill_in_ms == 60_000
    clock.forward(59.5)
    assert (bucket.state().tokens_left, bucket.state().refill_in_ms) == (0, 500)
    clock.forward(0.5)
    assert (bucket.state().tokens_left, bucket.state().refill_in_ms) == (20, 60_000)
    clock.forward(100 * 60)
    assert bucket.state().tokens_left == 1200


def test_a_clock_that_steps_back_gives_and_takes_nothing() -> None:
    clock = Clock()
    bucket = Bucket(20, 1200, 5, clock)
    clock.forward(-3600)
    assert (bucket.state().tokens_left, bucket.state().refill_in_ms) == (5, 60_000)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), st.integers(-500, 500), st.lists(st.tuples(st.integers(0, 200), st.integers(0, 600))))
def test_the_balance_is_what_was_charged_and_refilled(rate: int, start: int, moves: list[tuple[int, int]]) -> None:
    clock, capacity = Clock(0), 60 * rate
    bucket, expected, second = Bucket(rate, capacity, start, clock), min(start, capacity), 0
    for cost, seconds in moves:
        clock.forward(seconds)
        for _ in range((second + seconds) // 60 - second // 60):
            expected = min(capacity, expected + rate)
        second += seconds
        assert bucket.admit() is (expected > 0)
        expected -= cost
        assert bucket.charge(cost).tokens_left == expected


def test_a_positive_balance_admits_any_cost_and_goes_negative(clock: Clock) -> None:
    with running_sandbox(rate=20, tokens=1, clock=clock) as sandbox:
        first = ask(sandbox, "/search", domain=1, type="product", term="kettle", asins_only=1)
        assert (first.status_code, first.json()["tokensLeft"], first.json()["tokensConsumed"]) == (200, -9, 10)
        second = ask(sandbox, "/product", domain=1, asin="B0AMAZON01")
        assert second.status_code == 429
        assert _tokens(second.json()) == {"tokensLeft": -9, "tokensConsumed": 0, "refillRate": 20, "refillIn": 60_000}
        assert second.json()["error"]["type"] == "notEnoughToken"
        assert "products" not in second.json()
        clock.forward(60)
        assert ask(sandbox, "/product", domain=1, asin="B0AMAZON01").json()["tokensLeft"] == 10


def test_the_token_status_is_free_and_always_answered(clock: Clock) -> None:
    with running_sandbox(rate=5, tokens=-118, clock=clock) as sandbox:
        clock.forward(48)
        answer = ask(sandbox, "/token")
        assert answer.status_code == 200
        assert _tokens(answer.json()) == {"tokensLeft": -118, "tokensConsumed": 0, "refillRate": 5, "refillIn": 12_000}


def test_refused_requests_are_not_charged(sandbox: Sandbox) -> None:
    before = sandbox.bucket.state().tokens_left
    for params in (
        {"domain": "us", "asin": "B0AMAZON01"},
        {"domain": 1},
        {"domain": 1, "asin": "B0AMAZON01", "offers": 7},
    ):
        ask(sandbox, "/product", **params)
    assert sandbox.bucket.state().tokens_left == before


def _tokens(body: dict[str, Any]) -> dict[str, int]:
    return {name: body[name] for name in ("tokensLeft", "tokensConsumed", "refillRate", "refillIn")}
