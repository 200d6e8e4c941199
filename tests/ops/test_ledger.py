"""ledger.list, ledger.show and ledger.resolve, as a person and as an agent use them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.store.ledger import FILE, Ending, Entry, Ledger
from tests.support.sandbox import KEY, running_sandbox

ENTRY = Entry("products.get", "live", "live", "GET", "/product", "f" * 16, "call-1", 0, 1, 3, 5)
LOST = Ending("manual_review", error_kind="timeout", note="read_timeout", attempts=1)


@pytest.fixture
def ledger(home: Path) -> Ledger:
    """Three calls: one settled, one of unknown outcome, one released."""
    found = Ledger(home / "state", lambda: datetime.now(UTC))
    found.end(found.reserve(ENTRY), Ending("settled", 3, "keepa", 1))
    found.end(found.reserve(ENTRY), LOST)
    found.end(found.reserve(ENTRY), Ending("released", error_kind="transport_error", note="connect"))
    return found


@pytest.fixture
def ask(cli: Any) -> Callable[..., dict[str, Any]]:
    return lambda *words: json.loads(cli("--json", "ledger", *words).stdout)


def test_the_newest_rows_come_first_with_the_sums_of_today(ledger: Ledger, ask: Any) -> None:
    data = ask("list")["data"]
    assert [(r["id"], r["state"], r["consumed"]) for r in data["rows"]] == [
        (3, "released", None),
        (2, "manual_review", None),
        (1, "settled", 3),
    ]
    assert data["today"] == {"live": {"settled": 3, "reserved": 0, "manual_review": 5}}
    assert (data["count"], data["shown"]) == (3, 3)


def test_rows_are_chosen_by_state_day_and_limit(ledger: Ledger, ask: Any) -> None:
    assert [r["id"] for r in ask("list", "--state", "manual_review")["data"]["rows"]] == [2]
    cut = ask("list", "--day", "today", "--limit", "2")["data"]
    assert [r["id"] for r in cut["rows"]] == [3, 2] and (cut["count"], cut["shown"]) == (3, 2)
    assert ask("list", "--day", "2020-02-29")["data"]["rows"] == []


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("list", "--state", "lost"), "state"),
        (("list", "--day", "2026-02-30"), "day"),
        (("list", "--day", "yesterday"), "day"),
        (("list", "--limit", "0"), "limit"),
        (("show", "0"), "number"),
        (("show", "one"), "number"),
        (("show", "99"), "number"),
        (("resolve", "99", "--as", "released"), "number"),
        (("resolve", "2", "--as", "paid"), "outcome"),
        (("resolve", "2"), "outcome"),
        (("resolve", "2", "--as", "settled"), "tokens"),
        (("resolve", "2", "--as", "settled", "--tokens", "-1"), "tokens"),
        (("resolve", "2", "--as", "released", "--tokens", "4"), "tokens"),
        (("resolve", "2", "--as", "released", "--note", "x" * 501), "note"),
        (("resolve", "1", "--as", "released"), "number"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(ledger: Ledger, ask: Any, words: tuple[str, ...], field: str) -> None:
    before = ledger.rows(None, None, 9)
    error = ask(*words)["error"]
    assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field
    assert error["next_actions"] and ledger.rows(None, None, 9) == before


def test_a_ledger_that_was_never_used_is_empty_and_is_not_made(home: Path, ask: Any) -> None:
    assert ask("list")["data"]["rows"] == [] and ask("list")["data"]["today"] == {}
    assert ask("show", "1")["error"]["kind"] == "invalid_arguments"
    assert not (home / "state" / FILE).exists()


def test_a_row_in_review_says_what_to_do(ledger: Ledger, ask: Any) -> None:
    data = ask("show", "2")["data"]
    assert data["row"]["error_kind"] == "timeout" and "Nobody knows" in data["meaning"]
    assert data["next_actions"][1].endswith("kc ledger resolve 2 --as settled --tokens 3")
    assert ask("show", "1")["data"]["next_actions"] == []


def test_the_requests_of_one_call_are_shown_together(ledger: Ledger, ask: Any) -> None:
    assert [r["id"] for r in ask("show", "1")["data"]["requests_of_the_call"]] == [1, 2, 3]


def test_resolving_settles_or_releases_once(ledger: Ledger, ask: Any) -> None:
    planned = ask("resolve", "2", "--as", "settled", "--tokens", "4", "--dry-run")["data"]
    assert not planned["written"] and ledger.row(2)["state"] == "manual_review"
    done = ask("resolve", "2", "--as", "settled", "--tokens", "4", "--note", "seen in the account")["data"]
    assert done["written"] and done["before"]["state"] == "manual_review"
    assert ask("list")["data"]["today"]["live"] == {"settled": 7, "reserved": 0, "manual_review": 0}
    again = ask("resolve", "2", "--as", "released")["error"]
    assert again["details"]["state"] == "settled" and again["next_actions"] == ["kc ledger show 2"]


def test_resolving_as_released_counts_nothing(ledger: Ledger, ask: Any) -> None:
    assert ask("resolve", "2", "--as", "released")["data"]["after"]["consumed"] == 0
    assert ask("list")["data"]["today"]["live"] == {"settled": 3, "reserved": 0, "manual_review": 0}


def test_a_note_may_hold_any_text(ledger: Ledger, ask: Any) -> None:
    after = ask("resolve", "2", "--as", "released", "--note", "seen \udce9 雪")["data"]["after"]
    assert after["note"] == ledger.row(2)["note"] == "seen ? 雪"


def test_a_person_sees_a_table_and_the_next_step(ledger: Ledger, cli: Any) -> None:
    shown = cli("ledger", "list", "--state", "manual_review").stdout
    assert "manual_review" in shown and "products.get" in shown and "manual review: 5" in shown
    assert "kc ledger resolve 2 --as released" in cli("ledger", "show", "2").stdout


def test_a_damaged_ledger_is_told_by_the_list(home: Path, ask: Any) -> None:
    (home / "state" / FILE).write_bytes(b"garbage " * 1000)
    result = ask("list")
    assert result["ok"] and "set aside" in result["warnings"][0]["message"]


def test_the_ledger_takes_no_mode(ledger: Ledger, ask: Any) -> None:
    assert ask("list", "--live")["error"]["kind"] == "invalid_arguments"


def cost(cli: Any, *words: str) -> dict[str, Any]:
    return json.loads(cli("--json", "audit", "cost", *words).stdout)


def test_a_cost_names_its_components_and_needs_no_key(cli: Any, home: Path) -> None:
    data = cost(cli, "products.get", "--param", "asin=B001GZ6QEC", "--param", "offers=20")["data"]
    assert (data["estimated_tokens"], data["worst_case_tokens"], data["requires_confirmation"]) == (12, 12, True)
    assert [c["name"] for c in data["components"]] == ["offers"]
    assert data["command"] == "kc products get B001GZ6QEC --offers 20 --live --yes"
    assert list((home / "state").iterdir()) == []


def test_a_cost_is_that_of_the_dry_run(cli: Any) -> None:
    for words, params in (
        (("products", "search", "kettle", "--rating"), ("term=kettle", "rating=true")),
        (("categories", "get", "1000"), ("category=1000",)),
        (("products", "get", *(f"B{n:09d}" for n in range(120))), tuple(f"asin=B{n:09d}" for n in range(120))),
    ):
        dry = json.loads(cli("--json", *words, "--dry-run").stdout)
        result = cost(cli, ".".join(words[:2]), *(w for p in params for w in ("--param", p)))
        estimated = dry["token_bucket"]["estimated"]
        assert result["ok"], result
        assert {k: result["data"][k] for k in estimated} == estimated
        assert result["data"]["requests"] == dry["request"].get("requests", 1)


def test_consent_follows_the_configured_threshold(cli: Any, home: Path) -> None:
    assert not cost(cli, "products.get", "--param", "asin=B001GZ6QEC")["data"]["requires_confirmation"]
    (home / "config.toml").write_text("confirm_above_tokens = 0\n")
    assert cost(cli, "products.get", "--param", "asin=B001GZ6QEC")["data"]["requires_confirmation"]


def test_local_operations_cost_nothing(cli: Any) -> None:
    data = cost(cli, "domains.list")["data"]
    assert data["worst_case_tokens"] == 0 and data["requests"] == 0 and data["notes"]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("product.get",), "unknown_command"),
        (("products.get",), "invalid_arguments"),
        (("products.get", "--param", "asin"), "invalid_arguments"),
        (("products.get", "--param", "asin=B001GZ6QEC", "--param", "offers=2"), "invalid_arguments"),
        (("products.get", "--param", "asin=B001GZ6QEC", "--param", "nonsense=2"), "invalid_arguments"),
        (("products.get", "--param", "asin=B001GZ6QEC", "--param", "days=2", "--param", "days=3"), "invalid_arguments"),
    ],
)
def test_what_the_call_would_refuse_is_refused(cli: Any, words: tuple[str, ...], kind: str) -> None:
    assert cost(cli, *words)["error"]["kind"] == kind


def test_an_idempotency_key_given_on_the_command_line_pays_once(cli: Any) -> None:
    with running_sandbox() as box:
        env = {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY, "KEEPA_CLI_NO_CACHE": "1"}
        words = ("--json", "products", "get", "B000000001", "--live", "--idempotency-key", "one")
        first, again = (json.loads(cli(*words, env=env).stdout) for _ in range(2))
        assert len(box.log) == 1
        other = json.loads(cli(*words[:3], "B000000002", *words[4:], env=env).stdout)
        assert other["error"]["kind"] == "invalid_arguments" and len(box.log) == 1
    assert again["provenance"]["source"] == "idempotency" and again["data"] == first["data"]


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_cut_off_is_explained_by_the_next(
    clean_env: dict[str, str], home: Path, ask: Any, blow: signal.Signals
) -> None:
    with running_sandbox(faults=["slow=30"]) as box:
        env = clean_env | {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY}
        command = [sys.executable, "-m", "keepa_cli", "products", "get", "B000000001", "--live"]
        process = subprocess.Popen(command, env=env, cwd=home / "work", stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 20
        while not ask("list")["data"]["rows"] and time.monotonic() < until:
            time.sleep(0.05)
        assert ask("list")["data"]["rows"][0]["state"] == "reserved"
        time.sleep(0.2)
        process.send_signal(blow)
        said = process.communicate(timeout=20)[1]
    [row] = ask("list", "--state", "manual_review")["data"]["rows"]
    assert (row["operation"], row["error_kind"], row["consumed"]) == ("products.get", "outcome_unknown", None)
    if blow is signal.SIGINT:
        assert process.returncode == 130 and f"kc ledger show {row['id']}" in said
