"""Plans: what they hold is complete, priced by the operations, and runs as it stands where it is called executable."""

from __future__ import annotations

import base64
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core.schema import bind
from keepa_cli.ops._workflow_plans import PLANS
from tests.support.views import problems

ASIN = "B0PPJ248DY"
EXAMPLES: dict[str, tuple[str, ...]] = {
    "category-research": ("--term", "home kitchen", "--hydrate-top", "2"),
    "product-research": ("--asin", ASIN, "--goal", "deal"),
    "report-research": ("--input", "one.json"),
    "tracking-audit": ("--asin", ASIN),
    "inventory-audit": ("--input", "one.json"),
    "velocity-research": ("--asin", ASIN),
    "market-opportunity": ("--input", "one.json", "--asin", ASIN),
    "seller-research": ("--seller", "A2L77EE7U53NWQ"),
}


@pytest.fixture
def plan(cli: Any, home: Path) -> Callable[..., dict[str, Any]]:
    (home / "work" / "one.json").write_text("{}", encoding="utf-8")

    def call(*words: str) -> dict[str, Any]:
        found = json.loads(cli("--json", "workflow", "plan", *words).stdout)
        assert found["ok"], found
        data: dict[str, Any] = found["data"]
        return data

    return call


def test_every_plan_has_an_example_here() -> None:
    assert set(EXAMPLES) == set(PLANS) and len(PLANS) == 8


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_view_keeps_the_rules_of_all_views(plan: Any, name: str) -> None:
    view = plan(name, *EXAMPLES[name])
    assert problems(view) == []
    assert view["view"] == "workflow_plan" and next(iter(view)) == "agent_brief"
    assert view["data_quality"]["status"] == "complete" and view["steps"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_executable_validates_and_holds_no_reference(plan: Any, name: str, cli: Any) -> None:
    for step in plan(name, *EXAMPLES[name])["steps"]:
        executable = step["execution"]["executable"]
        assert executable == ('"$' not in json.dumps(step["params"])) == (step["cli"] is not None)
        if not executable:
            assert step["execution"]["waits_for"] == step["depends_on"] != []
            continue
        bind(ops.find(step["command"]), step["params"])
        if step["execution"]["where"] == "keepa":
            words = shlex.split(step["cli"])[1:]
            shown = json.loads(cli("--json", *words, "--dry-run").stdout)
            assert shown["ok"], shown
            assert shown["token_bucket"]["estimated"]["worst_case_tokens"] == step["worst_case_tokens"]
            assert shown["token_bucket"]["estimated"]["requires_confirmation"] == step["requires_confirmation"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_totals_groups_and_artifacts_agree_with_the_steps(plan: Any, name: str) -> None:
    view = plan(name, *EXAMPLES[name])
    steps = {s["id"]: s for s in view["steps"]}
    needed = [s for s in steps.values() if not s["optional"]]
    assert view["totals"]["estimated_tokens"] == sum(s["estimated_tokens"] for s in needed)
    assert view["totals"]["worst_case_tokens"] == sum(s["worst_case_tokens"] for s in steps.values())
    place = {step: n for n, group in enumerate(view["parallel_groups"]) for step in group["steps"]}
    assert set(place) == set(steps)
    assert all(place[before] < place[s] for s in steps for before in steps[s]["depends_on"])
    assert {a["producer"] for a in view["artifacts"]} == set(steps)
    pause = view["workflow_policy"]["confirmation_policy"]["pause_before"]
    assert pause == [s for s in steps if steps[s]["requires_confirmation"]]
    tools = view["workflow_policy"]
    assert {s["tool"] for s in steps.values()} == {
        *tools["allowed_tools"],
        *(t["tool"] for t in tools["inactive_tools"]),
    }


def test_the_price_of_a_list_that_is_not_known_yet_is_that_of_as_many_items(plan: Any) -> None:
    def price(top: str) -> int:
        steps = plan("category-research", "--term", "kitchen", "--top", top)["steps"]
        return int(next(s for s in steps if s["id"] == "comparison")["estimated_tokens"])

    assert (price("3"), price("7")) == (3, 7)


def test_a_reference_names_the_place_in_the_answer(plan: Any) -> None:
    view = plan("category-research", "--term", "kitchen")
    step = next(s for s in view["steps"] if s["id"] == "category_products")
    assert step["params"]["category"]["$from"] == "step.category_candidates"
    assert step["input_refs"][0]["artifact"] == "category_candidates.json"
    assert step["requires_confirmation"] and step["fixture_replay"]["available"] is None


def test_a_given_category_needs_no_search(plan: Any) -> None:
    view = plan("category-research", "--category", "172282")
    assert "category_candidates" not in {s["id"] for s in view["steps"]}
    assert not any("category_candidates" in json.dumps(s["params"]) for s in view["steps"])
    step = next(s for s in view["steps"] if s["id"] == "category_products")
    assert step["execution"]["executable"] and step["params"]["category"] == 172282


def test_recordings_that_answer_are_named(plan: Any) -> None:
    steps = {s["id"]: s for s in plan("product-research", "--asin", ASIN)["steps"]}
    assert steps["products"]["fixture_replay"] == {"available": True, "cassettes": [f"product_{ASIN}_full"]}
    other = plan("product-research", "--asin", "B000000001")["steps"][0]
    assert other["fixture_replay"] == {"available": False, "cassettes": []}


@pytest.mark.parametrize(
    ("name", "lacks"), [("report-research", {"input"}), ("category-research", {"term", "category"})]
)
def test_what_is_missing_is_listed_with_its_sources(plan: Any, name: str, lacks: set[str]) -> None:
    view = plan(name)
    missing = view["workflow_inputs"]["unresolved"]
    assert {i for group in missing for i in group["inputs"]} == lacks
    assert all(s.startswith("--") for group in missing for s in group["accepted_sources"])
    assert view["data_quality"]["status"] == "incomplete" and view["next_actions"] == []
    assert problems(view) == []


def test_given_defaulted_and_produced_are_told_apart(plan: Any) -> None:
    found = plan("category-research", "--term", "kitchen", "--top", "5")["workflow_inputs"]
    assert found["given"] == {"term": "kitchen", "top": 5}
    assert found["defaulted"] == {"domain": "US", "goal": "research"}
    assert {"step": "finder_selection", "param": "category"}.items() <= found["produced"][0].items()


def test_the_address_of_the_policy_holds_the_parameters(plan: Any) -> None:
    view = plan("category-research", "--term", "küche 日本語")
    uri = view["resource_templates"][0]["uri"]
    encoded = uri.removeprefix("keepa://workflow/").removesuffix("/policy")
    decoded = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    assert decoded == {"name": "category-research", "term": "küche 日本語"}


def test_the_steps_of_another_profile_are_switch_points(plan: Any) -> None:
    policy = plan("category-research", "--term", "kitchen")["workflow_policy"]
    assert policy["recommended_profile"] == "dry_run_default"
    assert policy["profile_switch_points"][0] | {"reason": ""} == {
        "before_step": "category_candidates", "toolset": "research", "profile": "live_read_allowed", "reason": "",
    }  # fmt: skip
    audit = plan("tracking-audit")["workflow_policy"]
    assert [t["tool"] for t in audit["inactive_tools"]] == ["audit_cost"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nonsense"], "here is no workflow 'nonsense'"),
        (["product-research", "--asin", "nope"], "no ASIN"),
        (["product-research", "--seller", "A2L77EE7U53NWQ"], "takes no --seller"),
        (["tracking-audit", "--asin", ASIN, "--asin", "B000000001"], "takes one --asin"),
        (["category-research", "--category", "0"], "Category must"),
        (["category-research", "--term", "x", "--top", "0"], "Top must"),
        (["category-research", "--term", "ab"], "at least 3 characters"),
    ],
)
def test_bad_input_is_refused(cli: Any, words: list[str], says: str) -> None:
    found = json.loads(cli("--json", "workflow", "plan", *words).stdout)
    assert found["error"]["kind"] == "invalid_arguments" and says in found["error"]["message"]
