from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa import stats as stats_module
from keepa_cli.keepa.buybox import ONLY_KNOWN, UNASKED, lightning, tenures
from keepa_cli.keepa.clock import DAY, even_minute
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.keepa.series import Series, read_series
from keepa_cli.keepa.stats import (
    average,
    compute_stats,
    delta_percent,
    extremes,
    extremes_in,
    out_of_stock_count,
    out_of_stock_percentage,
    rank_drops,
    window,
)

BODIES = {"product-B0D8W1YVBX-US-20260510.json": 180, "product-B0D8W1YVBX-US-20260510-stats0.json": 0}
NOT_IN_HISTORY = ({*UNASKED, *ONLY_KNOWN}) - {"buyBoxPrice", "buyBoxShipping", "buyBoxSellerId", "lastBuyBoxUpdate"}


def figures(stats: dict[str, Any]) -> dict[tuple[str, Any], Any]:
    """Each single figure of a stats object by its place; fulfilment of a seller is no figure of a history."""
    flat: dict[tuple[str, Any], Any] = {}
    for name, value in stats.items():
        if name == "buyBoxStats":
            flat |= {(seller, k): v for seller, row in value.items() for k, v in row.items() if k != "isFBA"}
        elif isinstance(value, list):
            flat |= {(name, i): v for i, v in enumerate(value)}
        else:
            flat[name, None] = value
    return flat


@pytest.mark.parametrize("file", BODIES)
def test_every_figure_of_a_real_body_is_keepas(
    file: str, shared_data: Path, record_property: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    body = json.loads((shared_data / file).read_text(encoding="utf-8"))
    product = dict(body["products"][0])
    theirs = product.pop("stats")
    ours = compute_stats(product, even_minute(body["timestamp"]), BODIES[file])
    asked = NOT_IN_HISTORY if product["buyBoxSellerIdHistory"] else set()
    expected = figures({k: v for k, v in theirs.items() if k not in asked})
    actual = figures(ours)
    assert {place: (v, actual.get(place)) for place, v in expected.items() if v != actual.get(place)} == {}
    assert set(ours) <= set(theirs)
    record_property("figures", len(expected))
    with capsys.disabled():
        print(f"\n{file}: {len(expected)} figures equal")
    assert len(expected) > 680


@pytest.mark.parametrize("file", BODIES)
def test_what_no_history_holds_is_taken_over(file: str, shared_data: Path) -> None:
    body = json.loads((shared_data / file).read_text(encoding="utf-8"))
    product = body["products"][0]
    assert compute_stats(product, even_minute(body["timestamp"]), BODIES[file]) == product["stats"]


SPAN = 60
packed_series = st.lists(st.tuples(st.integers(0, SPAN), st.integers(-1, 6)), max_size=8, unique_by=lambda p: p[0]).map(
    lambda pairs: [n for pair in sorted(pairs) for n in pair]
)
windows = st.tuples(st.integers(0, SPAN), st.integers(1, SPAN)).map(lambda w: (w[0], w[0] + w[1]))


def slow(packed: list[int]) -> dict[int, int]:
    """The value in force in every single minute."""
    held: dict[int, int] = {}
    for i in range(0, len(packed), 2):
        for minute in range(packed[i], 3 * SPAN):
            held[minute] = packed[i + 1]
    return held


def lone(packed: list[int]) -> bool:
    return len(packed) == 2 and packed[1] >= 0


@settings(max_examples=300)
@given(packed_series, windows)
def test_average_agrees_with_a_minute_by_minute_count(packed: list[int], w: tuple[int, int]) -> None:
    held, (start, end) = slow(packed), w
    seen = [v for m in range(start, end) if (v := held.get(m, -1)) >= 0]
    begin = max(start, packed[0]) if packed else start
    seed = 0 if held.get(begin - 1, -1) >= 0 and begin not in packed[::2] else -1
    if not packed or packed[0] > end:
        expected = -1
    elif lone(packed):
        expected = packed[1]
    else:
        expected = (sum(seen) + seed) // len(seen) if seen else -1
    assert average(read_series(packed, 0), start, end) == expected


@settings(max_examples=300)
@given(packed_series, windows, st.integers(0, SPAN))
def test_out_of_stock_share_agrees_with_a_minute_by_minute_count(
    packed: list[int], w: tuple[int, int], since: int
) -> None:
    held, (start, end) = slow(packed), w
    got = out_of_stock_percentage(read_series(packed, 0), start, end, since)
    if not packed or packed[0] > end or since > end:
        assert got == -1
        return
    minutes = range(max(start, since), end)
    offered = sum(held.get(m, -1) >= 0 for m in minutes)
    if lone(packed):
        assert got == 0
    elif not minutes:
        assert got == 100
    else:
        missing = 100 * (len(minutes) - offered)
        assert got == -(-missing // len(minutes))


@settings(max_examples=300)
@given(packed_series, windows)
def test_extremes_agree_with_a_minute_by_minute_search(packed: list[int], w: tuple[int, int]) -> None:
    held, (start, end) = slow(packed), w
    series = read_series(packed, 0)
    ever = [v for v in packed[1::2] if v >= 0]
    assert [e and e[1] for e in extremes(series)] == ([min(ever), max(ever)] if ever else [None, None])
    seen = {m: v for m in range(start, end) if (v := held.get(m, -1)) >= 0}
    low, high = extremes_in(series, start, end)
    if lone(packed):
        assert low == high == packed
    elif seen:
        first_low = next(m for m, v in seen.items() if v == min(seen.values()))
        first_high = next(m for m, v in seen.items() if v == max(seen.values()))
        assert (low, high) == ([first_low, min(seen.values())], [first_high, max(seen.values())])
    else:
        assert low == high == ([-1, -1] if ever else None)


@given(packed_series, windows)
def test_stock_outs_and_weights_agree_with_minutes(packed: list[int], w: tuple[int, int]) -> None:
    held, (start, end) = slow(packed), w
    series = read_series(packed, 0)
    out = "".join("x" if held.get(m, 0) < 0 else "." for m in range(start, end))
    assert out_of_stock_count(series, start, end) == len([run for run in out.split(".") if run])
    seen = [v for m in range(start, end) if (v := held.get(m, -1)) >= 0]
    assert series.weighted_sum(start, end) == (sum(seen), len(seen))


def test_the_seed_quirk() -> None:
    gap_first = read_series([0, -1, 100, 1499], 0)
    assert average(gap_first, 0, 200) == 1498
    assert average(read_series([0, 1499, 100, 1499], 0), 50, 200) == 1499
    assert average(read_series([0, -1, 100, 1], 11), 0, 200) == 0


def test_shipping_counts_in_statistics() -> None:
    series = read_series([0, 1000, 500, 100, 2000, -1, 200, -1, -1], 18)
    assert series.landing == [1500, 2000, -1]
    assert extremes(series) == ([0, 1500], [100, 2000])
    assert series.last() == -1


def test_refresh_log_has_no_averages_but_a_current_value() -> None:
    stats = compute_stats({"csv": [None] * 15 + [[1000, 5, 2000, -3]]}, 3000, 1)
    assert (stats["avg30"][15], stats["min"][15], stats["minInInterval"][15]) == (-1, None, None)
    assert (stats["current"][15], stats["atIntervalStart"][15]) == (-3, 5)


def test_a_rank_drop_counts_over_gaps_and_only_inside_the_window() -> None:
    ranks = read_series([10, 50, 20, 40, 30, -1, 40, 30, 50, 35, 60, 34], 3)
    assert rank_drops(ranks, 0) == 3
    assert rank_drops(ranks, 40) == 2
    assert compute_stats({"csv": []}, 100, 30)["salesRankDrops30"] == -1


def test_more_sales_than_the_mean_is_a_negative_delta() -> None:
    assert delta_percent(read_series([0, 200, 100, 300], 11), 0, 200) == -20
    assert delta_percent(read_series([], 11), 0, 200) == 0
    assert delta_percent(read_series([0, 200, 100, -1], 11), 0, 200) == 0


@pytest.mark.parametrize(
    ("packed", "info"),
    [
        (None, None),
        ([100, 999, 200, -1], [100, 200]),
        ([100, 999, 200, -1, 300, 899], [300, -1]),
        ([100, 999, 200, -1, 900, -1], [900, -1]),
        ([900, -1], [900, -1]),
    ],
)
def test_lightning_deals(packed: list[int] | None, info: list[int] | None) -> None:
    assert lightning(read_series(packed, 8)) == info


def test_shares_of_the_buy_box_count_priced_minutes_only() -> None:
    product = {
        "csv": [None] * 11 + [[0, 4, 150, 2]] + [None] * 6 + [[0, 1000, 0, 100, -1, -1, 125, 1500, 500]],
        "buyBoxSellerIdHistory": ["0", "A1", "150", "-1", "175", "B2"],
        "offers": [{"sellerId": "B2", "isFBA": True}],
    }
    won = compute_stats(product, 200, (0, 200))["buyBoxStats"]
    assert won == {
        "A1": {"percentageWon": 62.5, "avgPrice": 1200, "avgNewOfferCount": 4, "avgUsedOfferCount": -1,
               "isFBA": None, "lastSeen": 150},
        "B2": {"percentageWon": 12.5, "avgPrice": 2000, "avgNewOfferCount": 2, "avgUsedOfferCount": -1,
               "isFBA": True, "lastSeen": 200},
    }  # fmt: skip


@given(
    st.lists(st.tuples(st.integers(0, SPAN), st.sampled_from(["A", "B", "-1", "-2"])), unique_by=lambda p: p[0]),
    windows,
)
def test_tenures_agree_with_minutes(pairs: list[tuple[int, str]], w: tuple[int, int]) -> None:
    held = {m: seller for since, seller in sorted(pairs) for m in range(since, 3 * SPAN)}
    expected = {m: held[m] for m in range(*w) if m in held}
    history = [text for since, seller in pairs for text in (str(since), seller)]
    found = {m: seller for seller, since, until in tenures(history, *w) for m in range(since, until)}
    assert found == expected


@pytest.mark.parametrize(
    ("interval", "expected"),
    [(30, (1_000_000 - 30 * DAY, 1_000_000)), (0, (1_000_000, 1_000_000)), (None, (0, 1_000_000))],
)
def test_intervals(interval: int | None, expected: tuple[int, int]) -> None:
    assert window(interval, 1_000_000) == expected
    assert window((5, 2_000_000), 1_000_000) == (5, 1_000_000)


@pytest.mark.parametrize(
    "product",
    [
        {},
        {"csv": None},
        {"csv": "x"},
        {"csv": [[1], "x", {}, [None, None], [1, "2"], [5, 1, 4, 2], [1.5, 2]]},
        {"csv": [None] * 60, "buyBoxSellerIdHistory": ["x", None, "5"], "salesRanks": [], "monthlySoldHistory": {}},
        {"csv": [[10**12, 5]], "trackingSince": "x", "stats": [], "offers": {}},
    ],
    ids=str,
)
def test_odd_products_never_raise(product: dict[str, Any]) -> None:
    stats = compute_stats(product, 8_000_000, 90)
    assert len(stats["current"]) == max(len(CSV_TYPES), 60 if len(product.get("csv") or "") == 60 else 0)


def test_arrays_are_as_long_as_csv_and_stats_are_plain_json() -> None:
    stats = compute_stats({"csv": [[10, 5]] * 40}, 8_000_000, (5, 8_000_000))
    assert {len(v) for v in stats.values() if isinstance(v, list)} == {40, 2}
    assert json.loads(json.dumps(stats)) == stats


def test_a_series_is_never_walked_minute_by_minute() -> None:
    long = Series(CSV_TYPES[0], list(range(0, 2_000_000, 10)), [1, 2] * 100_000)
    assert stats_module.average(long, 0, 10**9) == 1
