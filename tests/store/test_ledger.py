"""The ledger by itself: states, limits, dead processes, idempotency keys."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.store import kept
from keepa_cli.store.kept import Stored
from keepa_cli.store.ledger import FILE, Ending, Entry, Ledger, Limits
from tests.conftest import REPO

ENTRY = Entry("products.get", "live", "live", "GET", "/product", "f" * 16, "call-1", 0, 1, 3, 5)
ANSWER = Stored(200, "OK", {}, b'{"tokensConsumed": 3}')


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 5, 31, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Ledger:
    return Ledger(tmp_path, clock)


def entry(call: str, **changes: object) -> Entry:
    return replace(ENTRY, call=call, **changes)


def test_a_request_is_reserved_and_then_settled(ledger: Ledger, tmp_path: Path) -> None:
    row = ledger.reserve(ENTRY)
    seen_by_others = sqlite3.connect(tmp_path / FILE).execute("SELECT state, worst, pid FROM calls").fetchall()
    assert seen_by_others == [("reserved", 5, os.getpid())]
    assert ledger.totals("live").as_dict() == {"settled": 0, "reserved": 5, "manual_review": 0}
    ledger.end(row, Ending("settled", 3, "keepa", 2))
    found = ledger.row(row)
    assert (found["state"], found["consumed"], found["attempts"], found["day"]) == ("settled", 3, 2, "2026-05-31")
    assert ledger.totals("live").as_dict() == {"settled": 3, "reserved": 0, "manual_review": 0}


def test_released_costs_nothing_and_manual_review_counts_its_worst(ledger: Ledger) -> None:
    ledger.end(ledger.reserve(entry("a")), Ending("released", error_kind="transport_error"))
    ledger.end(ledger.reserve(entry("b")), Ending("manual_review", error_kind="timeout"))
    assert ledger.totals("live").as_dict() == {"settled": 0, "reserved": 0, "manual_review": 5}


def test_what_is_settled_or_released_stays_so(ledger: Ledger) -> None:
    for state in ("settled", "released"):
        row = ledger.reserve(entry(state))
        ledger.end(row, Ending(state, 1))
        ledger.end(row, Ending("manual_review"))
        assert ledger.row(row)["state"] == state
        assert not ledger.resolve(row, "settled", 9, "x")
        assert ledger.row(row)["consumed"] == 1


def test_a_limit_holds_over_settled_reserved_and_unknown(ledger: Ledger) -> None:
    limits = Limits(per_day=18)
    ledger.end(ledger.reserve(entry("a"), limits), Ending("settled", 3))
    ledger.end(ledger.reserve(entry("b"), limits), Ending("manual_review"))
    ledger.reserve(entry("c"), limits)
    last = ledger.reserve(entry("d"), limits)
    with pytest.raises(KeepaCliError, match="0 are left") as caught:
        ledger.reserve(entry("e"), limits)
    details = caught.value.details
    assert caught.value.kind is Kind.BUDGET_EXCEEDED and details["charged"] == "no"
    assert (details["limit"], details["settled"], details["reserved"], details["manual_review"]) == (18, 3, 10, 5)
    assert "kc ledger list --state manual_review" in caught.value.next_actions
    ledger.end(last, Ending("released"))
    ledger.reserve(entry("f"), limits)


def test_a_refused_call_leaves_no_row(ledger: Ledger) -> None:
    with pytest.raises(KeepaCliError):
        ledger.reserve(entry("a", key="k", identity="i"), Limits(per_day=4))
    assert ledger.rows(None, None, 10) == ([], 0)
    assert ledger.answers("k", "another request") == {}


def test_free_calls_pass_an_exhausted_limit(ledger: Ledger) -> None:
    ledger.end(ledger.reserve(entry("a")), Ending("settled", 50))
    assert ledger.reserve(entry("b", worst=0, estimated=0), Limits(per_day=5, per_session=5))


def test_the_day_is_utc_and_a_new_one_begins_at_zero(ledger: Ledger, clock: Clock) -> None:
    clock.now = datetime(2026, 5, 31, 23, 59, 59, tzinfo=UTC)
    ledger.end(ledger.reserve(entry("a"), Limits(per_day=5)), Ending("settled", 5))
    with pytest.raises(KeepaCliError):
        ledger.reserve(entry("b"), Limits(per_day=5))
    clock.now = datetime(2026, 6, 1, 2, 0, 0, tzinfo=UTC).astimezone()
    ledger.reserve(entry("c"), Limits(per_day=5))
    assert ledger.totals("live", "2026-05-31").settled == 5


def test_sessions_and_origins_are_counted_apart(ledger: Ledger) -> None:
    ledger.end(ledger.reserve(entry("a"), Limits(per_session=5)), Ending("settled", 5))
    with pytest.raises(KeepaCliError, match="per session"):
        ledger.reserve(entry("b"), Limits(per_session=5))
    assert ledger.reserve(entry("c", origin="sandbox"), Limits(per_session=5, per_day=5))


def test_a_call_of_several_requests_is_held_as_a_whole(ledger: Ledger) -> None:
    limits = Limits(per_day=15)
    first = ledger.reserve(entry("batch", parts=3), limits, rest=10)
    assert ledger.totals("live").reserved == 15
    with pytest.raises(KeepaCliError):
        ledger.reserve(entry("other", worst=1), limits)
    ledger.end(first, Ending("settled", 5))
    ledger.end(ledger.reserve(entry("batch", parts=3, part=1), limits, rest=5), Ending("settled", 5))
    assert ledger.totals("live").spoken_for == 15
    ledger.drop_hold("batch")
    assert ledger.totals("live").spoken_for == 10


def test_a_request_that_cost_nothing_is_reserved_again_within_its_call(ledger: Ledger) -> None:
    limits = Limits(per_day=15)
    for _ in range(3):
        ledger.end(ledger.reserve(entry("batch", parts=3), limits, rest=10), Ending("released"))
    assert ledger.totals("live").spoken_for == 10
    with pytest.raises(KeepaCliError):
        ledger.reserve(entry("other", worst=6), limits)
    ledger.reserve(entry("other", worst=5), limits)
    with pytest.raises(KeepaCliError, match="of the 15 tokens per day 10 are left"):
        ledger.reserve(entry("batch", parts=3), limits, rest=10)
    assert ledger.totals("live").spoken_for == 15, "a refused request leaves the hold as it was"


def test_a_batch_that_is_too_large_is_refused_before_its_first_request(ledger: Ledger) -> None:
    with pytest.raises(KeepaCliError, match="can cost 20 tokens"):
        ledger.reserve(entry("batch", parts=4), Limits(per_day=19), rest=15)


def test_a_batch_over_midnight_asks_the_new_day(ledger: Ledger, clock: Clock) -> None:
    ledger.end(ledger.reserve(entry("batch", parts=2), Limits(per_day=10), rest=5), Ending("settled", 5))
    clock.now += timedelta(days=1)
    ledger.end(ledger.reserve(entry("other")), Ending("settled", 8))
    with pytest.raises(KeepaCliError):
        ledger.reserve(entry("batch", parts=2, part=1), Limits(per_day=10))


def test_two_threads_never_share_the_last_token(tmp_path: Path, clock: Clock) -> None:
    passed: list[int] = []
    barrier = threading.Barrier(8)

    def spend(n: int) -> None:
        mine = Ledger(tmp_path, clock)
        barrier.wait()
        for i in range(5):
            try:
                passed.append(mine.reserve(entry(f"{n}-{i}", worst=1), Limits(per_day=17)))
            except KeepaCliError:
                return

    threads = [threading.Thread(target=spend, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 17 and Ledger(tmp_path, clock).totals("live").reserved == 17


DYING = """
import os, sys
from pathlib import Path
from datetime import datetime, UTC
from keepa_cli.store.ledger import Ledger, Entry
ledger = Ledger(Path(sys.argv[1]), lambda: datetime(2026, 5, 31, 12, tzinfo=UTC))
entry = Entry("products.get", "live", "live", "GET", "/product", "f" * 16, "dying", 0, 3, 3, 5,
  sys.argv[2] or None, "i")
print(ledger.reserve(entry, rest=10), flush=True)
sys.stdin.read()
"""


def dying(tmp_path: Path, key: str = "") -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", DYING, str(tmp_path), key],
        cwd=REPO,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline().strip() == "1"
    return process


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
def test_what_a_killed_process_left_is_handed_to_review(ledger: Ledger, tmp_path: Path) -> None:
    process = dying(tmp_path, "k")
    assert ledger.reconcile() == 0 and ledger.row(1)["state"] == "reserved"
    with pytest.raises(KeepaCliError, match="still under way"):
        ledger.answers("k", "i")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert ledger.reconcile() == 1
    row = ledger.row(1)
    assert (row["state"], row["error_kind"], row["pid"]) == ("manual_review", "outcome_unknown", process.pid)
    assert "ended" in row["note"]
    assert ledger.totals("live").as_dict() == {"settled": 0, "reserved": 0, "manual_review": 5}, (
        "its hold is given back"
    )
    with pytest.raises(KeepaCliError, match="not sent again") as caught:
        ledger.answers("k", "i")
    assert caught.value.kind is Kind.OUTCOME_UNKNOWN and caught.value.next_actions == ["kc ledger show 1"]
    with pytest.raises(KeepaCliError, match="not sent again"):
        ledger.reserve(entry("again", key="k", identity="i"))
    assert ledger.reconcile() == 0
    assert len(list((tmp_path / "sessions").iterdir())) == 1, "only the one of this process"


def test_the_sums_of_ended_processes_are_dropped_and_those_of_others_kept(ledger: Ledger, tmp_path: Path) -> None:
    process = dying(tmp_path)
    ledger.reserve(entry("mine"))
    spans = {row["span"] for row in ledger._db.read("SELECT span FROM sums")}
    assert len(spans) == 3, "the day and two sessions"
    ledger.end(1, Ending("settled", 1))
    ledger.drop_hold("dying")
    process.communicate("")
    other = Ledger(tmp_path, Clock())
    other._present()
    assert len({row["span"] for row in ledger._db.read("SELECT span FROM sums")}) == 2
    assert ledger.session_totals("live").reserved == 5 and ledger.totals("live").settled == 1


@pytest.mark.skipif(os.name != "posix", reason="needs kill -9")
def test_a_first_reservation_counts_what_dead_processes_left(ledger: Ledger, tmp_path: Path) -> None:
    process = dying(tmp_path)
    process.kill()
    process.communicate()
    ledger.reserve(entry("mine"))
    assert ledger.row(1)["state"] == "manual_review"


def test_a_row_in_review_is_resolved_once(ledger: Ledger) -> None:
    row = ledger.reserve(ENTRY)
    assert not ledger.resolve(row, "settled", 4, "still under way")
    ledger.end(row, Ending("manual_review"))
    assert ledger.resolve(row, "settled", 4, "seen in the account")
    assert not ledger.resolve(row, "released", 0, "changed my mind")
    found = ledger.row(row)
    assert (found["state"], found["consumed"], found["consumed_source"]) == ("settled", 4, "manual")


def test_a_key_gives_the_stored_answer_to_the_same_request_only(ledger: Ledger) -> None:
    row = ledger.reserve(entry("a", key="k", identity="i"))
    ledger.end(row, Ending("settled", 3, answer=ANSWER))
    [(part, (number, answer))] = ledger.answers("k", "i").items()
    assert (part, number, answer.body, answer.fingerprint) == (0, row, ANSWER.body, "f" * 16)
    for attempt in (lambda: ledger.answers("k", "j"), lambda: ledger.reserve(entry("b", key="k", identity="j"))):
        with pytest.raises(KeepaCliError, match="another request") as caught:
            attempt()
        assert caught.value.kind is Kind.INVALID_ARGUMENTS
    with pytest.raises(KeepaCliError, match="has just got an answer"):
        ledger.reserve(entry("b", key="k", identity="i"))
    assert ledger.rows(None, None, 9)[1] == 1


def test_what_cost_nothing_may_be_sent_again_under_its_key(ledger: Ledger) -> None:
    ledger.end(ledger.reserve(entry("a", key="k", identity="i")), Ending("released"))
    assert ledger.answers("k", "i") == {}
    ledger.end(ledger.reserve(entry("b", key="k", identity="i")), Ending("settled", 1, answer=ANSWER))
    assert ledger.answers("k", "i")[0][1].body == ANSWER.body


def test_a_paid_answer_that_is_gone_is_not_paid_for_again(ledger: Ledger, clock: Clock) -> None:
    ledger.end(ledger.reserve(entry("a", key="old", identity="i")), Ending("settled", 3, answer=ANSWER))
    clock.now += timedelta(days=kept.KEPT_DAYS, seconds=1)
    ledger.end(ledger.reserve(entry("b", key="new", identity="i")), Ending("settled", 3, answer=ANSWER))
    with pytest.raises(KeepaCliError, match="not kept") as caught:
        ledger.answers("old", "i")
    assert caught.value.kind is Kind.OUTCOME_UNKNOWN
    assert ledger.answers("new", "i")


def test_kept_answers_are_bounded_in_size(ledger: Ledger, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "KEPT_BYTES", 5000)
    for n in range(5):
        clock.now += timedelta(seconds=1)
        row = ledger.reserve(entry(f"{n}", key=f"k{n}", identity="i"))
        ledger.end(row, Ending("settled", 1, answer=replace(ANSWER, body=os.urandom(2000))))
    assert len(ledger.answers("k4", "i")) == len(ledger.answers("k3", "i")) == 1
    with pytest.raises(KeepaCliError, match="not kept"):
        ledger.answers("k0", "i")


def test_rows_are_found_by_state_and_day(ledger: Ledger, clock: Clock) -> None:
    for n, state in enumerate(("settled", "manual_review", "settled", "released")):
        clock.now += timedelta(days=1)
        ledger.end(ledger.reserve(entry(f"{n}")), Ending(state, 1))
    rows, count = ledger.rows("settled", None, 1)
    assert count == 2 and [r["id"] for r in rows] == [3]
    assert ledger.rows(None, "2026-06-02", 9)[0][0]["id"] == 2
    assert ledger.rows("settled", "2026-06-02", 9) == ([], 0)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.integers(0, 9), st.integers(0, 12), st.sampled_from(["settled", "released", "manual_review", None])
        ),
        max_size=30,
    )
)
def test_a_limit_is_never_passed_by_worst_cases(tmp_path_factory: pytest.TempPathFactory, calls: list) -> None:
    """Whatever happens to the calls: as long as none costs more than its worst case, the limit holds."""
    ledger = Ledger(tmp_path_factory.mktemp("ledger"), Clock())
    settled = under_way = unknown = 0
    for n, (worst, cost, state) in enumerate(calls):
        try:
            row = ledger.reserve(entry(f"{n}", worst=worst), Limits(per_day=20))
        except KeepaCliError:
            assert settled + under_way + unknown + worst > 20
            continue
        if state is None:
            under_way += worst
            continue
        consumed = min(cost, worst)
        ledger.end(row, Ending(state, consumed if state == "settled" else None))
        settled += consumed if state == "settled" else 0
        unknown += worst if state == "manual_review" else 0
        totals = ledger.totals("live")
        assert (totals.settled, totals.reserved, totals.manual_review) == (settled, under_way, unknown)
        assert totals.spoken_for <= 20
        assert ledger.session_totals("live") == totals and sum(totals.rows.values()) == ledger.rows(None, None, 1)[1]
    ledger.close()
