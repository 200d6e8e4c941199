"""The command line as a process: streams, exit codes, errors."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.sandbox import Sandbox
from tests.support.sandbox import running_sandbox
from tests.support.scripted_server import ScriptedServer

KEY = "abQ7cdQ7efQ7ghQ7ijQ7klQ7mnQ7opQ7qrQ7stQ7uvQ7wxQ7yzQ712Q734Q756Q7"


def live(box: Sandbox, **more: str) -> dict[str, str]:
    return {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY.lower()} | more


def envelope_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert "Traceback" not in done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 1, done.stdout[:500] + done.stderr[:500]
    found: dict[str, Any] = json.loads(lines[0])
    return found


@pytest.mark.parametrize(
    ("args", "kind", "code"),
    [
        (["nope"], "unknown_command", 2),
        (["products", "nope"], "unknown_command", 2),
        (["products", "get"], "invalid_arguments", 2),
        (["products", "get", "B00"], "invalid_arguments", 2),
        (["products", "get", "B0000000011"], "invalid_arguments", 2),
        (["products", "get", "B000000001", "--domain", "cn"], "invalid_arguments", 2),
        (["products", "get", "B000000001", "--code", "0747474801770"], "invalid_arguments", 2),
        (["products", "get", "B000000001", "--days", "0"], "invalid_arguments", 2),
        (["products", "get", "B000000001", "--stats", "soon"], "invalid_arguments", 2),
        (["products", "get", "B000000001", "--stock"], "invalid_arguments", 2),
        (["products", "get", "B000000001", "--whatever"], "invalid_arguments", 2),
        (["products", "get", "B000000001", "--max-tokens", "-1"], "invalid_arguments", 2),
        (["products", "get", "B000000001", "--live", "--dry-run"], "invalid_arguments", 2),
        (["products", "search", "kettle", "--domain", "BR"], "invalid_arguments", 2),
        (["categories", "get", "0", "5"], "invalid_arguments", 2),
        (["categories", "search", "ab"], "invalid_arguments", 2),
        (["request", "get", "product"], "invalid_arguments", 2),
        (["request", "get", "/product", "--param", "KEY=secret"], "invalid_arguments", 2),
        (["request", "get", "/product", "--param", "asin"], "invalid_arguments", 2),
        (["docs", "read", "../README"], "invalid_arguments", 2),
        (["docs", "read", "nope"], "invalid_arguments", 2),
        (["products", "get", "B000000001", "--live"], "auth_missing", 4),
        (["products", "get", "B00AAAAAA1"], "cassette_miss", 6),
        (["products", "get", "B00AAAAAA1", "--fixture", "no_such"], "fixture_not_found", 6),
        (["products", "get", "B00AAAAAA1", "--fixture", "../x"], "invalid_arguments", 2),
        (["config", "set-mode", "fast"], "invalid_arguments", 2),
        (["config", "set-max-tokens", "many"], "invalid_arguments", 2),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else None,
)
def test_bad_input_is_one_envelope_with_kind_code_and_next_step(
    cli: Any, args: list[str], kind: str, code: int
) -> None:
    done = cli("--json", *args)
    error = envelope_of(done)["error"]
    assert (error["kind"], done.returncode) == (kind, code), error["message"]
    assert error["message"].endswith((".", "?")) and error["next_actions"]
    people = cli(*args)
    assert people.returncode == code and not people.stdout
    assert people.stderr.startswith("Error: ") and "Traceback" not in people.stderr


def test_json_can_stand_before_or_after_the_command(kc: Any) -> None:
    first, last = kc("--json", "domains", "list"), kc("domains", "list", "--json")
    assert first.stdout == last.stdout and first.returncode == 0
    assert len(envelope_of(first)["data"]["domains"]) == 11


def test_mode_flags_can_stand_before_the_command(cli: Any) -> None:
    result = envelope_of(cli("--json", "--dry-run", "products", "get", "b000000001"))
    assert result["request"]["mode"] == "dry-run" and result["request"]["query"]["asin"] == "B000000001"


def test_help_needs_nothing_and_lists_every_family(kc: Any) -> None:
    done = kc("--help")
    assert done.returncode == 0 and not done.stderr
    for family in ("cassettes", "categories", "config", "demo", "doctor", "evals", "products", "sandbox", "tokens"):
        assert f"\n  {family}" in done.stdout


def test_without_arguments_the_help_is_shown(kc: Any) -> None:
    done = kc()
    assert done.returncode == 2 and "Usage: kc" in done.stdout + done.stderr


def test_a_reader_that_goes_away_gets_no_traceback(clean_env: dict[str, str], home: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "keepa_cli", "--json", "capabilities"],
        env=clean_env, cwd=home / "work", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout and child.stderr
    child.stdout.read(1)
    child.stdout.close()
    assert "Traceback" not in child.stderr.read()
    assert child.wait(20) in {0, 1}


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interrupt_ends_with_130_and_says_so(clean_env: dict[str, str], home: Path) -> None:
    with ScriptedServer([{"fault": "stall_after_request", "ms": 4000}]) as server:
        child = subprocess.Popen(
            [sys.executable, "-m", "keepa_cli", "--json", "tokens", "status", "--live"],
            env=clean_env | {"KEEPA_BASE_URL": server.url, "KEEPA_API_KEY": KEY.lower()},
            cwd=home / "work", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        server.wait_for(1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=20)
    assert child.returncode == 130, err
    assert "Traceback" not in err and "tokens may have been spent" in err and not out


def test_a_live_call_spends_and_a_replay_does_not(kc: Any) -> None:
    with running_sandbox() as box:
        done = envelope_of(kc("--json", "products", "get", "B000000001", "--live", env=live(box)))
        assert done["token_bucket"]["charged"] == 1 and len(box.log) == 1
        miss = envelope_of(kc("--json", "products", "get", "B000000001", env=live(box)))
        assert miss["error"]["kind"] == "cassette_miss" and len(box.log) == 1


def test_ci_refuses_live_calls(kc: Any) -> None:
    with running_sandbox() as box:
        done = kc("--json", "tokens", "status", "--live", env=live(box, CI="true"))
        assert envelope_of(done)["error"]["kind"] == "live_blocked_in_ci" and not box.log
        assert (
            kc("tokens", "status", "--live", env=live(box, CI="true", KEEPA_CLI_ALLOW_LIVE_IN_CI="1")).returncode == 0
        )


@pytest.mark.parametrize(
    ("fault", "kind", "code"),
    [("429", "not_enough_token", 5), ("503", "upstream_unavailable", 1), ("html", "outcome_unknown", 1)],
)
def test_what_upstream_does_wrong_has_its_kind_and_code(cli: Any, fault: str, kind: str, code: int) -> None:
    with running_sandbox(faults=(fault,)) as box:
        done = cli("--json", "tokens", "status", "--live", "--no-wait", env=live(box))
    error = envelope_of(done)["error"]
    assert (done.returncode, error["kind"]) == (code, kind), error


def test_the_key_is_never_shown(kc: Any, home: Path) -> None:
    (home / "config.toml").write_text(f'api_key = "{KEY}"\n')
    (home / "config.toml").chmod(0o600)
    with running_sandbox() as box:
        env = {"KEEPA_BASE_URL": box.base_url}
        runs = [
            kc("-vvv", "tokens", "status", "--live", env=env),
            kc("config", "show"), kc("--json", "doctor"), kc("capabilities"),
            kc("-vv", "request", "get", "/nowhere", "--param", f"asin={KEY}", "--live", "--yes", env=env),
            kc("config", "set-mode", "replay"),
        ]  # fmt: skip
    for done in runs:
        for start in range(len(KEY) - 5):
            assert KEY[start : start + 6] not in done.stdout + done.stderr


def test_a_key_comes_from_stdin_and_lands_in_a_private_file(cli: Any, home: Path) -> None:
    done = cli("--json", "config", "set-token", stdin=f'  "{KEY}"\n')
    assert envelope_of(done)["data"]["written"] and KEY not in done.stdout + done.stderr
    path = home / "config.toml"
    assert f'api_key = "{KEY}"' in path.read_text()
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600
    assert envelope_of(cli("--json", "doctor"))["data"]["auth"]["origin"] == "config"


def test_a_key_as_an_argument_draws_a_warning(cli: Any) -> None:
    result = envelope_of(cli("--json", "config", "set-token", KEY))
    assert [w["code"] for w in result["warnings"]] == ["shell_history"]


@pytest.mark.parametrize("bad", ["", "two words", "qu'ote", "naïve", "\x07bell"])
def test_a_malformed_key_is_refused_and_not_echoed(cli: Any, home: Path, bad: str) -> None:
    done = cli("--json", "config", "set-token", stdin=bad)
    assert envelope_of(done)["error"]["kind"] == "invalid_arguments"
    assert not bad or bad not in done.stdout
    assert not (home / "config.toml").exists()


@pytest.mark.parametrize("broken", [b"mode = ", b"\xff\xfe\x00a"])
def test_a_broken_config_is_never_rewritten(cli: Any, home: Path, broken: bytes) -> None:
    path = home / "config.toml"
    path.write_bytes(broken)
    for args in (["config", "set-mode", "replay"], ["config", "set-token"], ["config", "init"]):
        done = cli("--json", *args, stdin=KEY)
        assert envelope_of(done)["error"]["kind"] == "config_error"
    doctor = envelope_of(cli("--json", "doctor"))
    assert doctor["ok"] and not doctor["data"]["healthy"]
    assert path.read_bytes() == broken
    assert envelope_of(cli("--json", "domains", "list"))["ok"]


def test_changing_one_setting_keeps_the_rest_and_its_comments(cli: Any, home: Path) -> None:
    path = home / "config.toml"
    path.write_text(f'# mine\napi_key = "{KEY}" # secret\nmax_tokens = 5\n')
    path.chmod(0o600)
    assert cli("config", "set-max-tokens", "7").returncode == 0
    assert path.read_text() == f'# mine\napi_key = "{KEY}" # secret\nmax_tokens = 7\n'
    assert cli("config", "set-language", "zh-CN", "--dry-run").returncode == 0
    assert "zh-CN" not in path.read_text()


def test_init_writes_a_file_that_changes_nothing(cli: Any, home: Path) -> None:
    before = envelope_of(cli("--json", "config", "show"))["data"]["settings"]
    assert not envelope_of(cli("--json", "config", "init", "--dry-run"))["data"]["written"]
    assert not (home / "config.toml").exists()
    assert cli("config", "init").returncode == 0
    assert envelope_of(cli("--json", "config", "show"))["data"]["settings"] == before
    assert envelope_of(cli("--json", "config", "init"))["error"]["kind"] == "config_error"


def test_the_docs_can_be_read(cli: Any) -> None:
    pages = envelope_of(cli("--json", "docs", "index"))["data"]["pages"]
    assert {"index", "quickstart"} <= {p["page"] for p in pages}
    assert cli("docs", "read", "quickstart").stdout.startswith("# ")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="POSIX")
def test_a_state_folder_that_cannot_be_made_costs_no_answer(cli: Any, home: Path) -> None:
    (home / "blocked").write_text("")
    with running_sandbox() as box:
        done = cli(
            "--json", "tokens", "status", "--live", env=live(box, KEEPA_CLI_STATE_DIR=str(home / "blocked" / "x"))
        )
    assert envelope_of(done)["ok"]
