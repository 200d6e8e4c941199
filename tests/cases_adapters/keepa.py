"""Adapters of the verbs about Keepa's data and about names given by users."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from typing import Any

import pytest

from keepa_cli.cassettes.codec import dump_cassette, parse_cassette
from keepa_cli.cassettes.model import Exchange
from keepa_cli.core import envelope
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.redact import Redactor
from keepa_cli.keepa import asin, clock, decode, domains, money, series
from keepa_cli.keepa.csvtypes import ITEM_PRICE_UNTIL
from keepa_cli.keepa.strictjson import dump_json, load_json
from tests.cases_adapters import verb


@verb("time.to_utc")
def time_to_utc(given: dict[str, Any]) -> dict[str, Any]:
    runs = [in_time_zone(zone, lambda: times(given["items"])) for zone in given.get("env_TZ", [None])]
    assert all(run == runs[0] for run in runs)
    return {"utc": runs[0]}


def times(items: list[dict[str, Any]]) -> list[str | None]:
    in_series = ("csv", "CSV", "History", "salesRanks")
    return [
        clock.series_time(i["minutes"]) if i["field"].endswith(in_series) else clock.field_time(i["minutes"])
        for i in items
    ]


def in_time_zone(zone: str | None, run: Callable[[], Any]) -> Any:
    if zone is None or not hasattr(time, "tzset"):
        return run()
    before = os.environ.get("TZ")
    try:
        os.environ["TZ"] = zone
        time.tzset()
        return run()
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()


def packed(given: dict[str, Any]) -> list[int]:
    rule = given.get("series_rule")
    if rule is None:
        return given["series"]
    values = [rule["value"]] * rule["count"]
    for n, value in rule.get("overrides", {}).items():
        values[int(n)] = value
    return [x for n, value in enumerate(values) for x in (rule["start"] + n * rule["step"], value)]


@verb("series.decode")
def series_decode(given: dict[str, Any]) -> dict[str, Any]:
    return series.decode(packed(given), given["index"], domains.resolve(given["domain"]))


@verb("series.value_at")
def series_value_at(given: dict[str, Any]) -> dict[str, Any]:
    found = series.read_series(packed(given), given["index"])
    domain = domains.resolve(given["domain"])
    return {"values": [series.value_at(found, clock.from_iso(t), domain) for t in given["times"]]}


@verb("series.basis")
def series_basis(given: dict[str, Any]) -> dict[str, Any]:
    found = series.read_series(packed(given), given["index"])
    domain = domains.resolve(given["domain"])
    points = [
        point | {"basis": series.basis(found.type, at)}
        for at, point in zip(found.times, series.points(found, domain), strict=True)
    ]
    return {"break_at": clock.iso(ITEM_PRICE_UNTIL), "points": points}


@verb("series.big")
def series_big(given: dict[str, Any]) -> dict[str, Any]:
    import tracemalloc

    numbers, domain = packed(given), domains.resolve(given["domain"])
    began = time.perf_counter()
    points = series.decode(numbers, given["index"], domain)["points"]
    seconds = time.perf_counter() - began
    tracemalloc.start()
    kept = series.decode(numbers, given["index"], domain)["points"]
    megabytes = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    assert kept == points
    assert seconds < 5
    assert megabytes < 500
    return {"points": len(points), "last": points[-1], "limits": {"seconds": 5, "megabytes": 500}}


@verb("buybox.history")
def buybox_history(given: dict[str, Any]) -> dict[str, Any]:
    return {"events": decode.seller_events(given["history"])}


@verb("stats.decode")
def stats_decode(given: dict[str, Any]) -> dict[str, Any]:
    return decode.decode_stats(given["stats"], domains.resolve(given["domain"]))


@verb("money.format")
def money_format(given: dict[str, Any]) -> dict[str, Any]:
    return {"amounts": [money.money(i["minor"], domains.resolve(i["domain"])) for i in given["items"]]}


def answered(value: Any, parse: Callable[[Any], Any], error: str) -> Any:
    try:
        return parse(value)
    except KeepaCliError as e:
        assert e.kind is Kind.INVALID_ARGUMENTS
        return {"error": error}


def without_requests(monkeypatch: pytest.MonkeyPatch, run: Callable[[], list[Any]]) -> dict[str, Any]:
    """What `run` gives and how many connections it opened."""
    opened: list[Any] = []
    monkeypatch.setattr(socket.socket, "connect", lambda _, address: opened.append(address))
    return {"results": run(), "requests_sent_for_invalid": len(opened)}


@verb("domain.resolve")
def domain_resolve(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    def one(value: Any) -> Any:
        return answered(value, lambda v: domains.resolve(v).id, "invalid_domain")

    return without_requests(monkeypatch, lambda: [one(v) for v in given["values"]])


@verb("input.asin")
def input_asin(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    def one(value: Any) -> Any:
        return answered(value, lambda v: {"asin": asin.parse_asin(v)}, "invalid_asin")

    return without_requests(monkeypatch, lambda: [one(v) for v in given["values"]])


@verb("code.classify")
def code_classify(given: dict[str, Any]) -> dict[str, Any]:
    return {"results": [asin.classify_code(v) for v in given.get("values") or given.get("codes") or []]}


@verb("json.strict")
def json_strict(given: dict[str, Any]) -> dict[str, Any]:
    domain = domains.resolve(given["domain"])
    views = [
        p | {"series": [series.decode(slot, i, domain) for i, slot in enumerate(p["csv"])]} for p in given["products"]
    ]
    writers: dict[str, Callable[[], str]] = {
        "mcp result": lambda: dump_json({"structuredContent": {"products": views}}),
        "cli --json": lambda: envelope.dumps(envelope.ok("products.get", {}, {"products": views}), Redactor()),
        "ndjson": lambda: "\n".join(map(dump_json, views)),
        "cassette": lambda: cassette_body(dump_json({"products": views})),
    }
    texts = [text for name in given["outputs"] for text in writers[name]().split("\n")]
    for text in texts:
        load_json(text.encode())
    unseen = [t for t in ("NaN", "Infinity") if not any(t in text for text in texts)]
    return {"must_not_contain_tokens": unseen, "strict_parse": True}


def cassette_body(body: str) -> str:
    exchange = Exchange("GET", "https://api.keepa.com/product?domain=1", {}, b"", 200, "OK", {}, body.encode())
    return parse_cassette(b"".join(dump_cassette([exchange])), "x.yaml")[0].body.decode().replace("\n", " ")
