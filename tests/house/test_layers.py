"""Imports go one way: the contracts of [tool.importlinter] hold."""

from __future__ import annotations

import subprocess
import sys

from tests.conftest import REPO


def test_import_contracts_hold() -> None:
    program = "from importlinter.cli import lint_imports_command as lint; lint()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=REPO,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=None,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
