"""Categories as a start of research: the selection drafted for one, and its products with the first looked up."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keepa_cli.sandbox import Sandbox
from tests.support.cost_table import ROOT
from tests.support.remote import BUCKET, call, context, refusal
from tests.support.sandbox import Clock, running_sandbox
from tests.support.scripted_server import ScriptedServer
from tests.support.views import problems

SELECTION, PRODUCTS = "categories.finder-selection", "categories.products"
ASINS = [f"B{i:09d}" for i in range(40)]
LIST = {"bestSellersList": {"domainId": 1, "lastUpdate": 8075700, "categoryId": 1000, "asinList": ASINS}}
RECORDED = "4255431"


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with running_sandbox(seed=1, rate=100_000, clock=Clock()) as running:
        yield running


def drafted(home: Path, **params: Any) -> dict[str, Any]:
    result = call(SELECTION, home, params)
    assert result["ok"], result["error"]
    assert problems(result["data"]) == []
    return dict(result["data"])


def test_the_finder_takes_the_drafted_file_as_it_is(cli: Any, home: Path) -> None:
    words = ("1055398", "--new", "1500..6000", "--reviews", "..300", "--filter", "buyBoxIsFBA=true")
    done = cli("--json", "categories", "finder-selection", *words, "--domain", "DE", "--out", "s.json")
    data = json.loads(done.stdout)["data"]
    assert json.loads((home / "work" / "s.json").read_text()) == data["selection"]
    assert data["output"]["path"].endswith("s.json") and data["view"] == "finder_selection_scaffold"
    dry = cli("--json", "finder", "query", "--selection-file", "s.json", "--domain", "DE", "--dry-run")
    sent = json.loads(json.loads(dry.stdout)["request"]["query"]["selection"])
    assert sent == data["selection"]
    assert sent == {
        "buyBoxIsFBA": True, "categories_include": [1055398], "current_COUNT_REVIEWS_lte": 300,
        "current_NEW_gte": 1500, "current_NEW_lte": 6000, "page": 0, "perPage": 50, "productType": [0],
        "sort": [["current_SALES", "asc"]],
    }  # fmt: skip


def test_a_root_is_its_tree_and_filters_win_over_the_standard(home: Path) -> None:
    found = drafted(home, category=284507, root=True, filter=["productType=5"], sort=["monthlySold:desc"], per_page=100)
    assert found["selection"] == {
        "rootCategory": [284507], "productType": 5, "sort": [["monthlySold", "desc"]], "perPage": 100, "page": 0,
    }  # fmt: skip
    assert found["agent_brief"]["key_facts"]["most_results"] == 100


def test_every_field_has_its_note_and_amounts_have_a_currency(home: Path) -> None:
    found = drafted(home, category=1, domain="JP", new="1500..", rating="..42", filter=["current_AMAZON_lte=-1"])
    notes = {note["field"]: note["meaning"] for note in found["field_notes"]}
    assert set(notes) == set(found["selection"])
    assert "1500 JPY" in notes["current_NEW_gte"] and "at least" in notes["current_NEW_gte"]
    assert "4.2" in notes["current_RATING_lte"] and "-1 is no offer" in notes["current_AMAZON_lte"]
    assert not any(note.startswith("see the fields") for note in notes.values())
    assert not {s["field"] for s in found["suggested_fields"]} & set(found["selection"])


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "category"),
        ({"category": 0}, "category"),
        ({"category": 1, "filter": ["priceMin=3"]}, "priceMin"),
        ({"category": 1, "new": "9..3"}, "new"),
        ({"category": 1, "per_page": 10}, "per_page"),
        ({"category": 1, "sort": ["nothing:asc"]}, "sort"),
    ],
)
def test_what_the_finder_would_refuse_is_refused_while_drafting(home: Path, params: dict[str, Any], field: str) -> None:
    error = refusal(call(SELECTION, home, params))
    assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field


def test_actions_of_a_draft_run_dry(home: Path, cli: Any) -> None:
    for action in drafted(home, category=ROOT, domain="DE", brand=["O'Neill & Söhne"])["next_actions"]:
        assert cli("--json", "--dry-run", *shlex.split(action["cli"])[1:]).returncode == 0


def test_products_ask_what_bestsellers_ask(home: Path) -> None:
    one = call(PRODUCTS, home, {"category": 172282, "domain": "DE"}, dry_run=True)["request"]
    assert one == call("bestsellers.get", home, {"category": 172282, "domain": "DE"}, dry_run=True)["request"]


@pytest.mark.parametrize(("top", "tokens"), [(0, 50), (3, 53), (100, 150)])
def test_the_cost_is_that_of_the_list_and_of_what_is_looked_up(home: Path, top: int, tokens: int) -> None:
    params = {"category": "1", "hydrate_top": top, "limit": 1}
    cost = call(PRODUCTS, home, params, dry_run=True)["token_bucket"]["estimated"]
    assert (cost["estimated_tokens"], cost["worst_case_tokens"], cost["requires_confirmation"]) == (
        tokens,
        tokens,
        True,
    )
    assert ("hydrate_top" in {part["name"] for part in cost["components"]}) == bool(top)


def test_nothing_is_sent_before_the_whole_sum_is_agreed_to(home: Path) -> None:
    with ScriptedServer([]) as server:
        error = refusal(call(PRODUCTS, home, {"category": "1", "hydrate_top": 3}, server))
        limited = refusal(call(PRODUCTS, home, {"category": "1", "hydrate_top": 3}, server, yes=True, max_tokens=52))
    assert error["kind"] == "confirmation_required" and error["details"]["worst_case_tokens"] == 53
    assert limited["kind"] == "budget_exceeded" and not server.seen


def test_candidates_carry_rank_and_source_and_the_rest_is_counted(home: Path) -> None:
    with ScriptedServer([{"json": BUCKET | LIST}]) as server:
        result = call(PRODUCTS, home, {"category": "1000", "limit": 3}, server, yes=True)
    data = result["data"]
    assert problems(data, BUCKET | LIST) == [] and data["view"] == "category_products"
    assert [(c["rank"], c["asin"], c["source_category"]) for c in data["candidates"]] == [
        (i + 1, ASINS[i], 1000) for i in range(3)
    ]
    assert (data["count"], data["shown"], data["omitted"]) == (40, 3, 37)
    assert "charges the whole list" in result["warnings"][0]["message"]
    assert [a["action"] for a in data["next_actions"]] == ["compare_products", "get_product", "draft_finder_selection"]


def test_the_first_candidates_are_looked_up_in_one_call(home: Path, sandbox: Sandbox) -> None:
    server: Any = SimpleNamespace(url=sandbox.base_url)
    params = {"category": str(ROOT), "limit": 5, "hydrate_top": 3}
    result = call(PRODUCTS, home, params, server, yes=True)
    assert result["ok"], result["error"]
    found = result["data"]["hydrated"]
    assert found["asins"] == [c["asin"] for c in result["data"]["candidates"]][:3]
    assert [p["identity"]["asin"] for p in found["products"]] == found["asins"]
    assert found["tokens_charged"] == 3 and found["provenance"]["mode"] == "live"


def test_a_look_up_that_fails_costs_no_list(home: Path) -> None:
    refused = {"status": 400, "json": BUCKET | {"error": {"type": "x", "message": "no"}}}
    with ScriptedServer([{"json": BUCKET | LIST}, refused]) as server:
        result = call(PRODUCTS, home, {"category": "1", "hydrate_top": 2}, server, yes=True)
    assert result["ok"] and result["data"]["candidates"] and result["data"]["hydrated"]["error"]["kind"]
    assert any(w["code"] == "hydrate_top" for w in result["warnings"])


def test_in_replay_a_missing_look_up_names_the_command_that_records_it(cli: Any) -> None:
    done = cli("--json", "categories", "products", RECORDED, "--limit", "4", "--hydrate-top", "2")
    result = json.loads(done.stdout)
    assert done.returncode == 0 and len(result["data"]["candidates"]) == 4
    (warning,) = [w for w in result["warnings"] if w["code"] == "hydrate_top"]
    failed = result["data"]["hydrated"]
    assert failed["error"]["kind"] == "cassette_miss" and failed["command"] in warning["message"]
    assert failed["command"].startswith("kc products get") and "--record" in failed["command"]
    assert cli("--json", *shlex.split(failed["command"].replace("--record", "--dry-run"))[1:]).returncode == 0


def test_a_fixture_never_leads_to_a_paid_look_up(home: Path) -> None:
    with ScriptedServer([]) as server:
        cassettes = str(Path(__file__).parents[2] / "cassettes")
        ctx = context(home, server, KEEPA_CLI_MODE="live", KEEPA_CLI_CASSETTES=cassettes)
        params = {"category": RECORDED, "hydrate_top": 2}
        result = call(PRODUCTS, home, params, ctx=ctx, fixture="bestsellers_kitchen", yes=True)
    assert result["ok"] and result["data"]["hydrated"]["error"]["kind"] == "cassette_miss"
    assert not server.seen


def test_an_empty_list_looks_nothing_up(home: Path) -> None:
    with ScriptedServer([{"json": BUCKET | {"bestSellersList": None}}]) as server:
        result = call(PRODUCTS, home, {"category": "1", "hydrate_top": 3}, server, yes=True)
    assert result["ok"] and result["data"]["count"] == 0 and "hydrated" not in result["data"]
    assert result["data"]["data_quality"]["level"] == "empty" and problems(result["data"]) == []
