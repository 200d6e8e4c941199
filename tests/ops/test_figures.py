"""figures research: files all or nothing, their description, reasons, and the same bytes in every process."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from keepa_cli import ops
from keepa_cli.core.schema import bind
from tests.conftest import REPO
from tests.research.product.made import body, days, product
from tests.support.remote import call, context, refusal
from tests.support.views import problems

NAME = "figures.research"
A, B = "B00AAAAAA1", "B00BBBBBB2"


def two() -> dict[str, Any]:
    return body(product({"new": days((300, 1999), (200, -1), (180, 1899))}), product(asin=B))


def figures(home: Path, **params: Any) -> dict[str, Any]:
    result = call(NAME, home, {"out_dir": "out"} | params)
    assert result["ok"], result
    assert result["token_bucket"].get("tokens_consumed") in (None, 0)
    return dict(result["data"]) | {"warned": result.get("warnings", [])}


def test_every_figure_is_described_and_has_its_source_beside_it(home: Path) -> None:
    data = figures(home, payload=two(), figure_set="audit", format="both")
    assert (data["view"], data["figure_set"], data["count"]) == ("figures_research", "audit", 4)
    assert [(f["name"], f["format"], f["theme"]) for f in data["figures"]] == [
        ("risks", "svg", "light"), ("risks", "png", "light"), ("graph", "svg", "light"), ("graph", "png", "light"),
    ]  # fmt: skip
    for figure in data["figures"]:
        content = Path(figure["path"]).read_bytes()
        assert (figure["size_bytes"], figure["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
        source = json.loads(Path(figure["source_data_path"]).read_text(encoding="utf-8"))
        assert source["figure"] == figure["name"] and source["data_basis"] == figure["data_basis"] == "keepa_answer"
        assert source["inputs"][0]["source"] == "payload"
        assert figure["points"] > 0 and figure["width"] in (
            range(890, 906) if figure["format"] == "svg" else [1796, 1800]
        )
    written = {f"{n}.{end}" for n in ("graph", "risks") for end in ("data.json", "light.png", "light.svg")}
    assert {p.name for p in (home / "work/out").glob("[!.]*")} == written
    assert problems({k: v for k, v in data.items() if k != "warned"}) == []


def test_the_same_input_gives_the_same_bytes_in_another_process(kc: Any, home: Path) -> None:
    (home / "work/two.json").write_text(json.dumps(two()), encoding="utf-8")
    args = (
        "--json",
        "figures",
        "research",
        "--input",
        "two.json",
        "--figure-set",
        "audit",
        "--format",
        "both",
        "--specs",
    )
    found = []
    for folder, zone in (("one", "UTC"), ("other", "Asia/Tokyo")):
        done = kc(*args, "--theme", "dark", "--out-dir", folder, env={"TZ": zone, "PYTHONHASHSEED": str(len(folder))})
        assert done.returncode == 0, done.stdout + done.stderr
        found.append({p.name: p.read_bytes() for p in (home / "work" / folder).glob("[!.]*")})
    assert found[0] == found[1] and len(found[0]) == 8


def test_a_fixture_is_drawn_and_progress_is_told(home: Path) -> None:
    ctx = context(home, KEEPA_CLI_CASSETTES=str(REPO / "cassettes"))
    told: list[str] = []
    ctx.tell = told.append
    result = call(
        NAME, home, {"out_dir": "out", "fixture": ["product_B0PPJ248DY_full"], "figure_set": "history"}, ctx=ctx
    )
    assert result["ok"], result
    names = [f["name"] for f in result["data"]["figures"]]
    assert names == ["history-B0PPJ248DY", "signals-B0PPJ248DY", "windows-B0PPJ248DY"]
    assert told == [f"drawing {name}" for name in names]


def test_what_cannot_be_drawn_is_told_and_nothing_is_written(home: Path) -> None:
    data = figures(home, payload=body(product()), figure_set="compare")
    assert (data["count"], data["figures"]) == (0, [])
    assert {s["name"] for s in data["skipped"]} == {"metrics", "multiples-prices", "multiples-ranks"}
    assert data["warned"][0]["code"] == "no_figures"
    assert not (home / "work/out").exists()


def test_histories_that_are_missing_are_the_next_action(home: Path) -> None:
    bare = product(csv=None)
    data = figures(home, payload=body(bare), figure_set="history")
    (action,) = [a for a in data["next_actions"] if a["action"] == "get_history"]
    assert action["params"] == {"asin": [A], "domain": "US", "full": True}
    bind(ops.find(action["command"]), action["params"])


@pytest.mark.parametrize(
    ("params", "kind", "word"),
    [
        ({}, "missing_inputs", "nothing to work on"),
        ({"payload": {"hello": 1}}, "missing_inputs", "Nothing that can be drawn"),
        ({"payload": body(product()), "asin": [B]}, "missing_inputs", B),
        ({"payload": body(product()), "figure_set": "nice"}, "invalid_arguments", "igure_set must be one of"),
        ({"payload": body(product()), "format": "gif"}, "invalid_arguments", "ormat must be one of"),
        ({"input": ["gone.json"]}, "io_error", "gone.json"),
        ({"input": ["bad.json"]}, "invalid_arguments", "not JSON"),
        ({"payload": body(product()), "out_dir": "bad.json"}, "invalid_arguments", "is a file"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(
    home: Path, params: dict[str, Any], kind: str, word: str
) -> None:
    (home / "work/bad.json").write_text("{", encoding="utf-8")
    error = refusal(call(NAME, home, {"out_dir": "out"} | params))
    assert error["kind"] == kind and word in error["message"]
    assert not (home / "work/out").exists()


def test_without_the_extra_nothing_is_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    error = refusal(call(NAME, home, {"out_dir": "out", "payload": two()}))
    assert error["kind"] == "missing_inputs"
    assert error["next_actions"] == ['pip install "keepa-cli[figures]"']
    assert not (home / "work/out").exists()


def test_an_input_without_anything_to_draw_is_a_warning_beside_others(home: Path) -> None:
    (home / "work/empty.json").write_text("[]", encoding="utf-8")
    data = figures(home, input=["empty.json"], payload=body(product()), figure_set="compare")
    assert data["warned"][0] == {"code": "nothing_to_draw", "message": "Nothing in empty.json can be drawn."}


def test_one_table_tells_which_figures_belong_to_which_set(home: Path) -> None:
    available = figures(home, payload=body(product()), figure_set="compare")["available_figure_sets"]
    assert available["all"] == [n for s in ("history", "compare", "audit") for n in available[s]]
    assert ops.find(NAME).tool == "figures_research" and ops.find(NAME).toolset == "reports"
