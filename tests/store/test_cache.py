"""The response cache keeps what it is given, for as long and as much as it may, whatever happens to its file."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.store.cache import About, ResponseCache
from tests.conftest import REPO

NOON = datetime(2026, 9, 21, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        return self.at

    def forward(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(tmp_path: Path, clock: Clock) -> Callable[..., ResponseCache]:
    return lambda **how: ResponseCache(tmp_path / "cache" / "responses.sqlite3", clock, **how)


def about(path: str = "/product", **query: str) -> About:
    return About("https://api.keepa.com:443", path, query, "some.read", "live", "0123456789abcdef")


def noise(size: int, seed: int = 0) -> bytes:
    """Bytes that cannot be compressed."""
    import random

    return random.Random(seed).randbytes(size)


def test_an_answer_comes_back_as_it_was_until_it_expires(make: Callable[..., ResponseCache], clock: Clock) -> None:
    cache, body = make(), b'{"a": 1.10}' * 1000
    assert cache.get("k", 1000) is None
    assert cache.put("k", body, about(), 60)
    clock.forward(59.9)
    kept = cache.get("k", 1000)
    assert kept is not None
    assert (kept.body, kept.origin, kept.stored_at) == (body, "live", NOON.timestamp())
    clock.forward(0.1)
    assert cache.get("k", 1000) is None


def test_a_reader_can_ask_for_a_younger_answer_but_not_for_an_older_one(
    make: Callable[..., ResponseCache], clock: Clock
) -> None:
    cache = make()
    cache.put("k", b"{}", about(), 60)
    clock.forward(30)
    assert cache.get("k", 30) and not cache.get("k", 29)
    clock.forward(31)
    assert not cache.get("k", 10**6)


def test_a_clock_that_goes_back_does_not_keep_answers_for_ever(
    make: Callable[..., ResponseCache], clock: Clock
) -> None:
    cache = make()
    cache.put("ahead", b"{}", about(), 60)
    clock.forward(-100_000)
    assert cache.get("ahead", 10**9) is None
    cache.put("now", b"{}", about(), 60)
    assert cache.inspect("ahead") is None and cache.get("now", 60)


def test_an_answer_that_was_not_checked_the_same_way_is_not_used(make: Callable[..., ResponseCache]) -> None:
    cache = make()
    cache.put("k", b"{}", replace(about(), checked="product 1.0"), 60)
    assert cache.get("k", 60, "product 1.0") and cache.get("k", 60)
    assert cache.get("k", 60, "product 1.1") is None


def test_a_second_answer_takes_the_place_of_the_first(make: Callable[..., ResponseCache]) -> None:
    cache = make()
    cache.put("k", b"one", about(), 60)
    cache.put("k", b"two", about(), 60)
    kept = cache.get("k", 60)
    assert kept is not None and kept.body == b"two"
    assert cache.stats()["answers"] == 1


def test_what_was_used_least_recently_goes_first(make: Callable[..., ResponseCache], clock: Clock) -> None:
    cache = make(max_bytes=3500)
    for n in range(3):
        cache.put(f"k{n}", noise(1000, n), about(), 10_000)
        clock.forward(100)
    assert cache.get("k0", 10_000)
    clock.forward(100)
    cache.put("k3", noise(1000, 3), about(), 10_000)
    assert [bool(cache.get(f"k{n}", 10_000)) for n in range(4)] == [True, False, True, True]


def test_an_answer_that_is_too_large_replaces_nothing_but_its_own_predecessor(
    make: Callable[..., ResponseCache],
) -> None:
    cache = make(max_entry=2000)
    cache.put("other", noise(500), about(), 60)
    cache.put("k", noise(500), about(), 60)
    assert not cache.put("k", noise(5000), about(), 60)
    assert cache.get("k", 60) is None and cache.get("other", 60)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 900), st.integers(0, 50)), max_size=25))
def test_the_bound_holds_and_the_newest_answer_is_always_there(
    tmp_path_factory: pytest.TempPathFactory, puts: list[tuple[int, int, int]]
) -> None:
    clock = Clock()
    cache = ResponseCache(tmp_path_factory.mktemp("c") / "r.sqlite3", clock, max_bytes=2000)
    for name, size, wait in puts:
        clock.forward(wait)
        cache.put(str(name), noise(size, name), about(), 100)
        kept = cache.get(str(name), 100)
        assert kept is not None and kept.body == noise(size, name)
        assert cache.stats()["bytes"] <= 2000
    cache.close()


def test_stats_and_inspect_tell_sizes_and_ages_and_never_the_body(
    make: Callable[..., ResponseCache], clock: Clock
) -> None:
    cache = make()
    cache.put("old", b"x" * 1000, about("/deal"), 10)
    clock.forward(5)
    cache.put("new", b'{"title": "kettle"}', about(asin="B000000001"), 60)
    clock.forward(6)
    found = cache.stats()
    assert (found["answers"], found["expired"]) == (2, 1)
    assert [(e["path"], e["answers"], e["uncompressed_bytes"]) for e in found["endpoints"]] == [
        ("/deal", 1, 1000),
        ("/product", 1, 19),
    ]
    row = cache.inspect("new")
    assert row is not None
    assert row["query"] == {"asin": "B000000001"} and row["length"] == 19 and "kettle" not in str(row)
    assert cache.inspect("none") is None
    assert cache.keys_like("n") == ["new"] and cache.keys_like("") and cache.keys_like("%") == []


def test_only_what_has_expired_is_pruned_and_a_dry_run_removes_nothing(
    make: Callable[..., ResponseCache], clock: Clock
) -> None:
    cache = make()
    cache.put("long", b"{}", about(), 1000)
    cache.put("short", b"{}", about(), 10)
    clock.forward(11)
    assert cache.remove(only_expired=True, dry_run=True)["answers"] == 1
    assert cache.stats()["answers"] == 2
    assert cache.remove(only_expired=True, dry_run=False)["answers"] == 1
    assert cache.get("long", 1000)
    assert cache.remove(only_expired=False, dry_run=True)["answers"] == 1
    assert cache.remove(only_expired=False, dry_run=False)["answers"] == 1
    assert cache.stats()["answers"] == 0


def test_clearing_gives_the_room_back(make: Callable[..., ResponseCache]) -> None:
    cache = make()
    for n in range(20):
        cache.put(str(n), noise(50_000, n), about(), 60)
    files = list(cache.path.parent.iterdir())
    assert sum(f.stat().st_size for f in files) > 1_000_000
    cache.remove(only_expired=False, dry_run=False)
    assert sum(f.stat().st_size for f in cache.path.parent.iterdir()) < 100_000


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_nobody_else_can_read_it(make: Callable[..., ResponseCache]) -> None:
    cache = make()
    cache.put("k", b"{}", about(), 60)
    assert cache.path.parent.stat().st_mode & 0o777 == 0o700
    files = list(cache.path.parent.iterdir())
    assert len(files) >= 1 and all(f.stat().st_mode & 0o077 == 0 for f in files)


@pytest.mark.parametrize("content", [b"not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_damaged_file_is_set_aside_under_a_dated_name(make: Callable[..., ResponseCache], content: bytes) -> None:
    cache = make()
    cache.path.parent.mkdir()
    cache.path.write_bytes(content)
    cache.put("k", b"{}", about(), 60)
    assert cache.get("k", 60)
    (aside,) = [p for p in cache.path.parent.iterdir() if "damaged" in p.name and not p.name.endswith(("-wal", "-shm"))]
    assert aside.read_bytes() == content and "20260921" in aside.name
    (note,) = cache.notes()
    assert str(aside) in note and cache.notes() == []


def test_damage_while_it_is_open_costs_one_error_and_no_more(make: Callable[..., ResponseCache]) -> None:
    cache = make()
    for n in range(50):
        cache.put(str(n), noise(3000, n), about(), 60)
    cache.close()
    damaged = bytearray(cache.path.read_bytes())
    damaged[4096:] = b"\xee" * (len(damaged) - 4096)
    cache.path.write_bytes(damaged)
    with pytest.raises(KeepaCliError) as caught:
        cache.get("7", 60)
    assert caught.value.kind is Kind.IO_ERROR
    assert cache.put("k", b"{}", about(), 60) and cache.get("k", 60)


def test_an_entry_whose_body_is_damaged_is_no_answer(make: Callable[..., ResponseCache]) -> None:
    cache = make()
    for key, junk in (("blob", b"\x78\x01junk"), ("text", "text")):
        cache.put(key, b"{}", about(), 60)
        with sqlite3.connect(cache.path) as connection:
            connection.execute("UPDATE answers SET body = ? WHERE key = ?", (junk, key))
        connection.close()
        assert cache.get(key, 60) is None
        assert cache.inspect(key) is None


def test_another_process_that_holds_the_file_is_waited_for_a_moment_only(make: Callable[..., ResponseCache]) -> None:
    cache = make(patience=0.05)
    cache.put("k", b"{}", about(), 60)
    other = sqlite3.connect(cache.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        assert cache.get("k", 60), "a writer does not stand in the way of a reader"
        with pytest.raises(KeepaCliError) as caught:
            cache.put("k", b"{}", about(), 60)
        assert caught.value.kind is Kind.IO_ERROR and caught.value.retryable
    finally:
        other.close()
    assert cache.put("k", b"{}", about(), 60)


def test_threads_share_one_cache(make: Callable[..., ResponseCache]) -> None:
    cache, wrong = make(), []

    def work(number: int) -> None:
        for n in range(30):
            key = str((number + n) % 20)
            cache.put(key, key.encode() * 500, about(), 60)
            kept = cache.get(key, 60)
            if kept is None or kept.body != key.encode() * 500:
                wrong.append((number, n))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and cache.stats()["answers"] == 20


WORKER = """
import sys
from pathlib import Path
from keepa_cli.store.cache import About, ResponseCache
cache = ResponseCache(Path(sys.argv[1]), max_bytes=60_000, patience=20)
about = About("s", "/product", {}, "some.read", "live", "f")
for n in range(60):
    key = str(n % 25)
    cache.put(key, key.encode() * 3000, about, 600)
    kept = cache.get(key, 600)
    assert kept is None or kept.body == key.encode() * 3000
assert cache.notes() == []
"""


def test_processes_share_one_cache_from_its_first_moment(tmp_path: Path) -> None:
    path = tmp_path / "new" / "responses.sqlite3"
    program = [sys.executable, "-c", WORKER, str(path)]
    workers: list[Any] = [subprocess.Popen(program, cwd=REPO, stderr=subprocess.PIPE) for _ in range(4)]
    assert [(w.communicate()[1], w.returncode) for w in workers] == [(b"", 0)] * 4
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert connection.execute("SELECT total(size) FROM answers").fetchone()[0] <= 60_000
    connection.close()
