"""The public Python client of Keepa, wired to a sandbox: what it sends and what it was answered."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

import requests

from keepa_cli.sandbox import Sandbox

ORIGIN = "https://api.keepa.com"
TRIPLES = {7, *range(18, 30), 32}
EPOCH = datetime(2011, 1, 1)  # noqa: DTZ001 - the client gives naive UTC


class Wire:
    """Sends what is meant for Keepa to the sandbox, below the client, and keeps the answers."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.answers: list[dict[str, Any]] = []
        self.sent_headers: list[dict[str, str]] = []
        self._send = requests.adapters.HTTPAdapter.send

    def send(self, adapter: requests.adapters.HTTPAdapter, request: Any, **options: Any) -> requests.Response:
        request.url = self.moved(request.url)
        self.sent_headers.append(dict(request.headers))
        answer = self._send(adapter, request, **{**options, "proxies": {}})
        if answer.headers["Content-Type"].startswith("application/json"):
            self.answers.append(answer.json())
        return answer

    def moved(self, url: str) -> str:
        assert url.startswith(ORIGIN + "/")
        return self.sandbox.base_url + url.removeprefix(ORIGIN)


def minute(value: int) -> datetime:
    return EPOCH + timedelta(minutes=value)


def expected(name: str, point: list[int], *, scaled: bool) -> float:
    """The value as this client shows it: missing is nan, prices in units, ratings in stars, shipping added."""
    value = point[1] + (point[2] if len(point) == 3 else 0)
    if not scaled:
        return float(value)
    if value < 0:
        return math.nan
    return value / (10 if name == "RATING" else 100)


def same(found: list[float], wanted: list[float]) -> bool:
    pairs = zip(found, wanted, strict=True)
    return all((math.isnan(a) and math.isnan(b)) or math.isclose(a, b, abs_tol=1e-9) for a, b in pairs)


def check_series(product: dict[str, Any], sent: dict[str, Any], indices: list[tuple[int, str, bool]]) -> int:
    """Compare every history that the client parsed with what was sent. How many points that were."""
    checked = 0
    for index, name, scaled in indices:
        row = sent["csv"][index]
        if row is None:
            assert name not in product["data"]
            continue
        stride = 3 if index in TRIPLES else 2
        assert product["data"][f"{name}_time"].tolist() == [minute(t) for t in row[::stride]]
        found = list(map(float, product["data"][name]))
        wanted = [expected(name, row[i : i + stride], scaled=scaled) for i in range(0, len(row), stride)]
        assert same(found, wanted), name
        checked += len(wanted)
    return checked
