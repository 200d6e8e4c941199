"""A cold start imports little: what an everyday command may load beside the standard library is listed here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPO

LIGHT = {"keepa_cli", "click", "platformdirs", "colorama"}
REPLAY = LIGHT | {"yaml", "_yaml"}
PLUMBING = ("__editable", "_editable", "_virtualenv", "_cython", "cython_runtime")
"""Left by how Python packages are installed or compiled."""
HEAVY = {"requests", "urllib3", "vcr", "jsonschema", "rich", "mcp", "deepdiff", "sqlite3", "asyncio"}

PROBE = """
import json, sys
before = set(sys.modules)
from keepa_cli.cli import main
sys.argv = ["kc", *sys.argv[1:]]
try:
    code = main()
except SystemExit as stop:
    code = stop.code
tops = {name.partition(".")[0] for name in set(sys.modules) - before}
loaded = sorted((tops - sys.stdlib_module_names) | (tops & {"sqlite3", "asyncio"}))
sys.stderr.write("\\n" + json.dumps({"code": code, "loaded": loaded}))
"""


def loaded_by(args: list[str], env: dict[str, str], cwd: Path) -> tuple[int, set[str]]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *args],
        env=env,
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    last = json.loads(done.stderr.rpartition("\n")[2])
    return last["code"] or 0, {n for n in last["loaded"] if not n.startswith(PLUMBING)}


@pytest.mark.parametrize(
    ("args", "allowed"),
    [
        (["--version"], LIGHT),
        (["--help"], LIGHT),
        (["products", "get", "--help"], LIGHT),
        (["--json", "doctor"], LIGHT),
        (["--json", "domains", "list"], LIGHT),
        (["--json", "products", "get", "B0D8W1YVBX", "--domain", "US", "--dry-run"], LIGHT),
        (["--json", "tokens", "status"], REPLAY),
        (["tokens", "status"], REPLAY),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_cold_start_is_light(args: list[str], allowed: set[str], clean_env: dict[str, str]) -> None:
    code, loaded = loaded_by(args, clean_env, REPO)
    assert code == 0
    assert not loaded - allowed, "import these where they are used"
    assert not allowed & HEAVY
