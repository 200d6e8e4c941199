"""The first screen of a view: exact figures, small, harmless, and the same facts as the sections behind it."""

from __future__ import annotations

import json
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.keepa.strictjson import dump_json
from keepa_cli.research.product.look import Look
from keepa_cli.research.text import HARMFUL, one_line
from tests.research.product.made import body, days, judged, look, plan, product, subjects_of, triples

FULL_BODY = "product-B0D8W1YVBX-US-20260510.json"
PLAIN_BODY = "product-B0D8W1YVBX-US-20260510-stats0.json"
MEMBERS = [
    "read_order", "one_line", "key_facts", "decision_context", "temporal_takeaways", "temporal_by_window",
    "missing_data", "recommended_next_actions", "risk_codes",
]  # fmt: skip


def brief(found: Any, profile: str = "research", **params: Any) -> dict[str, Any]:
    return dict(judged(found, profile, **params)["agent_brief"])


@pytest.fixture
def real(shared_data: Path) -> Any:
    return json.loads((shared_data / FULL_BODY).read_text("utf-8"))


@pytest.fixture
def plain(shared_data: Path) -> Any:
    """The same product without buy box and rating."""
    return json.loads((shared_data / PLAIN_BODY).read_text("utf-8"))


def test_one_line_tells_a_person_what_keepa_says(real: Any, plain: Any) -> None:
    assert brief(real)["one_line"] == (
        "B0D8W1YVBX | EQQUALBERRY Vitamin Illuminating Serum… | 14.99 USD (buy box) | rank 23 in Beauty & Personal "
        "Care | 100,000+ sold/month | 4.3★ (11,598)"
    )
    assert brief(plain)["one_line"] == (
        "B0D8W1YVBX | EQQUALBERRY Vitamin Illuminating Serum… | 14.99 USD (new) | rank 24 in Beauty & Personal "
        "Care | 100,000+ sold/month | no rating (not requested)"
    )


def test_the_windows_of_the_real_product(real: Any) -> None:
    """The value in force when the window began counts, as in Keepa's own statistics."""
    told = brief(real)["temporal_by_window"]
    assert list(told) == ["method", "7", "30", "90", "180", "365"]
    assert told["7"]["price_pct"] == 0.0
    assert told["90"]["price_pct"] == -16.68
    assert told["30"]["rating_pct"] == -2.27
    assert told["30"]["offer_pct"] == 25.0
    assert told["30"]["signal_summary"] == "price down, rank better, reviews up, rating down, more offers"


def test_takeaways_hold_the_figures_of_the_statistics(real: Any) -> None:
    stats = real["products"][0]["stats"]
    said = " ".join(t["text"] for t in brief(real)["temporal_takeaways"])
    assert f"90-day mean of {stats['avg90'][18] / 100:.2f} USD" in said
    assert f"Mean rank {stats['avg30'][3]:,} over 30 days, {stats['avg90'][3]:,} over 90." in said
    assert "unchanged for 12.9 days, the lowest ever" in said
    assert f"up to {stats['outOfStockPercentage90'][18]} % of 90 days" in said


@pytest.mark.parametrize("profile", ["summary", "deal", "research"])
def test_every_profile_has_every_member(real: Any, profile: str) -> None:
    assert list(brief(real, profile)) == MEMBERS


def test_the_brief_of_a_summary_is_small_and_made_without_the_long_sections(real: Any) -> None:
    seen = Look(subjects_of(real)[0], plan(), "summary")
    found = seen.section("agent_brief")
    assert len(dump_json(found).encode()) <= 1126
    assert not {"temporal_features", "history_summary", "stats_summary", "research_graph"} & set(seen._built)
    assert list(found["temporal_by_window"]) == ["method", "30", "90"]


def test_what_judges_a_product_fits_its_share_of_a_research_view(real: Any) -> None:
    assert sum(len(dump_json(s).encode()) for s in judged(real).values()) <= 7.5 * 1024


def test_the_summary_is_made_faster_than_the_body_is_parsed_a_few_times(shared_data: Path) -> None:
    raw = (shared_data / FULL_BODY).read_bytes()
    whole = json.loads(raw)
    planned = plan()

    def summarize() -> None:
        seen = Look(subjects_of(whole)[0], planned, "summary")
        seen.section("agent_brief"), seen.section("next_actions")

    def seconds(work: Any) -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    base = min(seconds(lambda: json.loads(raw)) for _ in range(5))
    assert min(seconds(summarize) for _ in range(5)) <= 8 * base


HOSTILE = "<script>alert(1)</script>\x1b[31m\u202egnp.exe\u2066 | x\x00\n\r\u2028\ud800" + "a" * 5000


def test_a_hostile_title_is_cut_and_cannot_command_a_terminal() -> None:
    for member in ("title", "brand"):
        found = brief(body(product(**{member: HOSTILE}, categoryTree=[{"catId": 100, "name": HOSTILE}])))
        for text in (found["one_line"], found["key_facts"]["brand"], found["key_facts"]["category"]):
            assert len(text) < 260
            assert not {unicodedata.category(c) for c in text} & HARMFUL
        assert found["one_line"].count("|") == 5
        dump_json(found).encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [("  a\n b ", "a b"), ("a" * 61, "a" * 59 + "…"), (None, ""), (7, ""), ("\u202e", ""), ("日本" * 20, "日本" * 20)],
)
def test_text_becomes_one_harmless_line(text: Any, shown: str) -> None:
    assert one_line(text, 60) == shown


def test_what_is_not_known_is_said_in_the_line() -> None:
    bare = product(
        {"new": None, "buy_box": None, "sales_rank": None, "rating": None, "review_count": None},
        monthlySold=-1, title=None, buyBoxSellerIdHistory=None,
    )  # fmt: skip
    assert brief(body(bare))["one_line"] == (
        "B00AAAAAA1 | no title | no price (not collected) | no rank (not collected) | no sales figure | "
        "no rating (not requested) | risks: data_missing"
    )


def test_a_product_without_data_says_only_that() -> None:
    found = brief(body({"asin": "B00AAAAAA1", "productType": 3}))
    assert found["one_line"] == "B00AAAAAA1 | Keepa has no data of this ASIN"
    assert found["risk_codes"] == ["data_missing"]


def test_missing_data_is_grouped_by_reason() -> None:
    bare = product({"rating": None, "review_count": None}, brand=None)
    assert brief(body(bare))["missing_data"] == {
        "not_collected": ["brand"], "not_requested": ["rating", "review_count", "live_offer_count"],
    }  # fmt: skip


def test_a_window_longer_than_the_history_has_no_figure() -> None:
    young = brief(body(product({"buy_box": triples((60, 1999))})))["temporal_by_window"]
    assert young["30"]["price_pct"] == 0.0
    assert young["90"]["price_pct"] is None
    assert young["90"]["absent"] == {"price_pct": "too_little_history"}


def test_small_changes_are_steady() -> None:
    still = product({"sales_rank": days((400, 1000), (3, 1005))})
    assert brief(body(still))["temporal_by_window"]["30"]["signal_summary"] == "steady"


def test_words_in_the_context_are_those_of_the_signals(real: Any) -> None:
    found = judged(real)
    context, signals = found["agent_brief"]["decision_context"], found["selection_signals"]
    assert context == {
        "demand": signals["demand"]["level"],
        "competition": signals["competition"]["level"],
        "price_stability": signals["price_stability"]["level"],
        "content_quality": signals["content_quality"]["level"],
        "data_quality": found["data_quality"]["completeness"]["level"],
    }
    assert found["agent_brief"]["recommended_next_actions"] == [a["action"] for a in found["next_actions"]]


def test_the_lowest_price_ever_is_dated() -> None:
    whole = body(product({"buy_box": triples((400, 1999), (50, 999), (10, 1999))}))
    said = [t["text"] for t in brief(whole)["temporal_takeaways"]]
    assert "Price unchanged for 10.0 days, 100.1 % above the lowest ever, 9.99 USD on 2026-03-21." in said
    assert look(whole).section("vitals").price_name == "buy_box_price"
