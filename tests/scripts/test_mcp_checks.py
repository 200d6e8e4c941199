"""The checks with tools of Node: what they do without Node, and how they judge."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import REPO

SCRIPTS = ("check_mcp_conformance", "check_mcp_inspector")


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, REPO / "scripts" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("require", [False, True])
def test_without_node_nothing_runs_and_that_is_said(script: str, require: bool, tmp_path: Path) -> None:
    command = [sys.executable, str(REPO / "scripts" / f"{script}.py"), *(["--require"] if require else [])]
    env = {k: v for k, v in os.environ.items() if k != "PATH"} | {"PATH": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == int(require)
    assert "not run: node and npm are not on this machine" in done.stdout + done.stderr


def test_every_known_failure_has_a_reason() -> None:
    files = sorted((REPO / "tests" / "conformance").glob("*.yml"))
    assert len(files) == 4
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith("# ")
        entries = [line for line in lines if line.startswith("  - ")]
        assert all(len(line.partition("# ")[2]) > 15 for line in entries), file
    assert "  - " not in (REPO / "tests/conformance/baseline-2025-sse.yml").read_text(encoding="utf-8")


def test_a_run_of_the_real_server_is_judged_by_its_scenarios() -> None:
    script = load("check_mcp_conformance")
    run = script.Run("real", (), "2025-11-25", only=("ping", "tools-list"))
    good = {"ping": (2, 0), "tools-list": (3, 0), "tools-call-image": (1, 1)}
    assert script._judge(run, good, 1) == (True, "")
    assert script._judge(run, good | {"ping": (1, 1)}, 1)[0] is False
    assert script._judge(run, {"ping": (2, 0)}, 0)[0] is False
    assert script._judge(run, good | {"ping": (0, 0)}, 0)[0] is False
    assert script._judge(run, {}, 0)[0] is False
    fixture = script.Run("fixture", (), "2025-11-25", "baseline-2025-json.yml")
    assert script._judge(fixture, {"ping": (1, 1)}, 0) == (True, " (known: ping)")
    assert script._judge(fixture, {"ping": (2, 0)}, 1)[0] is False


def test_lines_of_the_suite_are_read() -> None:
    script = load("check_mcp_conformance")
    found = script.LINE.match("✗ input-required-result-multi-round: 4 passed, 12 failed")
    assert found is not None and found.groups() == ("input-required-result-multi-round", "4", "12")
    assert script.LINE.match("  ✗ tasks-lifecycle (extension)") is None
    assert script.LINE.match("Total: 79 passed, 2 failed") is None


GOOD: dict[str, object] = {
    "tools": 3, "answers": 3, "refusals": 3, "resources": 5, "templates": 4, "readable": 4, "prompts": 2, "gotten": 2,
    "tasks": 1, "refused": [],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"answers": 2}, "2 answers of 3 tools"),
        ({"refusals": 0}, "there are no refusals"),
        ({"readable": 3}, "3 readable of 4 templates"),
        ({"gotten": 1}, "1 gotten of 2 prompts"),
        ({"tasks": 0}, "there are no tasks"),
        ({"resources": 0}, "there are no resources"),
        ({"refused": ["call a: no"]}, "call a: no"),
    ],
)
def test_what_the_typescript_client_missed_is_named(change: dict[str, object], says: str) -> None:
    script = load("check_mcp_inspector")
    assert script.complaints(GOOD, 0) == []
    assert script.complaints(GOOD, 1) == ["exit code 1"]
    assert says in script.complaints({**GOOD, **change}, 0)


def test_a_served_check_works_in_its_own_folder(tmp_path: Path) -> None:
    """What a server writes must not lie in the checkout afterwards."""
    serving = load("check_mcp_inspector").serving
    child = "import os, time; print(f'http://{os.getcwd()}/mcp', flush=True); time.sleep(30)"
    with serving.serving(["-c", child], dict(os.environ), tmp_path) as served:
        assert served.address == f"http://{tmp_path.resolve()}/mcp"
