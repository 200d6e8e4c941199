"""Sixteen threads through one client, in every mode that asks something."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from keepa_cli import LocalClient
from keepa_cli.client import methods
from keepa_cli.core.context import Context
from tests.conftest import REPO
from tests.support.sandbox import KEY, running_sandbox

THREADS = 16
ASINS = [f"B{n:09d}" for n in range(1, THREADS + 1)]


def together(work: Callable[[int], Any]) -> list[Any]:
    """What `work` returns in each of the threads, which all begin at one moment."""
    start = threading.Barrier(THREADS)

    def one(number: int) -> Any:
        start.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(one, range(THREADS)))


def asked(result: Any) -> list[str]:
    assert result["ok"], result
    return [product["asin"] for product in result["data"]["body"]["products"]]


def test_what_all_share_is_made_once() -> None:
    made: list[object] = []

    def make() -> object:
        time.sleep(0.01)
        made.append(object())
        return made[-1]

    context = Context(env={})
    assert len({id(found) for found in together(lambda _: context.service("thing", make))}) == len(made) == 1


def test_live(clean_env: dict[str, str], home: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(methods, "_FOUND", {})
    with running_sandbox(rate=1000) as box:
        env = clean_env | {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY, "KEEPA_CLI_NO_CACHE": "1"}
        with LocalClient("live", env=env) as client:

            def work(number: int) -> list[Any]:
                first = client.products.get(ASINS[number], history=False)
                return [first, client.tokens.status(), client.products.get(ASINS[number], rating=True)]

            results = together(work)
        for asin, (first, _, last) in zip(ASINS, results, strict=True):
            assert asked(first) == asked(last) == [asin]
        assert KEY not in json.dumps(results)
        assert len(box.log) == 3 * THREADS
    ledger = sqlite3.connect(home / "state" / "ledger.sqlite3")
    states = ledger.execute("SELECT state, COUNT(*), SUM(consumed) FROM calls GROUP BY state").fetchall()
    ledger.close()
    charged = sum(r["token_bucket"]["charged"] for each in results for r in each)
    assert states == [("settled", 3 * THREADS, charged)]


def test_replay(clean_env: dict[str, str], monkeypatch: Any) -> None:
    monkeypatch.chdir(REPO)
    monkeypatch.setattr(methods, "_FOUND", {})
    client = LocalClient(env=clean_env)
    plain, full = (client.products.get("B0PPJ248DY", full=full)["data"] for full in (False, True))
    assert plain != full

    def work(number: int) -> list[Any]:
        return [client.products.get("B0PPJ248DY", full=bool((number + n) % 2))["data"] for n in range(6)]

    for number, results in enumerate(together(work)):
        assert results == [full if (number + n) % 2 else plain for n in range(6)]


def test_record(clean_env: dict[str, str], home: Path) -> None:
    with running_sandbox(rate=1000) as box:
        env = clean_env | {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY}
        client = LocalClient("record", env=env)
        results = together(lambda number: client.products.get(ASINS[number], history=False))
        assert [asked(r) for r in results] == [[asin] for asin in ASINS] and len(box.log) == THREADS
    recordings = list((home / "state" / "inbox").glob("*.yaml"))
    assert len(recordings) == THREADS == len({r["provenance"]["source"] for r in results})
    assert not any(KEY in path.read_text(encoding="utf-8") for path in recordings)


def test_one_batch_in_each_thread(clean_env: dict[str, str], home: Path) -> None:
    """The same call sixteen times at once: every thread gets every answer, and nothing is left behind."""
    many = [f"B{n:09d}" for n in range(1, 131)]
    with running_sandbox(rate=10_000) as box:
        env = clean_env | {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY, "KEEPA_CLI_NO_CACHE": "1"}
        client = LocalClient("live", env=env, yes=True)
        results = together(lambda _: client.products.get(many, history=False))
    assert all(asked(r) == many for r in results)
    assert not [p for p in (home / "state" / "batches").rglob("*") if p.is_file()]
