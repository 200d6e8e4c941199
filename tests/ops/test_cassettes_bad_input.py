"""Bad input to the cassettes family: an error kind, an exit code and a next step each, and nothing lost or written."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core import envelope
from keepa_cli.core.context import Context
from keepa_cli.core.errors import ExitCode
from keepa_cli.engine import Options
from keepa_cli.engine import run as run_operation
from tests.cassettes.promoting import BUCKET, cassette, exchange, product_body, raw, snapshot

KEY = "k3y" + "Q7wE9rT2yU4iO6pA" * 4
GOOD = json.dumps(product_body()).encode()
INPUTS = {
    "empty": b"",
    "null": b"null",
    "truncated": GOOD[:-9],
    "not-utf-8": GOOD.replace(b"kettle", b"k\xe9ttle"),
    "html": b"<html><body>busy</body></html>",
    "version-999": b"interactions: []\nversion: 999\n",
    "no-interactions": b"version: 1\n",
    "cut-yaml": b"interactions:\n- request:\n    body: null\n    method: GET\n    uri: https://api.keepa.com/token\n",
    "python-tag": b"!!python/object/apply:os.system ['x']\n",
}
FROM_FILE = ("promote", "promote-and-verify", "sanitize")


@pytest.fixture
def ctx(home: Path, clean_env: dict[str, str]) -> Context:
    (home / "work" / "cassettes").mkdir()
    env = clean_env | {"KEEPA_API_KEY": KEY}
    return Context(env=env, cwd=home / "work", now=lambda: datetime(2026, 11, 30, tzinfo=UTC))


def run(ctx: Context, name: str, params: dict[str, Any]) -> dict[str, Any]:
    if "promote" in name:
        params = {"name": "kettle"} | params
    found = run_operation(ops.find("cassettes." + name), params, ctx, Options(find=ops.find))
    text = envelope.dumps(found, ctx.redactor)
    assert KEY not in text
    assert "Traceback" not in text
    if not found["ok"]:
        assert found["error"]["kind"] != "internal_error", found
        assert found["error"]["message"].endswith((".", ")", "?"))
    return dict(found)


@pytest.mark.parametrize("command", FROM_FILE)
@pytest.mark.parametrize("case", INPUTS)
def test_broken_files(ctx: Context, command: str, case: str) -> None:
    path = ctx.cwd / f"{case}.bin"
    path.write_bytes(INPUTS[case])
    found = run(ctx, command, {"file": path.name})
    assert found["error"]["kind"] == "cassette_invalid"
    assert path.name in found["error"]["message"]
    assert snapshot(ctx.cwd) == {}
    assert path.read_bytes() == INPUTS[case]


@pytest.mark.parametrize("command", FROM_FILE)
def test_what_is_no_regular_file(ctx: Context, command: str) -> None:
    targets = ["absent.json", "."]
    raw(ctx.cwd / "real.json")
    if hasattr(os, "mkfifo"):
        os.mkfifo(ctx.cwd / "pipe")
        targets.append("pipe")
    try:
        (ctx.cwd / "link.json").symlink_to(ctx.cwd / "real.json")
        (ctx.cwd / "dangling.json").symlink_to(ctx.cwd / "nowhere")
        targets += ["link.json", "dangling.json"]
    except OSError:
        pass
    for target in targets:
        assert run(ctx, command, {"file": target})["error"]["kind"] == "io_error", target
    assert snapshot(ctx.cwd) == {}


@pytest.mark.parametrize("name", ["a/b", "..", "../x", "/etc/x", ".x", "", "con", "x\x00y"])
def test_names_that_are_paths(ctx: Context, name: str) -> None:
    raw(ctx.cwd / "a.json")
    assert run(ctx, "promote", {"file": "a.json", "name": name})["error"]["kind"] == "invalid_arguments"
    for command in ("show", "refresh"):
        assert run(ctx, command, {"name": name})["error"]["kind"] in {"invalid_arguments", "io_error"}
    assert run(ctx, "verify", {"names": [name]})["error"]["kind"] == "invalid_arguments"
    assert snapshot(ctx.cwd) == {}


def test_a_fixture_that_is_a_link_or_a_pipe_is_not_opened(ctx: Context) -> None:
    folder = ctx.cwd / "cassettes" / "product"
    folder.mkdir()
    outside = cassette(ctx.cwd / "outside.yaml", exchange())
    try:
        (folder / "link.0123456789abcdef.yaml").symlink_to(outside)
    except OSError:
        pytest.skip("links cannot be made here")
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe.0123456789abcdef.yaml")
        assert run(ctx, "show", {"name": "pipe"})["error"]["kind"] == "fixture_not_found"
    assert run(ctx, "show", {"name": "link"})["error"]["kind"] == "fixture_not_found"
    assert run(ctx, "verify", {})["error"]["kind"] == "cassette_invalid"


def test_a_key_in_a_file_name_or_a_request_is_not_told(ctx: Context) -> None:
    path = raw(ctx.cwd / f"{KEY}.json", BUCKET | {"asinList": []})
    run(ctx, "promote", {"file": path.name})
    found = run(ctx, "promote", {"file": path.name, "request": f"/query?domain=1&key={KEY}&selection={KEY}"})
    assert found["error"]["kind"] == "secret_detected"
    assert snapshot(ctx.cwd) == {}
    for command, params in (("show", {"name": f"{KEY}/x"}), ("scan", {"paths": [KEY]}), ("promote", {"file": KEY})):
        run(ctx, command, params)


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"status": 99}, "status"),
        ({"request": "https://evil.example/product"}, "request"),
        ({"request": "product"}, "request"),
        ({"nmae": "x"}, "nmae"),
    ],
)
def test_bad_options_are_named(ctx: Context, params: dict[str, Any], field: str) -> None:
    raw(ctx.cwd / "a.json")
    error = run(ctx, "promote", {"file": "a.json"} | params)["error"]
    assert error["kind"] == "invalid_arguments"
    assert error["details"]["field"] == field


def test_exit_codes_and_streams_of_the_command_line(kc: Any, home: Path) -> None:
    (home / "work" / "cassettes").mkdir()
    raw(home / "work" / "a.json")
    raw(home / "work" / "b.json", {"tokensLeft": 5, "products": "none"})
    (home / "work" / "c.json").write_bytes(b"")
    request = ("--request", "/product?domain=1&asin=B0AAAAAAA1")
    expected = [
        (("promote", "a.json", "--name", "kettle", "--dry-run"), ExitCode.OK),
        (("promote", "a.json", "--name", "kettle"), ExitCode.OK),
        (("promote", "a.json", "--name", "kettle"), ExitCode.USAGE),
        (("promote", "b.json", "--name", "b", *request), ExitCode.CONTRACT),
        (("promote", "c.json", "--name", "c"), ExitCode.FAILURE),
        (("show", "nothing"), ExitCode.MISS),
        (("verify", "kettle"), ExitCode.OK),
        (("refresh", "kettle", "--live"), ExitCode.CONFIRMATION),
    ]
    for args, code in expected:
        done = kc("--json", "cassettes", *args)
        assert done.returncode == code, (args, done.stdout, done.stderr)
        assert json.loads(done.stdout)["ok"] is (code == ExitCode.OK)
        assert done.stderr == ""
