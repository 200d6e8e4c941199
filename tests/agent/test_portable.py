from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.agent.portable import LONGEST_HELP, brief, summary


def test_a_help_text_ends_where_a_part_of_it_ends() -> None:
    assert brief("One product.") == "One product"
    assert brief("Needs --only-live-offers. More.") == "Needs only_live_offers"
    long = "Fetch 20-100 marketplace offers: 6 tokens per page of 10 (and more of them), per product."
    assert brief(long) == "Fetch 20-100 marketplace offers: 6 tokens per page of 10"
    assert brief("x" * 100) == "x" * LONGEST_HELP + "…"
    assert brief("One two three four five six seven eight, nine, ten eleven twelve thirteen.").endswith("…")


def test_a_summary_holds_whole_sentences() -> None:
    text = "Get it. " + "A sentence that is long enough to matter here. " * 8
    assert summary(text).startswith("Get it. A sentence")
    assert summary(text).endswith(".")
    assert len(summary(text)) <= 180
    assert summary("Use --full with it.") == "Use full with it."


@given(st.text(max_size=300))
def test_any_text_becomes_short(text: str) -> None:
    assert len(brief(text)) <= LONGEST_HELP + 1
    assert "\n" not in summary(text)
