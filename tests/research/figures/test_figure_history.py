"""What the history figures draw is the step function, and what they shade are its stock-outs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.clock import DAY, to_unix_ms
from keepa_cli.keepa.csvtypes import BY_NAME
from keepa_cli.keepa.series import Series
from keepa_cli.research.figures import lines
from keepa_cli.research.figures.history import PRICES
from tests.research.figures.support import A, made, marks, rows, skipped, title_of
from tests.research.product.made import NOW, body, days, product, subjects_of, triples

HISTORY = f"history-{A}"
GAPS = {
    "new": days((300, 1999), (200, -1), (180, 1899), (90, -1), (60, 1799), (10, -2)),
    "buy_box": triples((300, 2099), (150, -1), (100, 1999)),
    "sales_rank": days((300, 500), (100, 20), (50, -1), (40, 90)),
}


def ms(ago: float) -> int:
    return to_unix_ms(NOW - round(ago * DAY))


def test_a_line_has_the_value_of_the_series_at_every_change() -> None:
    figure = made(body(product(GAPS)))[HISTORY]
    drawn = {(r["t"], r["v"]) for r in rows(figure, "line") if r["series"] == "New"}
    assert {(ms(300), 19.99), (ms(180), 18.99), (ms(60), 17.99)} <= drawn
    runs = {r["run"] for r in rows(figure, "line") if r["series"] == "New"}
    assert len(runs) == 3, "a line must not run through a stretch without an offer"
    ends = [(ms(200), 19.99), (ms(90), 18.99), (ms(10), 17.99)]
    assert drawn == {(ms(300), 19.99), (ms(180), 18.99), (ms(60), 17.99), *ends}


def test_stock_outs_are_shaded_where_they_are_and_an_unknown_stretch_is_not_one() -> None:
    figure = made(body(product(GAPS)))[HISTORY]
    shaded = [{(r["t"], r["until"]) for r in layer["data"]["values"]} for layer in marks(figure, "rect", "stock-out")]
    assert shaded == [{(ms(200), ms(180)), (ms(90), ms(60))}] * 2, "on prices and on rank"
    strip = [r for r in rows(figure, "rect") if "state" in r]
    new = [(r["t"], r["until"], r["state"]) for r in strip if r["row"] == "New"]
    assert (ms(200), ms(180), "no offer") in new
    assert (ms(10), ms(0), "not collected") in new
    box = [(r["t"], r["until"]) for r in strip if r["row"] == "Buy box" and r["state"] == "no offer"]
    assert box == [(ms(150), ms(100))]


def test_the_area_below_the_buy_box_is_shaded_while_there_is_one() -> None:
    figure = made(body(product(GAPS)))[HISTORY]
    area = rows(figure, "area", "buy-box")
    assert [(r["t"], r["v"]) for r in area] == [
        (ms(300), 20.99), (ms(150), 20.99), (ms(100), 19.99), (ms(0), 19.99),
    ]  # fmt: skip


def test_times_are_utc_and_the_axis_names_its_currency() -> None:
    figure = made(body(product(GAPS, domainId=5)))[HISTORY]
    for layer in (*marks(figure, "line"), *marks(figure, "rect")):
        assert layer["encoding"]["x"]["scale"]["type"] == "utc"
    price = marks(figure, "line")[0]["encoding"]["y"]["axis"]
    assert price["title"] == "Price (JPY)" and price["format"] == ",.0f"
    assert max(r["v"] for r in rows(figure, "line") if r["series"] == "New") == 1999
    now = datetime.fromtimestamp(ms(0) / 1000, UTC)
    assert f"{now:%Y-%m-%d} UTC" in title_of(figure)
    told = figure.data["series"]["NEW"]
    assert told["currency"] == "JPY" and told["points"][0]["raw"] == 1999
    assert told["stock_outs"][0]["from"].endswith("Z")


def test_ranks_are_on_a_reversed_logarithmic_axis() -> None:
    figure = made(body(product(GAPS)))[HISTORY]
    (rank,) = marks(figure, "line", "rank")
    scale = rank["encoding"]["y"]["scale"]
    assert scale["type"] == "log" and scale["domain"][0] > scale["domain"][1]
    assert [r["v"] for r in rank["data"]["values"]] == [500, 20, 20, 90, 90]


def test_a_rare_peak_is_cut_off_and_told() -> None:
    new = days((300, 1999), (200, 999_900), (199, 2099))
    figure = made(body(product({"new": new, "buy_box": None})))[HISTORY]
    y = marks(figure, "line")[0]["encoding"]["y"]
    assert y["axis"]["title"] == "Price (USD, peak of 9,999.00 cut off)"
    assert y["scale"]["domain"][1] < 25
    assert any(p["value"] == "9999.00" for p in figure.data["series"]["NEW"]["points"])


def test_what_is_not_there_is_named_with_its_reason() -> None:
    bare = product({"buy_box": None, "new": days((300, 1999)), "sales_rank": None}, buyBoxSellerIdHistory=None)
    assert "Buy box: not requested" in title_of(made(body(bare))[HISTORY])


@pytest.mark.parametrize(
    ("whole", "reason"),
    [
        (product(asin=A, productType=4), f"Keepa has no data of {A}."),
        (product(asin=A, csv=None), f"The history of {A} is not in the input: ask for it with --full."),
        (product(asin=A, csv=[None] * 36), f"The history of {A} has no price and no rank."),
    ],
)
def test_without_a_history_there_is_a_reason_and_no_figure(whole: dict[str, Any], reason: str) -> None:
    assert skipped(body(whole), figure_set="history")[HISTORY] == reason
    assert HISTORY not in made(body(whole))


def test_offers_rating_and_reviews_have_panels() -> None:
    figure = made(body(product({"rating": days((300, 45), (20, 44))})))[f"signals-{A}"]
    assert [r["v"] for r in rows(figure, "line", "signal-1")] == [4.5, 4.4, 4.4]
    assert len(figure.spec["vconcat"]) == 3


POINTS = st.lists(st.tuples(st.integers(1, 60), st.integers(-2, 90)), min_size=1, max_size=120)


@settings(max_examples=80)
@given(POINTS, st.integers(10, 40))
def test_thinning_keeps_the_ends_the_extremes_and_every_stock_out(points: list[tuple[int, int]], most: int) -> None:
    times, at = [], 0
    for gap, _ in points:
        at += gap
        times.append(at)
    series = Series(BY_NAME["NEW"], times, [v for _, v in points])
    whole = lines.spans(series, times[0], at + 30)
    thin = lines.thinned(whole, most)
    assert (thin[0].start, thin[0].value) == (whole[0].start, whole[0].value)
    assert (thin[-1].end, thin[-1].value) == (whole[-1].end, whole[-1].value)
    assert all(a.end == b.start for a, b in pairwise(thin))
    assert all(series.value_before(s.start) == s.value for s in thin)
    known = [s.value for s in whole if s.value >= 0]
    assert not known or {min(known), max(known)} <= {s.value for s in thin}

    def without(found: list[lines.Span]) -> int:
        return sum(s.end - s.start for s in found if s.value < 0)

    assert without(thin) == without(whole)


def test_a_real_history_is_drawn_as_it_is(shared_data: Path) -> None:
    whole = json.loads((shared_data / "product-B0D8W1YVBX-US-20260510.json").read_text(encoding="utf-8"))
    (subject,) = subjects_of(whole)
    figure = made(whole, figure_set="history")["history-B0D8W1YVBX"]
    assert figure.points < 4 * lines.MOST_POINTS
    for name, label in PRICES.items():
        series = subject.series(name)
        drawn = {r["t"]: r["v"] for r in rows(figure, "line") if r["series"] == label}
        for time, before, value in zip(series.times, [-1, *series.landing], series.landing, strict=False):
            if value >= 0 and value != before:
                assert drawn[to_unix_ms(time)] == value / 100
        outs = {(t, u) for t, u, v in _stretches(series, subject.now) if v == -1}
        shaded = {
            (r["t"], r["until"]) for r in rows(figure, "rect") if r.get("row") == label and r["state"] == "no offer"
        }
        assert shaded == outs


def _stretches(series: Series, now: int) -> list[tuple[int, int, int]]:
    ends = [*series.times[1:], now]
    found = zip(series.times, ends, series.landing, strict=True)
    return [(to_unix_ms(t), to_unix_ms(u), v) for t, u, v in found]
