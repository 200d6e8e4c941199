"""Beyond loopback a bearer token is needed; it never shows."""

from __future__ import annotations

import hmac
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.interfaces.mcp import guard, http
from tests.support.mcp_http import INITIALIZE, Client, running

TOKEN = "t0ken-" + "x7" * 20


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "example.com", "10.0.0.1"])
def test_other_machines_need_a_token(host: str) -> None:
    with pytest.raises(KeepaCliError) as found:
        http.rules_for(host, 8765, token=None, origins=(), dual=True)
    assert found.value.kind.value == "invalid_arguments"
    assert http.rules_for(host, 8765, token=TOKEN, origins=(), dual=True).hosts is None


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "localhost", "::1", "[::1]"])
def test_loopback_needs_none(host: str) -> None:
    assert http.rules_for(host, 8765, token=None, origins=(), dual=True).hosts


@pytest.mark.parametrize("origin", ["app.example.com", "*", "https://app.example.com/x", "null", "https://"])
def test_an_origin_that_no_browser_sends_is_refused(origin: str) -> None:
    with pytest.raises(KeepaCliError):
        http.rules_for("127.0.0.1", 1, token=None, origins=(origin,), dual=True)


def test_a_request_without_the_token_is_401(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    original = hmac.compare_digest

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return original(a, b)

    monkeypatch.setattr(guard.hmac, "compare_digest", compare)
    with running(ctx, token=TOKEN, host="0.0.0.0") as server:
        bad = [None, "", "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", TOKEN,
               f"Bearer {TOKEN}, Bearer x", "Bearer \xff\xfe"]  # fmt: skip
        for given in bad:
            found = server.client.ask("initialize", INITIALIZE, authorization=given)
            assert found.status == 401, given
            assert found.headers["www-authenticate"].startswith("Bearer")
            assert TOKEN.encode() not in found.body
            for method in ("GET", "DELETE"):
                assert server.client.request(method, authorization=given).status == 401
            assert Client(server.port, path="/other").ask("ping", authorization=given).status == 401
        assert len(compared) >= len(bad)
        for given in (f"Bearer {TOKEN}", f"bearer {TOKEN}", f"BEARER  {TOKEN}"):
            inside = Client(server.port, {"authorization": given, "host": "anything.example"}).opened()
            assert inside.ask("ping").status == 200
        assert server.client.request("OPTIONS").status == 204


def test_the_token_shows_nowhere(ctx: Context) -> None:
    ctx.redactor.add_secret(TOKEN)
    with running(ctx, token=TOKEN) as server:
        inside = Client(server.port, {"authorization": f"Bearer {TOKEN}"}).opened()
        for name in ("resolve_research_target", "query_research_context"):
            assert TOKEN not in str(inside.call(name, text=f"kettle {TOKEN}"))
        bad = inside.ask("tools/call", {"name": TOKEN})
        assert TOKEN.encode() not in bad.body
        assert TOKEN.encode() not in inside.ask("resources/read", {"uri": f"keepa://{TOKEN}"}).body


@contextmanager
def served(
    env: Mapping[str, str], folder: Path, *args: str, program: Sequence[str] = ("-m", "keepa_cli")
) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    command = [sys.executable, *program, "mcp", "serve", "--http", "--port", "0", *args]
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    child = subprocess.Popen(command, env=dict(env), cwd=folder, text=True, **pipes)
    try:
        assert child.stderr is not None
        address = re.search(r"http://\S+:(\d+)/mcp", child.stderr.readline())
        assert address
        yield child, Client(int(address[1]))
    finally:
        if child.poll() is None:
            child.kill()
        child.communicate()


def test_a_process_serves_takes_its_token_from_the_environment_and_ends_on_ctrl_c(
    clean_env: dict[str, str], home: Path
) -> None:
    env = {**clean_env, "MCP_TOKEN": TOKEN}
    with served(env, home / "work", "--token-env", "MCP_TOKEN", "--sse") as (child, client):
        assert client.ask("initialize", INITIALIZE).status == 401
        inside = Client(client.port, {"authorization": f"Bearer {TOKEN}"}).opened()
        assert inside.ask("tools/list").json["result"]["tools"]
        inside.raw(b"nonsense " + TOKEN.encode() + b"\r\n\r\n")
        began = time.monotonic()
        child.send_signal(signal.SIGINT) if os.name == "posix" else child.terminate()
        out, err = child.communicate(timeout=10)
        assert time.monotonic() - began < 5
        assert TOKEN not in out + err
        assert "Traceback" not in err
        assert out == ""
        assert child.returncode in (0, 130)


def test_bad_addresses_are_refused_with_a_sentence(kc: Any) -> None:
    taken = http.listen("127.0.0.1", 0)
    with taken:
        found = kc("--json", "mcp", "serve", "--http", "--port", str(taken.getsockname()[1]))
    assert found.returncode != 0
    assert "Cannot listen" in found.stdout + found.stderr
    for args in (("--host", "0.0.0.0"), ("--token-env", "NO_SUCH_NAME"), ("--allow-origin", "*")):
        found = kc("--json", "mcp", "serve", "--http", "--port", "0", *args)
        assert found.returncode == 2, found
        assert "Traceback" not in found.stderr
