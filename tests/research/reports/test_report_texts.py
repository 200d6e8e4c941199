"""Facts as texts, and foreign text that stays text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.keepa.money import money
from keepa_cli.research.reports import markdown
from keepa_cli.research.reports.texts import address, fact, moment, raw_text, signed, text_of

US, JP = DOMAINS[1], DOMAINS[5]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (money(129900, US), "1,299.00 USD"),
        (money(1499, JP), "1,499 JPY"),
        ({"value": 23, "at": "2026-05-10T01:20:00Z"}, "23"),
        ({"value": 100000, "confidence": "lower_bound"}, "at least 100,000"),
        ({"value": -2, "unit": "percent", "confidence": "low"}, "-2 % (estimate)"),
        ({"value": money(1307, US), "confidence": "exact"}, "13.07 USD"),
        ({"value": None, "absent": {"value": "none"}}, None),
        ({}, None),
        (0, "0"),
        (False, "no"),
        (-16.95, "-16.95"),
        ("a\u202eb\nc", "ab c"),
        ([], None),
    ],
)
def test_a_fact_is_shown_as_the_view_gives_it(value: object, text: str | None) -> None:
    assert text_of(value) == text


def test_numbers_of_series_are_shown_in_their_unit() -> None:
    shown = [raw_text(1499, u, US) for u in ("money", "rank", "stars")]
    assert shown == ["14.99 USD", "1,499", "149.9"]
    assert raw_text(1499, "money", JP) == "1,499 JPY"
    assert [raw_text(v, "money", US) for v in (-1, -2, None, True, "x")] == [None] * 5
    assert [signed(v) for v in (25.0, -25.01, 0.0, None, True)] == ["+25.0 %", "-25.01 %", "0.0 %", None, None]


def test_only_product_pages_of_known_marketplaces_become_links() -> None:
    assert address("https://www.amazon.co.jp/dp/B0D8W1YVBX") == "https://www.amazon.co.jp/dp/B0D8W1YVBX"
    for other in (
        "http://www.amazon.com/dp/B0D8W1YVBX",
        "https://www.amazon.com.evil.example/dp/B0D8W1YVBX",
        "https://www.amazon.com/dp/B0D8W1YVBX?x=1",
        'https://www.amazon.com/dp/B0D8W1YVBX"><script>',
        "https://wwwXamazon.com/dp/B0D8W1YVBX",
        "javascript:alert(1)",
        None,
    ):
        assert address(other) is None


def test_a_fact_without_a_value_tells_why() -> None:
    assert fact("Rating", None, "not_requested") == {
        "label": "Rating", "text": None, "absent": {"text": "not_requested"},
    }  # fmt: skip
    assert fact("Rating", {"value": "4.3"})["text"] == "4.3"
    assert moment("2026-05-10T01:20:00Z") == "2026-05-10 01:20 UTC" and moment("yesterday") is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[a](http://x.example) ![b](c)", "\\[a\\](http&#58;//x.example) !\\[b\\](c)"),
        ("<img src=x onerror=1>", "&lt;img src=x onerror=1&gt;"),
        ("a | b\n| c", "a \\| b \\| c"),
        ("# title", "\\# title"),
        ("1. first", "1\\. first"),
        ("14.99 USD", "14.99 USD"),
        ("-25.01 %", "-25.01 %"),
        ("- item", "\\- item"),
        ("---", "\\---"),
        ("see www.evil.example or me@evil.example", "see www&#46;evil.example or me&#64;evil.example"),
        ("`x` *b* _i_ ~s~ &lt;", "\\`x\\` \\*b\\* \\_i\\_ \\~s\\~ &amp;lt;"),
        ("\u202eevil\u0000", "evil"),
    ],
)
def test_text_in_markdown_stays_text(text: str, shown: str) -> None:
    assert markdown.escaped(text) == shown


@settings(max_examples=150)
@given(st.text(alphabet=st.sampled_from("ab `*_[]()<>|~&#-+=1.)!\\$@:/\n\t\u202ewhtps"), max_size=60))
def test_no_text_becomes_markup(text: str) -> None:
    shown = markdown.escaped(text)
    assert "\n" not in shown
    plain = re.sub(r"\\.", "", shown)
    assert not set(plain) & set("`*_[]|<>~$@\\")
    assert not re.match(r"([#+=-]+|\d+[.)])(\s|$)", shown)
    assert "://" not in re.sub("(?<![a-z])[a-z]*(?<!http)(?<!https)(?<!ftp)(?<!file)://", "", shown)
    code = markdown.code(text)
    assert "\n" not in code and not re.search(r"(?<!\\)\|", code)


def test_code_that_holds_fences_cannot_end_its_block() -> None:
    block = markdown.block(["a ```` b", "x\n```\ny"])
    fence = block.partition("sh\n")[0]
    assert set(fence) == {"`"} and len(fence) == 5 and block.endswith("\n" + fence)
    assert markdown.code("a`b``c") == "```a`b``c```" and markdown.code("`") == "`` ` ``"
    assert markdown.path("a b/é(1).svg") == "a%20b/%C3%A9%281%29.svg"
