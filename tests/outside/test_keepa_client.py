"""The public Python client of Keepa, unmodified, against the sandbox: both sides must agree on every value.

It needs the extra `outside` (pandas and numpy come with it), so it is run in an environment of its own:
`python -m venv .venv-outside; .venv-outside/bin/pip install -e ".[outside]" pytest`, then
`.venv-outside/bin/pytest tests/outside`. Everywhere else the module is skipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

keepa = pytest.importorskip("keepa", reason="the extra `outside` (the public client keepa) is not installed")

import requests  # noqa: E402

from keepa_cli.sandbox import Sandbox  # noqa: E402
from tests.support.sandbox import KEY, running_sandbox  # noqa: E402

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
        assert request.url.startswith(ORIGIN + "/")
        request.url = self.sandbox.base_url + request.url.removeprefix(ORIGIN)
        self.sent_headers.append(dict(request.headers))
        answer = self._send(adapter, request, **{**options, "proxies": {}})
        self.answers.append(answer.json())
        return answer


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    with running_sandbox(rate=60) as sandbox:
        wire = Wire(sandbox)

        def send(adapter: requests.adapters.HTTPAdapter, request: Any, **options: Any) -> requests.Response:
            return wire.send(adapter, request, **options)

        monkeypatch.setattr(requests.adapters.HTTPAdapter, "send", send)
        yield wire


@pytest.fixture
def api(wire: Wire) -> Any:
    return keepa.Keepa(KEY, logging_level="WARNING")


@pytest.mark.parametrize("asin", ["B0AMAZON01", "B0LARGES01", "B0SINGLE01", "B0FAMILY01", "B0EBOOKS01"])
def test_a_product_query_parses_to_what_was_sent(api: Any, wire: Wire, asin: str) -> None:
    product = api.query(asin, stats=90, rating=True, buybox=True, offers=20)[0]
    sent = wire.answers[-1]["products"][0]
    assert product["asin"] == sent["asin"] == asin
    assert product["title"] == sent["title"]
    checked = 0
    for index, name, scaled in keepa.constants.csv_indices:
        row = sent["csv"][index]
        if row is None or name not in product["data"]:
            continue
        stride = 3 if index in TRIPLES else 2
        times = [EPOCH + timedelta(minutes=t) for t in row[::stride]]
        assert product["data"][f"{name}_time"].tolist() == times
        found = list(map(float, product["data"][name]))
        assert _same(found, [_expected(name, row[i : i + stride], scaled) for i in range(0, len(row), stride)]), name
        checked += len(times)
    assert checked > 10


def _expected(name: str, point: list[int], scaled: bool) -> float:
    """The value as this client shows it: missing is nan, prices in units, ratings in stars, shipping added."""
    value = point[1] + (point[2] if len(point) == 3 else 0)
    if not scaled:
        return float(value)
    if value < 0:
        return math.nan
    return value / (10 if name == "RATING" else 100)


def _same(found: list[float], expected: list[float]) -> bool:
    pairs = zip(found, expected, strict=True)
    return all((math.isnan(a) and math.isnan(b)) or math.isclose(a, b, abs_tol=1e-9) for a, b in pairs)


def test_the_statistics_parse_to_what_was_sent(api: Any, wire: Wire) -> None:
    product = api.query("B0AMAZON01", stats=90)[0]
    sent = wire.answers[-1]["products"][0]["stats"]
    for name in ("current", "avg", "avg90", "avg30"):
        parsed = product["stats_parsed"][name]
        for index, label, scaled in keepa.constants.csv_indices:
            if sent[name][index] >= 0:
                scale = (10 if label == "RATING" else 100) if scaled else 1
                assert math.isclose(float(parsed[label]), sent[name][index] / scale), (name, label)
    assert product["stats_parsed"]["min"]["NEW"][1] == sent["min"][1][1] / 100


def test_several_products_come_in_order_and_are_charged(api: Any, wire: Wire) -> None:
    asins = ["B0AMAZON01", "B0SINGLE01", "ZZZZZZZZZZ"]
    found = api.query(asins, history=False)
    assert [p["asin"] for p in found] == asins
    assert [p["productType"] for p in found] == [0, 0, 4]
    assert api.tokens_left == wire.answers[-1]["tokensLeft"] == 3597


def test_typed_products_fit_the_models_of_the_client(api: Any) -> None:
    found = api.query(["B0AMAZON01", "B0FAMILY01", "B0QMARKS01"], stats=90, typed=True)
    assert [p.asin for p in found] == ["B0AMAZON01", "B0FAMILY01", "B0QMARKS01"]


def test_a_category_search_and_a_lookup_give_what_was_sent(api: Any, wire: Wire) -> None:
    found = api.search_for_categories("kitchen")
    assert found == wire.answers[-1]["categories"] and found
    roots = api.category_lookup(0)
    assert roots == wire.answers[-1]["categories"]
    assert all(root["parent"] == 0 for root in roots.values())


def test_the_token_status_is_that_of_the_bucket(api: Any, wire: Wire) -> None:
    api.update_status()
    sent = wire.answers[-1]
    assert api.tokens_left == sent["tokensLeft"] == 3600
    assert (api.status.refillRate, api.status.refillIn) == (60, sent["refillIn"])
    assert api.time_to_refill > 0


def test_errors_reach_the_client_under_their_names(wire: Wire) -> None:
    with pytest.raises(RuntimeError, match="REQUEST_REJECTED"):
        keepa.Keepa("short", logging_level="WARNING").update_status()
    wire.sandbox.bucket.set_balance(0)
    with pytest.raises(RuntimeError, match="NOT_ENOUGH_TOKEN"):
        keepa.Keepa(KEY, logging_level="WARNING").query("B0AMAZON01", wait=False)


def test_the_client_asked_in_its_own_way(api: Any, wire: Wire) -> None:
    api.query("B0AMAZON01", stats=90)
    assert wire.sent_headers[-1]["Accept-Encoding"] == "zstd, gzip, deflate"
    assert wire.sandbox.log[-1].path == "/product"
