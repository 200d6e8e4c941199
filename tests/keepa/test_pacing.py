"""Waiting for tokens: in steps of a minute, from the figures of answers alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa import answer, pacing
from keepa_cli.keepa.pacing import MARGIN_MS, STEP_MS, Bucket


@pytest.mark.parametrize(("left", "steps"), [(0, 1), (-4, 1), (-5, 2), (-9, 2), (-118, 24), (-0.5, 1)], ids=str)
def test_a_debt_waits_for_whole_steps(left: float, steps: int) -> None:
    assert pacing.wait_ms(Bucket(left, 12_000, 5)) == 12_000 + (steps - 1) * STEP_MS + MARGIN_MS


def test_a_positive_balance_never_waits_whatever_the_cost() -> None:
    assert pacing.wait_ms(Bucket(1, 60_000, 0)) == 0
    decision = pacing.decide(Bucket(20, 30_000, 5), 450)
    assert decision.action == "send" and "-430" in decision.reason


def test_time_that_passed_since_the_answer_counts() -> None:
    bucket = Bucket(-6, 10_000, 5)
    assert pacing.wait_ms(bucket, 70_000) == MARGIN_MS
    assert pacing.wait_ms(bucket, 70_000 + MARGIN_MS) == 0
    assert pacing.decide(bucket, elapsed_ms=80_000).action == "send"


def test_trackings_slow_the_refill_down_or_stop_it() -> None:
    assert pacing.wait_ms(Bucket(-3, 0, 5, 3.4)) == STEP_MS + MARGIN_MS
    for stopped in (Bucket(0, 12_000, 5, 5.0), Bucket(0, 12_000, 5, 7), Bucket(-3, 0, 0)):
        assert pacing.wait_ms(stopped) is None
        assert pacing.decide(stopped).action == "refuse"
    assert "trackings take 5" in pacing.decide(Bucket(0, 12_000, 5, 5.0)).reason


def test_who_does_not_want_to_wait_is_refused_with_the_time() -> None:
    decision = pacing.decide(Bucket(0, 12_000, 5), wait=False)
    assert (decision.action, decision.wait_ms) == ("refuse", 12_000 + MARGIN_MS)


def test_a_refusal_full_of_zeros_is_no_empty_bucket() -> None:
    zeros = {"tokensLeft": 0, "refillIn": 0, "refillRate": 0, "tokenFlowReduction": 0.0, "tokensConsumed": 0}
    assert pacing.read(answer.bucket_of(zeros, 400)) is None
    assert pacing.decide(None).action == "send"
    assert pacing.decide(pacing.read(answer.bucket_of(zeros, 200))).action == "refuse"


def test_figures_that_lack_something_tell_nothing() -> None:
    assert pacing.read({"tokens_left": 0, "refill_in_ms": 5}) is None
    assert pacing.read({"tokens_left": -2, "refill_in_ms": 5, "refill_rate": 3}) == Bucket(-2, 5, 3)


@settings(max_examples=150)
@given(
    left=st.integers(-5000, 300),
    rate=st.integers(0, 50),
    refill_in=st.integers(0, 60_000),
    reduction=st.floats(0, 60, allow_nan=False),
    cost=st.integers(0, 10_000),
)
def test_the_wait_is_the_first_moment_at_which_the_bucket_admits(
    left: int, rate: int, refill_in: int, reduction: float, cost: int
) -> None:
    """Against a bucket that is filled step by step."""
    bucket = Bucket(left, refill_in, rate, reduction)
    ms = pacing.wait_ms(bucket)
    step = rate - round(reduction)
    if left > 0:
        assert ms == 0
    elif step <= 0:
        assert ms is None
    else:
        balance, moment = left, 0
        while balance <= 0:
            balance, moment = balance + step, refill_in if moment == 0 and balance == left else moment + STEP_MS
        assert ms == moment + MARGIN_MS
    action = pacing.decide(bucket, cost).action
    assert action == pacing.decide(bucket, 0).action, "the cost must not matter"
