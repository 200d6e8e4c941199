"""A live read that was answered a moment ago is answered again without a request, a charge or a question."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core import envelope
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.registry import OPERATIONS, Request, operation
from keepa_cli.engine import Flags, Options, run
from tests.conftest import REPO
from tests.support.sandbox import running_sandbox
from tests.support.scripted_server import ScriptedServer

KEY = "k3" * 32
LIVE = Flags(live=True)
NOON = datetime(2026, 9, 21, 12, tzinfo=UTC)
ONE = {"asin": ["B000000001"]}
PRODUCT = {
    "tokensLeft": 90,
    "tokensConsumed": 1,
    "refillRate": 5,
    "refillIn": 1000,
    "timestamp": 1,
    "processingTimeInMs": 1,
}


class Surroundings:
    """One user's machine: each `call` is a new process as far as the cache can tell."""

    def __init__(self, home: Path, url: str) -> None:
        self.home, self.url, self.now, self.key = home, url, NOON, KEY
        self.ctx = self.context()

    def context(self, **env: str) -> Context:
        base = {
            "KEEPA_CLI_CONFIG": str(self.home / "config.toml"),
            "KEEPA_CLI_STATE_DIR": str(self.home / "state"),
            "KEEPA_CLI_DATA_DIR": str(self.home / "data"),
            "KEEPA_CLI_CACHE_PATH": str(self.file),
            "KEEPA_BASE_URL": self.url,
            "KEEPA_API_KEY": self.key,
        }
        env = {name: value for name, value in (base | env).items() if value}
        return Context(env=env, cwd=self.home / "work", now=lambda: self.now, sleep=lambda _: None)

    @property
    def file(self) -> Path:
        return self.home / "cache" / "one.sqlite3"

    def call(self, name: str, params: dict[str, Any] | None = None, *, env: dict[str, str] | None = None,
             flags: Flags = LIVE, **options: Any) -> Envelope:  # fmt: skip
        self.ctx = self.context(**(env or {}))
        return run(ops.find(name), params or {}, self.ctx, Options(flags=flags, find=ops.find, **options))

    def get(self, **options: Any) -> Envelope:
        return self.call("products.get", ONE, **options)


def answering(body: dict[str, Any] | None = None, **step: Any) -> ScriptedServer:
    return ScriptedServer([{"json": PRODUCT | (body or {}), "echo_products": True, **step}], repeat_last=True)


def hit(result: Envelope) -> bool:
    assert result["ok"], result
    return str(result["provenance"]["source"]).startswith("cache:")


def told(result: Envelope) -> list[str]:
    """What the cache itself has to say."""
    return [w["message"] for w in result["warnings"] if w["code"] == "cache"]


def test_the_second_answer_is_free_and_says_where_it_came_from_and_how_old_it_is(home: Path) -> None:
    with running_sandbox() as box:
        here = Surroundings(home, box.base_url)
        first = here.get()
        here.now += timedelta(seconds=42)
        second = here.get()
        assert len(box.log) == 1
    assert not hit(first) and hit(second)
    assert second["data"] == first["data"] and second["warnings"] == first["warnings"] == []
    source = second["provenance"]
    assert (source["mode"], source["origin"], source["age_s"]) == ("live", "sandbox", 42)
    assert source["fingerprint"] == first["provenance"]["fingerprint"]
    assert source["sha256"] == first["provenance"]["sha256"]
    bucket = second["token_bucket"]
    assert bucket["charged"] == bucket["tokens_consumed"] == 0
    assert "tokens_left" not in bucket, "the balance of the moment it was asked is not today's"
    assert second.raw_body == first.raw_body


def test_it_is_asked_again_when_the_answer_is_too_old(home: Path) -> None:
    with answering() as server:
        here = Surroundings(home, server.url)
        here.get()
        here.now += timedelta(seconds=299)
        assert hit(here.get())
        assert not hit(here.get(cache_ttl=200)), "older than this call accepts"
        here.now += timedelta(seconds=300)
        assert not hit(here.get())
        assert len(server.seen) == 3


def test_a_call_can_say_for_how_long_its_answer_is_kept(home: Path) -> None:
    with answering() as server:
        here = Surroundings(home, server.url)
        here.get(cache_ttl=1000)
        here.now += timedelta(seconds=999)
        assert hit(here.get(cache_ttl=1000)) and not hit(here.get())
        here.get(env={"KEEPA_CLI_CACHE_TTL_SECONDS": "5"})
        here.now += timedelta(seconds=6)
        assert not hit(here.get(env={"KEEPA_CLI_CACHE_TTL_SECONDS": "5"}))


@pytest.mark.parametrize("off", [{"no_cache": True}, {"env": {"KEEPA_CLI_NO_CACHE": "1"}}])
def test_it_can_be_switched_off(home: Path, off: dict[str, Any]) -> None:
    with answering() as server:
        here = Surroundings(home, server.url)
        assert not hit(here.get(**off)) and not here.file.exists()
        here.get()
        assert not hit(here.get(**off))
        assert len(server.seen) == 3
        both = here.get(env={"KEEPA_CLI_NO_CACHE": "1"}, cache_ttl=60)
        assert "no effect" in told(both)[0] and not hit(both)


@pytest.mark.parametrize("flags", [Flags(), LIVE, Flags(dry_run=True)])
@pytest.mark.parametrize("ttl", [0, -5, "soon"])
def test_a_ttl_that_is_none_is_refused_before_anything_is_sent(home: Path, flags: Flags, ttl: Any) -> None:
    with answering() as server:
        result = Surroundings(home, server.url).get(cache_ttl=ttl, flags=flags)
        assert result["error"]["kind"] == "invalid_arguments" and result["error"]["details"]["field"] == "cache_ttl"
        assert not server.seen


def test_a_broken_setting_stops_a_live_call_though_its_answer_is_kept(home: Path) -> None:
    with answering() as server:
        here = Surroundings(home, server.url)
        here.get()
        for name, value in (("KEEPA_CLI_CACHE_TTL_SECONDS", "0"), ("KEEPA_CLI_NO_CACHE", "perhaps")):
            assert here.get(env={name: value})["error"]["kind"] == "config_error"
        assert here.get(env={"KEEPA_API_KEY": ""})["error"]["kind"] == "auth_missing"
        assert len(server.seen) == 1


def test_another_question_server_or_order_of_results_is_no_hit(home: Path) -> None:
    with answering() as server, answering() as other:
        here = Surroundings(home, server.url)
        here.get()
        assert not hit(here.call("products.get", ONE | {"history": False}))
        assert not hit(here.call("products.get", {"asin": ["B000000002"]}))
        assert not hit(here.get(env={"KEEPA_BASE_URL": other.url}))
        assert hit(here.get()) and hit(here.get(env={"KEEPA_BASE_URL": other.url}))


def test_a_kept_answer_needs_no_consent_and_no_budget(home: Path) -> None:
    with running_sandbox(rate=60) as box:
        here = Surroundings(home, box.base_url)
        params = ONE | {"offers": 20}
        assert here.call("products.get", params)["error"]["kind"] == "confirmation_required"
        assert here.call("products.get", params, yes=True)["ok"]
        assert hit(here.call("products.get", params))
        assert hit(here.call("products.get", params, max_tokens=0))
        assert here.call("products.get", params, no_cache=True)["error"]["kind"] == "confirmation_required"
        assert len(box.log) == 1


def test_of_a_batch_only_what_is_missing_is_asked(home: Path) -> None:
    many = [f"B{n:09d}" for n in range(1, 251)]
    with answering() as server:
        here = Surroundings(home, server.url)
        here.call("products.get", {"asin": many[:100]}, yes=True)
        result = here.call("products.get", {"asin": many}, yes=True)
        assert result["ok"] and len(server.seen) == 3
        assert [p["asin"] for p in result["data"]["body"]["products"]] == many
        assert result["token_bucket"]["charged"] == 2 and result["token_bucket"]["tokens_left"] == 90
        assert [s.partition(":")[0] for s in result["provenance"]["sources"]] == ["cache", "live", "live"]


@pytest.mark.parametrize("flags", [Flags(), Flags(fixture="none"), Flags(dry_run=True), Flags(record="x")])
def test_other_modes_neither_read_nor_fill_it(home: Path, flags: Flags) -> None:
    with answering() as server:
        here = Surroundings(home, server.url)
        here.get(flags=flags)
        assert not here.file.parent.exists()
        here.get()
        before = here.file.read_bytes(), len(server.seen)
        again = here.get(flags=flags)
        assert not again["ok"] or not again["provenance"] or not hit(again)
        assert len(server.seen) - before[1] == (1 if flags.record else 0)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("tokens.status", {}),
        ("request.get", {"endpoint": "/token"}),
        ("request.get", {"endpoint": "/tracking", "param": ["type=list"]}),
        ("request.post", {"endpoint": "/query", "body": {"title": "x"}}),
        ("products.get", ONE | {"update": 0}),
    ],
)
def test_what_changes_by_being_asked_is_always_asked(home: Path, name: str, params: dict[str, Any]) -> None:
    with answering() as server:
        here = Surroundings(home, server.url)
        for _ in range(2):
            assert not hit(here.call(name, params, yes=True))
        assert len(server.seen) == 2 and not here.file.exists()


def test_pictures_are_not_kept(home: Path) -> None:
    @operation("tests.picture", toolset="research")
    def picture() -> Request:
        """Get a picture from an endpoint whose answers are kept."""
        return Request("GET", "/product", binary=True)

    png = bytes.fromhex("89504e470d0a1a0a") + b"\x00" * 60
    try:
        with ScriptedServer([{"body": png, "headers": {"Content-Type": "image/png"}}], repeat_last=True) as server:
            here = Surroundings(home, server.url)
            for _ in range(2):
                ctx = here.context()
                run(OPERATIONS["tests.picture"], {}, ctx, Options(flags=LIVE, yes=True, out=home / "x.png"))
            assert len(server.seen) == 2 and not here.file.exists()
    finally:
        del OPERATIONS["tests.picture"]


@pytest.mark.parametrize(
    "step",
    [
        {"status": 400, "json": {"error": {"type": "invalidParameter", "message": "no"}}},
        {"status": 500, "text": "no"},
        {"json": PRODUCT | {"products": "many"}, "echo_products": False},
        {"json": {"error": {"type": "x", "message": "some failed"}, "products": [{"asin": "B000000001"}]}},
        {"text": "no JSON"},
    ],
    ids=["rejected", "unavailable", "contract", "partial", "garbage"],
)
def test_errors_and_partial_answers_are_not_kept(home: Path, step: dict[str, Any]) -> None:
    with ScriptedServer([step], repeat_last=True) as server:
        here = Surroundings(home, server.url)
        here.get(wait=False)
        asked = len(server.seen)
        again = here.get(wait=False)
        assert len(server.seen) > asked
        assert not again["ok"] or not hit(again)
    if here.file.exists():
        with sqlite3.connect(here.file) as connection:
            assert connection.execute("SELECT count(*) FROM answers").fetchone()[0] == 0
        connection.close()


def test_an_answer_kept_without_a_check_does_not_serve_a_command_that_checks(home: Path) -> None:
    broken = {"products": [{"asin": 7}]}
    query = ["domain=1", "asin=B000000001"]
    with answering(broken, echo_products=False) as server:
        here = Surroundings(home, server.url)
        assert here.call("request.get", {"endpoint": "/product", "param": query}, yes=True)["ok"]
        assert hit(here.call("request.get", {"endpoint": "/product", "param": query}, yes=True))
        server.steps[0] = {"json": PRODUCT, "echo_products": True}
        assert not hit(here.get())
        assert hit(here.call("request.get", {"endpoint": "/product", "param": query}, yes=True))


def test_the_warnings_of_an_answer_come_again_with_it(home: Path) -> None:
    with answering({"never seen before": 1}) as server:
        here = Surroundings(home, server.url)
        first, second = here.get(), here.get()
        assert hit(second) and "unknown_fields" in {w["code"] for w in first["warnings"]}
        assert second["warnings"] == first["warnings"]


@pytest.mark.parametrize("spelled", [KEY, KEY.encode().hex(), "%6b3" + KEY[2:]])
def test_no_spelling_of_the_key_reaches_the_file(home: Path, spelled: str) -> None:
    with answering({"note": f"you are {spelled}", "token": "another secret"}) as server:
        here = Surroundings(home, server.url)
        first, second = here.get(), here.get()
        assert envelope.dumps(first, here.ctx.redactor)
        shown = json.loads(envelope.dumps(second, here.ctx.redactor))
        assert hit(second) and KEY not in json.dumps(shown)
    here.ctx.services.clear()
    for file in here.file.parent.iterdir():
        assert KEY.encode() not in file.read_bytes()
    with sqlite3.connect(here.file) as connection:
        import zlib

        (packed, query) = connection.execute("SELECT body, query FROM answers").fetchone()
        body = zlib.decompress(packed)
    connection.close()
    assert not here.ctx.redactor.find(body) and b"another secret" not in body and KEY not in query


def test_a_search_for_the_key_itself_does_not_store_it(home: Path) -> None:
    with answering(echo_products=False) as server:
        here = Surroundings(home, server.url)
        here.call("request.get", {"endpoint": "/search", "param": [f"term={KEY}"]}, yes=True)
        here.call("request.get", {"endpoint": "/search", "param": [f"term={KEY}x"]}, yes=True)
        assert len(server.seen) == 2, "keyed by the real values, not by what is shown"
    here.ctx.services.clear()
    assert all(KEY.encode() not in file.read_bytes() for file in here.file.parent.iterdir())


@pytest.mark.parametrize("content", [b"no database" * 1000, b"SQLite format 3\x00" + b"\xff" * 9000])
def test_a_damaged_file_is_set_aside_with_a_warning_and_work_goes_on(home: Path, content: bytes) -> None:
    with answering() as server:
        here = Surroundings(home, server.url)
        here.file.parent.mkdir()
        here.file.write_bytes(content)
        first, second = here.get(), here.get()
    (note,) = told(first)
    assert "set aside" in note
    assert hit(second) and not told(second)
    assert [p.read_bytes() for p in here.file.parent.iterdir() if "damaged-20260921" in p.name] == [content]


def test_a_file_that_cannot_be_used_costs_no_answer(home: Path) -> None:
    with answering() as server:
        here = Surroundings(home, server.url)
        here.file.mkdir(parents=True)
        result = here.get()
        assert result["ok"] and result["token_bucket"]["charged"] == 1
        assert told(result)
        below_a_file = {"KEEPA_CLI_CACHE_PATH": str(home / "plain" / "one.sqlite3")}
        (home / "plain").write_text("no folder")
        assert here.get(env=below_a_file)["ok"]


def test_a_file_that_another_process_holds_costs_no_answer(home: Path) -> None:
    with answering() as server:
        here = Surroundings(home, server.url)
        here.get()
        other = sqlite3.connect(here.file, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        try:
            assert hit(here.get()), "reading goes on beside a writer"
            result = here.call("products.get", {"asin": ["B000000002"]})
        finally:
            other.close()
        assert result["ok"]
        (note,) = told(result)
        assert "in use" in note


PROBE = """
import sys
from keepa_cli.cli import main
sys.argv = ["kc", *sys.argv[1:]]
try:
    main()
finally:
    sys.stderr.write("sqlite3" if "sqlite3" in sys.modules else "light")
"""


@pytest.mark.parametrize("args", [["--dry-run"], [], ["--fixture", "none"], ["--help"]])
def test_without_a_live_call_no_database_is_imported(clean_env: dict[str, str], home: Path, args: list[str]) -> None:
    command = [sys.executable, "-c", PROBE, "products", "get", "B000000001", "--cache-ttl", "60", *args]
    done = subprocess.run(
        command, env=clean_env, cwd=home / "work", capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.stderr.endswith("light"), done.stderr
    assert REPO.exists()


def test_threads_share_one_context_and_one_cache(home: Path) -> None:
    with answering() as server:
        here = Surroundings(home, server.url)
        ctx = here.context()

        def ask(number: int) -> bool:
            asin = f"B{number % 4 + 1:09d}"
            result = run(ops.find("products.get"), {"asin": [asin]}, ctx, Options(flags=LIVE, find=ops.find))
            assert result["ok"] and result["data"]["items"][0]["asked"] == asin
            assert [p["asin"] for p in result["data"]["body"]["products"]] == [asin] and not told(result)
            return hit(result)

        with ThreadPoolExecutor(8) as pool:
            hits = list(pool.map(ask, range(64)))
        assert hits.count(False) == len(server.seen) < 40
