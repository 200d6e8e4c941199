from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.core import envelope
from keepa_cli.interfaces.cli.render import plain, render, table

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(st.text(max_size=8), VALUES, max_size=6))
def test_any_data_has_a_text_without_steering_characters(data: dict[str, Any]) -> None:
    text = render(envelope.ok("x", {}, data))
    assert not set(text) & set("\x1b\x07\x00\r\u202e\u2066\u200f")


def test_hostile_titles_are_shown_not_obeyed() -> None:
    assert plain("a\x1b[31mb\u202ec") == "a\\u001b[31mb\\u202ec"


def test_a_table_is_aligned_and_says_what_it_leaves_out() -> None:
    lines = table([{"asin": f"B{i:09d}", "title": "价格" if i else "x"} for i in range(100)])
    assert len({line.index("title") for line in lines[:1]}) == 1
    assert lines[-1] == "... and 40 more; --json shows all"


def test_packed_numbers_are_counted_not_printed() -> None:
    text = render(envelope.ok("x", {}, {"body": {"csv": [list(range(5000))], "n": list(range(50))}}))
    assert "50 numbers" in text and "4999" not in text


def test_a_long_list_of_texts_is_cut_and_says_so() -> None:
    data = {"asinList": [f"B{i:09d}" for i in range(100_000)]}
    text = render(envelope.ok("x", {}, data))
    assert "B000000059" in text and "B000000060" not in text and "and 99940 more" in text
