"""The commands about the response cache: they explain, count and remove, and never show a body."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.engine import Flags, Options, run
from tests.support.sandbox import KEY, running_sandbox

NOON = datetime(2026, 9, 21, 12, tzinfo=UTC)


class User:
    """Someone with a key, a sandbox and a watch."""

    def __init__(self, home: Path, url: str) -> None:
        self.home, self.now = home, NOON
        self.env = {
            "KEEPA_CLI_CONFIG": str(home / "config.toml"),
            "KEEPA_CLI_STATE_DIR": str(home / "state"),
            "KEEPA_BASE_URL": url,
            "KEEPA_API_KEY": KEY,
        }

    @property
    def file(self) -> Path:
        return self.home / "state" / "cache" / "responses.sqlite3"

    def __call__(self, name: str, *, live: bool = False, **params: Any) -> dict[str, Any]:
        ctx = Context(env=self.env, cwd=self.home / "work", now=lambda: self.now)
        return dict(run(ops.find(name), params, ctx, Options(flags=Flags(live=live), yes=live, find=ops.find)))

    def data(self, name: str, **params: Any) -> dict[str, Any]:
        result = self(name, **params)
        assert result["ok"], result
        assert isinstance(result["data"], dict)
        return result["data"]

    def get(self, asin: str = "B000000001") -> None:
        assert self("products.get", live=True, asin=[asin])["ok"]

    def key(self, asin: str = "B000000001") -> str:
        (row,) = self.data("cache.explain", operation="products.get", param=[f"asin={asin}"])["requests"]
        return str(row["cache_key"])


@pytest.fixture
def user(home: Path) -> Iterator[User]:
    with running_sandbox(rate=100) as box:
        yield User(home, box.base_url)


def test_explaining_makes_no_file_and_needs_no_key(user: User) -> None:
    del user.env["KEEPA_API_KEY"]
    found = user.data("cache.explain", operation="products.get", param=["asin=B000000001"])
    assert found["would_be_kept"] and not found["would_be_served"] and found["reasons"] == []
    assert (found["ttl_seconds"], found["ttl_origin"]) == (300, "default")
    assert found["mode"] == {"value": "replay", "origin": "default"} and found["only_in_mode"] == "live"
    assert not user.file.exists()
    assert user.data("cache.stats")["answers"] == 0 and not user.file.exists()


def test_what_is_explained_is_what_happens(user: User) -> None:
    params = ["asin=B000000001", "domain=us"]
    user.get()
    user.now += timedelta(seconds=50)
    found = user.data("cache.explain", operation="products.get", param=params)
    (row,) = found["requests"]
    assert found["would_be_served"] and row["held"] and (row["age_s"], row["expires_in_s"]) == (50, 250)
    assert user("products.get", live=True, asin=["B000000001"])["provenance"]["source"] == row["cache_key"]
    too_old = user.data("cache.explain", operation="products.get", param=params, cache_ttl=49)
    assert not too_old["would_be_served"] and too_old["requests"][0]["held"]
    user.now += timedelta(seconds=250)
    assert not user.data("cache.explain", operation="products.get", param=params)["would_be_served"]


def test_a_batch_is_explained_request_by_request(user: User) -> None:
    many = [f"asin=B{n:09d}" for n in range(1, 151)]
    rows = user.data("cache.explain", operation="products.get", param=many)["requests"]
    assert len(rows) == 2 and rows[0]["cache_key"] != rows[1]["cache_key"]


@pytest.mark.parametrize(
    ("operation", "param", "why"),
    [
        ("tokens.status", [], "/token are never kept"),
        ("request.post", ["endpoint=/query", "body={}"], "GET"),
        ("products.get", ["asin=B000000001", "update=0"], "fresh"),
        ("doctor", [], "this machine"),
    ],
)
def test_it_says_why_an_answer_is_not_kept(user: User, operation: str, param: list[str], why: str) -> None:
    found = user.data("cache.explain", operation=operation, **({"param": param} if param else {}))
    assert not found["would_be_kept"] and not found["would_be_served"]
    assert any(why in reason for reason in found["reasons"])


def test_it_says_when_the_cache_is_switched_off(user: User) -> None:
    user.get()
    for more in ({"no_cache": True}, {}):
        found = user.data("cache.explain", operation="products.get", param=["asin=B000000001"], **more)
        user.env["KEEPA_CLI_NO_CACHE"] = "1"
        assert not found["would_be_kept"] and not found["would_be_served"]
        assert "no_cache" in found["reasons"][0] and found["ttl_seconds"] is None
    assert not user.data("cache.stats")["enabled"]


@pytest.mark.parametrize(
    "params",
    [
        {"operation": "products.gte"},
        {"operation": "products.get", "param": ["asin=nonsense"]},
        {"operation": "products.get", "param": ["asin"]},
        {"operation": "products.get", "param": ["asni=B000000001"]},
        {"operation": "products.get", "param": ["asin=B000000001"], "cache_ttl": 0},
        {"operation": "products.get", "param": ["asin=B000000001"], "cache_ttl": 5, "no_cache": True},
    ],
)
def test_what_the_call_would_refuse_is_refused(user: User, params: dict[str, Any]) -> None:
    assert user("cache.explain", **params)["error"]["kind"] in {"invalid_arguments", "unknown_command"}


def test_the_key_of_a_request_is_the_one_the_call_uses(user: User) -> None:
    wire = ["asin=B000000001", "domain=1"]
    found = user.data("cache.explain-key", endpoint="/product", param=wire)
    assert found["cache_key"] == user.key() and found["cacheable"] and not found["held"]
    assert found["server"] == user.env["KEEPA_BASE_URL"]
    assert user.data("cache.explain-key", endpoint="/product/", param=wire[::-1])["cache_key"] == found["cache_key"]
    user.get()
    assert user.data("cache.explain-key", endpoint="/product", param=wire)["held"]
    user.env["KEEPA_BASE_URL"] = "https://api.keepa.com"
    assert user.data("cache.explain-key", endpoint="/product", param=wire)["cache_key"] != found["cache_key"]


@pytest.mark.parametrize(("endpoint", "method"), [("/token", "GET"), ("/product", "POST"), ("/tracking", "GET")])
def test_what_is_never_kept_has_no_key(user: User, endpoint: str, method: str) -> None:
    found = user.data("cache.explain-key", endpoint=endpoint, method=method)
    assert found["cache_key"] is None and not found["cacheable"] and found["reason"]


@pytest.mark.parametrize("param", [["key=x"], ["token=x"], ["a"], ["a=1", "a=2"]])
def test_parameters_that_no_request_can_have_are_refused(user: User, param: list[str]) -> None:
    result = user("cache.explain-key", endpoint="/product", param=param)
    assert result["error"]["kind"] == "invalid_arguments"


def test_inspect_tells_all_but_the_body(user: User) -> None:
    user.get()
    key = user.key()
    user.now += timedelta(seconds=400)
    for spelled in (key, key.removeprefix("cache:"), key[:12]):
        found = user.data("cache.inspect", cache_key=spelled)
        assert found["cache_key"] == key and found["path"] == "/product"
        assert found["query"] == {"asin": "B000000001", "domain": "1"}
        assert (found["age_s"], found["expires_in_s"]) == (400, -100)
        assert found["stored_at"] == "2026-09-21T12:00:00Z" and found["operation"] == "products.get"
        assert "body" not in found and "title" not in json.dumps(found)


@pytest.mark.parametrize("key", ["0" * 32, "cache:ffff", "", "xyz", "../x"])
def test_a_key_that_is_not_there_is_refused(user: User, key: str) -> None:
    assert user("cache.inspect", cache_key=key)["error"]["kind"] == "invalid_arguments"
    user.get()
    assert user("cache.inspect", cache_key=key)["error"]["kind"] == "invalid_arguments"


def test_the_beginning_of_several_keys_is_refused_with_all_of_them(user: User) -> None:
    keys: dict[str, list[str]] = {}
    for n in range(1, 18):
        asin = f"B{n:09d}"
        user.get(asin)
        keys.setdefault(user.key(asin)[:7], []).append(user.key(asin))
    first, same = next((k, v) for k, v in keys.items() if len(v) > 1)
    error = user("cache.inspect", cache_key=first)["error"]
    assert sorted(error["details"]["close"]) == sorted(same)


def test_stats_count_what_is_there(user: User) -> None:
    user.get()
    user.now += timedelta(seconds=200)
    user.get("B000000002")
    user.now += timedelta(seconds=150)
    found = user.data("cache.stats")
    assert (found["answers"], found["expired"], found["oldest"]) == (2, 1, "2026-09-21T12:00:00Z")
    assert [(e["path"], e["answers"]) for e in found["endpoints"]] == [("/product", 2)]
    assert found["path"] == str(user.file) and found["file_bytes"] >= found["bytes"] > 0
    assert found["max_bytes"] > found["max_answer_bytes"] > 1_000_000 and found["enabled"]


def test_pruning_removes_what_has_expired_and_clearing_removes_all(user: User) -> None:
    user.get()
    user.now += timedelta(seconds=200)
    user.get("B000000002")
    user.now += timedelta(seconds=150)
    dry = user.data("cache.prune-expired", dry_run=True)
    assert (dry["answers"], dry["removed"]) == (1, False) and user.data("cache.stats")["answers"] == 2
    assert user.data("cache.prune-expired")["answers"] == 1
    assert user.data("cache.clear", dry_run=True)["answers"] == 1 == user.data("cache.stats")["answers"]
    done = user.data("cache.clear")
    assert (done["answers"], done["removed"]) == (1, True) and user.data("cache.stats")["answers"] == 0
    assert user.data("cache.clear")["answers"] == 0


def test_clearing_touches_nothing_but_the_cache(user: User) -> None:
    user.get()
    everything = [p for p in user.home.rglob("*") if p.is_file() and not p.name.endswith(("-wal", "-shm"))]
    others = {p: p.read_bytes() for p in everything if user.file.parent not in p.parents}
    assert any("ledger" in p.name for p in others)
    user("cache.clear")
    assert {p: p.read_bytes() for p in others} == others


def test_another_file_can_be_named_and_is_left_alone_unless_it_is_a_cache(user: User, home: Path) -> None:
    user.get()
    moved = user.file.rename(home / "work" / "moved.sqlite3")
    for beside in user.file.parent.iterdir():
        beside.rename(moved.with_name(beside.name.replace(user.file.name, moved.name)))
    assert user.data("cache.stats")["answers"] == 0
    assert user.data("cache.stats", cache_path="moved.sqlite3")["answers"] == 1
    text, database = home / "work" / "notes.txt", home / "work" / "other.sqlite3"
    text.write_text("mine")
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE answers (mine TEXT)")
    connection.close()
    before = database.read_bytes()
    for name in ("notes.txt", "other.sqlite3", "missing.sqlite3", "."):
        for op in ("cache.stats", "cache.clear", "cache.prune-expired"):
            assert user(op, cache_path=name)["error"]["kind"] == "invalid_arguments"
    assert text.read_text() == "mine" and database.read_bytes() == before
    assert sorted(p.name for p in (home / "work").iterdir() if "damaged" in p.name or "missing" in p.name) == []


def test_a_damaged_cache_is_told_and_set_aside(user: User) -> None:
    user.file.parent.mkdir(parents=True)
    user.file.write_bytes(b"no database" * 100)
    result = user("cache.stats")
    assert result["ok"] and result["data"]["answers"] == 0
    assert "set aside" in result["warnings"][0]["message"]


def test_people_get_text_and_machines_one_document(cli: Any) -> None:
    for words in (("explain", "products.get", "--param", "asin=B001GZ6QEC"), ("stats",), ("clear", "--dry-run")):
        assert cli("cache", *words).returncode == 0
        assert json.loads(cli("--json", "cache", *words).stdout)["ok"]


def test_keys_are_shown_though_they_are_called_keys(cli: Any) -> None:
    words = ("cache", "explain-key", "--endpoint", "/product", "--param", "domain=1", "--param", "asin=B000000001")
    found = json.loads(cli("--json", *words).stdout)["data"]
    assert found["cache_key"] == "cache:335d95026bc587b614c00fc0e5cc5105" and found["cache_key"] in cli(*words).stdout


@pytest.mark.parametrize("path", ["\ud800", "a\x00b", "~\ud800/x"])
def test_what_cannot_be_a_path_is_refused(home: Path, path: str) -> None:
    found = run(ops.find("cache.stats"), {"cache_path": path}, Context(env={}, cwd=home))
    assert found["error"]["kind"] == "invalid_arguments"
    assert found["error"]["details"]["field"] == "cache_path"
