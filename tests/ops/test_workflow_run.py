"""Runs of workflows: whole from recordings; with consent, stops, resumption and sudden death against a sandbox."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.ops._workflow_plans import PLANS
from keepa_cli.sandbox import Sandbox
from tests.conftest import REPO
from tests.support.sandbox import KEY, Clock, running_sandbox

ASIN, SELLER = "B0PPJ248DY", "AXKXSDEC5EN794"
WHOLE: dict[str, tuple[str, ...]] = {
    "category-research": ("--term", "kitchen"),
    "product-research": ("--asin", ASIN),
    "seller-research": ("--seller", SELLER),
    "tracking-audit": (),
    "inventory-audit": ("--asin", ASIN),
    "velocity-research": ("--asin", ASIN),
    "market-opportunity": ("--asin", ASIN),
}
KITCHEN = ("category-research", "--term", "kitchen", "--out-dir", "out")
DEATH = """
import os, signal, sys
from keepa_cli.interfaces.cli.app import run
from keepa_cli.ops import _workflow_state as state
from dataclasses import replace
from keepa_cli.ops._workflow_plans import PLANS
for name, plan in PLANS.items():
    PLANS[name] = replace(plan, steps=tuple(s for s in plan.steps if s.id not in {"figures", "report", "snapshot"}))
place, step = sys.argv[1:3]
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
def around(name, before):
    inner = getattr(state.State, name)
    def outer(self, ctx, at, *more):
        if before and at.id == step: die()
        inner(self, ctx, at, *more)
        if not before and at.id == step: die()
    setattr(state.State, name, outer)
around({"answered": "keep", "written": "note", "noted": "note"}[place], place != "noted")
sys.exit(run(sys.argv[3:]))
"""


def _files(folder: Path) -> dict[str, bytes]:
    """What a run left, apart from its own bookkeeping."""
    own = {"workflow-state.json", ".lock"}
    found = (p for p in folder.rglob("*") if p.is_file() and p.name not in own)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}


@pytest.mark.parametrize("name", WHOLE)
def test_it_runs_whole_from_recordings_without_a_key_and_the_same_each_time(kc: Any, home: Path, name: str) -> None:
    left = []
    for folder in ("one", "deeper/two"):
        result = kc("--json", "workflow", "run", name, *WHOLE[name], "--out-dir", folder, cwd=home / "work")
        assert result.returncode == 0, result.stdout
        data = json.loads(result.stdout)["data"]
        assert data["status"] == "completed" and data["totals"]["tokens"] == 0
        assert data["totals"]["steps_waiting"] == 0
        assert {s["provenance"]["mode"] for s in data["steps"] if s["status"] == "done"} <= {"replay", "local"}
        left.append(_files(home / "work" / folder))
        assert {a["path"].rsplit("/", 1)[-1] for a in data["artifacts"]} <= {n.rsplit("/", 1)[-1] for n in left[-1]}
    assert left[0].keys() == left[1].keys() and left[0]
    assert [n for n in left[0] if left[0][n] != left[1][n]] == []


@pytest.mark.parametrize("goal", ["summary", "deal", "audit"])
def test_every_goal_gives_a_graph_and_a_brief(cli: Any, home: Path, goal: str, undrawn: None) -> None:
    words = ("product-research", "--asin", ASIN, "--goal", goal, "--out-dir", "out")
    assert json.loads(cli("--json", "workflow", "run", *words).stdout)["data"]["status"] == "completed"
    brief = json.loads((home / "work" / "out" / "brief.json").read_text(encoding="utf-8"))["data"]
    assert brief["decision_summary"]["statements"], brief
    assert brief["entity_graph_summary"]["nodes_by_type"]["product"] >= 1


def test_reports_are_made_from_artifacts_alone(kc: Any, home: Path) -> None:
    kc("--json", "workflow", "run", "product-research", "--asin", ASIN, "--out-dir", "one")
    words = ("--input", "one/products.json", "--out-dir", "two")
    result = json.loads(kc("--json", "workflow", "run", "report-research", *words).stdout)
    assert result["ok"], result
    assert result["data"]["status"] == "completed" and "graph.json" in _files(home / "work" / "two")


class Live:
    """Workflows against a sandbox, in this process: what was asked is counted by endpoint."""

    def __init__(self, box: Sandbox, cli: Any, home: Path) -> None:
        self.box, self.folder = box, home / "work" / "out"
        self.env = {"KEEPA_BASE_URL": box.base_url, "KEEPA_API_KEY": KEY, "KEEPA_CLI_NO_CACHE": "1"}
        self._cli = cli

    def __call__(self, *words: str) -> dict[str, Any]:
        result = self._cli("--json", "workflow", "run", *words, "--live", env=self.env)
        found: dict[str, Any] = json.loads(result.stdout)
        assert "Traceback" not in result.stderr
        return found

    @property
    def asked(self) -> Counter[str]:
        return Counter(entry.path for entry in self.box.log)

    @property
    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "workflow-state.json").read_text(encoding="utf-8"))
        return found


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes seconds and little depends on it; the runs from recordings draw."""
    for name, plan in PLANS.items():
        kept = tuple(s for s in plan.steps if s.id not in {"figures", "report", "snapshot"})
        monkeypatch.setitem(PLANS, name, replace(plan, steps=kept))


@pytest.fixture
def live(cli: Any, home: Path, undrawn: None) -> Iterator[Live]:
    with running_sandbox(seed=1, clock=Clock()) as box:
        yield Live(box, cli, home)


def test_it_stops_at_a_price_and_the_command_that_it_names_goes_on(live: Live, cli: Any) -> None:
    stopped = live(*KITCHEN)
    error = stopped["error"]
    assert error["kind"] == "confirmation_required" and error["details"]["step"] == "category_products"
    assert error["details"]["worst_case_tokens"] == 50 and error["details"]["tokens_spent"] == 1
    assert error["details"]["chosen_from"]["category"][0]["name"] == "Kitchen & Dining"
    assert live.asked == {"/search": 1}
    words = shlex.split(error["next_actions"][0])
    assert words[:3] == ["kc", "workflow", "run"] and "--live" in words
    data = live(*[w for w in words[3:] if w != "--live"])["data"]
    assert data["status"] == "completed" and data["totals"]["tokens"] == 54 == data["totals"]["estimated_tokens"]
    assert live.asked == {"/search": 1, "/bestsellers": 1, "/product": 1}


def test_a_finished_run_asks_for_nothing_again(live: Live) -> None:
    first = live(*KITCHEN, "--yes")["data"]
    before, files = live.asked, _files(live.folder)
    again = live(*KITCHEN)["data"]
    assert again["status"] == "completed" and again["totals"]["steps_run_now"] == 0
    assert again["totals"]["tokens"] == first["totals"]["tokens"] and again["totals"]["tokens_now"] == 0
    assert live.asked == before and _files(live.folder) == files


def test_begun_anew_it_asks_again(live: Live) -> None:
    live(*KITCHEN, "--yes")
    assert live(*KITCHEN, "--yes", "--fresh")["data"]["totals"]["tokens_now"] == 54
    assert live.asked["/bestsellers"] == 2


def test_a_choice_made_later_replaces_what_the_search_found(live: Live) -> None:
    live(*KITCHEN)
    stopped = live(*KITCHEN, "--category", "4255431")
    assert stopped["error"]["details"]["step_params"]["category"] == 4255431
    data = live(*KITCHEN, "--category", "4255431", "--confirm", "category_products")["data"]
    assert data["status"] == "completed" and live.asked["/search"] == 1
    assert data["totals"]["tokens"] == 54, "the search was paid for too"
    answer = json.loads((live.folder / "finder_selection.json").read_text(encoding="utf-8"))
    assert "27722360121" not in json.dumps(answer["data"]["selection"])


def test_a_consent_holds_for_the_quoted_call_alone(live: Live) -> None:
    error = live(*KITCHEN, "--confirm", "category_products=q1-000000000000000000000000")["error"]
    assert error["kind"] == "invalid_arguments" and "quote" in error["message"]
    assert live.asked["/bestsellers"] == 0


def test_so_many_steps_and_no_more(live: Live) -> None:
    data = live(*KITCHEN, "--max-steps", "1")["data"]
    assert data["status"] == "stopped" and data["totals"]["steps_run_now"] == 1
    assert [s["status"] for s in data["steps"]][:2] == ["done", "waiting"]
    assert data["next_actions"][0]["cli"].endswith("--live")
    assert live(*KITCHEN, "--max-steps", "1")["data"]["totals"]["steps_done"] == 2


def test_an_optional_step_is_skipped_without_consent_and_can_be_had_later(live: Live) -> None:
    words = ("product-research", "--asin", ASIN, "--out-dir", "out")
    data = live(*words)["data"]
    rows = {s["id"]: s for s in data["steps"]}
    assert data["status"] == "completed" and rows["offers"]["status"] == "skipped"
    assert rows["offers"]["skipped"]["kind"] == "confirmation_required" and rows["offers"]["tokens"] is None
    assert "Skipped: offers" in data["agent_brief"]["one_line"] and data["totals"]["tokens"] == 1
    consent = data["next_actions"][0]["params"]["confirm"][0]
    more = live(*words, "--confirm", consent)["data"]
    rows = {s["id"]: s for s in more["steps"]}
    assert rows["offers"]["ran_now"] and not rows["products"]["ran_now"]
    assert rows["graph"]["ran_now"], "the graph is made again, with the offers"


def test_a_failed_step_leaves_what_was_paid_for(live: Live) -> None:
    error = live(*KITCHEN, "--max-tokens", "40", "--yes")["error"]
    assert error["kind"] == "budget_exceeded" and error["details"]["finished_steps"][0] == "category_candidates"
    assert error["next_actions"][-1].startswith("kc workflow run category-research")
    assert live(*KITCHEN, "--yes")["data"]["status"] == "completed" and live.asked["/search"] == 1


@pytest.mark.parametrize(
    "words",
    [
        ("category-research", "--term", "lamp", "--out-dir", "out"),
        ("category-research", "--term", "kitchen", "--top", "5", "--out-dir", "out"),
        ("seller-research", "--seller", SELLER, "--out-dir", "out"),
    ],
)
def test_the_folder_of_another_plan_is_refused(live: Live, words: tuple[str, ...]) -> None:
    live(*KITCHEN)
    before = _files(live.folder)
    for flags in ((), ("--fresh",)):
        error = live(*words, *flags)["error"]
        assert error["kind"] == "invalid_arguments" and "holds a run of category-research" in error["message"]
    assert _files(live.folder) == before


def test_recordings_and_keepa_do_not_mix(live: Live, cli: Any) -> None:
    live(*KITCHEN)
    replayed = json.loads(cli("--json", "workflow", "run", *KITCHEN).stdout)
    assert replayed["error"]["kind"] == "invalid_arguments" and "another source" in replayed["error"]["message"]


def test_files_that_no_run_wrote_are_not_replaced(live: Live) -> None:
    live.folder.mkdir()
    (live.folder / "graph.json").write_text("mine", encoding="utf-8")
    error = live(*KITCHEN)["error"]
    assert error["kind"] == "invalid_arguments" and "graph.json is there already" in error["message"]
    assert (live.folder / "graph.json").read_text(encoding="utf-8") == "mine" and not live.asked


def test_an_answer_that_was_changed_is_asked_for_again_and_paid_once(live: Live) -> None:
    live(*KITCHEN, "--max-steps", "1")
    (live.folder / "category_candidates.json").write_text("{}", encoding="utf-8")
    data = live(*KITCHEN, "--max-steps", "1")["data"]
    assert data["steps"][0]["ran_now"] and live.asked["/search"] == 1


@pytest.mark.parametrize("place", ["answered", "written", "noted"])
@pytest.mark.parametrize("step", ["category_candidates", "category_products", "graph"])
def test_no_answer_is_paid_twice_whatever_kills_the_process(
    live: Live, clean_env: dict[str, str], home: Path, place: str, step: str
) -> None:
    words = ["--json", "workflow", "run", *KITCHEN, "--live", "--yes"]
    killed = subprocess.run(
        [sys.executable, "-c", DEATH, place, step, *words],
        env={**clean_env, **live.env, "PYTHONPATH": str(REPO)},
        cwd=home / "work", capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert killed.returncode == -9, killed.stderr
    data = live(*KITCHEN, "--yes")["data"]
    assert data["status"] == "completed" and data["totals"]["tokens"] == 54
    assert live.asked == {"/search": 1, "/bestsellers": 1, "/product": 1}


@pytest.fixture
def ask(cli: Any) -> Callable[..., dict[str, Any]]:
    return lambda *words: json.loads(cli("--json", "workflow", "run", *words).stdout)


def test_a_dry_run_shows_the_plan_and_leaves_nothing(ask: Any, home: Path) -> None:
    shown = ask("product-research", "--asin", ASIN, "--out-dir", "out", "--dry-run")["data"]
    assert shown["view"] == "workflow_plan" and not (home / "work" / "out").exists()


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("report-research",), "missing_inputs"),
        (("category-research",), "missing_inputs"),
        (("product-research", "--asin", ASIN, "--confirm", "nothing"), "invalid_arguments"),
        (("product-research", "--asin", ASIN, "--resume"), "invalid_arguments"),
        (("report-research", "--input", "nowhere.json"), "io_error"),
        (("category-research", "--term", "nowhere else"), "cassette_miss"),
    ],
)
def test_what_cannot_run_says_so(ask: Any, words: tuple[str, ...], kind: str) -> None:
    assert ask(*words, "--out-dir", "out")["error"]["kind"] == kind


def test_a_search_that_finds_nothing_tells_what_is_missing(ask: Any, cli: Any, home: Path, live: Live) -> None:
    error = live("category-research", "--term", "zzzzqqqq", "--out-dir", "out", "--yes")["error"]
    assert error["kind"] == "missing_inputs" and error["details"]["missing_inputs"] == ["category"]
    assert error["details"]["accepted_sources"] == ["--category"]


def test_without_a_folder_the_state_folder_has_one_for_each_plan(ask: Any, home: Path) -> None:
    ask("tracking-audit")
    ask("tracking-audit")
    (folder,) = (home / "state" / "workflows").iterdir()
    assert folder.name.startswith("tracking-audit-") and (folder / "tracking_list.json").is_file()


def test_a_broken_state_is_named(ask: Any, home: Path) -> None:
    (home / "work" / "out").mkdir()
    (home / "work" / "out" / "workflow-state.json").write_text("{]", encoding="utf-8")
    error = ask("tracking-audit", "--out-dir", "out")["error"]
    assert error["kind"] == "invalid_arguments" and "cannot be read as the state" in error["message"]
