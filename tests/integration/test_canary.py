"""A server that echoes the key everywhere: afterwards no form of it is on disk, on stdout or on stderr."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cassettes.canary import KEY, encodings, leaked
from tests.support.scripted_server import ScriptedServer

BUCKET = {"timestamp": 1, "tokensLeft": 9, "refillIn": 1000, "refillRate": 5, "tokensConsumed": 1}
PRODUCT = {"asin": "B000000001", "domainId": 1, "productType": 0}


def echoing(encoded: str) -> dict[str, Any]:
    """An answer that carries the key in its body and in every header where one was ever seen."""
    return {
        "status": 200,
        "encode": "gzip",
        "headers": {
            "Content-Type": "application/json; charset=utf-8",
            "Set-Cookie": f"session={encoded}",
            "X-Request-Url": f"/product?key={encoded}",
            "Location": f"https://api.keepa.com/x?key={encoded}&apikey={encoded}",
            "Link": f"<https://api.keepa.com/{encoded}>; rel=next",
        },
        "json": BUCKET
        | {
            "products": [PRODUCT | {"title": f"see {encoded} there", "extra": {"token": encoded, "list": [encoded]}}],
            "additional": json.dumps({"url": f"https://api.keepa.com/product?key={encoded}"}),
        },
    }


def shown(done: subprocess.CompletedProcess[str]) -> bytes:
    return (done.stdout + done.stderr).encode()


@pytest.mark.parametrize("form", ["raw", "percent", "json unicode every"])
def test_nothing_that_is_written_or_printed_holds_the_key(kc: Any, home: Path, form: str) -> None:

    encoded = encodings()[form](KEY).decode()
    (home / "work" / "cassettes").mkdir()
    call = ["products", "get", "B000000001"]
    with ScriptedServer([echoing(encoded)], repeat_last=True) as server:
        env = {"KEEPA_BASE_URL": server.url, "KEEPA_API_KEY": KEY}
        runs = [
            kc("-vvv", "--json", *call, "--live", env=env),
            kc("-vvv", *call, "--live", env=env),
            kc("-vvv", "--json", *call, "--record=canary", env=env),
            kc("-vvv", *call, "--live", "--out", str(home / "out.json"), env=env),
            kc("--json", "request", "get", "/product", "--param", f"asin={encoded}", "--live", "--yes", env=env),
        ]
        assert [r.returncode for r in runs] == [0] * len(runs), runs
        assert all(dict(s.query)["key"] == KEY for s in server.seen)
        recording = next((home / "state" / "inbox").glob("canary-*.yaml"))
        for verb in (["promote-and-verify", str(recording), "--name", "canary"], ["verify"], ["scan"], ["list"]):
            runs.append(kc("-vv", "--json", "cassettes", *verb, env=env))
            assert runs[-1].returncode == 0, runs[-1].stdout
        runs.append(kc("--json", "cassettes", "refresh", "canary", "--live", "--yes", env=env))
    runs.append(kc("--json", *call, env=env))
    assert json.loads(runs[-1].stdout)["ok"], "what is clean must also replay"
    runs.append(kc("-vv", "--json", "products", "get", "B000000002", env=env))
    assert json.loads(runs[-1].stdout)["error"]["kind"] == "cassette_miss"
    for done in runs:
        assert not leaked(shown(done)), f"{done.args}: {leaked(shown(done))}"
        assert "Traceback" not in done.stderr
    for path in home.rglob("*"):
        if path.is_file():
            assert not leaked(path.read_bytes()), f"{path}: {leaked(path.read_bytes())}"


def test_an_error_that_echoes_the_key_is_told_without_it(kc: Any) -> None:
    error = {"type": "invalidParameter", "message": f"bad key {KEY}", "details": json.dumps([{"type": KEY}])}
    with ScriptedServer([{"status": 400, "json": BUCKET | {"error": error}}], repeat_last=True) as server:
        env = {"KEEPA_BASE_URL": server.url, "KEEPA_API_KEY": KEY}
        for flags in (["--live"], ["--record=x"]):
            done = kc("-vvv", "--json", "tokens", "status", *flags, env=env)
            assert json.loads(done.stdout)["error"]["kind"] == "request_rejected"
            assert not leaked(shown(done))


def test_a_redirect_never_takes_the_key_along(kc: Any) -> None:
    with ScriptedServer([{"status": 200, "json": BUCKET}], repeat_last=True) as other:
        step = {"status": 302, "headers": {"Location": f"{other.url}/x?key={KEY}"}, "text": ""}
        with ScriptedServer([step], repeat_last=True) as server:
            env = {"KEEPA_BASE_URL": server.url, "KEEPA_API_KEY": KEY}
            done = kc("-vvv", "--json", "tokens", "status", "--live", env=env)
        assert not other.seen
    assert not json.loads(done.stdout)["ok"] and not leaked(shown(done))


def test_the_vcr_log_and_the_pytest_report_do_not_show_the_key(clean_env: dict[str, str], home: Path) -> None:
    test = home / "work" / "test_mine.py"
    test.write_text(
        "import logging, requests\n"
        "from keepa_cli.testing import ReplayAdapter\n"
        "def test_miss(tmp_path):\n"
        f"    key = {KEY!r}\n"
        "    logging.basicConfig(level=logging.DEBUG)\n"
        "    s = requests.Session(); s.mount('https://', ReplayAdapter([tmp_path]))\n"
        "    s.get('https://api.keepa.com/token', params={'key': key})\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--showlocals", "test_mine.py"],
        env=clean_env | {"KEEPA_API_KEY": KEY}, cwd=home / "work", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and "No recording" in done.stdout
    assert not leaked(shown(done)), leaked(shown(done))
