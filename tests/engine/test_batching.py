"""Calls of several requests: nothing that was paid for is asked for again, and the bucket sets the pace."""

from __future__ import annotations

import os
import re
import shlex
import stat
import zlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.interfaces.cli.app import run as run_cli
from tests.support import remote
from tests.support.scripted_server import ScriptedServer

ASINS = [f"B{n:09d}" for n in range(250)]
NAME = "products.get"
FULL = {"json": remote.BUCKET, "echo_products": True}
RESET = {"fault": "reset_before_answer"}
NO_CACHE = {"KEEPA_CLI_NO_CACHE": "1"}


def bucket(left: int, refill_in: int = 30_000, rate: int = 20, **more: Any) -> dict[str, Any]:
    return {"json": remote.BUCKET | {"tokensLeft": left, "refillIn": refill_in, "refillRate": rate} | more}


def answers(*buckets: dict[str, Any]) -> list[dict[str, Any]]:
    return [b | {"echo_products": True} for b in buckets]


class Sleeper:
    """Time that passes only by being slept through."""

    def __init__(self, interrupt_at: int | None = None) -> None:
        self.naps: list[float] = []
        self.told: list[str] = []
        self._interrupt_at = interrupt_at

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        if len(self.naps) == self._interrupt_at:
            raise KeyboardInterrupt

    @property
    def slept(self) -> float:
        return sum(self.naps)


def context(home: Path, server: ScriptedServer, sleeper: Sleeper | None = None, **more: Any) -> Context:
    watcher = sleeper or Sleeper()
    base = remote.context(home, server, **NO_CACHE)
    given = {"sleep": watcher.sleep, "monotonic": lambda: watcher.slept, "tell": watcher.told.append} | more
    return Context(env=base.env, cwd=base.cwd, **given)


def call(home: Path, server: ScriptedServer, asins: list[str] = ASINS, **options: Any) -> Envelope:
    ctx = options.pop("ctx", None) or context(home, server)
    return remote.call(NAME, home, {"asin": asins}, server, ctx=ctx, **{"yes": True} | options)


def sizes(server: ScriptedServer) -> list[int]:
    return [len((seen.value("asin") or "").split(",")) for seen in server.seen]


def state(home: Path) -> list[Path]:
    return sorted(p for p in (home / "state" / "batches").rglob("*") if p.is_file())


def broken_off(home: Path, server: ScriptedServer) -> Envelope:
    """A batch of three requests whose last answer is lost."""
    result = call(home, server)
    assert result["error"]["kind"] == "outcome_unknown" and sizes(server) == [100, 100, 50]
    server.seen.clear()
    return result


def test_a_rerun_asks_only_for_what_is_missing(home: Path) -> None:
    with ScriptedServer([FULL, FULL, RESET, FULL]) as server:
        error = broken_off(home, server)["error"]
        assert error["details"]["answered"] == {"requests": 2, "of": 3} and "answered_at" not in error["details"]
        assert len(state(home)) == 2
        result = call(home, server)
        assert sizes(server) == [50]
    assert [row["asked"] for row in result["data"]["items"]] == ASINS
    assert {row["status"] for row in result["data"]["items"]} == {"found"}
    [warning] = [w for w in result["warnings"] if w["code"] == "resumed"]
    assert re.match(r"Resumed: 2 of 3 requests were answered before, the first \d+ s ago; --fresh", warning["message"])
    assert (warning["answered"], warning["of"]) == (2, 3)
    assert result["token_bucket"]["charged"] == result["token_bucket"]["tokens_consumed"] == 1
    assert result["data"]["body"]["tokensConsumed"] == 3, "the body adds up what the whole batch cost"
    assert [s.partition(":")[0] for s in result["provenance"]["sources"]] == ["batch", "batch", "live"]
    assert not state(home), "a batch that is complete leaves nothing"


def test_the_error_names_the_command_that_goes_on(home: Path) -> None:
    with ScriptedServer([FULL, FULL, RESET]) as server:
        error = broken_off(home, server)["error"]
    [command] = [a for a in error["next_actions"] if a.startswith("kc products get")]
    words = shlex.split(command)
    assert words[3:253] == ASINS and {"--live", "--yes"} <= set(words)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", error["details"]["resume_until"])


def test_what_is_kept_is_private_compressed_and_holds_no_key(home: Path) -> None:
    leaky = {"json": remote.BUCKET | {"note": f"key={remote.KEY}"}, "echo_products": True}
    with ScriptedServer([leaky, leaky, RESET]) as server:
        broken_off(home, server)
    assert len(state(home)) == 2
    for path in state(home):
        text = zlib.decompress(path.read_bytes())
        assert remote.KEY.encode() not in text and ASINS[0][:5].encode() in text
        if os.name == "posix":
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", [b"", b"junk", zlib.compress(b"{}\n{}"), None], ids=["empty", "junk", "old", "cut"])
def test_what_is_damaged_is_asked_again(home: Path, damage: bytes | None) -> None:
    with ScriptedServer([FULL, FULL, RESET, FULL, FULL]) as server:
        broken_off(home, server)
        first = state(home)[0]
        first.write_bytes(first.read_bytes()[:-9] if damage is None else damage)
        result = call(home, server)
        assert sizes(server) == [100, 50]
    assert result["ok"] and any("damaged" in w["message"] for w in result["warnings"])
    assert [p["asin"] for p in result["data"]["body"]["products"]] == ASINS


def test_fresh_asks_for_everything(home: Path) -> None:
    with ScriptedServer([FULL, FULL, RESET, FULL], repeat_last=True) as server:
        broken_off(home, server)
        assert call(home, server, fresh=True)["ok"] and sizes(server) == [100, 100, 50]


def test_a_day_later_nothing_is_taken_up_and_nothing_left(home: Path) -> None:
    with ScriptedServer([FULL, FULL, RESET, FULL], repeat_last=True) as server:
        broken_off(home, server)
        later = context(home, server, now=lambda: datetime.now(UTC) + timedelta(hours=24, minutes=1))
        assert call(home, server, ASINS[:120], ctx=later)["ok"]
        assert not state(home), "what nobody came back for is dropped by the next batch"


def test_another_list_or_option_is_another_batch(home: Path) -> None:
    with ScriptedServer([FULL, FULL, RESET, FULL], repeat_last=True) as server:
        broken_off(home, server)
        assert call(home, server, ASINS[1:])["ok"] and sizes(server) == [100, 100, 49]
        assert len(state(home)) == 2


def test_recordings_and_dry_runs_neither_read_nor_write_it(home: Path) -> None:
    with ScriptedServer([FULL, FULL, RESET]) as server:
        broken_off(home, server)
        before = {p: p.read_bytes() for p in state(home)}
        replayed = remote.call(NAME, home, {"asin": ASINS})
        dry = remote.call(NAME, home, {"asin": ASINS}, dry_run=True)
        assert replayed["error"]["kind"] == "cassette_miss" and dry["ok"] and not server.seen
    assert {p: p.read_bytes() for p in state(home)} == before


def test_a_folder_that_cannot_be_written_costs_no_answer(home: Path) -> None:
    (home / "state" / "batches").write_text("a file")
    with ScriptedServer([FULL, FULL, FULL, FULL, RESET]) as server:
        result = call(home, server)
        assert result["ok"] and any("not kept for a later run" in w["message"] for w in result["warnings"])
        failed = call(home, server)["error"]
    assert failed["details"]["answered"] == {"requests": 1, "of": 3}
    [plain] = failed["details"]["answered_at"]
    assert b'"products"' in Path(plain).read_bytes()


def test_the_next_request_waits_until_the_bucket_admits_it(home: Path) -> None:
    sleeper = Sleeper()
    with ScriptedServer(answers(bucket(-25), bucket(30), bucket(-20))) as server:
        result = call(home, server, ctx=context(home, server, sleeper))
        assert result["ok"] and {s.path for s in server.seen} == {"/product"}, "the balance is never polled"
    assert sleeper.slept == pytest.approx(90.1), "two refills of 20: after 30 s and a minute later"
    assert sleeper.told[0].startswith("The balance is -25 tokens")
    assert sleeper.told[1] == "Request 2 of 3 in 1 min 31 s."
    assert [t.split(" in ")[1] for t in sleeper.told[2:]] == [
        "1 min 30 s.", "1 min 00 s.", "50 s.", "40 s.", "30 s.", "20 s.", "10 s.", "5 s."
    ]  # fmt: skip
    assert not any("\x1b" in t or "\r" in t for t in sleeper.told)


def test_who_does_not_wait_keeps_what_was_answered(home: Path) -> None:
    sleeper = Sleeper()
    with ScriptedServer([*answers(bucket(0)), FULL, FULL]) as server:
        error = call(home, server, ctx=context(home, server, sleeper), wait=False)["error"]
        assert error["kind"] == "not_enough_token" and error["retryable"] and sizes(server) == [100]
        assert error["details"]["retry_after_ms"] == 30_100 and error["details"]["charged"] == "no"
        assert error["next_actions"][0].startswith("kc products get")
        assert call(home, server, wait=False)["ok"] and sizes(server) == [100, 100, 50]
    assert not sleeper.naps


@pytest.mark.parametrize("figures", [{"rate": 0}, {"tokenFlowReduction": 20.0}, {"rate": 0, "refill_in": 0}])
def test_a_bucket_that_never_fills_is_not_waited_for(home: Path, figures: dict[str, Any]) -> None:
    sleeper = Sleeper()
    with ScriptedServer(answers(bucket(0, **figures))) as server:
        error = call(home, server, ctx=context(home, server, sleeper))["error"]
        assert len(server.seen) == 1 and not sleeper.naps
    assert error["kind"] == "not_enough_token" and not error["retryable"] and "does not grow" in error["message"]


def test_zeros_of_a_refusal_are_no_empty_bucket(home: Path) -> None:
    sleeper = Sleeper()
    refusal = {"error": {"type": "invalidParameter", "message": "no"}, "tokensLeft": 0, "refillIn": 0, "refillRate": 0}
    with ScriptedServer([FULL, {"status": 400, "json": refusal | {"tokensConsumed": 0}}]) as server:
        error = call(home, server, ctx=context(home, server, sleeper))["error"]
    assert error["kind"] == "request_rejected" and not sleeper.naps
    assert error["details"]["answered"] == {"requests": 1, "of": 3}


def test_a_bucket_that_others_emptied_is_waited_for(home: Path) -> None:
    empty = bucket(-100, tokensConsumed=0) | {"status": 429}
    sleeper = Sleeper()
    with ScriptedServer([empty, *answers(bucket(5)), empty, FULL, FULL]) as server:
        result = call(home, server, ctx=context(home, server, sleeper))
        assert result["ok"] and sizes(server) == [100, 100, 100, 100, 50]
    assert sleeper.slept >= 2 * 330
    assert len(result["provenance"]["ledger"]) == 5, "each request has a row of its own"


def test_waiting_for_others_has_an_end(home: Path) -> None:
    empty = bucket(-100, tokensConsumed=0) | {"status": 429}
    with ScriptedServer([FULL, empty], repeat_last=True) as server:
        error = call(home, server)["error"]
        assert error["kind"] == "not_enough_token" and len(server.seen) == 6
    assert error["details"]["answered"] == {"requests": 1, "of": 3}


def test_ctrl_c_names_the_command_to_resume(home: Path) -> None:
    args = ["products", "get", *ASINS, "--live", "--yes"]
    with ScriptedServer([*answers(bucket(0)), FULL, FULL]) as server:
        import io

        err, out = io.StringIO(), io.StringIO()
        ctx = context(home, server, Sleeper(interrupt_at=1), stdin=io.StringIO(), stderr=err, stdout=out)
        assert run_cli(args, ctx) == 130
        said = err.getvalue()
        assert "Interrupted; nothing is half-written." in said and "1 of 3 requests were answered" in said
        [command] = [line.strip() for line in said.splitlines() if line.strip().startswith("kc ")]
        assert len(server.seen) == 1 and not out.getvalue()
        again = context(home, server, stdin=io.StringIO(), stderr=err, stdout=out)
        assert run_cli([*shlex.split(command)[1:], "--json"], again) == 0 and sizes(server) == [100, 100, 50]


def test_recorded_batches_go_on_in_record_mode_only(home: Path) -> None:
    two = ASINS[:120]
    with ScriptedServer([FULL, RESET, FULL, FULL, FULL]) as server:
        assert call(home, server, two, record="many")["error"]["details"]["answered"] == {"requests": 1, "of": 2}
        assert call(home, server, two)["ok"] and sizes(server) == [100, 20, 100, 20]
        assert call(home, server, two, record="many")["ok"] and sizes(server) == [100, 20, 100, 20, 20]
    assert len(list((home / "state" / "inbox").glob("*.yaml"))) == 2, "every request is recorded once"


def test_answers_from_the_cache_are_kept_for_a_later_run_too(home: Path) -> None:
    with ScriptedServer([FULL, FULL, RESET, FULL]) as server:
        ctx = remote.context(home, server)
        assert call(home, server, ASINS[:100], ctx=ctx)["ok"]
        assert not call(home, server, ctx=ctx)["ok"] and sizes(server) == [100, 100, 50]
        assert call(home, server)["ok"] and sizes(server) == [100, 100, 50, 50]


def test_one_request_leaves_nothing_behind(home: Path) -> None:
    with ScriptedServer([RESET, FULL]) as server:
        assert "resume_until" not in call(home, server, ASINS[:3])["error"]["details"]
        assert call(home, server, ASINS[:3])["ok"]
    assert not (home / "state" / "batches").exists()
