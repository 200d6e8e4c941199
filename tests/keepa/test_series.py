from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.keepa.clock import iso
from keepa_cli.keepa.csvtypes import BY_NAME, CSV_TYPES, csv_type, is_open
from keepa_cli.keepa.domains import resolve
from keepa_cli.keepa.series import basis, decode, packed_problems, read_series, value_at

US, JP = resolve("US"), resolve("JP")
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=10,
)


def test_the_table() -> None:
    assert [t.index for t in CSV_TYPES] == list(range(36))
    assert {t.index for t in CSV_TYPES if t.stride == 3} == {7, *range(18, 30), 32}
    assert {t.name for t in CSV_TYPES if t.kind == "count"} == {n for n in BY_NAME if n.startswith("COUNT_")}
    assert (csv_type(3).name, csv_type(16).kind, csv_type(40).name) == ("SALES", "score", "CSV_40")


def test_gates() -> None:
    opened = {t.name for t in CSV_TYPES if is_open(t)}
    assert {"NEW", "PRIME_EXCL", "COUNT_NEW_FBM"} <= opened
    assert not {"RATING", "COUNT_REVIEWS", "BUY_BOX_SHIPPING", "WAREHOUSE", "NEW_FBA"} & opened
    assert all(is_open(t, offers=True) for t in CSV_TYPES)
    assert is_open(BY_NAME["RATING"], rating=True)
    assert is_open(BY_NAME["BUY_BOX_USED_SHIPPING"], buybox=True)
    assert not is_open(BY_NAME["USED_NEW_SHIPPING"], buybox=True, rating=True)


def test_triples_keep_shipping_and_its_absence() -> None:
    points = decode([10, 1999, 499, 20, 1999, -1, 30, -1, -1, 40, -2, -2], 18, US)["points"]
    assert [(p["state"], p["price"], p["shipping_state"], p["shipping"], p["total"]) for p in points] == [
        ("ok", "19.99", "ok", "4.99", "24.98"),
        ("ok", "19.99", "unknown", None, None),
        ("out_of_stock", None, "out_of_stock", None, None),
        ("unknown", None, "unknown", None, None),
    ]


@pytest.mark.parametrize(
    ("index", "value", "expected"),
    [
        (0, -1, {"state": "out_of_stock", "price": None, "currency": "USD"}),
        (0, -2, {"state": "unknown", "price": None, "currency": "USD"}),
        (0, 0, {"state": "ok", "price": "0.00", "currency": "USD"}),
        (3, 1383849, {"state": "ok", "value": 1383849}),
        (3, -1, {"state": "unknown", "value": None}),
        (11, 0, {"state": "ok", "value": 0}),
        (16, 43, {"state": "ok", "value": "4.3"}),
        (15, -3, {"state": "ok", "value": {"offers_fetched": 3, "complete": False}}),
    ],
)
def test_values_by_kind(index: int, value: int, expected: dict[str, Any]) -> None:
    assert decode([10, value], index, US)["points"] == [{"at": iso(10), **expected}]


def test_yen_have_no_decimals() -> None:
    assert decode([10, 4900], 0, JP)["points"][0]["price"] == "4900"


@pytest.mark.parametrize("packed", [None, [], "x", {}, 5])
def test_no_series_is_no_data(packed: Any) -> None:
    series = read_series(packed, 0)
    assert len(series) == 0
    assert value_at(series, 10, US) == {"state": "no_data"}
    assert decode(packed, 0, US)["points"] == []


@given(anything, st.integers(0, 40))
def test_reading_never_raises(packed: Any, index: int) -> None:
    series = read_series(packed, index)
    assert series.times == sorted(set(series.times))
    assert len(series.values) == len(series.times) == len(series.landing)
    decode(packed, index, US)
    if not packed_problems(packed, series.type.stride) and packed:
        assert len(packed) == len(series) * series.type.stride


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(-2, 9)), max_size=8), st.integers(-5, 60))
def test_the_value_in_force_is_the_last_one_before(pairs: list[tuple[int, int]], minute: int) -> None:
    series = read_series([n for pair in pairs for n in pair], 11)
    before = [(t, i) for i, (t, _) in enumerate(pairs) if t <= minute]
    expected = pairs[max(before)[1]][1] if before else -1
    assert series.value_before(minute) == expected


@pytest.mark.parametrize(
    ("packed", "stride", "problem"),
    [
        ([1, 2, 3], 2, "1 values after the last group of 2"),
        ([1, 2.0], 2, "not integers"),
        ([1, None], 2, "not integers"),
        ([1, True], 2, "not integers"),
        ([2, 0, 1, 0], 2, "do not increase"),
        ([2, 0, 2, 1], 2, "do not increase"),
        ([7000000, 1999, 0, 7000010, 2099, 0], 2, "do not increase"),
        ([10**13, 1], 2, "no Keepa minutes"),
        ("x", 2, "not an array"),
    ],
)
def test_odd_arrays_are_named(packed: Any, stride: int, problem: str) -> None:
    assert any(problem in p for p in packed_problems(packed, stride))


def test_what_can_be_read_of_an_odd_array_is_read() -> None:
    series = read_series([30, 3, 10, 1, None, 5, 20, 2, 20, 4, 99], 0)
    assert (series.times, series.values, series.ignored) == ([10, 20, 30], [1, 4, 3], 1)


def test_new_prices_change_their_meaning_in_february_2026() -> None:
    assert [basis(BY_NAME["NEW"], m) for m in (7955999, 7956000)] == ["excl_shipping", "incl_shipping"]
    assert basis(BY_NAME["BUY_BOX_SHIPPING"], 0) == "incl_shipping"
    assert basis(BY_NAME["AMAZON"], 9_000_000) == "item"
