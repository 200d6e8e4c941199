"""reports build: one report in three forms, its figures, and what is refused."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from keepa_cli.research.figures import render
from tests.research.product.made import body, days, product
from tests.research.reports.support import HOSTILE
from tests.support.remote import call, refusal
from tests.support.views import problems

NAME = "reports.build"
SERIES = {"new": days((300, 1999), (200, -1), (180, 1899)), "sales_rank": days((400, 500), (30, 300))}
FIXTURE = "product_B0PPJ248DY_full"


def two() -> dict[str, Any]:
    return body(product(SERIES), product(asin="B00BBBBBB2", title="Other"))


def built(home: Path, **params: Any) -> dict[str, Any]:
    result = call(NAME, home, params)
    assert result["ok"], result
    assert problems(result["data"]) == []
    return dict(result["data"]) | {"warned": [w["code"] for w in result.get("warnings", [])]}


def test_markdown_has_its_figures_beside_it(home: Path) -> None:
    data = built(home, payload=two(), out="reports/kettles.md", figure_set="history")
    path = home / "work/reports/kettles.md"
    assert (data["view"], data["format"], data["output"]["path"]) == ("reports_build", "markdown", str(path))
    assert data["output"]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    targets = re.findall(r"^!\[.*\]\((.*)\)$", path.read_text(encoding="utf-8"), re.M)
    assert "kettles-figures/history-B00AAAAAA1.svg" in targets
    assert all((path.parent / t).read_bytes().startswith(b"<svg") for t in targets)
    assert [f["path"] for f in data["figures"]] and set(targets) == {f["path"] for f in data["figures"]}
    assert data["sections"][:2] == ["summary", "products"] and "figures" in data["sections"]


def test_html_is_one_page_with_its_figures_in_both_looks(home: Path) -> None:
    data = built(home, payload=two(), out="r.html", figure_set="history", title="Kettles & <pots>")
    page = (home / "work/r.html").read_text(encoding="utf-8")
    assert data["format"] == "html" and [p.name for p in (home / "work").iterdir()] == ["r.html"]
    assert "<title>Kettles &amp; &lt;pots&gt;</title>" in page
    drawn = len(data["figures"])
    assert drawn >= 4 and page.count("<svg ") == 2 * drawn and page.count('<div class="dark"') == drawn
    light = built(home, payload=two(), out="l.html", figure_set="history", theme="light")
    assert light["figures"] == data["figures"]
    assert (home / "work/l.html").read_text(encoding="utf-8").count("<svg ") == drawn


def test_json_has_the_same_content_and_the_whole_graph(home: Path) -> None:
    data = built(home, payload=two(), out_dir="out", format="json", figure_set="audit")
    report = json.loads((home / "work/out/report.json").read_bytes())
    assert list(report["research_graph_report"]) == [
        "summary", "entity_counts", "root", "nodes", "edges", "sources", "diagnostics", "diff",
    ]  # fmt: skip
    assert report["research_graph_report"]["summary"]["node_count"] == len(report["research_graph_report"]["nodes"])
    assert [f["path"] for f in report["figures"]] == ["figures/risks.svg", "figures/graph.svg"]
    assert {Path(o["path"]).name for o in data["outputs"]} == {"risks.svg", "graph.svg"}
    assert report["products"][0]["key_facts"][0]["text"] == "19.99 USD"
    assert problems({k: v for k, v in report.items() if k != "research_graph_report"}) == []


@pytest.mark.parametrize("form", ["markdown", "html", "json"])
def test_the_same_inputs_give_the_same_bytes(home: Path, form: str) -> None:
    for name in ("a", "b"):
        built(home, payload=two(), out_dir=name, format=form, figure_set="audit")
    first, second = (
        {p.relative_to(home / "work" / n): p.read_bytes() for p in (home / "work" / n).rglob("[!.]*") if p.is_file()}
        for n in ("a", "b")
    )
    assert first == second and first


def test_without_a_file_a_small_report_comes_as_text(home: Path) -> None:
    data = built(home, payload=two())
    assert data["text"].startswith("# Product research\n") and "output" not in data
    assert data["warned"] == ["figures_left_out"] and data["figures"] == []
    assert built(home, payload=two(), no_figures=True)["warned"] == []
    many = body(*(product(asin=f"B{i:09}") for i in range(60)))
    error = refusal(call(NAME, home, {"payload": many}))
    assert error["kind"] == "invalid_arguments" and "--out" in error["message"]


def test_without_the_extra_the_report_is_built_and_says_how_to_get_figures(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "vl_convert", None)
    result = call(NAME, home, {"payload": two(), "out": "r.md"})
    assert result["ok"] and result["data"]["figures"] == []
    assert render.INSTALL in result["warnings"][0]["message"]
    assert "![" not in (home / "work/r.md").read_text(encoding="utf-8")


def test_a_fixture_of_the_sandbox_is_marked_as_synthetic(home: Path) -> None:
    data = built(home, fixture=[FIXTURE], no_figures=True)
    assert data["synthetic"] == [FIXTURE] and data["inputs"][0]["origin"] == "sandbox"
    assert data["inputs"][0]["recorded_at"].startswith("20") and "Synthetic data" in data["text"]


def test_an_envelope_tells_its_origin(home: Path) -> None:
    envelope = {
        "ok": True,
        "data": {"body": two()},
        "provenance": {"origin": "live", "recorded_at": "2026-05-10T04:20:00Z"},
    }
    (home / "work/e.json").write_text(json.dumps(envelope), encoding="utf-8")
    data = built(home, input=["e.json"], no_figures=True)
    assert (data["inputs"][0]["origin"], data["synthetic"]) == ("live", [])


def test_a_body_that_a_recording_answered_with_is_known_by_its_bytes(home: Path) -> None:
    assert call("products.get", home, {"asin": ["B0PPJ248DY"], "full": True}, out=home / "work/b.json")["ok"]
    told = built(home, input=["b.json"], no_figures=True)["inputs"][0]
    assert (told["origin"], told["synthetic"]) == ("sandbox", True)


def test_given_figures_are_shown_as_images_that_cannot_run(home: Path) -> None:
    bad = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
    (home / "work/my chart.svg").write_bytes(bad)
    data = built(home, payload=two(), out="r.html", figure=["my chart.svg", "my chart.svg"])
    page = (home / "work/r.html").read_text(encoding="utf-8")
    assert [f["name"] for f in data["figures"]] == ["my-chart", "my-chart-2"]
    assert "<script" not in page and page.count('src="data:image/svg+xml;base64,') == 2
    built(home, payload=two(), out="r.md", figure=["my chart.svg"])
    assert (home / "work/r-figures/my-chart.svg").read_bytes() == bad
    (home / "work/x.svg").write_text("not a figure", encoding="utf-8")
    assert (
        refusal(call(NAME, home, {"payload": two(), "out": "y.html", "figure": ["x.svg"]}))["kind"]
        == "invalid_arguments"
    )


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({}, "missing_inputs"),
        ({"payload": {"view": "nothing"}}, "missing_inputs"),
        ({"payload": body(product()), "title": " "}, "invalid_arguments"),
        ({"payload": body(product()), "out": "a.md", "out_dir": "b"}, "invalid_arguments"),
        ({"payload": body(product()), "theme": "pink"}, "invalid_arguments"),
        ({"fixture": ["no_such_fixture"]}, "fixture_not_found"),
    ],
)
def test_what_cannot_be_built_is_refused_and_nothing_is_written(home: Path, params: dict[str, Any], kind: str) -> None:
    assert refusal(call(NAME, home, params))["kind"] == kind
    assert list((home / "work").iterdir()) == []


def test_hostile_titles_stay_text_in_files(home: Path) -> None:
    data = body(product(SERIES, title=HOSTILE), product(asin="B00BBBBBB2", title=HOSTILE))
    built(home, payload=data, out="r.html", figure_set="audit")
    page = (home / "work/r.html").read_text(encoding="utf-8")
    assert "<script" not in page and "<img" not in page and "alert(1)" in page


def test_a_plan_runs_whole_with_a_report_and_pages(home: Path) -> None:
    (home / "work/p.json").write_text(json.dumps(body(product())), encoding="utf-8")
    result = call("workflow.run", home, {"name": "report-research", "input": ["p.json"], "out_dir": "run"})
    assert result["ok"], result
    assert {s["id"]: s["status"] for s in result["data"]["steps"]} == dict.fromkeys(
        ("graph", "brief", "figures", "report", "snapshot"), "done"
    )
    assert (home / "work/run/report.md").is_file() and (home / "work/run/site/index.html").is_file()
