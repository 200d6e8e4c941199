"""audit.cost of workflows: the price of every step, from the operations' own prices."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ASIN = "B0PPJ248DY"
PRODUCT = ("workflow.plan", "--param", "name=product-research", "--param", f"asin={ASIN}")


@pytest.fixture
def audit(cli: Any) -> Callable[..., dict[str, Any]]:
    return lambda *words: json.loads(cli("--json", "audit", "cost", *words).stdout)


def test_each_step_has_its_price_and_says_whether_it_asks(audit: Any) -> None:
    data = audit(*PRODUCT)["data"]
    steps = {row["id"]: row for row in data["steps"]}
    assert steps["products"]["estimated_tokens"] == 1 and not steps["products"]["requires_confirmation"]
    offers = audit("products.get", "--param", f"asin={ASIN}", "--param", "offers=20", "--param", "full=true")["data"]
    assert steps["offers"]["worst_case_tokens"] == offers["worst_case_tokens"] > 10
    assert data["steps_that_ask"] == ["offers"] and data["requires_confirmation"]
    assert data["estimated_tokens"] == 1, "an optional step is not counted before it is wanted"
    assert data["estimated_tokens_with_optional"] == 1 + offers["estimated_tokens"]
    assert data["worst_case_tokens"] == sum(row["worst_case_tokens"] for row in data["steps"])


def test_more_products_cost_more(audit: Any) -> None:
    assert audit(*PRODUCT, "--param", "asin=B000000001")["data"]["estimated_tokens"] == 2


@pytest.mark.parametrize(("rate", "minutes", "worst"), [(5, 11, 11), (1, 54, 54), (20, 3, 3), (1000, 1, 1)])
def test_the_refill_takes_whole_minutes(audit: Any, rate: int, minutes: int, worst: int) -> None:
    words = ("workflow.run", "--param", "name=category-research", "--param", "term=kitchen")
    refill = audit(*words, "--refill-rate", str(rate))["data"]["refill"]
    assert (refill["minutes"], refill["minutes_at_worst"]) == (minutes, worst)


def test_a_saved_plan_costs_what_its_parameters_cost(audit: Any, cli: Any, home: Path) -> None:
    shown = cli("--json", "workflow", "plan", "category-research", "--term", "kitchen", "--top", "9").stdout
    (home / "work" / "plan.json").write_text(shown, encoding="utf-8")
    (home / "work" / "data.json").write_text(json.dumps(json.loads(shown)["data"]), encoding="utf-8")
    whole, bare = audit("--plan", "plan.json")["data"], audit("--plan", "data.json")["data"]
    assert whole == bare and whole["workflow"] == "category-research"
    totals = json.loads(shown)["data"]["totals"]
    assert whole["estimated_tokens"] == totals["estimated_tokens"] == 60
    assert whole["worst_case_tokens"] == totals["worst_case_tokens"]


def test_the_next_action_of_a_plan_is_its_audit(audit: Any, cli: Any) -> None:
    plan = json.loads(cli("--json", "workflow", "plan", "product-research", "--asin", ASIN).stdout)["data"]
    params = next(a for a in plan["next_actions"] if a["action"] == "audit_cost")["params"]
    words = [word for pair in params["param"] for word in ("--param", pair)]
    assert audit(params["operation"], *words)["data"]["worst_case_tokens"] == plan["totals"]["worst_case_tokens"]


@pytest.mark.parametrize(
    ("words", "kind", "says"),
    [
        ((), "invalid_arguments", "Give an operation"),
        (("products.get", "--plan", "x.json"), "invalid_arguments", "Give an operation"),
        (("--plan", "nowhere.json"), "io_error", "nowhere.json"),
        (("--plan", "empty.json"), "invalid_arguments", "no saved answer"),
        (("--plan", "foreign.json"), "invalid_arguments", "refused"),
        (("--plan", "empty.json", "--param", "a=b"), "invalid_arguments", "goes with an operation"),
        (("workflow.plan", "--param", "name=nonsense"), "invalid_arguments", "nonsense"),
    ],
)
def test_bad_input_is_refused(audit: Any, home: Path, words: tuple[str, ...], kind: str, says: str) -> None:
    (home / "work" / "empty.json").write_text("{}", encoding="utf-8")
    foreign = {"workflow": "product-research", "workflow_inputs": {"given": {"asin": "<ASIN>"}}}
    (home / "work" / "foreign.json").write_text(json.dumps(foreign), encoding="utf-8")
    error = audit(*words)["error"]
    assert error["kind"] == kind and says in error["message"]
