from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepa_cli.core import envelope
from keepa_cli.interfaces.cli.humane import BARS, humane, spark
from keepa_cli.interfaces.cli.render import render

PRICE = {"raw": 2699, "amount": "26.99", "currency": "USD", "formatted": "26.99 USD", "at": "2026-10-27T01:30:00Z"}
SOLD = {
    "value": 100000,
    "method": "bottom_of_bracket",
    "inputs": {},
    "confidence": "lower_bound",
    "evidence_path": "$.x",
}


def text_of(data: dict[str, Any]) -> str:
    return render(envelope.ok("x", {}, data))


def test_amounts_and_figures_are_one_text_each() -> None:
    found = humane({"view": "x", "price": PRICE, "sold": SOLD, "rank": {"value": 503113, "evidence_path": "$.y"}})
    assert found == {"price": "26.99 USD (2026-10-27)", "sold": "at least 100,000", "rank": "503,113"}


def test_an_estimate_is_called_one() -> None:
    assert humane({"view": "x", "drops": SOLD | {"confidence": "low", "value": 3}}) == {"drops": "3 (estimate)"}


def test_what_is_not_known_says_why() -> None:
    found = humane(
        {"view": "x", "rating": None, "coupon": None, "absent": {"rating": "not_requested", "coupon": "none"}}
    )
    assert found == {"not known": "not requested: rating; none: coupon"}


def test_next_steps_are_commands_with_their_price() -> None:
    action = {"cli": "kc products get B0 --offers 20", "reason": "Who sells it.", "worst_case_tokens": 12}
    text = text_of({"view": "x", "next_actions": [action | {"requires_confirmation": True}]})
    assert "  kc products get B0 --offers 20   # Who sells it, up to 12 tokens, asks first" in text


def test_what_only_machines_need_is_left_out() -> None:
    graph = {"nodes": [{"id": "a"}], "edges": []}
    text = text_of({"view": "x", "evidence_index": [{"path": "$.z"}], "research_graph": graph, "sha256": "ab"})
    assert "$.z" not in text and "sha256" not in text
    assert "research graph: 1 entities, 0 relations" in text


def test_one_product_stands_alone_and_several_have_headings() -> None:
    products = [{"agent_brief": {"one_line": f"line {n}"}, "identity": {"asin": f"B00000000{n}"}} for n in (1, 2)]
    one = text_of({"view": "product", "profile": "summary", "count": 1, "products": products[:1]})
    assert one.splitlines()[0] == "summary: line 1"
    two = text_of({"view": "product", "profile": "summary", "count": 2, "products": products})
    assert "1. B000000001:" in two and "2. B000000002:" in two


def test_long_sections_become_one_table_of_changes() -> None:
    windows = {"30": {"change_pct": 12.51}, "90": {"change_pct": None}}
    product = {"temporal_features": {"series": {"new": {"windows": windows}}}}
    text = text_of({"view": "product", "products": [product]})
    assert "+12.5 %" in text


def test_a_trend_shows_its_course_and_all_windows_side_by_side() -> None:
    figures = {"last": PRICE, "change_pct": 12.51, "min": PRICE, "out_of_stock_pct": 0}
    one = {"sparkline": {"raw": [1, 9]}, "all_time": figures, "windows": {"30": figures, "90": figures}}
    text = text_of({"view": "history_trend", "series": {"new": one, "used": None, "absent": {"used": "none"}}})
    assert "new: ▁█" in text
    assert [line.split()[:2] for line in text.splitlines() if line.strip().startswith("new ")] == [
        ["new", "all"],
        ["new", "30"],
        ["new", "90"],
    ]
    assert "none: used" in text


def test_files_of_a_run_are_named_from_its_folder() -> None:
    rows = [{"producer": "a", "path": "/runs/one/figures/a.svg"}, {"producer": "b", "path": "/elsewhere/b.json"}]
    text = text_of({"view": "workflow_run", "out_dir": "/runs/one", "artifacts": rows})
    assert "a         figures/a.svg" in text and "/elsewhere/b.json" in text


def test_rows_that_ask_nothing_are_not_repeated() -> None:
    found = {"asked": "B1", "status": "found"}
    lost = {"asked": "B2", "status": "not_found"}
    assert "items" not in humane({"view": "x", "items": [found]})
    assert "items" in humane({"view": "x", "items": [found, lost]})


@pytest.mark.parametrize(
    ("raw", "line"),
    [([1, 2, 3], "▁▄█"), ([5, 5], BARS[3] * 2), ([1, -1, 8], "▁ █"), ([], ""), ([-1], ""), (None, "")],
)
def test_the_course_of_a_series_is_a_line_of_bars(raw: Any, line: str) -> None:
    assert spark({"raw": raw} if raw is not None else None) == line


def test_hostile_texts_are_shown_not_obeyed() -> None:
    text = text_of({"view": "product", "products": [{"identity": {"title": "a\x1b[31m\u202eb"}}]})
    assert "\x1b[31m" not in text and "\u202e" not in text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["value", "at", "formatted", "absent", "products", "agent_brief", "windows", "next_actions", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(
    data=st.dictionaries(st.sampled_from(["products", "rows", "items", "steps", "series"]), JSON),
    view=st.text(max_size=4),
)
def test_any_view_can_be_shown(data: dict[str, Any], view: str) -> None:
    for name in (view, "product", "products_compare", "workflow_plan", "history_trend"):
        render(envelope.ok("x", {}, {"view": name, **data}))
