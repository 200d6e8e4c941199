from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa.clock import iso
from keepa_cli.research.history.choose import Span, canonical, chosen, has_trend, lacking
from keepa_cli.research.history.rows import COLUMNS, Piece, clock_texts, csv_text, json_text, jsonl_text, objects
from keepa_cli.research.history.tracks import Track, tracks
from keepa_cli.research.subject import Subject
from tests.research.history.support import BODIES, made, real, slots
from tests.support.views import problems


def pieces(subject: Subject, *names: str) -> list[Piece]:
    known = tracks(subject)
    wanted = [known[n] for n in names] if names else [t for t in known.values() if len(t)]
    return [Piece(subject.asin or "", t, t.times, t.raws) for t in wanted]


def rows(subject: Subject, *names: str) -> list[dict[str, Any]]:
    return [row for piece in pieces(subject, *names) for row in objects(piece)]


@pytest.mark.parametrize("file", BODIES)
def test_no_number_of_a_real_body_is_lost(file: str, shared_data: Path) -> None:
    """Every packed array is rebuilt from the rows."""
    subject, body = real(shared_data, file)
    product = body["products"][0]
    found: dict[str, list[tuple[str, Any]]] = {}
    for row in rows(subject):
        found.setdefault(row["series"], []).append((row["time"], row["raw"]))
    arrays = {t.path: t for t in tracks(subject).values()}
    assert len(arrays) > 30
    for index, packed in enumerate(product["csv"]):
        if packed is None:
            continue
        name = next(t.name for t in tracks(subject).values() if t.path == f"$.products[0].csv[{index}]")
        if index == 18:
            prices, ships = found[f"{name}:price"], found[f"{name}:shipping"]
            rebuilt = [x for (t, p), (_, s) in zip(prices, ships, strict=True) for x in (t, p, s)]
            assert rebuilt == [iso(n) if i % 3 == 0 else n for i, n in enumerate(packed)]
        else:
            assert [x for pair in found[name] for x in pair] == [
                iso(n) if i % 2 == 0 else n for i, n in enumerate(packed)
            ]
    for category, packed in product["salesRanks"].items():
        assert [raw for _, raw in found[f"sales_rank:{category}"]] == packed[1::2]
    assert [raw for _, raw in found["monthly_sold"]] == product["monthlySoldHistory"][1::2]
    assert [raw for _, raw in found["coupon_one_time"]] == product["couponHistory"][1::3]
    assert [raw for _, raw in found["coupon_subscribe"]] == product["couponHistory"][2::3]
    assert [raw for _, raw in found["parent_asin"]] == product["parentAsinHistory"][1::2]
    if product["buyBoxSellerIdHistory"]:
        assert [raw for _, raw in found["buy_box_seller"]] == product["buyBoxSellerIdHistory"][1::2]
        assert [raw for _, raw in found["reviews_review_count"]] == product["reviews"]["reviewCount"][1::2]


def test_values_are_what_the_raw_numbers_mean() -> None:
    subject = made(
        csv=slots(
            s1=[100, 1499, 200, -1], s3=[100, 7, 110, -1], s15=[1, -3], s16=[100, 43],
            s18=[100, 1000, 250, 200, 900, -1],
        ),
        couponHistory=[100, 500, -15, 200, 0, 0],
        salesRankReferenceHistory=[100, 9223372036854775807, 200, -1],
        buyBoxSellerIdHistory=["100", "A1", "200", "-2"],
        buyBoxUsedHistory=["100", "A2", "3", "1", "200", "", "2", "0"],
        parentAsinHistory=["100", "B000000009", "200", "-1"],
        monthlySoldHistory=[100, 50],
    )  # fmt: skip
    found = {
        name: [(r["value"], r["raw"], r["unit"], r["currency"]) for r in rows(subject, name)]
        for name in tracks(subject)
    }
    assert found["new"] == [("14.99", 1499, "money", "USD"), (None, -1, "money", "USD")]
    assert found["sales_rank"] == [(7, 7, "rank", None), (None, -1, "rank", None)]
    assert found["rating"] == [("4.3", 43, "stars", None)]
    assert [f[:2] for f in found["buy_box_shipping"]] == [("12.50", 1250), ("9.00", 900)]
    assert [f[:2] for f in found["buy_box_shipping:price"]] == [("10.00", 1000), ("9.00", 900)]
    assert [f[:2] for f in found["buy_box_shipping:shipping"]] == [("2.50", 250), (None, -1)]
    assert found["offer_refreshes"] == [(3, -3, "offers_fetched", None)]
    assert found["coupon_one_time"] == [("5.00", 500, "money", "USD"), (None, 0, "money", "USD")]
    assert found["coupon_subscribe"] == [(15, -15, "percent", None), (None, 0, "money", "USD")]
    assert [f[0] for f in found["sales_rank_reference"]] == [9223372036854775807, None]
    assert [f[:2] for f in found["buy_box_seller"]] == [("A1", "A1"), (None, "-2")]
    assert [f[:2] for f in found["buy_box_used_condition"]] == [("used_very_good", "3"), ("used_like_new", "2")]
    assert [f[0] for f in found["buy_box_used_is_fba"]] == [True, False]
    assert [f[:2] for f in found["parent_asin"]] == [("B000000009", "B000000009"), (None, "-1")]


def test_yen_have_no_decimals() -> None:
    (row,) = rows(made(domain=5, csv=slots(s1=[100, 1499])), "new")
    assert (row["value"], row["currency"], row["domain"]) == ("1499", "JPY", "JP")


def test_offers_are_told_apart_and_keep_all_that_they_hold() -> None:
    offer = {
        "offerId": 7,
        "offerCSV": [100, 999, 100],
        "stockCSV": [100, 5],
        "primeExclCSV": [100, 800],
        "couponHistory": [1, -10],
    }
    known = tracks(made(offers=[offer, {"offerId": 7, "offerCSV": [200, -2, -1]}, None, {"sellerId": "x"}]))
    names = [n for n in known if n.startswith("offer:")]
    assert names == [
        "offer:7", "offer:7:price", "offer:7:shipping", "offer:7:stock", "offer:7:prime_exclusive", "offer:7:coupon",
        "offer:7~2", "offer:7~2:price", "offer:7~2:shipping",
    ]  # fmt: skip
    assert known["offer:7"].raws == [1099]
    assert known["offer:7~2"].path == "$.products[0].offers[1].offerCSV"
    (row,) = objects(Piece("B1", known["offer:7~2"], [200], [-2]), reasons=True)
    assert row["absent"] == {"value": "not_collected"}


def test_empty_series_say_why() -> None:
    known = tracks(made(csv=slots(s16="x")))
    assert known["new"].reason == "not_collected"
    assert known["buy_box_shipping"].reason == "not_requested"
    assert tracks(made())["new"].reason == "not_requested"
    assert tracks(made(csv=slots(s1="x")))["new"].reason == "unreadable"
    assert tracks(made(csv=slots(s1=[])))["new"].reason == "none"


def test_rows_shown_in_an_answer_give_every_null_its_reason() -> None:
    subject = made(csv=slots(s1=[100, -1], s3=[100, 5]))
    shown = [row for piece in pieces(subject) for row in objects(piece, reasons=True)]
    assert problems({"rows": shown}) == []
    assert [r.get("absent") for r in shown] == [{"value": "none"}, {"currency": "not_applicable"}]


def test_the_three_text_formats_hold_the_same_rows(shared_data: Path) -> None:
    subject, _ = real(shared_data)
    found = pieces(subject)
    expected = rows(subject)
    assert json.loads("".join(json_text(found))) == expected
    assert [json.loads(line) for line in "".join(jsonl_text(found)).splitlines()] == expected
    read = list(csv.DictReader(io.StringIO("".join(csv_text(found)), newline="")))
    assert len(read) == len(expected) > 16_000
    for have, want in zip(read, expected, strict=True):
        assert have == {k: "" if v is None else str(v) for k, v in want.items()}


def test_nothing_is_still_a_file_of_its_format() -> None:
    assert json.loads("".join(json_text([]))) == []
    assert "".join(jsonl_text([])) == ""
    assert "".join(csv_text([])) == ",".join(COLUMNS) + "\n"


def test_csv_is_quoted_and_no_cell_becomes_a_formula() -> None:
    sellers = ['=HYPERLINK("x")', "a,b", "-1", "+1+1", "@x", "l\nm", "-7"]
    history = [x for i, s in enumerate(sellers) for x in (str(i), s)]
    text = "".join(csv_text(pieces(made(buyBoxSellerIdHistory=history), "buy_box_seller")))
    assert "\r" not in text
    read = [row["raw"] for row in csv.DictReader(io.StringIO(text, newline=""))]
    assert read == ['\'=HYPERLINK("x")', "a,b", "-1", "'+1+1", "'@x", "l\nm", "-7"]


def test_times_are_those_of_the_clock() -> None:
    minutes = [0, 1439, 1440, 7_956_000, -21_564_000, 8_075_779]
    assert clock_texts(minutes) == [iso(m) for m in minutes]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("new", "new"), ("BUY_BOX", "buy_box_shipping"), ("buybox:Price", "buy_box_shipping:price"),
        ("18", "buy_box_shipping"), ("COUNT_NEW", "new_offer_count"), ("monthly-sold", "monthly_sold"),
        ("rank", "sales_rank"),
        ("Sales_Rank:123", "sales_rank:123"), ("offer:*", "offer:*"), (" used ", "used"),
    ],
)  # fmt: skip
def test_a_series_has_one_name_however_it_is_written(text: str, name: str) -> None:
    assert canonical(text) == name


@pytest.mark.parametrize(("text", "near"), [("nwe", "new"), ("monthly_sould", "monthly_sold"), ("new:price", "")])
def test_a_name_that_is_none_brings_up_the_nearest(text: str, near: str) -> None:
    with pytest.raises(KeepaCliError) as caught:
        canonical(text)
    assert near in caught.value.message
    assert "monthly_sold" in caught.value.details["allowed"]


def test_patterns_and_absent_names() -> None:
    known = tracks(made(csv=slots(s3=[100, 5]), salesRanks={"9": [100, 1], "8": []}))
    full, empty = chosen(known, ["sales_rank:*", "new"])
    assert [t.name for t in full] == ["sales_rank:9"]
    assert [t.name for t in empty] == ["sales_rank:8", "new"]
    assert lacking(known, ["sales_rank:7", "offer:*", "new"]) == ["sales_rank:7", "offer:*"]
    assert [t.name for t in chosen(known, [])[0]] == ["sales_rank", "sales_rank:9"]


def test_only_comparable_values_have_a_trend() -> None:
    assert has_trend("new") and has_trend("monthly_sold") and has_trend("sales_rank:1") and has_trend("offer:*")
    assert not any(map(has_trend, ("buy_box_seller", "coupon_one_time", "parent_asin", "offer_refreshes")))


def track(times: list[int], values: list[Any], **changes: Any) -> Track:
    made_of = tracks(made(csv=slots(s1=[1, 1])))["new"]
    fields = {f: getattr(made_of, f) for f in ("name", "path", "unit", "domain")}
    return Track(**fields | {"read": lambda: (times, values)} | changes)


def test_a_window_begins_with_the_value_in_force() -> None:
    whole = track([10, 20, 30, 40], [1, 2, 3, 4])
    assert Span(since=25).of(whole)[0] == [20, 30, 40]
    assert Span(since=20).of(whole)[0] == [20, 30, 40]
    assert Span(since=5, until=30).of(whole)[0] == [10, 20, 30]
    assert Span(since=99).of(whole)[0] == [40]
    assert Span(until=5).of(whole)[0] == []


def test_a_time_that_ends_a_value_is_cut_the_other_way() -> None:
    parents = track([10, 20, 30], ["a", "b", "c"], until=True)
    assert Span(since=15).of(parents)[1] == ["b", "c"]
    assert Span(until=15).of(parents)[1] == ["a", "b"]


def test_unsorted_and_broken_arrays_give_what_is_usable() -> None:
    subject = made(csv=slots(s1=[200, 5, 100, 4, 300], s3={"a": 1}, s16=[100, None, 110, 40]))
    assert [(r["time"], r["raw"]) for r in rows(subject, "new")] == [(iso(100), 4), (iso(200), 5)]
    assert rows(subject, "sales_rank") == []
    assert [r["raw"] for r in rows(subject, "rating")] == [40]


def test_parquet_holds_exact_values(shared_data: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from keepa_cli.research.history.parquet import parquet_bytes

    subject, _ = real(shared_data)
    data = parquet_bytes(pieces(subject))
    table = parquet.read_table(io.BytesIO(data))
    expected = rows(subject)
    assert table.column_names == list(COLUMNS)
    assert data == parquet_bytes(pieces(subject))
    for have, want in zip(table.to_pylist(), expected, strict=True):
        assert have["time"].strftime("%Y-%m-%dT%H:%M:%SZ") == want["time"]
        assert have["value"] == (None if want["value"] is None else str(want["value"]))
        assert (have["series"], have["unit"], have["currency"]) == (want["series"], want["unit"], want["currency"])
        assert have["raw"] == (want["raw"] if isinstance(want["raw"], int) else {"-1": -1, "-2": -2}.get(want["raw"]))


def test_parquet_takes_numbers_and_texts_that_it_cannot_hold() -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from keepa_cli.research.history.parquet import parquet_bytes

    subject = made(csv=slots(s3=[100, 10**30]), buyBoxSellerIdHistory=["100", "\ud800"])
    table = parquet.read_table(io.BytesIO(parquet_bytes(pieces(subject))))
    assert [(r["value"], r["raw"]) for r in table.to_pylist()] == [(str(10**30), None), ("?", None)]


def test_a_price_that_began_to_include_shipping_says_when(shared_data: Path) -> None:
    known = tracks(real(shared_data)[0])
    assert known["new"].basis_changed_at == "2026-02-16T00:00:00Z"
    assert known["amazon"].basis_changed_at is known["buy_box_shipping"].basis_changed_at is None
    assert tracks(made(csv=slots(s1=[7_956_000, 5])))["new"].basis_changed_at is None
    assert tracks(made(csv=slots(s1=[])))["new"].basis_changed_at is None
