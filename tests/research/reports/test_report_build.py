"""Reports say what the views say, and nothing else."""

from __future__ import annotations

import copy
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepa_cli.keepa.strictjson import dump_json
from keepa_cli.research.business.report import VIEW as BUSINESS
from keepa_cli.research.reports import build, page
from tests.research.product.made import body, days, product
from tests.research.reports.support import HOSTILE, facts, found, report
from tests.support.views import problems


@pytest.fixture(scope="module")
def real() -> Any:
    path = Path(__file__).parents[4] / "shared/data/product-B0D8W1YVBX-US-20260510.json"
    if not path.is_file():
        pytest.skip("real Keepa bodies (../shared/data) are not on this machine")
    return json.loads(path.read_bytes())


def test_the_numbers_are_those_of_the_real_body(real: Any) -> None:
    made = report(real)
    card = made["products"][0]
    told = facts(card)
    assert told | {
        "Price": "14.99 USD", "Sales rank": "23", "Sold a month": "at least 100,000", "Rating": "4.3",
        "Ratings": "11,598", "New offers": "5", "List price": "24.99 USD", "Amazon": None, "New, FBA": None,
        "Highest ever (new)": "24.99 USD",
    } == told  # fmt: skip
    demand = next(g for g in card["groups"] if g["title"] == "Demand")
    change = next(f for f in demand["facts"] if f["label"].startswith("Change of units"))
    assert change["text"] == "-2 % (estimate)" and change["note"].startswith("sales rose;")
    changes = {r["series"]: r for r in card["windows"]["rows"]}
    assert changes["New price"]["now"] == "14.99 USD"
    thirty = card["windows"]["days"].index("30")
    assert changes["New price"]["cells"][thirty] == {"change": "-24.97 %", "mean": "17.42 USD"}
    means = {r["series"]: r for r in card["averages"]["rows"]}
    assert means["Buy box price"]["averages"] == ["17.63 USD", "18.05 USD", "18.53 USD", "19.11 USD"]
    assert means["New price"]["lowest"] == {"text": "14.99 USD", "on": "2026-03-25"}
    newest = {n["series"]: n["rows"][0] for n in card["newest"]}
    assert newest["New price"] == {"at": "2026-04-27T07:46:00Z", "text": "14.99 USD"}
    assert made["data_as_of"] == {"from": "2026-05-10T04:20:00Z", "until": "2026-05-10T04:20:00Z"}
    assert problems({k: v for k, v in made.items() if k != "research_graph_report"}) == []


def test_what_is_unknown_tells_why() -> None:
    made = report(body(product({"rating": None, "review_count": None, "buy_box": None})))
    card = made["products"][0]
    assert {f["label"]: f["absent"]["text"] for f in card["key_facts"] if f["text"] is None} == {
        "Rating": "not_requested", "Ratings": "not_requested",
    }  # fmt: skip
    assert {"fact": "Rating", "reason": "not requested"} in card["missing"]
    assert "not requested" in page.text(made, []) and "not requested" in page.html(made, [], "auto")


def test_products_that_keepa_lacks_are_told_and_nothing_is_invented() -> None:
    made = report(body({"asin": "B00BBBBBB2", "domainId": 1, "productType": 4}))
    card = made["products"][0]
    assert not card["usable"] and card["one_line"].startswith("Keepa has no data of this ASIN")
    assert card["one_line"] in page.html(made, [], "light").replace("&#39;", "'")


def test_two_products_are_held_against_each_other() -> None:
    made = report(body(product(), product({"new": days((300, 2599))}, asin="B00BBBBBB2", title="Other")))
    table = made["comparison"]
    assert [r["asin"] for r in table["rows"]] == ["B00AAAAAA1", "B00BBBBBB2"]
    column = table["columns"].index("Lowest new")
    assert [r["cells"][column]["text"] for r in table["rows"]] == ["19.99 USD", "25.99 USD"]
    assert made["research_graph_report"]["entity_counts"]["product"] == 2
    assert "comparison" in build.sections(made)
    assert report(body(product()))["comparison"] == {}


def test_synthetic_data_is_marked_wherever_it_is_shown() -> None:
    made = report(body(product()), origin="sandbox")
    assert made["synthetic"] == ["in0.json"] and made["products"][0]["synthetic"]
    assert made["evidence"]["inputs"][0]["origin"] == "sandbox"
    for shown in (page.html(made, [], "auto"), page.text(made, [])):
        assert "Synthetic data." in shown and "not Keepa" in shown
    assert "Synthetic" not in page.html(report(body(product()), origin="live"), [], "auto")


def test_a_brief_and_business_figures_keep_their_conclusions() -> None:
    business = {
        "view": BUSINESS, "analysis": "velocity", "brief": {"decision": "One sells fast.", "risk": ["Lower bounds."]},
        "products": [{
            "asin": "B00AAAAAA1", "title": "Kettle",
            "metrics": {
                "velocity": {"value": 2000, "confidence": "lower_bound", "unit": "units_per_month_at_least"},
                "sellers": {"value": None, "absent": {"value": "not_requested"}},
            },
        }],
        "not_rankable": [{"asin": "B00BBBBBB2", "reason": "No data."}],
    }  # fmt: skip
    brief = {
        "view": "research_brief_export",
        "decision_summary": {"statements": [{"about": None, "text": "Buy the first.", "evidence": ["E1"]}]},
        "risk_summary": {
            "status": "assessed",
            "items": [{"code": "price_unstable", "severity": "high", "reason": "It moves.", "about": "B00AAAAAA1"}],
        },
    }
    made = report(business, {"ok": True, "data": brief})
    assert {"about": "", "text": "Buy the first."} in made["summary"]["decisions"]
    assert made["risks"]["items"][0]["reason"] == "It moves." and made["risks"]["status"] == "assessed"
    block = made["business"][0]
    assert block["rows"][0]["cells"] == [
        {"text": "at least 2,000 a month", "why": ""}, {"text": "", "why": "not requested"},
    ]  # fmt: skip
    shown = page.text(made, [])
    for text in ("One sells fast.", "Lower bounds.", "Buy the first.", "price unstable", "B00BBBBBB2: No data."):
        assert text.casefold() in shown.casefold()


def test_hostile_titles_are_text_in_html_and_in_markdown() -> None:
    made = report(body(product(title=HOSTILE, brand=HOSTILE), product(asin="B00BBBBBB2", title=HOSTILE)), title=HOSTILE)
    html, text = page.html(made, [], "auto"), re.sub("`[^`\n]*`", "", page.text(made, []))
    assert "<script" not in html and "<img" not in html and "onerror=alert(1)&gt;" in html
    assert "\u202e" not in html + text and "\u0007" not in html + text
    assert (
        not re.search(r"(?<!\\)\]\(javascript", text)
        and "<img" not in text
        and "://evil" not in text
        and "www.evil" not in text
    )
    rows = [line for line in text.splitlines() if line.startswith("| B00")]
    assert len({line.replace("\\|", "").count("|") for line in rows}) == 1


def test_nothing_in_a_page_is_loaded(real: Any) -> None:
    html = page.html(report(real), [], "auto")
    assert 'lang="en"' in html and "default-src &#39;none&#39;" in html
    for mark in ("src=", "@import", "url(", "<link", "<script", "<iframe"):
        assert mark not in html
    addresses = {part.partition('"')[0] for part in html.split('href="')[1:]}
    assert {a for a in addresses if not a.startswith("#")} == {"https://www.amazon.com/dp/B0D8W1YVBX"}


def test_the_same_inputs_give_the_same_report_in_any_process_order() -> None:
    data = body(product(), product(asin="B00BBBBBB2"))
    first, second = report(copy.deepcopy(data)), report(copy.deepcopy(data))
    assert dump_json(first) == dump_json(second)
    assert page.html(first, [], "dark") == page.html(second, [], "dark")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_odd_views_are_shown_without_failing(data: st.DataObject) -> None:
    """Views come from anywhere: any part of one may be anything."""
    view = copy.deepcopy(dict(found(body(product())).views["B00AAAAAA1"]))
    odd: Any = st.sampled_from([None, [], {}, "x", 7, -1.5, True, [None, {}], {"value": {}}, {"windows": [1]}])
    for _ in range(4):
        target: Any = view
        while True:
            key = data.draw(st.sampled_from(sorted(target)))
            inner = target[key]
            if isinstance(inner, dict) and inner and key != "identity" and data.draw(st.booleans()):
                target = inner
                continue
            if not (target is view and key == "identity"):
                target[key] = data.draw(odd)
            break
    made = report({"view": "product", "products": [view]})
    assert made["products"] and page.html(made, [], "auto") and page.text(made, [])
    dump_json(made)


def _light(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_its_ground(theme: Any) -> None:
    """The contrast that WCAG 2 asks of text: 4.5 to 1."""
    rule = page.stylesheet(theme).partition("}")[0]
    colours = dict(re.findall(r"--([a-z-]+):(#[0-9a-f]{6})", rule))
    pairs = [(text, ground) for text in ("text", "muted", "accent") for ground in ("bg", "panel")]
    pairs += [(name, f"{name}-bg") for name in ("warn", "bad", "mid", "low")]
    for text, ground in pairs:
        high, low = sorted((_light(colours[text]), _light(colours[ground])), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)


def test_headings_descend_step_by_step() -> None:
    made = report(body(product(), product(asin="B00BBBBBB2")))
    levels = [int(n) for n in re.findall(r"<h([1-6])", page.html(made, [], "auto"))]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
