"""A sandbox with a clock that stands still, and one way to ask it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests

from keepa_cli.sandbox import Sandbox
from tests.support.sandbox import KEY, Clock, running_sandbox


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sandbox(clock: Clock) -> Iterator[Sandbox]:
    with running_sandbox(rate=60, clock=clock) as running:
        yield running


@pytest.fixture
def get(sandbox: Sandbox) -> Callable[..., requests.Response]:
    return lambda path, **params: ask(sandbox, path, **params)


def ask(sandbox: Sandbox, path: str, key: str = KEY, **params: Any) -> requests.Response:
    """GET with the key; `only_live_offers` becomes `only-live-offers`."""
    query = {name.replace("_", "-"): value for name, value in params.items()}
    return requests.get(sandbox.base_url + path, params={"key": key, **query}, timeout=20)


@pytest.fixture(scope="session")
def mall() -> Iterator[Sandbox]:
    """One sandbox for tests that only read: its index of products is built once."""
    with running_sandbox(rate=100_000, clock=Clock()) as running:
        yield running


@pytest.fixture(scope="session")
def read(mall: Sandbox) -> Callable[..., requests.Response]:
    return lambda path, **params: ask(mall, path, **params)


@pytest.fixture(scope="session")
def post(mall: Sandbox) -> Callable[..., requests.Response]:
    return lambda path, body, *kind, **params: send(mall, path, body, *kind, **params)


def send(sandbox: Sandbox, path: str, body: Any, kind: str = "application/json", **params: Any) -> requests.Response:
    """POST a JSON body under any content type."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": kind}
    return requests.post(sandbox.base_url + path, params={"key": KEY, **params}, data=data, headers=headers, timeout=20)
