"""Each example against a server of its own, with recordings only: what it claims is what happens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).parents[2]


@pytest.fixture
def example(clean_env: dict[str, str], home: Path) -> Any:
    def run(name: str, *args: str) -> tuple[subprocess.CompletedProcess[str], Path]:
        summary = home / "out" / f"{name}.json"
        command = [
            sys.executable,
            str(REPO / "scripts" / f"mcp_{name}_example.py"),
            "--save-summary",
            str(summary),
            *args,
        ]
        done = subprocess.run(
            command,
            env=clean_env,
            cwd=home / "work",
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        return done, summary

    return run


def summary_of(ran: tuple[subprocess.CompletedProcess[str], Path]) -> dict[str, Any]:
    done, path = ran
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert json.loads(done.stdout) == found
    assert found["budget_ledger"]["session_consumed"] == 0
    return found


def test_a_research_from_the_policy_to_the_brief(example: Any) -> None:
    found = summary_of(example("agent_workflow"))
    assert found["mode"] == found["provenance"] == "replay"
    assert found["target"]["status"] == "resolved"
    assert {"products", "offers", "graph", "brief"} <= {name for name, key in found["steps"].items() if key}
    assert set(found["risks"]["found"]) <= set(found["risks"]["known"])
    assert found["graph"]["nodes"]["seller"] >= 1
    assert found["brief"]["statements"][0].startswith("B0PPJ248DY")
    assert max(row["bytes"] for row in found["answers"]) <= 60_000


def test_a_research_that_nothing_was_recorded_for_ends_with_a_sentence(example: Any) -> None:
    done, path = example("agent_workflow", "--asin", "B00ZV9RDKK")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("products: ")
    assert not path.exists()


def test_an_audit_of_trackings_changes_nothing(example: Any) -> None:
    found = summary_of(example("tracking_audit"))
    assert "tracking_notifications" in found["tools"]
    assert not [name for name in found["tools"] if "add" in name or "remove" in name]
    assert found["notifications"]["marked_read"] is False
    assert found["refused"] == {
        "mark notifications as read": "invalid_arguments",
        "get a product": "inactive_tool",
        "promote a recording": "inactive_tool",
        "tracking_add": "JSON-RPC -32602",
        "tracking_remove": "JSON-RPC -32602",
        "tracking_remove_all": "JSON-RPC -32602",
    }


def test_recordings_become_something_to_read(example: Any, home: Path) -> None:
    folder = home / "report"
    found = summary_of(example("report_research", "--out-dir", str(folder)))
    assert found["graph"]["root"] == "research_graph:report"
    assert found["brief"]
    assert found["graph_sources"] >= 2
    for made, tool in (("figures", "figures_research"), ("report", "reports_build"), ("browse", "browse_snapshot")):
        if tool not in found["tools"]:
            assert found[made] == {"left_out": "this server has no such tool"}
        elif "left_out" not in found[made]:
            assert found[made]["view"] == tool
    assert found["files"] == sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_path_that_cannot_be_written_is_named(example: Any, home: Path) -> None:
    (home / "taken").write_text("", "utf-8")
    for name, option, path in (
        ("tracking_audit", "--save-summary", home),
        ("tracking_audit", "--save-summary", home / "taken" / "below.json"),
        ("report_research", "--out-dir", home / "taken"),
    ):
        done, _ = example(name, option, str(path))
        assert done.returncode == 1, done
        assert str(home) in done.stderr
        assert "Traceback" not in done.stderr
