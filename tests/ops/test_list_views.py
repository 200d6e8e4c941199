"""The profiles of lists, over answers of the sandbox and over the shipped recordings."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keepa_cli.core.paths import parse
from keepa_cli.sandbox import Sandbox
from tests.support.cost_table import ROOT, SELLERS
from tests.support.remote import call, refusal
from tests.support.sandbox import Clock, running_sandbox
from tests.support.views import problems

PROFILE = (
    "agent_brief", "data_quality", "selection_signals", "next_actions", "evidence_index", "research_graph",
    "provenance",
)  # fmt: skip
LISTS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "search": ("categories.search", {"term": "kitchen", "parents": True}, "category_search", "category_candidates"),
    "get": ("categories.get", {"category": [ROOT], "parents": True}, "categories", "categories"),
    "finder": ("finder.query", {"title": "kettle", "stats": True}, "finder_query", "candidates"),
    "deals": ("deals.query", {"price_type": "NEW", "date_range": "week"}, "deals_query", "deals"),
    "amazon_deals": ("deals.query", {"price_type": "AMAZON", "date_range": "90days"}, "deals_query", "deals"),
    "seller": ("sellers.get", {"seller": SELLERS[:1], "storefront": True}, "seller", "sellers"),
    "sellers": ("sellers.get", {"seller": [*SELLERS, "A2L77EE7U53NWQ"]}, "seller", "sellers"),
    "best": ("bestsellers.get", {"category": str(ROOT)}, "bestsellers", "candidates"),
    "top": ("topsellers.list", {}, "topsellers", "sellers"),
}
RECORDED = {
    "categories search kitchen": "category_search",
    "categories get 0 --parents": "categories",
    "finder query --title kettle": "finder_query",
    "deals query --price-type NEW": "deals_query",
    "sellers get ATX8WCBDJYYKAT": "seller",
    "bestsellers get 4255431": "bestsellers",
    "topsellers list": "topsellers",
    "categories products 4255431": "category_products",
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with running_sandbox(seed=1, rate=100_000, clock=Clock()) as running:
        yield running


def asked(home: Path, sandbox: Sandbox, name: str, **more: Any) -> dict[str, Any]:
    command, params, _, _ = LISTS[name]
    server: Any = SimpleNamespace(url=sandbox.base_url)
    result = call(command, home, params | more, server, yes=True)
    assert result["ok"], result["error"]
    return dict(result["data"])


@pytest.mark.parametrize("name", LISTS)
def test_every_profile_is_whole_small_and_true_to_its_evidence(home: Path, sandbox: Sandbox, name: str) -> None:
    _, _, kind, rows = LISTS[name]
    body = asked(home, sandbox, name, view="raw")["body"]
    view = asked(home, sandbox, name, view="agent")
    assert problems(view, body) == []
    assert list(view)[:2] == ["view", "agent_brief"] and view["view"] == kind
    assert set(PROFILE) <= set(view) and "body" not in view and view[rows]
    assert view["shown"] == len(view[rows]) <= 25
    assert len(json.dumps(view)) < 60_000
    assert view["next_actions"] and view["agent_brief"]["recommended_next_actions"]
    ids = {node["id"] for node in view["research_graph"]["nodes"]}
    assert view["research_graph"]["root"] in ids and view["research_graph"]["edges"]
    assert {e[end] for e in view["research_graph"]["edges"] for end in ("source", "target")} <= ids


@pytest.mark.parametrize("name", LISTS)
def test_every_next_action_runs_dry(home: Path, sandbox: Sandbox, cli: Any, name: str) -> None:
    for action in asked(home, sandbox, name, view="agent")["next_actions"]:
        words = shlex.split(action["cli"])
        flags = ("--json",) if action["command"] == "categories.finder-selection" else ("--json", "--dry-run")
        done = cli(*flags, *words[1:])
        assert done.returncode == 0, (action["cli"], done.stdout)


def test_the_profile_stands_beside_what_was_there(home: Path, sandbox: Sandbox) -> None:
    raw = asked(home, sandbox, "deals", view="raw")
    both = asked(home, sandbox, "deals")
    assert "view" not in raw and set(raw) <= set(both)
    assert both["items"] == raw["items"] and len(both["body"]["deals"]["dr"]) == raw["count"]
    assert list(both)[:2] == ["view", "agent_brief"]


def test_a_limit_cuts_rows_and_counts_them(home: Path, sandbox: Sandbox) -> None:
    for name in ("search", "finder", "deals", "sellers", "best", "top"):
        rows = LISTS[name][3]
        whole, two = asked(home, sandbox, name, view="agent"), asked(home, sandbox, name, view="agent", limit=2)
        assert two[rows] == whole[rows][:2], name
        assert two["shown"] == len(two[rows]) and two["omitted"] == whole["shown"] + whole["omitted"] - two["shown"]
        assert bool(two["omitted"]) == any("cut here" in note for note in two["data_quality"]["notes"])
    assert asked(home, sandbox, "best", view="agent", limit=40)["shown"] == 40


def test_deals_are_the_figures_of_the_body(home: Path, sandbox: Sandbox) -> None:
    body = asked(home, sandbox, "deals", view="raw")["body"]
    for row in asked(home, sandbox, "deals", view="agent")["deals"]:
        deal = parse(row["evidence_path"]).get(body)
        assert row["asin"] == deal["asin"]
        assert row["current"]["raw"] == deal["current"][1]
        assert (row["average"]["raw"], row["delta"]["raw"]) == (deal["avg"][1][1], deal["delta"][1][1])
        assert row["delta_percent"] == deal["deltaPercent"][1][1]
        assert row["direction"] == ("fell" if deal["delta"][1][1] > 0 else "rose")


def test_a_storefront_is_read_newest_first(home: Path, sandbox: Sandbox) -> None:
    view = asked(home, sandbox, "seller", view="agent", limit=3)
    (row,) = view["sellers"]
    store = row["storefront"]
    assert store["count"] == len(store["asins"]) + store["omitted"] and len(store["asins"]) <= 3
    seen = [item["seen_at"] for item in store["asins"]]
    assert seen == sorted(seen, reverse=True)
    assert not any("storefront" in str(m) for m in view["agent_brief"]["missing_data"])


def test_sellers_without_an_answer_keep_their_row(home: Path, sandbox: Sandbox) -> None:
    view = asked(home, sandbox, "sellers", view="agent")
    assert [row["status"] for row in view["sellers"]] == ["found", "found", "not_found"]
    assert view["count"] == 2 and view["not_found"] == ["A2L77EE7U53NWQ"]


def test_search_insights_have_currencies(home: Path, sandbox: Sandbox) -> None:
    found = asked(home, sandbox, "finder", view="agent")
    assert found["insights"]["average_buy_box"]["currency"] == "USD"
    assert found["absent"] == {} if "absent" in found else True
    plain = asked(home, sandbox, "finder", view="agent", stats=False)
    assert plain["insights"] is None and plain["absent"]["insights"] == "not_requested"


def test_pages_of_the_finder_go_on_counting(home: Path, sandbox: Sandbox) -> None:
    wide = {"selection": {"current_SALES_gte": 1}, "title": None, "stats": False, "view": "agent"}
    first = asked(home, sandbox, "finder", **wide)
    assert first["more"] and first["selection_signals"]["complete"] is False
    (turn,) = [a for a in first["next_actions"] if a["action"] == "query_finder"]
    second = asked(home, sandbox, "finder", **(wide | {"selection": turn["params"]["selection"]}))
    assert (first["candidates"][0]["position"], second["candidates"][0]["position"]) == (1, 51)


@pytest.mark.parametrize(("command", "kind"), list(RECORDED.items()))
def test_shipped_recordings_replay_as_profiles(cli: Any, command: str, kind: str) -> None:
    view = [] if kind == "category_products" else ["--view", "agent"]
    done = cli("--json", *command.split(), *view)
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["provenance"]["mode"] == "replay" and found["token_bucket"]["charged"] == 0
    assert found["data"]["view"] == kind and problems(found["data"]) == []


def test_out_keeps_the_whole_body_beside_a_small_view(cli: Any, home: Path) -> None:
    done = cli("--json", "bestsellers", "get", "4255431", "--view", "agent", "--limit", "2", "--out", "all.json")
    data = json.loads(done.stdout)["data"]
    assert len(data["candidates"]) == 2 and data["count"] == 217 and "body" not in data
    assert len(json.loads((home / "work" / "all.json").read_text())["bestSellersList"]["asinList"]) == 217


def test_an_unknown_view_is_refused(home: Path) -> None:
    for command, params, _, _ in LISTS.values():
        error = refusal(call(command, home, params | {"view": "summary"}, dry_run=True))
        assert error["kind"] == "invalid_arguments" and error["details"]["field"] == "view"
