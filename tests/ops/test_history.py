"""The histories of products as rows and as trends, against a scripted Keepa and the recording that ships."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.keepa.clock import DAY, even_minute, iso
from keepa_cli.ops import history
from tests.support.remote import BUCKET, call, refusal
from tests.support.scripted_server import ScriptedServer
from tests.support.views import problems

EXPORT, TREND = "history.export", "history.trend"
SHIPPED = "B0PPJ248DY"
ASIN = "B000000001"
NOW = even_minute(BUCKET["timestamp"])


def product(asin: str = ASIN, **fields: Any) -> dict[str, Any]:
    series: list[Any] = [None] * 36
    series[1] = [NOW - 400 * DAY, 2000, NOW - 100 * DAY, -1, NOW - 50 * DAY, 1500, NOW - 5 * DAY, 1600]
    series[3] = [n for i in range(6000) for n in (NOW - 6000 + i, 100 + i % 7)]
    return {
        "asin": asin, "domainId": 1, "productType": 0, "title": "Kettle", "lastUpdate": NOW, "trackingSince": 1,
        "csv": series,
    } | fields  # fmt: skip


def answer(*products: dict[str, Any]) -> ScriptedServer:
    return ScriptedServer([{"json": BUCKET | {"products": list(products)}}], repeat_last=True)


def data(home: Path, name: str, **params: Any) -> dict[str, Any]:
    with answer(product()) as server:
        result = call(name, home, {"asin": ASIN} | params, server)
    assert result["ok"], result["error"]
    found: dict[str, Any] = result["data"]
    return found


@pytest.mark.parametrize("name", [EXPORT, TREND])
def test_the_full_preset_is_asked_and_options_add_to_it(home: Path, name: str) -> None:
    plain = call(name, home, {"asin": ASIN}, dry_run=True)
    full = call("products.get", home, {"asin": ASIN, "full": True}, dry_run=True)
    assert plain["request"]["query"] == full["request"]["query"]
    assert plain["token_bucket"]["estimated"]["worst_case_tokens"] == 1
    more = call(name, home, {"asin": ASIN, "buybox": True, "rating": True}, dry_run=True)
    assert more["request"]["query"] == full["request"]["query"] | {"buybox": "1", "rating": "1"}
    assert more["token_bucket"]["estimated"]["worst_case_tokens"] == 4
    assert call(name, home, {"asin": ASIN, "offers": 20}, dry_run=True)["request"]["query"]["offers"] == "20"


def test_the_recording_that_ships_answers_both(home: Path) -> None:
    result = call(EXPORT, home, {"asin": SHIPPED, "series": "new,buy_box"})
    assert result["ok"], result["error"]
    found = result["data"]
    (shown,) = found["products"]
    assert (found["view"], found["row_count"]) == ("history_export", shown["series"]["new"]["rows"])
    assert found["rows"][0] == {
        "asin": SHIPPED, "domain": "US", "series": "new", "time": shown["series"]["new"]["first_at"],
        "value": "23.99", "raw": 2399, "unit": "money", "currency": "USD",
    }  # fmt: skip
    assert shown["series"]["absent"] == {"buy_box_shipping": "not_requested"}
    (warning,) = result["warnings"]
    assert "has no rows of buy_box_shipping: not requested" in warning["message"]
    assert problems(found) == []
    (action,) = found["next_actions"]
    assert action["params"]["buybox"] is True
    moved = call(TREND, home, {"asin": SHIPPED, "series": ["new", "sales_rank"], "window_days": [30, 365]})["data"]
    assert list(moved["series"]) == ["new", "sales_rank"]
    assert list(moved["series"]["new"]["windows"]) == ["30", "365"]
    assert problems(moved) == []


def test_too_many_rows_are_cut_and_the_answer_says_how_to_get_them(home: Path) -> None:
    with answer(product()) as server:
        result = call(EXPORT, home, {"asin": ASIN, "series": "sales_rank"}, server)
    assert len(result["data"]["rows"]) == history.LARGEST_INLINE
    assert result["data"]["row_count"] == 6000
    (cut,) = [w for w in result["warnings"] if w["code"] == "rows_cut"]
    assert "1,000 of 6,000 rows" in cut["message"]
    assert result["data"]["next_actions"][0]["params"]["out"] == "history.csv"


@pytest.mark.parametrize("format", ["json", "jsonl", "csv", "parquet"])
def test_a_file_holds_every_row_in_the_format_of_its_name(home: Path, format: str) -> None:  # noqa: A002
    if format == "parquet":
        pytest.importorskip("pyarrow")
    found = data(home, EXPORT, out=f"rows.{format}")
    path = home / "work" / f"rows.{format}"
    written = found["output"]
    assert (written["path"], written["format"]) == (str(path), format)
    assert written["result_count"] == found["row_count"] == count(path.read_bytes(), format) == 6004
    assert "rows" not in found
    assert problems(found) == []


def count(raw: bytes, format: str) -> int:  # noqa: A002
    if format == "parquet":
        from pyarrow import parquet

        return int(parquet.read_table(io.BytesIO(raw)).num_rows)
    text = raw.decode("utf-8")
    if format == "csv":
        return len(list(csv.DictReader(io.StringIO(text, newline=""))))
    return len(json.loads(text)) if format == "json" else len([json.loads(line) for line in text.splitlines()])


def test_the_format_counts_more_than_the_name(home: Path) -> None:
    found = data(home, EXPORT, out="rows.txt", format="csv", series="new")
    assert found["output"]["format"] == "csv"
    assert (home / "work" / "rows.txt").read_text("utf-8").splitlines()[1].endswith(",20.00,2000,money,USD")


def test_a_window_begins_with_the_value_in_force(home: Path) -> None:
    found = data(home, EXPORT, series="new", days=60)
    assert [r["raw"] for r in found["rows"]] == [-1, 1500, 1600]
    assert found["rows"][0]["absent"] == {"value": "none"}
    since = data(home, EXPORT, series="new", since=iso(NOW - 50 * DAY), until=iso(NOW - 6 * DAY))
    assert [r["raw"] for r in since["rows"]] == [1500]
    assert found["products"][0]["from_at"] == iso(NOW - 60 * DAY)


def test_fewer_points_keep_the_extremes(home: Path) -> None:
    found = data(home, EXPORT, series="sales_rank", max_points=20)
    shown = found["products"][0]["series"]["sales_rank"]
    assert (shown["points"], shown["rows"]) == (6000, len(found["rows"]))
    assert len(found["rows"]) <= 20
    assert {100, 106} <= {r["raw"] for r in found["rows"]}


def test_several_products_and_one_that_is_not_there(home: Path) -> None:
    gone = {"asin": "B000000002", "productType": 4, "domainId": 1}
    with answer(product(), gone) as server:
        result = call(EXPORT, home, {"asin": [ASIN, "B000000002", "B000000003"], "series": "new"}, server)
    found = result["data"]
    assert [i["status"] for i in found["items"]] == ["found", "invalid", "not_found"]
    assert found["products"][1]["series"]["absent"] == {"new": "not_requested"}
    assert {r["asin"] for r in found["rows"]} == {ASIN}
    assert problems(found) == []


@pytest.mark.parametrize("name", [EXPORT, TREND])
def test_an_answer_without_a_product_is_no_failure(home: Path, name: str) -> None:
    with ScriptedServer([{"json": BUCKET | {"products": []}}], repeat_last=True) as server:
        result = call(name, home, {"asin": ASIN}, server)
    assert result["ok"], result["error"]
    assert result["data"]["items"][0]["status"] == "not_found"
    assert result["data"]["next_actions"][0]["command"] == "tokens.status"
    assert problems(result["data"]) == []


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        (EXPORT, {"series": "nwe"}, "nearest is new"),
        (EXPORT, {"series": "new:shipping"}, "no series 'new:shipping'"),
        (EXPORT, {"format": "csv"}, "give --out history.csv"),
        (EXPORT, {"out": "-"}, "name of a file"),
        (EXPORT, {"days": 3, "since": "2026-01-01"}, "give one"),
        (EXPORT, {"since": "2026-02-01", "until": "2026-01-01"}, "is after"),
        (EXPORT, {"since": "yesterday"}, "takes a date"),
        (EXPORT, {"max_points": 1}, "max_points"),
        (EXPORT, {"asin": []}, "asin"),
        (TREND, {"series": "buy_box_seller"}, "has no trend"),
        (TREND, {"series": "coupon_one_time"}, "has no trend"),
        (TREND, {"window_days": [0]}, "window_days"),
    ],
)
def test_bad_input_is_refused_before_anything_is_asked(home: Path, name: str, params: Any, said: str) -> None:
    error = refusal(call(name, home, {"asin": ASIN} | params, dry_run=True))
    assert error["kind"] == "invalid_arguments"
    assert said in json.dumps(error)


def test_a_file_that_cannot_be_written_is_refused_before_the_call(home: Path) -> None:
    with answer(product()) as server:
        error = refusal(call(EXPORT, home, {"asin": ASIN, "out": "."}, server))
        assert error["kind"] == "invalid_arguments"
        assert server.seen == []


def test_without_the_extra_parquet_is_refused_with_the_command_for_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    error = refusal(call(EXPORT, home, {"asin": ASIN, "out": "x.parquet"}, dry_run=True))
    assert error["next_actions"] == ['pip install "keepa-cli[parquet]"']


def test_an_open_pattern_passes_over_what_has_no_trend(home: Path) -> None:
    offers = [{"offerId": 5, "offerCSV": [NOW - DAY, 999, 0], "couponHistory": [NOW - DAY, -10]}]
    with answer(product(offers=offers)) as server:
        result = call(TREND, home, {"asin": ASIN, "series": "offer:*", "offers": 20}, server, yes=True)
    shown = result["data"]["series"]
    assert shown["offer:5"]["current"]["amount"] == "9.99"
    assert shown["absent"] == {"offer:5:coupon": "not_applicable"}
    assert problems(result["data"]) == []


@pytest.mark.parametrize("name", [EXPORT, TREND])
def test_every_action_runs_dry(home: Path, name: str) -> None:
    for action in data(home, name)["next_actions"]:
        again = call(action["command"], home, action["params"], dry_run=True)
        assert again["ok"], action["cli"]


def test_a_series_that_is_dated_by_its_end_says_so(home: Path) -> None:
    with answer(product(parentAsinHistory=[str(NOW - DAY), "B000000009"])) as server:
        shown = call(EXPORT, home, {"asin": ASIN, "series": "parent_asin,new"}, server)["data"]["products"][0]["series"]
    assert shown["parent_asin"]["time_of"] == "end"
    assert "time_of" not in shown["new"]
