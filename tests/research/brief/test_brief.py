from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from keepa_cli.core.context import Context
from keepa_cli.core.paths import parse
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.ops._actions import planner
from keepa_cli.research.brief.build import build
from keepa_cli.research.brief.documents import Document, kind_of
from keepa_cli.research.graph.model import Graph, NodeType
from tests.support.views import problems

US = DOMAINS[1]
PLAN = planner(Context(env={}))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["agent_brief", "one_line", "brief", "decision", "risk", "risk_taxonomy", "items", "code", "severity",
                 "reason", "risk_summary", "rank_declining", "worst", "asins", "next_actions", "command", "params",
                 "data", "data_quality", "missing", "not_requested", "fact", "identity", "asin", "title", "brand",
                 "content", "features", "research_graph", "nodes", "edges", "id", "type", "products", "body", "ok",
                 "view"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)  # fmt: skip


def replan(entry: Any) -> dict[str, Any]:
    cost = {"worst_case_tokens": 1, "requires_confirmation": False, "cli": "kc"}
    return {"command": entry["command"], "params": entry["params"]} | cost


def brief(*documents: tuple[str, Any], replan: Any = replan) -> dict[str, Any]:
    given_ = [Document(name, data, "0" * 64) for name, data in documents]
    return build(given_, "Kettles", US, PLAN, replan)[0]


def links_resolve(found: dict[str, Any], documents: dict[str, Any]) -> None:
    """Every evidence number is in the list, every link leads somewhere, and every link is needed."""
    known = {link["id"]: link for link in found["evidence_links"]}
    assert list(known) == [f"E{n + 1}" for n in range(len(known))]
    for link in known.values():
        parse(link["path"]).get(documents[link["source"]])
    used: set[str] = set()

    def look(value: Any) -> None:
        if isinstance(value, dict):
            used.update(value.get("evidence", []) if isinstance(value.get("evidence"), list) else [])
            for inner in value.values():
                look(inner)
        elif isinstance(value, list):
            for inner in value:
                look(inner)

    look({k: v for k, v in found.items() if k != "evidence_links"})
    assert used == set(known)


VIEW = {
    "ok": True,
    "data": {
        "view": "product",
        "products": [
            {
                "identity": {"asin": "B000000001", "title": "Kettle", "brand": "Acme"},
                "agent_brief": {"one_line": "B000000001 | Kettle | 9 USD", "decision_context": {"demand": "high"}},
                "content": {"features": ["Boils in 3 minutes", 7], "description": "x" * 400},
                "risk_taxonomy": {"items": [
                    {"code": "price_unstable", "severity": "medium", "reason": "It moved.", "evidence_path": "$.x"},
                    {"code": "made_up", "severity": "high", "reason": "No."}]},
                "data_quality": {
                    "not_requested": ["rating"], "missing": [{"fact": "aplus", "reason": "not_collected"}]},
                "next_actions": [
                    {"action": "a", "reason": "r", "command": "products.get", "params": {"asin": ["B000000001"]}}],
            }
        ],
    },
}  # fmt: skip


def test_every_sentence_is_the_input_s_own_and_names_its_place() -> None:
    found = brief(("view.json", VIEW))
    links_resolve(found, {"view.json": VIEW})
    (statement,) = found["decision_summary"]["statements"]
    assert (statement["about"], statement["text"]) == ("B000000001", "B000000001 | Kettle | 9 USD")
    place = next(link for link in found["evidence_links"] if link["id"] == statement["evidence"][0])
    assert place == {"id": "E1", "source": "view.json", "path": "$.data.products[0].agent_brief.one_line"}
    assert parse(place["path"]).get(VIEW) == statement["text"]
    assert [(r["code"], r["about"]) for r in found["risk_summary"]["items"]] == [("price_unstable", "B000000001")]
    assert [(g["fact"], g["for"]) for g in found["data_quality"]["missing"]] == [
        ("aplus", ["B000000001"]), ("rating", ["B000000001"]),
    ]  # fmt: skip
    assert found["follow_up_plan"]["steps"][0]["for"] == ["B000000001"]
    assert [(t["kind"], t.get("truncated")) for t in found["claim_risk_inputs"]["texts"]] == [
        ("title", None), ("feature", None), ("description", True),
    ]  # fmt: skip
    assert found["ip_risk_inputs"]["brands"][0]["name"] == "Acme"


def test_what_nobody_gave_is_not_requested() -> None:
    found = brief(("view.json", VIEW))
    external = found["external_signal_stub"]
    assert external["status"] == "not_requested"
    assert all(slot["status"] == "not_requested" and slot["signals"] == [] for slot in external["slots"].values())
    assert found["ip_risk_inputs"]["patent_search"] == {"status": "not_requested"}
    assert found["claim_risk_inputs"]["compliance_review"] == {"status": "not_requested"}


def test_no_assessment_is_not_no_risk() -> None:
    none = brief(("a.json", {"view": "product", "products": []}))
    assert none["risk_summary"]["status"] == "not_assessed"
    assert any("risk assessment" in note for note in none["data_quality"]["notes"])
    clean = brief(("a.json", {"view": "x", "risk_summary": {}}))
    assert (clean["risk_summary"]["status"], clean["risk_summary"]["items"]) == ("assessed", [])


def test_one_thing_in_two_inputs_is_said_once() -> None:
    found = brief(("a.json", VIEW), ("b.json", VIEW))
    assert found["decision_summary"]["statement_count"] == 1
    assert found["risk_summary"]["item_count"] == 1
    assert found["follow_up_plan"]["step_count"] == 1
    assert len(found["follow_up_plan"]["steps"][0]["evidence"]) == 2


def test_a_graph_alone_says_what_can_be_counted_in_it() -> None:
    g = Graph("product:US:A")
    g.node(NodeType.PRODUCT, "US:A", "Kettle")
    g.node(NodeType.BRAND, "acme", "Acme")
    data = {"view": "research_graph_merge", "research_graph": g.as_dict(), "summary": {"conflict_count": 3}}
    found = brief(("graph.json", data))
    assert found["decision_summary"]["status"] == "graph_only"
    assert found["decision_summary"]["statements"][0]["text"] == "The inputs connect 1 product, 1 brand."
    assert found["entity_graph_summary"]["entities"]["brand"][0]["id"] == "brand:acme"
    assert any(note.startswith("graph.json: 3 disagreements") for note in found["data_quality"]["notes"])
    links_resolve(found, {"graph.json": data})


def test_suggestions_that_do_not_run_are_counted_and_left_out() -> None:
    found = brief(("view.json", VIEW), replan=lambda _: None)
    plan = found["follow_up_plan"]
    assert (plan["steps"], plan["not_executable"]) == ([], 1)


def test_real_bodies(shared_data: Path) -> None:
    documents = {p.name: json.loads(p.read_bytes()) for p in sorted(shared_data.glob("product-*.json"))}
    found = brief(*documents.items())
    assert problems(found) == []
    links_resolve(found, documents)
    assert any("B0D8W1YVBX" in s["text"] for s in found["decision_summary"]["statements"])
    assert found["ip_risk_inputs"]["brands"][0]["name"] == "EQQUALBERRY"
    enveloped = {"x.json": {"ok": True, "data": {"count": 1, "body": next(iter(documents.values()))}}}
    links_resolve(brief(*enveloped.items()), enveloped)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), JSON), min_size=1, max_size=3, unique_by=lambda d: d[0]))
def test_nothing_that_comes_raises(documents: list[tuple[str, Any]]) -> None:
    found = brief(*documents)
    links_resolve(found, dict(documents))
    assert [p for p in problems(found) if "next action" not in p] == []


def test_the_kind_of_an_input() -> None:
    assert kind_of(VIEW) == "product"
    assert kind_of({"products": []}) == kind_of({"ok": True, "data": {"body": {"products": []}}}) == "keepa_answer"
    assert kind_of({"nodes": [], "edges": []}) == "graph"
    assert kind_of([1]) == "other"
