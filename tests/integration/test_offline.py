"""Replay, fixture and dry-run open no socket: proved with a guard everywhere, and without any network interface."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.support.sandbox import KEY, running_sandbox

GUARD = """
import sys
def refuse(event, args):
    if event.startswith("socket.") and event not in {"socket.gethostname"}:
        sys.stderr.write(f"SOCKET {event}\\n")
        sys.stderr.flush()
        import os
        os._exit(99)
sys.addaudithook(refuse)
from keepa_cli.cli import main
sys.exit(main())
"""
RUNS = [
    ("replay", ["tokens", "status"], 0),
    ("replay of a product", ["products", "get", "B000000001"], 0),
    ("fixture", ["products", "get", "B000000001", "--fixture", "offline_product"], 0),
    ("dry-run", ["products", "get", "B000000002", "--offers", "20", "--dry-run"], 0),
    ("miss", ["products", "get", "B000000002"], 6),
    ("missing fixture", ["tokens", "status", "--fixture", "nowhere"], 6),
    ("doctor", ["doctor"], 0),
]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user who recorded a product and a token status, and has a key and a live server set."""
    from keepa_cli import ops
    from keepa_cli.core.context import Context
    from keepa_cli.engine import Flags, Options, run

    home = tmp_path_factory.mktemp("offline")
    env = {
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
        "KEEPA_CLI_DATA_DIR": str(home / "data"),
        "KEEPA_CLI_CASSETTES": str(home / "cassettes"),
        "KEEPA_API_KEY": KEY,
    }
    calls = {"offline_product": ("products.get", {"asin": ["B000000001"]}), "offline_token": ("tokens.status", {})}
    with running_sandbox() as box:
        for name, (operation, params) in calls.items():
            ctx = Context(env=env | {"KEEPA_BASE_URL": box.base_url}, cwd=home)
            done = run(ops.find(operation), params, ctx, Options(flags=Flags(record=name)))
            assert done["ok"], done
            recording = next((home / "state" / "inbox").glob(f"{name}-*.yaml"))
            chosen = {"file": str(recording), "name": name}
            done = run(ops.find("cassettes.promote"), chosen, Context(env=env, cwd=home), Options(find=ops.find))
            assert done["ok"], done
    return env


@pytest.mark.parametrize(("args", "code"), [r[1:] for r in RUNS], ids=[r[0] for r in RUNS])
def test_no_socket_is_opened(recorded: dict[str, str], clean_env: dict[str, str], args: list[str], code: int) -> None:
    command = [sys.executable, "-c", GUARD, "--json", *args]
    done = subprocess.run(command, env=clean_env | recorded, capture_output=True, text=True, check=False)
    assert "SOCKET" not in done.stderr and done.returncode == code, done.stderr + done.stdout
    result = json.loads(done.stdout)
    if result["ok"] and "charged" in result["token_bucket"]:
        assert result["token_bucket"]["charged"] == 0


def test_the_guard_sees_a_live_call(recorded: dict[str, str], clean_env: dict[str, str]) -> None:
    env = clean_env | recorded | {"KEEPA_BASE_URL": "http://127.0.0.1:9"}
    command = [sys.executable, "-c", GUARD, "tokens", "status", "--live"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 99 and "SOCKET" in done.stderr


def _namespace() -> list[str] | None:
    """A command prefix that runs without any network interface, where this system lets us."""
    unshare = shutil.which("unshare")
    for prefix in ([unshare, "-n"], [unshare, "-r", "-n"]) if unshare else ():
        if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0:
            return [str(word) for word in prefix]
    return None


def test_everything_works_without_a_network_interface(recorded: dict[str, str], clean_env: dict[str, str]) -> None:
    prefix = _namespace()
    if prefix is None:
        pytest.skip("this system lets us make no network namespace")
    for _, args, code in RUNS:
        command = [*prefix, sys.executable, "-m", "keepa_cli", "--json", *args]
        done = subprocess.run(command, env=clean_env | recorded, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr + done.stdout


def test_replay_does_not_read_the_key(recorded: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from keepa_cli import ops
    from keepa_cli.core.context import Context
    from keepa_cli.engine import Options, run

    class Watched(dict[str, str]):
        read: ClassVar[list[str]] = []

        def get(self, key: str, default: Any = None) -> Any:
            self.read.append(key)
            return super().get(key, default)

        def __getitem__(self, key: str) -> str:
            self.read.append(key)
            return super().__getitem__(key)

    env = Watched(recorded)
    assert run(ops.find("tokens.status"), {}, Context(env=env, cwd=home), Options())["ok"]
    assert "KEEPA_CLI_CASSETTES" in env.read and "KEEPA_API_KEY" not in env.read
