"""Every test runs with a closed network, an empty home and no key."""

from __future__ import annotations

import io
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import slow

REPO = Path(__file__).parents[1]
SHARED = REPO.parent / "shared"
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs deaf to Ctrl-C, and processes of tests would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow.mark(items)


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes are named by their length: compressed data differs from run to run, test names must not."""
    return f"{argname}-{len(val)}-bytes" if isinstance(val, bytes) else None


@pytest.fixture
def shared_data() -> Path:
    """Real Keepa bodies, present beside a checkout only."""
    if not (SHARED / "data").is_dir():
        pytest.skip("real Keepa bodies (../shared/data) are not on this machine")
    return SHARED / "data"


@pytest.fixture(autouse=True)
def closed_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only this machine can be reached; any other address fails the test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family in {socket.AF_INET, socket.AF_INET6} and address[0] not in LOOPBACK:
            raise AssertionError(f"a test tried to reach {address!r}")
        return connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home: configuration, state, data and working folder of one test."""
    for name in ("work", "state", "data"):
        (tmp_path / name).mkdir()
    return tmp_path


@pytest.fixture
def clean_env(home: Path) -> dict[str, str]:
    """The environment of a new user: no key, no CI, everything below `home`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("KEEPA_") and k not in {"CI", "TZ"}}
    return kept | {
        "HOME": str(home),
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
        "KEEPA_CLI_DATA_DIR": str(home / "data"),
        "PYTHONPATH": str(REPO),
        "PYTHONIOENCODING": "utf-8",
    }


@pytest.fixture
def kc(clean_env: dict[str, str], home: Path) -> Any:
    """Run the command line in a process of its own: kc("--json", "doctor") -> CompletedProcess."""

    def run(
        *args: str, env: Mapping[str, str] | None = None, cwd: Path | None = None, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "keepa_cli", *args],
            env={**clean_env, **(env or {})},
            cwd=cwd or home / "work",
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def cli(clean_env: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command line in this process: cli("--json", "doctor") -> CompletedProcess. Ten times faster than `kc`."""
    from keepa_cli.core.context import Context
    from keepa_cli.interfaces.cli.app import run

    def call(*args: str, env: Mapping[str, str] | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(home / "work")
        out, err = io.StringIO(), io.StringIO()
        context = Context(
            env={**clean_env, **(env or {})}, cwd=home / "work", stdin=io.StringIO(stdin), stdout=out, stderr=err
        )
        code = run(list(args), context)
        return subprocess.CompletedProcess(list(args), code, out.getvalue(), err.getvalue())

    return call


@pytest.fixture(autouse=True)
def no_inherited_settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in list(os.environ):
        if name.startswith("KEEPA_"):
            monkeypatch.delenv(name)
    yield
