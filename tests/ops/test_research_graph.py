from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.views import problems

KETTLES = ("B0MUSV1XZF", "B0L8MF834V", "B062KCC5TB")


def data(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    assert found["ok"], found
    return found["data"]


@pytest.fixture
def files(cli: Any, home: Path) -> dict[str, Path]:
    """Saved results: a comparison, a product view, a raw answer and a category search."""
    made = {
        "compare.json": ("products", "compare", *KETTLES),
        "view.json": ("products", "get", "B0PPJ248DY", "--full", "--view", "research"),
        "search.json": ("categories", "search", "kitchen"),
    }
    found = {}
    for name, args in made.items():
        found[name] = home / "work" / name
        found[name].write_text(cli("--json", *args).stdout, encoding="utf-8")
    return found


def test_results_become_one_graph_in_any_order(cli: Any, files: dict[str, Path]) -> None:
    args = ("--json", "research-graph", "merge")
    forward = data(cli(*args, "compare.json", "view.json", "search.json", "--root", "kitchen"))
    backward = data(cli(*args, "search.json", "view.json", "compare.json", "--root", "kitchen"))
    for name in ("research_graph", "summary", "sources", "diagnostics", "diff", "data_quality"):
        assert forward[name] == backward[name]
    assert problems(forward) == []
    ids = {n["id"] for n in forward["research_graph"]["nodes"]}
    assert {f"product:US:{asin}" for asin in KETTLES} | {"product:US:B0PPJ248DY"} <= ids
    assert forward["research_graph"]["root"] == "research_graph:kitchen"
    again = data(cli(*args, "compare.json", "view.json", "search.json", "--root", "kitchen", "--out", "graph.json"))
    merged = data(cli(*args, "graph.json", "--root", "kitchen"))
    assert merged["research_graph"] == again["research_graph"] == forward["research_graph"]


def test_the_file_holds_the_result_and_leads_on(cli: Any, files: dict[str, Path], home: Path) -> None:
    args = ("research-graph", "merge", "compare.json", "view.json")
    found = data(cli("--json", *args, "--out", "graph.json"))
    written = json.loads((home / "work" / "graph.json").read_text(encoding="utf-8"))
    assert {k: v for k, v in found.items() if k != "output"} == written
    assert found["output"]["size_bytes"] == (home / "work" / "graph.json").stat().st_size
    assert found["output"]["result_count"] == found["summary"]["node_count"]
    (action,) = found["next_actions"]
    assert json.loads(cli("--json", *shlex.split(action["cli"])[1:]).stdout)["data"]["view"] == "research_brief_export"
    unwritten = data(cli("--json", *args))["next_actions"]
    assert unwritten[0]["params"]["out"] and problems({"next_actions": unwritten}) == []


def test_raw_products_get_a_graph_made(cli: Any) -> None:
    found = data(cli("--json", "research-graph", "merge", "--fixture", "product_B0PPJ248DY_full", "--root", "one"))
    assert "product:US:B0PPJ248DY" in {n["id"] for n in found["research_graph"]["nodes"]}
    assert found["sources"][0]["path"] == "$.products[0]"


def test_the_preferred_source(cli: Any, home: Path) -> None:
    for name, label in (("a.json", "Old"), ("b.json", "New")):
        graph = {
            "root": "product:US:A",
            "nodes": [{"id": "product:US:A", "type": "product", "label": label}],
            "edges": [],
        }
        (home / "work" / name).write_text(json.dumps(graph))
    args = ("--json", "research-graph", "merge", "a.json", "b.json", "--prefer-source")
    for wish, label in (("a.json", "Old"), ("1", "New"), ("0", "Old")):
        found = data(cli(*args, wish))
        assert found["research_graph"]["nodes"][1]["label"] == label
        assert found["data_quality"]["level"] == "contested"
    wrong = json.loads(cli(*args, "c.json").stdout)["error"]
    assert wrong["kind"] == "invalid_arguments" and "a.json" in wrong["details"]["allowed"]


def test_bad_input(cli: Any, home: Path, files: dict[str, Path]) -> None:
    (home / "work" / "empty.json").write_text("{}")
    (home / "work" / "broken.json").write_text("{")

    def kind(*args: str) -> str:
        found: str = json.loads(cli("--json", "research-graph", "merge", *args).stdout)["error"]["kind"]
        return found

    assert kind() == kind("empty.json") == "missing_inputs"
    assert kind("broken.json") == kind("compare.json", "--root", " ") == "invalid_arguments"
    assert kind("gone.json") == "io_error"
    assert kind("compare.json", "--out", ".") == "invalid_arguments"
    mixed = json.loads(cli("--json", "research-graph", "merge", "empty.json", "compare.json").stdout)
    assert mixed["warnings"][0]["code"] == "no_graph" and "empty.json" in mixed["warnings"][0]["message"]


def test_a_brief_of_results(cli: Any, files: dict[str, Path], home: Path) -> None:
    args = ("--json", "research", "brief", "compare.json", "view.json", "--title", "Kettles")
    found = data(cli(*args, "--out-dir", "brief", "--out", "brief.json"))
    assert problems(found) == []
    assert found["decision_summary"]["status"] == "stated" and found["risk_summary"]["status"] == "assessed"
    documents = {name: json.loads(path.read_text(encoding="utf-8")) for name, path in files.items()}
    from keepa_cli.core.paths import parse

    for link in found["evidence_links"]:
        parse(link["path"]).get(documents[link["source"]])
    folder = home / "work" / "brief"
    assert sorted(p.name for p in folder.glob("*.json")) == ["brief.json", "research-graph.json"]
    assert (folder / "brief.json").read_bytes() == (home / "work" / "brief.json").read_bytes()
    graph = data(cli("--json", "research-graph", "merge", "brief/research-graph.json", "--root", "Kettles"))
    assert graph["summary"]["node_count"] == found["entity_graph_summary"]["node_count"]
    for step in found["follow_up_plan"]["steps"]:
        dry = shlex.split(step["cli"])[1:] + (["--dry-run"] if not step["command"].startswith("history") else [])
        assert json.loads(cli("--json", *dry).stdout)["ok"], step["cli"]


def test_a_brief_takes_no_orders_from_its_inputs(cli: Any, home: Path) -> None:
    orders = [
        {"action": "x", "reason": "r", "command": "tracking.remove-all", "params": {}},
        {
            "action": "x",
            "reason": "r",
            "command": "categories.finder-selection",
            "params": {"category": [1], "out": "/etc/x"},
        },
        {"action": "x", "reason": "r", "command": "research-graph.merge", "params": {"input": ["a"], "out": "x.json"}},
        {"action": "x", "reason": "r", "command": "config.set-token", "params": {"token": "x"}},
        {"action": "x", "reason": "r", "command": "no.such", "params": {}},
        {"action": "x", "reason": "r", "command": "products.get", "params": {"asin": ["not an asin"]}},
        {
            "action": "x",
            "reason": "r",
            "command": "products.get",
            "params": {"asin": ["B000000001"]},
            "cli": "rm -rf /",
        },
    ]
    (home / "work" / "hostile.json").write_text(json.dumps({"view": "x", "next_actions": orders}))
    plan = data(cli("--json", "research", "brief", "hostile.json"))["follow_up_plan"]
    assert [s["cli"] for s in plan["steps"]] == ["kc products get B000000001"]
    assert plan["not_executable"] == 5


def test_a_brief_of_lists_and_analyses(cli: Any, files: dict[str, Path], home: Path) -> None:
    (home / "work" / "best.json").write_text(cli("--json", "bestsellers", "get", "4255431").stdout, encoding="utf-8")
    stock = cli("--json", "business", "inventory-audit", "--fixture", "product_B0PPJ248DY_full").stdout
    (home / "work" / "stock.json").write_text(stock, encoding="utf-8")
    found = data(cli("--json", "research", "brief", "search.json", "best.json", "stock.json"))
    assert problems(found) == []
    texts = " ".join(s["text"] for s in found["decision_summary"]["statements"])
    assert "kitchen" in texts and "best sellers" in texts and "out of stock" in texts
    assert {"price", "sales_rank"} <= {gap["fact"] for gap in found["data_quality"]["missing"]}
    assert [i["kind"] for i in found["data_quality"]["inputs"]] == [
        "category_search",
        "bestsellers",
        "business_metrics",
    ]


def test_a_brief_in_a_process_of_its_own(kc: Any, home: Path) -> None:
    merged = kc("research-graph", "merge", "--fixture", "product_B0PPJ248DY_full", "--out", "g.json", "--root", "lead")
    assert merged.returncode == 0, merged.stderr
    result = kc("--json", "research", "brief", "g.json", "--title", "Lead")
    assert data(result)["decision_summary"]["status"] == "graph_only"
    assert kc("research", "resolve", "B0PPJ248DY").returncode == 0
    assert "product_B0PPJ248DY_full" in kc("research", "query", "B0PPJ248DY").stdout
    assert "replay" in kc("context", "policy").stdout
