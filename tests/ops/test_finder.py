"""The product finder against a scripted Keepa and on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.remote import BUCKET, call, refusal
from tests.support.scripted_server import ScriptedServer

NAME = "finder.query"
ASINS = [f"B{i:09d}" for i in range(50)]


def planned(home: Path, **params: Any) -> dict[str, Any]:
    result = call(NAME, home, params, dry_run=True)
    assert result["ok"], result["error"]
    return dict(result)


def selection(home: Path, **params: Any) -> dict[str, Any]:
    query = planned(home, **params)["request"]["query"]
    assert set(query) == {"domain", "selection"}
    found: dict[str, Any] = json.loads(query["selection"])
    return found


def test_every_option_is_a_field_of_the_selection(home: Path) -> None:
    assert selection(
        home, title="kettle", brand=["a", "b"], root_category=[1], category=[2, 3], not_category=4, amazon="..-1",
        new="1000..5000", buy_box="1..", sales_rank="..20000", rating="45..", reviews="10..", monthly_sold="50..",
        availability=[-1, 4], filter=["isSNS=true", "color=red", "color=blue", "current_USED_lte=-1"],
        sort=["monthlySold:desc", "current_SALES"], page=1, per_page=100,
    ) == {
        "title": "kettle", "brand": ["a", "b"], "rootCategory": [1], "categories_include": [2, 3],
        "categories_exclude": [4], "current_AMAZON_lte": -1, "current_NEW_gte": 1000, "current_NEW_lte": 5000,
        "current_BUY_BOX_SHIPPING_gte": 1, "current_SALES_lte": 20000, "current_RATING_gte": 45,
        "current_COUNT_REVIEWS_gte": 10, "monthlySold_gte": 50, "availabilityAmazon": [-1, 4], "isSNS": True,
        "color": ["red", "blue"], "current_USED_lte": -1, "sort": [["monthlySold", "desc"], ["current_SALES", "asc"]],
        "page": 1, "perPage": 100,
    }  # fmt: skip


def test_options_win_over_the_selection(home: Path) -> None:
    given = {"title": "pot", "perPage": 50, "current_NEW_gte": 5, "isSNS": True}
    assert selection(home, selection=given, title="kettle", per_page=200, new="10..") == {
        "title": "kettle", "perPage": 200, "current_NEW_gte": 10, "isSNS": True,
    }  # fmt: skip
    assert given["title"] == "pot"


def test_a_selection_has_one_fingerprint_whatever_its_order(home: Path) -> None:
    one = planned(home, selection='{"title": "a", "isSNS": true}')["request"]
    assert one == planned(home, selection={"isSNS": True, "title": "a"})["request"]


@pytest.mark.parametrize(
    ("params", "estimated", "worst"),
    [
        ({}, 11, 11),
        ({"per_page": 101}, 12, 12),
        ({"selection": {"perPage": 10_000}}, 110, 110),
        ({"stats": True}, 42, 1041),
    ],
)
def test_the_cost_follows_the_page(home: Path, params: dict[str, Any], estimated: int, worst: int) -> None:
    cost = planned(home, title="a", **params)["token_bucket"]["estimated"]
    assert (cost["estimated_tokens"], cost["worst_case_tokens"], cost["requires_confirmation"]) == (
        estimated,
        worst,
        True,
    )


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "selection"),
        ({"selection": {}}, "selection"),
        ({"selection": "[1]"}, "selection"),
        ({"selection": '{"perPage": 50,\n # "page": 1\n}'}, "selection"),
        ({"selection": {"titel": "a"}}, "titel"),
        ({"selection": {"title": 5}}, "title"),
        ({"brand": ["x"] * 51}, "brand"),
        ({"category": list(range(51))}, "category"),
        ({"title": "a", "page": 3, "per_page": 5000}, "page"),
        ({"title": "a", "page": -1}, "page"),
        ({"title": "a", "per_page": 0}, "per_page"),
        ({"title": "a", "new": "5..1"}, "new"),
        ({"title": "a", "new": "5"}, "new"),
        ({"title": "a", "new": ".."}, "new"),
        ({"title": "a", "new": "1.5..2"}, "new"),
        ({"rating": "4..450"}, "current_RATING_lte"),
        ({"title": "a", "sort": ["nope:asc"]}, "sort"),
        ({"title": "a", "sort": ["current_SALES:up"]}, "sort"),
        ({"filter": ["isSNS"]}, "filter"),
        ({"filter": ["isSNS=5"]}, "isSNS"),
        ({"title": "a", "availability": [5]}, "availability"),
        ({"title": "a", "domain": "CN"}, "domain"),
    ],
)
def test_bad_input_is_refused_before_a_token_is_spent(home: Path, params: dict[str, Any], field: str) -> None:
    with ScriptedServer([{"json": BUCKET}]) as server:
        error = refusal(call(NAME, home, params, server, yes=True))
        assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field and not server.seen


def test_it_always_asks_before_it_spends(home: Path) -> None:
    with ScriptedServer([{"json": BUCKET}]) as server:
        assert refusal(call(NAME, home, {"title": "a"}, server))["kind"] == "confirmation_required"
        assert not server.seen


def test_an_answer_counts_what_came_and_what_is_left(home: Path) -> None:
    body = BUCKET | {"asinList": ASINS, "totalResults": 120, "searchInsights": {"avgRating": 44}}
    with ScriptedServer([{"json": body}], repeat_last=True) as server:
        first = call(NAME, home, {"title": "a", "stats": True}, server, yes=True)
        assert first["warnings"] == [] and first["data"]["body"] == body
        assert (first["data"]["count"], first["data"]["total_results"], first["data"]["more"]) == (50, 120, True)
        last = call(NAME, home, {"title": "a", "page": 2}, server, yes=True)
        assert last["data"]["more"] is False
        assert server.seen[0].value("stats") == "1" and server.seen[1].value("stats") is None


@pytest.mark.parametrize("nothing", [{"asinList": []}, {"asinList": None}, {}])
def test_nothing_found_is_a_success(home: Path, nothing: dict[str, Any]) -> None:
    with ScriptedServer([{"json": BUCKET | nothing}]) as server:
        result = call(NAME, home, {"title": "a"}, server, yes=True)
    assert result["ok"] and (result["data"]["count"], result["data"]["more"]) == (0, False)


def test_a_long_selection_is_posted_and_repeated_only_where_nothing_was_charged(home: Path) -> None:
    brands = [f"brand with a long name {i:04d}" for i in range(50)]
    empty = {"status": 429, "json": BUCKET | {"tokensLeft": 0, "tokensConsumed": 0}}
    with ScriptedServer([empty, {"json": BUCKET | {"asinList": ASINS}}]) as server:
        assert call(NAME, home, {"brand": brands}, server, yes=True)["ok"]
        assert [s.method for s in server.seen] == ["POST", "POST"]
        assert json.loads(server.seen[1].body) == {"brand": brands} and server.seen[1].value("selection") is None
        assert server.seen[1].value("domain") == "1"
    with ScriptedServer([{"fault": "reset_before_answer"}], repeat_last=True) as server:
        error = refusal(call(NAME, home, {"brand": brands}, server, yes=True))
        assert error["kind"] == "outcome_unknown" and len(server.seen) == 1


def test_notes_about_the_selection_reach_the_reader(home: Path) -> None:
    legacy = {"isHighest_RENT": True}
    assert "isHighest_RENT" in planned(home, selection=legacy)["warnings"][0]["message"]
    with ScriptedServer([{"json": BUCKET | {"asinList": []}}]) as server:
        warnings = call(NAME, home, {"selection": legacy}, server, yes=True)["warnings"]
    assert [w["code"] for w in warnings] == ["request"]


def test_the_selection_comes_from_a_file_or_from_standard_input(cli: Any, home: Path) -> None:
    text = json.dumps({"title": "Küche"}, ensure_ascii=False)
    (home / "work" / "s.json").write_text("\ufeff" + text, encoding="utf-8")
    by_file = cli("--json", "finder", "query", "--selection-file", "s.json", "--dry-run")
    by_stream = cli("--json", "finder", "query", "--selection-file", "-", "--dry-run", stdin=text)
    by_value = cli("--json", "finder", "query", text, "--dry-run")
    assert by_file.stdout == by_stream.stdout == by_value.stdout
    assert json.loads(by_value.stdout)["request"]["query"]["selection"] == '{"title":"Küche"}'


@pytest.mark.parametrize(
    ("args", "kind", "field"),
    [
        (["--selection-file", "none.json"], "io_error", "selection_file"),
        (["--selection-file", "latin.json"], "invalid_arguments", "selection_file"),
        (["--selection-file", "bad.json"], "invalid_arguments", "selection"),
        (["{}", "--selection-file", "bad.json"], "invalid_arguments", "selection_file"),
        (["--selection-file", "-"], "invalid_arguments", "selection"),
    ],
)
def test_files_that_hold_no_selection_are_refused(cli: Any, home: Path, args: list[str], kind: str, field: str) -> None:
    (home / "work" / "latin.json").write_bytes(b'{"title": "K\xfcche"}')
    (home / "work" / "bad.json").write_text('{"title": }')
    done = cli("--json", "finder", "query", *args, "--dry-run")
    error = json.loads(done.stdout)["error"]
    assert (error["kind"], error["details"]["field"]) == (kind, field) and done.returncode != 0


def test_a_missing_recording_names_a_command_that_can_be_pasted(cli: Any) -> None:
    import shlex

    done = cli("--json", "finder", "query", "--new", "1..5", "--sort", "current_SALES", "--filter", "color=a b")
    details = json.loads(done.stdout)["error"]["details"]
    words = shlex.split(details["record_command"])
    assert words[-2:] == ["--record", "--yes"]
    again = cli("--json", *words[1:-2], "--dry-run")
    assert (
        json.loads(again.stdout)["request"]["query"]
        == json.loads(
            cli(
                "--json",
                "finder",
                "query",
                "--new",
                "1..5",
                "--sort",
                "current_SALES",
                "--filter",
                "color=a b",
                "--dry-run",
            ).stdout
        )["request"]["query"]
    )
