"""`evals run` and `evals list`: selection, verdicts, and a failure that CI notices."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import engine
from keepa_cli.core.context import Context
from keepa_cli.core.envelope import Envelope
from keepa_cli.core.errors import ExitCode
from keepa_cli.ops import find

GOOD = {
    "id": "good",
    "description": "Marketplaces are listed.",
    "command": "domains.list",
    "assertions": [{"path": "data.domains", "type": "array"}],
}
BAD = GOOD | {"id": "bad", "assertions": [{"path": "data.domains", "length": 0}]}
PRICE = {
    "id": "price",
    "description": "A dry run prices the call.",
    "command": "products.get",
    "params": {"asin": "B0D8W1YVBX", "domain": "US"},
    "mode": "dry-run",
    "assertions": [{"path": "token_bucket.estimated.estimated_tokens", "equals": 1}],
}


@pytest.fixture
def folder(home: Path) -> Path:
    place = home / "work" / "tests" / "evals"
    place.mkdir(parents=True)
    return place


def write(folder: Path, *evals: Mapping[str, Any]) -> None:
    for one in evals:
        (folder / f"{one['id']}.json").write_text(json.dumps(one))


def run(name: str, clean_env: dict[str, str], home: Path, *targets: str, **env: str) -> Envelope:
    ctx = Context(env=clean_env | env, cwd=home / "work")
    return engine.run(find(name), {"targets": list(targets)} if targets else {}, ctx, engine.Options(find=find))


def test_all_evals_of_the_project_run(folder: Path, clean_env: dict[str, str], home: Path) -> None:
    write(folder, GOOD, PRICE)
    answer = run("evals.run", clean_env, home)
    assert answer["ok"], answer
    assert (answer["data"]["passed"], answer["data"]["failed"], answer["data"]["errors"]) == (2, 0, 0)
    assert [e["id"] for e in answer["data"]["evals"]] == ["good", "price"]


def test_a_failed_eval_ends_with_its_details_and_the_exit_code_of_a_broken_contract(
    folder: Path, clean_env: dict[str, str], home: Path
) -> None:
    write(folder, GOOD, BAD)
    answer = run("evals.run", clean_env, home)
    assert answer["error"]["kind"] == "contract_error"
    assert answer.exit_code is ExitCode.CONTRACT
    details = answer["error"]["details"]
    assert (details["passed"], details["failed"]) == (1, 1)
    (failure,) = details["evals"][0]["failures"]
    assert (failure["path"], failure["expected"]) == ("data.domains", "0")
    assert failure["actual"].startswith("[{")
    assert answer["error"]["next_actions"] == ["kc evals run bad"]


def test_a_broken_file_is_reported_beside_the_others(folder: Path, clean_env: dict[str, str], home: Path) -> None:
    write(folder, GOOD)
    (folder / "junk.json").write_text("{")
    answer = run("evals.run", clean_env, home)
    assert answer["error"]["kind"] == "invalid_arguments"
    assert (answer["error"]["details"]["passed"], answer["error"]["details"]["errors"]) == (1, 1)
    assert "junk.json" in answer["error"]["message"]


def test_two_evals_with_one_id_are_refused(folder: Path, clean_env: dict[str, str], home: Path) -> None:
    write(folder, GOOD)
    (folder / "other.json").write_text(json.dumps(GOOD))
    assert "belongs to good.json already" in run("evals.run", clean_env, home)["error"]["message"]


def test_targets_are_ids_files_or_folders(folder: Path, clean_env: dict[str, str], home: Path) -> None:
    write(folder, GOOD, BAD, PRICE)
    for targets in (("good",), ("tests/evals/good.json",), (str(folder / "good.json"), "good.json")[:1]):
        assert run("evals.run", clean_env, home, *targets)["data"]["passed"] == 1
    assert run("evals.run", clean_env, home, "good", "price")["data"]["passed"] == 2
    assert run("evals.run", clean_env, home, "tests/evals")["error"]["details"]["failed"] == 1
    unknown = run("evals.run", clean_env, home, "goood")
    assert unknown["error"]["kind"] == "invalid_arguments"
    assert unknown["error"]["details"]["allowed"] == ["bad", "good", "price"]


def test_no_eval_is_no_pass(folder: Path, clean_env: dict[str, str], home: Path) -> None:
    answer = run("evals.run", clean_env, home)
    assert answer["error"]["kind"] == "invalid_arguments"
    assert "no eval files" in answer["error"]["message"]


def test_a_configured_live_mode_does_not_make_evals_spend(folder: Path, clean_env: dict[str, str], home: Path) -> None:
    write(folder, {k: v for k, v in PRICE.items() if k != "mode"})
    answer = run("evals.run", clean_env, home, KEEPA_CLI_MODE="live", KEEPA_API_KEY="x" * 64)
    (failure, *_) = answer["error"]["details"]["evals"][0]["failures"]
    assert "cassette_miss" in failure["note"]


def test_the_list_shows_good_and_broken_files(folder: Path, clean_env: dict[str, str], home: Path) -> None:
    write(folder, GOOD, PRICE)
    (folder / "junk.json").write_text("[]")
    data = run("evals.list", clean_env, home)["data"]
    assert [(e["id"], e["commands"], e["assertions"]) for e in data["evals"]] == [
        ("good", ["domains.list"], 1),
        ("price", ["products.get"], 1),
    ]
    assert [b["id"] for b in data["broken"]] == ["junk"]


def test_without_own_evals_those_of_the_product_are_listed(clean_env: dict[str, str], home: Path) -> None:
    data = run("evals.list", clean_env, home)["data"]
    assert data["broken"] == []
    assert len(data["evals"]) >= 7
