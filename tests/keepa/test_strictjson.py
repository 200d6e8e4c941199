from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.keepa.strictjson import dump_json, load_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_what_is_written_reads_back(value: Any) -> None:
    assert load_json(dump_json(value).encode()) == value


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"NaN",
        b"[Infinity]",
        b'{"a":-Infinity}',
        b"1e999",
        b"\xff\xfe",
        b'"\xe4"',
        b"[" * 200_000,
        b'{"a":' * 200_000,
        b"[" * 500 + b"]" * 500,
        b'{"a":' * 300 + b"1" + b"}" * 300,
        b"[1] x",
        b"\xef\xbb\xbf\xef\xbb\xbf1",
        b"9" * 10_000,
    ],
    ids=lambda d: repr(d[:12]),
)
def test_what_is_not_strict_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        load_json(data)


def test_a_byte_order_mark_is_tolerated() -> None:
    assert load_json(b"\xef\xbb\xbf[1]") == [1]


def test_big_integers_keep_their_digits() -> None:
    assert load_json(b"9223372036854775807") == 9223372036854775807


@pytest.mark.parametrize("value", [math.nan, [math.inf], {"a": -math.inf}, {1, 2}, b"x"])
def test_what_json_cannot_hold_is_not_written(value: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        dump_json(value)


def test_a_cycle_is_not_written() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match=r"."):
        dump_json(loop)


def test_half_a_surrogate_pair_is_escaped() -> None:
    assert dump_json(load_json(b'"\\ud83d"')) == '"\\ud83d"'
    assert dump_json("\U0001f600") == '"\U0001f600"'


def test_ordinary_nesting_is_fine() -> None:
    assert load_json(b"[" * 150 + b"]" * 150)
