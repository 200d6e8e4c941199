"""JSON is laid out anew without touching a token."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from keepa_cli.cassettes.relayout import WIDTH, relayout

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s\[\]{},:"]+')


def tokens(text: str) -> list[str]:
    """Tokens with non-ASCII and DEL written as escapes."""
    return [re.sub(r"[^\x00-\x7e]", _escape, t) for t in TOKEN.findall(text)]


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=25,
)


@settings(max_examples=150, deadline=None)
@given(json_values | st.lists(st.integers(), max_size=60), st.sampled_from([None, 1, "\t"]), st.booleans())
@example({"k" * 95: []}, None, True)
def test_tokens_stay_and_the_layout_is_a_fixed_point(value: Any, indent: Any, ascii_only: bool) -> None:
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
        text.encode()
    except UnicodeEncodeError:
        return
    laid_out = relayout(text)
    if not isinstance(value, list | dict):
        assert laid_out == text
        return
    assert tokens(laid_out) == tokens(text)
    assert laid_out.isascii()
    assert relayout(laid_out) == laid_out == relayout(json.dumps(value))
    for line in laid_out.split("\n"):
        assert line == line.rstrip()
        one_member = len(TOKEN.findall(line.replace("[]", "0").replace("{}", "0"))) <= 4
        assert len(line) <= WIDTH or one_member


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1.10,"a":12345678901234567890123,"b":-0.0,"c":1E+05}',
        '{"n":' + "9" * 6000 + "}",
        '["\\ud800","\\/","\\u00e9","\x7f"]',
        "[" * 3000 + "]" * 3000,
        '[[], {}, [ ], {\n}, "", [[1]], {"a":{}, "b":[ ] , "c":{ }}]',
    ],
)
def test_unusual_numbers_duplicates_and_nesting_are_kept(text: str) -> None:
    assert tokens(relayout(text)) == tokens(text)
    assert "\n" in relayout(text) or len(text) < WIDTH


NOT_JSON = r"""null|"x"|12|{|{"a":1|{"a":1}}|{"a" 1}|{"a":1,}|[1,]|[,1]|[1 2]|[1,,2]|[NaN]|[Infinity]|[01]|[+1]|[1.]
[.5]|[True]|{1:2}|{"a"}|["a" "b"]|[1]x|[1] []|{"a":truefalse}|["\x"]|["\é"]|[é]|["a]|{]|[}|{"a":[1,2}|{"a":1e}|[-]
<html>"""


@pytest.mark.parametrize(
    "text",
    [
        *(text for row in NOT_JSON.split("\n") for text in row.split("|")),
        *(
            "",
            " ",
            '{"a":1\x0b}',
            '["\n"]',
            "\ufeff[1]",
            "[1\x00]",
            '{"a":1}\x00',
            "[1\x0c]",
            "[\ud800]",
            "[\x001\x00]",
        ),
    ],
)
def test_anything_but_strict_json_containers_is_left_alone(text: str) -> None:
    assert relayout(text) == text


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('{}[],:"\\ue1-.0 \nnulltrue'), max_size=14))
def test_what_is_laid_out_is_what_json_accepts(text: str) -> None:
    text = "[" + text + "]"
    try:
        wanted = json.loads(text, parse_int=str, parse_float=str)
    except ValueError:
        assert relayout(text) == text
    else:
        assert json.loads(relayout(text), parse_int=str, parse_float=str) == wanted
        assert relayout(text).replace("\n", "").replace(" ", "") == text.replace("\n", "").replace(" ", "")


def test_one_changed_number_and_one_appended_pair_are_small_differences() -> None:
    series = [n for t in range(8_000_000, 8_030_000, 15) for n in (t, 1999 + t % 97)]
    old = {"products": [{"asin": "B00AAAAAA1", "csv": [series, None, series], "title": "x"}]}
    new = json.loads(json.dumps(old))
    new["products"][0]["csv"][0][1001] = 7
    new["products"][0]["csv"][2] += [8_030_000, 5]
    before, after = (set(relayout(json.dumps(v)).split("\n")) for v in (old, new))
    assert len(after - before) <= 3
    assert sum(map(len, after - before)) < 300


def test_a_long_array_is_cut_into_chunks_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"csv": [list(range(5000)), [None, 1.5, True] * 700]}, indent=3)
    whole = relayout(text)
    monkeypatch.setattr("keepa_cli.cassettes.relayout._CHUNK", 50)
    assert relayout(text) == whole
    assert relayout(text.replace("4999", "49 99")) != whole
    for broken in ("[" + "1," * 60 + "]", "[" + "1," * 60 + ",1]", "[" + "1," * 60 + "x]"):
        assert relayout(broken) == broken


def test_real_bodies_keep_their_content(shared_data: Any) -> None:
    for file in sorted(shared_data.glob("product-*.json")):
        text = file.read_text(encoding="utf-8")
        laid_out = relayout(text)
        assert tokens(laid_out) == tokens(text)
        assert len(laid_out) < 1.3 * len(json.dumps(json.loads(text), separators=(",", ":"), ensure_ascii=False))
