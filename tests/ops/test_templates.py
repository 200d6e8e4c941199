"""Templates: every one is a selection that its command takes; and churn from files on the command line."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.engine import Options, run
from keepa_cli.research.templates.table import TEMPLATES
from tests.support.remote import call, refusal
from tests.support.views import problems

NEEDED = {"brand-range": ["brand=Acme,O'Neill"]}


def shown(home: Path, name: str, **params: Any) -> dict[str, Any]:
    result = call("templates.show", home, {"name": name} | ({"param": NEEDED[name]} if name in NEEDED else {}) | params)
    assert result["ok"], result["error"]
    assert problems(result["data"]) == []
    return dict(result["data"])


def test_the_list_names_every_template_once(home: Path) -> None:
    rows = call("templates.list", home, {})["data"]["templates"]
    assert [row["name"] for row in rows] == [t.name for t in TEMPLATES] and len({t.name for t in TEMPLATES}) == len(
        rows
    )
    assert {row["kind"] for row in call("templates.list", home, {"kind": "deals"})["data"]["templates"]} == {"deals"}
    for row in rows:
        assert row["params"] or row["also"]


@pytest.mark.parametrize("domain", ["US", "JP"])
@pytest.mark.parametrize("name", [t.name for t in TEMPLATES])
def test_every_template_runs_dry_as_it_is(home: Path, cli: Any, name: str, domain: str) -> None:
    found = shown(home, name, domain=domain, out="s.json")
    assert json.loads((home / "work" / "s.json").read_text()) == found["selection"]
    assert {note["field"] for note in found["field_notes"]} == set(found["selection"])
    assert not any("see the fields" in note["meaning"] for note in found["field_notes"])
    (action,) = found["next_actions"]
    dry = cli("--json", "--dry-run", *shlex.split(action["cli"])[1:])
    assert dry.returncode == 0, dry.stdout
    by_file = cli(
        "--json", *action["command"].split("."), "--selection-file", "s.json", "--domain", domain, "--dry-run"
    )
    assert json.loads(by_file.stdout)["request"] == json.loads(dry.stdout)["request"]
    assert json.loads(json.loads(dry.stdout)["request"]["query"]["selection"]) == found["selection"]


def test_parameters_fill_their_fields(home: Path) -> None:
    given = ["category=1055398, 3", "max_reviews=200", "min_price=99"]
    found = shown(home, "low-competition", param=given)
    assert found["selection"]["categories_include"] == [1055398, 3]
    assert found["selection"]["current_COUNT_REVIEWS_lte"] == 200
    assert {p["name"] for p in found["params"] if p["given"]} == {"category", "max_reviews", "min_price"}
    deal = shown(home, "deal-price-drop", param=["min_percent=35", "price_type=10", "max_rank=500"])
    assert deal["selection"]["deltaPercentRange"][0] == 35 and deal["selection"]["priceTypes"] == [10]
    assert deal["selection"]["salesRankRange"] == [0, 500]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"name": "low-competitor"}, "name"),
        ({"name": "brand-range"}, "brand"),
        ({"name": "price-drop", "param": ["min_procent=3"]}, "param"),
        ({"name": "price-drop", "param": ["min_percent=lots"]}, "min_percent"),
        ({"name": "price-drop", "param": ["min_percent"]}, "param"),
        ({"name": "price-drop", "param": ["category="]}, "category"),
        ({"name": "price-drop", "param": ["per_page=3"]}, "perPage"),
        ({"name": "weak-listings", "param": ["max_rating=90"]}, "current_RATING_lte"),
        ({"name": "deal-price-drop", "param": ["price_type=4"]}, "priceTypes"),
        ({"name": "low-competition", "param": ["min_price=9000"]}, "current_NEW_gte"),
    ],
)
def test_wrong_parameters_are_named(home: Path, params: dict[str, Any], field: str) -> None:
    error = refusal(call("templates.show", home, params))
    assert error["kind"] == "invalid_arguments" and error["details"]["field"] == field, error


def test_a_near_name_is_suggested(home: Path) -> None:
    assert "low-competition" in refusal(call("templates.show", home, {"name": "low-competitor"}))["message"]
    assert (
        "min_percent"
        in refusal(call("templates.show", home, {"name": "price-drop", "param": ["min_procent=1"]}))["message"]
    )


NOW = datetime(2026, 11, 30, tzinfo=UTC)


def churned(home: Path, *files: str, **params: Any) -> dict[str, Any]:
    env = {"KEEPA_CLI_CONFIG": str(home / "c.toml"), "KEEPA_CLI_STATE_DIR": str(home / "state")}
    cassettes = {"KEEPA_CLI_CASSETTES": str(Path(__file__).parents[2] / "cassettes")}
    ctx = Context(env=env | cassettes, cwd=home / "work", now=lambda: NOW)
    given = params | ({"input": list(files)} if files else {})
    return dict(run(ops.find("bestsellers.churn"), given, ctx, Options(find=ops.find)))


def saved(home: Path, name: str, asins: range, category: int = 5, **query: str) -> str:
    listed = {"domainId": 1, "categoryId": category, "lastUpdate": 8_360_000, "asinList": [f"B{n:09d}" for n in asins]}
    envelope = {
        "ok": True, "request": {"query": query}, "data": {"count": 1, "body": {"bestSellersList": listed}},
        "provenance": {"recorded_at": "2026-11-01T00:00:00Z"},
    }  # fmt: skip
    (home / "work" / name).write_text(json.dumps(envelope if query else {"bestSellersList": listed}), encoding="utf-8")
    return name


def test_lists_of_past_months_tell_the_churn_of_a_category(home: Path) -> None:
    files = (
        saved(home, "now.json", range(100)),
        saved(home, "august.json", range(20, 120), month="8", year="2026"),
        saved(home, "before.json", range(45, 145), month="11", year="2025"),
    )
    result = churned(home, *files)
    data = result["data"]
    assert problems(data) == [] and data["label"]["code"] == "blue_ocean" and not result["warnings"]
    assert [s["dated_by"] for s in data["snapshots"]] == ["month", "month", "lastUpdate"]
    assert data["windows"]["3_months"]["left_share"]["value"] == 0.2
    assert data["windows"]["12_months"]["left_share"]["value"] == 0.45
    assert data["next_actions"] == []


def test_too_little_history_names_the_months_to_get(home: Path, cli: Any) -> None:
    data = churned(home, fixture=["bestsellers_kitchen"])["data"]
    assert data["label"]["code"] == "unlabelled" and problems(data) == []
    assert len(data["next_actions"]) == 2
    for action in data["next_actions"]:
        assert action["command"] == "bestsellers.get" and action["requires_confirmation"]
        assert cli("--json", "--dry-run", *shlex.split(action["cli"])[1:]).returncode == 0


def test_lists_of_two_categories_are_refused(home: Path) -> None:
    error = refusal(churned(home, saved(home, "a.json", range(3)), saved(home, "b.json", range(3), category=6)))
    assert error["kind"] == "invalid_arguments" and "category" in error["message"]


def test_other_rankings_and_unreadable_files_are_told(home: Path) -> None:
    (home / "work" / "else.json").write_text('{"products": []}')
    files = (saved(home, "a.json", range(3)), saved(home, "b.json", range(3), range="30"), "else.json")
    said = " ".join(w["message"] for w in churned(home, *files)["warnings"])
    assert "else.json holds no" in said and "different ways" in said
    assert refusal(churned(home, "else.json"))["details"]["value"] == "else.json"
    assert refusal(churned(home))["kind"] == "missing_inputs"
