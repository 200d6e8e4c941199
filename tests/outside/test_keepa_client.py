"""The public Python client of Keepa, unmodified, against the sandbox: both sides must agree on every value.

It needs the extra `outside` (pandas and numpy come with it), so it is run in an environment of its own:
`python -m venv .venv-outside; .venv-outside/bin/pip install -e ".[outside]" pytest`, then
`.venv-outside/bin/pytest tests/outside`. Everywhere else the module is skipped.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import math
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

keepa = pytest.importorskip("keepa", reason="the extra `outside` (the public client keepa) is not installed")

import aiohttp  # noqa: E402
import requests  # noqa: E402

from keepa_cli.keepa.graph import size  # noqa: E402
from tests.outside.support import Wire, check_series, minute  # noqa: E402
from tests.support.sandbox import KEY, running_sandbox  # noqa: E402

VERSION = "1.6.0"
DEVIATIONS = {
    "KD05": "with out_of_stock_as_nan=False an absent price is -0.01",
    "KD08": "yen are divided by 100 like any other currency",
    "KD16": "unspecified shipping of an offer (-1) is added to its price as -0.01",
}
"""Shared field cases in which this client is wrong about what was sent; the tests below pin each."""


def test_the_version_of_the_client() -> None:
    assert importlib.metadata.version("keepa") == VERSION


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


@pytest.fixture
def later(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Any], Awaitable[Any]]], Any]:
    """Run one call of the asynchronous client: later(lambda api: api.query(...))."""
    send = aiohttp.ClientSession._request

    async def moved(session: aiohttp.ClientSession, method: str, url: str, **options: Any) -> Any:
        return await send(session, method, wire.moved(url), **options)

    monkeypatch.setattr(aiohttp.ClientSession, "_request", moved)

    async def run(call: Callable[[Any], Awaitable[Any]]) -> Any:
        return await call(await keepa.AsyncKeepa.create(KEY))

    return lambda call: asyncio.run(run(call))


@pytest.mark.parametrize("asin", ["B0AMAZON01", "B0LARGES01", "B0SINGLE01", "B0FAMILY01", "B0EBOOKS01"])
def test_a_product_query_parses_to_what_was_sent(api: Any, wire: Wire, asin: str) -> None:
    product = api.query(asin, stats=90, rating=True, buybox=True, offers=20)[0]
    sent = wire.answers[-1]["products"][0]
    assert product["asin"] == sent["asin"] == asin
    assert product["title"] == sent["title"]
    assert check_series(product, sent, keepa.constants.csv_indices) > 10


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


def test_the_buy_box_parses_to_what_was_sent(api: Any, wire: Wire) -> None:
    product = api.query("B0AMAZON01", stats=90, buybox=True)[0]
    sent = wire.answers[-1]["products"][0]
    assert product["buyBoxSellerIdHistory"] == sent["buyBoxSellerIdHistory"]
    price = sent["stats"]["current"][18]
    assert product["stats_parsed"]["current"]["BUY_BOX_SHIPPING"] == price / 100
    assert product["stats"]["buyBoxPrice"] + max(0, product["stats"]["buyBoxShipping"]) == price


def test_offers_parse_to_what_was_sent_but_for_unspecified_shipping(api: Any, wire: Wire) -> None:
    """Deviation KD16."""
    product = api.query("B0LARGES01", offers=100, stock=True)[0]
    sent = wire.answers[-1]["products"][0]["offers"]
    assert len(product["offers"]) == len(sent) > 3
    shipping = set()
    for offer, raw in zip(product["offers"], sent, strict=True):
        times, prices = keepa.convert_offer_history(offer["offerCSV"])
        row = raw["offerCSV"]
        assert times.tolist() == [minute(t) for t in row[::3]]
        shipping |= set(row[2::3])
        assert prices.tolist() == pytest.approx([(p + s) / 100 for p, s in zip(row[1::3], row[2::3], strict=True)])
    assert -1 in shipping, "the deviation shows only where shipping is unspecified"


def test_an_absent_price_is_minus_a_cent_when_it_must_not_be_nan(api: Any, wire: Wire) -> None:
    """Deviation KD05."""
    product = api.query("B0AMAZON01", out_of_stock_as_nan=False)[0]
    raw = wire.answers[-1]["products"][0]["csv"][0]
    gone = [i for i, value in enumerate(raw[1::2]) if value == -1]
    assert gone and {float(product["data"]["AMAZON"][i]) for i in gone} == {-0.01}


def test_a_product_without_data_is_no_error(api: Any, wire: Wire) -> None:
    assert api.query("ZZZZZZZZZZ")[0]["productType"] == 4
    assert wire.answers[-1]["products"][0]["csv"] is None


def test_yen_are_a_hundred_times_too_low(api: Any, wire: Wire) -> None:
    """Deviation KD08."""
    product = api.query("B0AMAZON01", domain="JP")[0]
    raw = wire.answers[-1]["products"][0]["csv"][1]
    assert [v for v in product["data"]["NEW"].tolist() if not math.isnan(v)] == [v / 100 for v in raw[1::2] if v >= 0]


def test_the_used_buy_box_parses_to_what_was_sent(api: Any, wire: Wire) -> None:
    product = api.query("B0AMAZON01", buybox=True)[0]
    sent = wire.answers[-1]["products"][0]["buyBoxUsedHistory"]
    table = keepa.process_used_buybox(product["buyBoxUsedHistory"])
    assert table["user_id"].tolist() == sent[1::4] and "" in sent[1::4]
    assert [t.to_pydatetime() for t in table["datetime"]] == [minute(int(t)) for t in sent[::4]]


def test_the_finder_gives_what_was_found(api: Any, wire: Wire) -> None:
    asins = api.product_finder({"current_NEW_gte": 1000, "current_NEW_lte": 3000, "sort": [["current_SALES", "asc"]]})
    assert asins == wire.answers[-1]["asinList"] and len(asins) == 50
    assert wire.answers[-1]["tokensConsumed"] == 11
    prices = [p["stats_parsed"]["current"]["NEW"] for p in api.query(asins, stats=1, history=False)]
    assert all(10 <= price <= 30 for price in prices)
    assert len(api.product_finder(keepa.ProductParams(brand=["Glimra"], perPage=100))) > 50


@pytest.mark.parametrize("typed", [False, True])
def test_deals_are_what_was_sent(api: Any, wire: Wire, typed: bool) -> None:
    found = api.deals({"page": 0, "domainId": 1, "priceTypes": [1], "dateRange": 3}, typed=typed)
    sent = wire.answers[-1]["deals"]
    assert len(sent["dr"]) == 150
    if typed:
        assert [deal.asin for deal in found.dr] == [deal["asin"] for deal in sent["dr"]]
        assert found.dr[0].delta == sent["dr"][0]["delta"]
    else:
        assert found == sent
    assert api.deals({"page": 0, "domainId": 1})["dr"] == wire.answers[-1]["deals"]["dr"]


@pytest.mark.parametrize("typed", [False, True])
def test_best_sellers_are_what_was_sent(api: Any, wire: Wire, typed: bool) -> None:
    root = next(iter(api.category_lookup(0)))
    found = api.best_sellers_query(root, typed=typed)
    sent = wire.answers[-1]["bestSellersList"]
    assert (found.asinList if typed else found) == sent["asinList"] and len(sent["asinList"]) > 50
    assert api.best_sellers_query(root, rank_avg_range=90) == wire.answers[-1]["bestSellersList"]["asinList"]


@pytest.mark.parametrize("typed", [False, True])
def test_sellers_are_what_was_sent(api: Any, wire: Wire, typed: bool) -> None:
    seller = "ATVPDKIKX0DER"
    found = api.seller_query(seller, storefront=True, typed=typed)[seller]
    sent = wire.answers[-1]["sellers"][seller]
    if typed:
        assert (found.sellerName, found.asinList, found.csv) == (sent["sellerName"], sent["asinList"], sent["csv"])
    else:
        assert found["asinList"] == sent["asinList"]
        assert found["trackedSince"] == minute(sent["trackedSince"])
    assert wire.answers[-1]["tokensConsumed"] == 10


def test_a_graph_is_written_as_it_was_sent(api: Any, tmp_path: Path) -> None:
    api.download_graph_image("B0AMAZON01", tmp_path / "graph.png", width=640, height=320, salesrank=1)
    assert size((tmp_path / "graph.png").read_bytes()) == (640, 320)


def test_the_asynchronous_client_sees_the_same(api: Any, later: Any, tmp_path: Path) -> None:
    query: dict[str, Any] = {"stats": 90, "rating": True, "buybox": True, "offers": 20}
    here, there = api.query("B0AMAZON01", **query)[0], later(lambda a: a.query("B0AMAZON01", **query))[0]
    assert there["csv"] == here["csv"]
    assert check_series(there, here, keepa.constants.csv_indices) > 100
    finder = {"brand": ["Glimra"]}
    assert later(lambda a: a.product_finder(finder)) == api.product_finder(finder)
    deals = {"page": 0, "domainId": 1, "priceTypes": [1]}
    assert later(lambda a: a.deals(deals)) == api.deals(deals)
    roots = later(lambda a: a.category_lookup(0))
    assert roots == api.category_lookup(0)
    root = next(iter(roots))
    assert later(lambda a: a.best_sellers_query(root)) == api.best_sellers_query(root)
    assert later(lambda a: a.search_for_categories("kitchen")) == api.search_for_categories("kitchen")
    sellers = later(lambda a: a.seller_query("ATVPDKIKX0DER"))
    assert sellers == api.seller_query("ATVPDKIKX0DER")
    later(lambda a: a.download_graph_image("B0AMAZON01", tmp_path / "graph.png"))
    assert size((tmp_path / "graph.png").read_bytes()) == (500, 200)


def test_the_asynchronous_client_hears_of_errors_and_tokens(later: Any, wire: Wire) -> None:
    async def status(a: Any) -> int:
        await a.update_status()
        return int(a.tokens_left)

    assert later(status) == 3600
    wire.sandbox.bucket.set_balance(0)
    with pytest.raises(RuntimeError, match="NOT_ENOUGH_TOKEN"):
        later(lambda a: a.query("B0AMAZON01", wait=False))
