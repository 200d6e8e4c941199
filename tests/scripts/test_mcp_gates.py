"""The gates of the MCP server: what clients see stays as it was, and figures are judged and remembered."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).parents[2]
sys.path.insert(0, str(REPO / "scripts"))

import check_mcp_performance as performance  # noqa: E402
import check_mcp_surface as gate  # noqa: E402
import summarize_mcp_performance as summary  # noqa: E402
from devtools import commands  # noqa: E402


def test_clients_see_what_the_snapshot_says() -> None:
    changed = list(gate.differences(gate.stored(), gate.surface()))
    assert not changed, "python scripts/check_mcp_surface.py --update, if this is meant:\n" + "\n".join(changed)


def test_every_gate_runs_and_only_those_with_node_can_require_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: dict[str, list[Any]] = {}

    def run(command: list[Any], **_: Any) -> int:
        ran[Path(command[1]).name] = command[2:]
        return int(command[1].name == "check_mcp_surface.py")

    monkeypatch.setattr(commands, "ensure", lambda *_, **__: "python")
    monkeypatch.setattr(commands, "run", run)
    assert commands.gates(["--require"]) == 1
    assert set(ran) == set(commands.GATES)
    assert {name for name, given in ran.items() if given == ["--require"]} == commands.NODE_GATES


def _argument(found: dict[str, Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = found["tools"]["products_get"]["arguments"]
    return arguments


CHANGES = [
    (lambda f: f["tools"].pop("products_get"), "tools: products_get removed"),
    (lambda f: f["tools"].update(new={}), "tools: new added"),
    (lambda f: _argument(f).pop("stats"), "tools: products_get: arguments: stats removed"),
    (lambda f: _argument(f).update(more={}), "tools: products_get: arguments: more added"),
    (lambda f: _argument(f)["stats"].update(type="x"), 'tools: products_get: arguments: stats: type: "'),
    (lambda f: f["tools"]["sellers_get"]["required"].clear(), 'tools: sellers_get: required: "seller" removed'),
    (
        lambda f: f["tools"]["products_get"]["annotations"].update(readOnlyHint=None),
        "tools: products_get: annotations: readOnlyHint: true -> null",
    ),
    (lambda f: f["toolsets"]["audit"].reverse(), "toolsets: audit: order changed"),
    (lambda f: f["error_kinds"].pop("cassette_miss"), "error_kinds: cassette_miss removed"),
    (lambda f: f["resources"].pop("keepa://context/policy"), "resources: keepa://context/policy removed"),
    (lambda f: f["prompts"]["product_research"]["arguments"].pop("asin"), "product_research: arguments: asin removed"),
]


@pytest.mark.parametrize(("change", "says"), CHANGES)
def test_a_change_is_told_with_its_place(change: Any, says: str) -> None:
    old = gate.surface()
    new = copy.deepcopy(old)
    change(new)
    (line,) = gate.differences(old, new)
    assert says in line


def test_the_gate_fails_on_a_change_until_it_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--snapshots", str(tmp_path / "kept")]
    assert gate.main(place) == 1
    assert gate.main([*place, "--update"]) == 0
    (tmp_path / "kept" / "gone.json").write_text("{}")
    assert gate.main(place) == 1
    assert "gone removed" in capsys.readouterr().out
    assert gate.main([*place, "--update"]) == 0
    assert gate.main(place) == 0
    assert "as in the snapshot" in capsys.readouterr().out


def figures(**more: float) -> dict[str, dict[str, Any]]:
    row = dict.fromkeys(("p50_ms", "p95_ms", *performance.BARS), 0)
    return {name: dict(row, **more) for name in performance.MEASURES}


def test_what_is_over_its_bar_is_named() -> None:
    assert performance.over(figures()) == []
    found = figures()
    found["tools/list"]["ratio_p50"] = 9.0
    found["context_policy"]["text_bytes"] = 10**6
    assert performance.over(found) == [
        "tools/list: ratio_p50 is 9, at most 1.5 is allowed",
        "context_policy: text_bytes is 1e+06, at most 20000 is allowed",
    ]
    found = figures()
    del found["initialize"]
    assert performance.over(found) == ["initialize: was not measured"]


def test_percentiles_of_thirty_rounds() -> None:
    values = list(range(1, 31))
    assert (performance.at(values, 0.5), performance.at(values, 0.95)) == (15, 28)
    assert performance.at([7], 0.95) == 7


def test_sizes_count_bytes_and_not_characters() -> None:
    result = {"content": [{"type": "text", "text": "ü"}], "structuredContent": {"a": "ü"}}
    line = json.dumps({"result": result}).encode() + b"\n"
    assert performance.sizes(line) == {"json_bytes": len(line) - 1, "text_bytes": 2, "structured_bytes": 10}


def test_a_run_keeps_every_figure_and_ends_with_its_verdict(tmp_path: Path) -> None:
    out = tmp_path / "runs" / "one.json"
    code = performance.main(["--rounds", "3", "--out", str(out)])
    kept = json.loads(out.read_text(encoding="utf-8"))
    assert code == int(bool(kept["over"]))
    assert set(kept["measures"]) == set(performance.MEASURES)
    assert kept["measures"]["tools/list"]["json_bytes"] > 10_000
    assert kept["measures"]["products_get, fixture"]["structured_bytes"] > 1_000
    assert summary.main([str(tmp_path)]) == 0


def _runs(folder: Path, *ratios: float) -> Path:
    for number, ratio in enumerate(ratios):
        run = performance.artifact(figures(ratio_p50=ratio), 30) | {"taken_at": f"2026-01-0{number + 1}"}
        (folder / f"{9 - number}.json").write_text(json.dumps(run))
    return folder


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(performance, "measured", lambda rounds: pytest.fail("measured"))
    (tmp_path / "taken").write_text("", "utf-8")
    for out in (tmp_path, tmp_path / "taken" / "below.json"):
        with pytest.raises(SystemExit) as ended:
            performance.main(["--out", str(out)])
        assert ended.value.code == 2
        assert str(out) in capsys.readouterr().err


def test_the_history_shows_the_worst_and_proposes_what_every_run_holds(tmp_path: Path) -> None:
    rows = summary.history(summary.read([_runs(tmp_path, 0.5, 0.8, 0.6)]))
    (row,) = [r for r in rows if (r["what"], r["figure"]) == ("tools/list", "ratio_p50")]
    assert (row["runs"], row["median"], row["worst"], row["bar"], row["proposed"]) == (3, 0.6, 0.8, 1.5, 1.0)


def test_too_few_runs_and_slow_runs_propose_nothing(tmp_path: Path) -> None:
    assert summary.proposed("ratio_p50", [0.5, 0.5], 1.5) is None
    assert summary.proposed("ratio_p50", [1.4, 1.4, 1.4], 1.5) is None
    assert summary.proposed("json_bytes", [1010.0, 1, 1], 9000) == 1200
    assert summary.proposed("p95_ms", [1, 1, 1], None) is None


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"schema": 2}', '{"schema": 1, "measures": {"x": {}}}'])
def test_what_is_no_artifact_is_refused_by_name(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.json").write_text(content)
    with pytest.raises(SystemExit) as ended:
        summary.main([str(tmp_path)])
    assert ended.value.code == 2
    assert "odd.json" in capsys.readouterr().err
