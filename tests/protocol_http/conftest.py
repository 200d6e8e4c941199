"""A server of recordings for each module, and the context that servers are made from."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from keepa_cli.core.context import Context
from tests.support.mcp_http import Client, Running, running


def context(folder: Path, **env: str) -> Context:
    """The context of a new user whose files stand below `folder`."""
    for name in ("state", "data", "work"):
        (folder / name).mkdir(exist_ok=True)
    own = {
        "HOME": str(folder),
        "KEEPA_CLI_CONFIG": str(folder / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(folder / "state"),
        "KEEPA_CLI_DATA_DIR": str(folder / "data"),
    }
    return Context(env=own | env, cwd=folder / "work", stdin=io.StringIO(), stdout=io.StringIO(), stderr=io.StringIO())


@pytest.fixture
def ctx(tmp_path: Path) -> Context:
    return context(tmp_path)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(context(tmp_path_factory.mktemp("server")), origins=("https://app.example.com",)) as found:
        yield found


@pytest.fixture
def client(shared: Running) -> Client:
    return shared.client
