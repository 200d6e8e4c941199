"""Servers in processes of their own, and homes that a module's tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from keepa_cli.core.context import Context
from tests.support.mcp_pipe import McpPipe
from tests.support.sandbox import KEY

REPO = Path(__file__).parents[2]
ODD = Path(__file__).with_name("odd_server.py")


@dataclass(frozen=True)
class Home:
    """An empty home of a new user without a key."""

    path: Path

    def __post_init__(self) -> None:
        for name in ("work", "state", "data"):
            (self.path / name).mkdir(parents=True)

    @property
    def env(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("KEEPA_") and k not in {"CI", "TZ"}}
        return kept | {
            "HOME": str(self.path),
            "KEEPA_CLI_CONFIG": str(self.path / "config.toml"),
            "KEEPA_CLI_STATE_DIR": str(self.path / "state"),
            "KEEPA_CLI_DATA_DIR": str(self.path / "data"),
            "PYTHONPATH": str(REPO),
            "PYTHONIOENCODING": "utf-8",
        }

    @property
    def work(self) -> Path:
        return self.path / "work"

    def context(self, env: Mapping[str, str] | None = None) -> Context:
        return Context(env={**self.env, **(env or {})}, cwd=self.work)

    def pipe(self, *args: str, env: Mapping[str, str] | None = None, opened: bool = True, odd: bool = False) -> McpPipe:
        """A server; `odd` has a tool that misbehaves on request."""
        import sys

        command = [sys.executable, str(ODD)] if odd else None
        return McpPipe({**self.env, **(env or {})}, self.work, *args, command=command, opened=opened)

    def live(self, url: str, *, opened: bool = True, odd: bool = False) -> McpPipe:
        """A server whose calls reach a stand-in for Keepa."""
        env = {"KEEPA_BASE_URL": url, "KEEPA_API_KEY": KEY}
        return self.pipe("--mcp", "--live", env=env, opened=opened, odd=odd)


@pytest.fixture
def own(tmp_path: Path) -> Home:
    """A home for one test."""
    return Home(tmp_path / "own")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home for the tests of a module."""
    return Home(tmp_path_factory.mktemp("home") / "shared")


@pytest.fixture(scope="module")
def pipe(shared: Home) -> Iterator[McpPipe]:
    """An opened server that the tests of a module share; it must survive each of them."""
    with shared.pipe() as found:
        yield found
        assert found.ask("ping")["result"] == {}


@pytest.fixture(scope="module")
def odd(shared: Home) -> Iterator[McpPipe]:
    """The same with a tool that misbehaves."""
    with shared.pipe(odd=True) as found:
        yield found
        assert found.ask("ping")["result"] == {}
