"""Eight clients at once for some seconds: nothing fails, nothing stays behind, memory stays where it is."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import REPO


@pytest.mark.slow
def test_clients_at_once() -> None:
    """Other tests run beside this one: how long a ping may take at worst is for the script, on a machine at rest."""
    command = [sys.executable, "scripts/load_mcp_http.py", "--seconds", "6", "--clients", "8"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, encoding="utf-8", timeout=120, check=False)
    found = json.loads(done.stdout)
    assert found["errors"] == []
    assert found["left_over"] == 0
    assert found["calls"] > 100
    assert found["sessions"] > 8
    assert found["ping_ms"]["p50"] < 100
    memory = found["memory_mb"]
    assert not memory or memory["highest"] < min(120, memory["early"] * 1.3)
