"""What is drawn is one harmless line that fits, whatever stands in a title."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.research.figures.text import clean, cut, drawable, harmless

ANY = st.text(st.characters(codec=None), max_size=60)


@settings(max_examples=150)
@given(ANY, st.integers(4, 40))
def test_no_invisible_character_is_left_and_the_text_fits(text: str, room: int) -> None:
    shown = cut(text, room)
    assert shown == clean(shown)
    assert not {unicodedata.category(c) for c in shown} & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert sum(2 if unicodedata.east_asian_width(c) in "WF" else not unicodedata.combining(c) for c in shown) <= room


def test_what_fits_stays_as_it_is_and_what_does_not_ends_in_an_ellipsis() -> None:
    assert cut("Kettle, 1.7 l", 13) == "Kettle, 1.7 l"
    assert cut("Kettle, 1.7 l", 8) == "Kettle,…"
    assert cut("日本語のタイトル", 7) == "日本語…"


def test_commands_to_a_reader_are_taken_out() -> None:
    assert clean("a\u202eb\x07c\x00\ud800d\u200be\nf") == "abcde f"
    spec = {"title": "x\x07y", "rows": [{"text": "\u202ez", "n": 1, "on": True, "no": None}]}
    assert harmless(spec) == {"title": "xy", "rows": [{"text": "z", "n": 1, "on": True, "no": None}]}


def test_a_picture_holds_no_letters_that_its_font_lacks() -> None:
    assert drawable("Wasserkocher für 20 € · Чайник") == "Wasserkocher für 20 € · Чайник"
    assert drawable("Kettle 日本語 Kettle…") == "Kettle … Kettle…"
