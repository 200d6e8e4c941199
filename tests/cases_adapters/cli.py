"""Verbs that run the command line as a process against a local Keepa."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.cases_adapters import verb
from tests.support.sandbox import KEY, running_sandbox
from tests.support.scripted_server import ScriptedServer

UNKNOWN = "B00UNKNOWN"


def _command(args: str) -> list[str]:
    asins = [f"B0{i:08d}" for i in range(150)] if "150 ASINs" in args else [UNKNOWN]
    flags = [word for word in args.split() if word.startswith("-")]
    return ["products", "get", *asins, "--history", "--live", "--yes", *flags]


@verb("cli.run")
def cli_run(case: dict[str, Any], clean_env: dict[str, str], home: Path) -> dict[str, Any]:
    parses, traceback = True, False
    with running_sandbox(rate=100) as box:
        env = clean_env | {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY}
        for run in case["runs"]:
            child = subprocess.Popen(
                [sys.executable, "-m", "keepa_cli", *_command(run["args"])],
                env=env, cwd=home / "work", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert child.stdout
            if run.get("pipe_to", "").startswith("head"):
                child.stdout.read(1)
                child.stdout.close()
                err = child.stderr.read() if child.stderr else ""
                child.wait(60)
            else:
                out, err = child.communicate(timeout=60)
                parses = parses and isinstance(json.loads(out), dict)
            traceback = traceback or "Traceback" in err
    return {"stdout_parses": parses, "stderr_traceback": traceback}


def _answer(status: int) -> dict[str, Any]:
    bucket = {"tokensLeft": 0, "refillIn": 1000, "refillRate": 5, "tokensConsumed": 0, "timestamp": 1}
    error = {"type": "someType", "message": "m", "details": ""}
    return {"status": status, "json": bucket | {"error": error}}


SITUATIONS: dict[str, tuple[list[str], dict[str, Any] | None]] = {
    "all found": (["B000000001"], {"status": 200, "echo_products": True, "json": {"tokensLeft": 5}}),
    "some not found": (["B000000001", "B000000002"], {"status": 200, "json": {"products": None, "tokensLeft": 5}}),
    "bad ASIN": (["B00"], None),
    "no key": (["B000000001"], None),
    "400": (["B000000001"], _answer(400)),
    "402": (["B000000001"], _answer(402)),
    "429 with --no-wait": (["B000000001", "--no-wait"], _answer(429)),
    "503": (["B000000001", "--no-wait"], {"status": 503, "text": "<html>outage</html>"}),
    "timeout": (["B000000001"], {"fault": "stall_after_request", "ms": 3000}),
}


@verb("cli.exit")
def cli_exit(case: dict[str, Any], clean_env: dict[str, str], home: Path) -> dict[str, Any]:
    (home / "config.toml").write_text("timeout_seconds = 1\n")
    codes: dict[str, int] = {}
    keys: set[str] | None = None
    for situation in case["situations"]:
        args, step = SITUATIONS[situation]
        with ScriptedServer([step] if step else []) as server:
            env = clean_env | {"KEEPA_BASE_URL": server.url}
            env |= {} if situation == "no key" else {"KEEPA_API_KEY": KEY}
            done = subprocess.run(
                [sys.executable, "-m", "keepa_cli", "--json", "products", "get", "--live", *args],
                env=env, cwd=home / "work", capture_output=True, text=True, check=False,
            )  # fmt: skip
        codes[situation] = done.returncode
        result = json.loads(done.stdout)
        assert result["ok"] == (done.returncode == 0), situation
        if not result["ok"]:
            keys = set(result["error"]) if keys is None else keys & set(result["error"])
    zero = [s for s, code in codes.items() if code == 0 and s != "some not found"]
    groups = {code for code in codes.values() if code}
    return {
        "zero_only_for": zero,
        "may_be_zero": ["some not found"],
        "error_object_keys": [k for k in ("kind", "message", "retryable") if k in (keys or ())],
        "distinct_groups_at_least": min(4, len(groups)),
    }


@verb("cli.secret")
def cli_secret(case: dict[str, Any], clean_env: dict[str, str], home: Path) -> dict[str, Any]:
    secret = case["secret"]
    commands = {
        "-vvv lookup": ["-vvv", "products", "get", "B000000001", "--live"],
        "config show": ["config", "show"],
        "doctor": ["--json", "-vv", "doctor"],
        "crash": ["-vvv", "--json", "products", "get", "B000000001", "--live", "--out", f"/dev/null/{secret}"],
    }
    shown = ""
    with running_sandbox(any_key=True) as box:
        env = clean_env | {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": secret}
        for run in case["runs"]:
            done = subprocess.run(
                [sys.executable, "-m", "keepa_cli", *commands[run]],
                env=env, cwd=home / "work", capture_output=True, text=True, check=False,
            )  # fmt: skip
            shown += done.stdout + done.stderr
    return {"longest_shared_substring_max": max(_longest_shared(secret, shown), 5)}


def _longest_shared(secret: str, text: str) -> int:
    length = 0
    while any(secret[i : i + length + 1] in text for i in range(len(secret) - length)):
        length += 1
    return length
