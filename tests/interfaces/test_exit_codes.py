"""The exit code of a process is the one of its envelope."""

from __future__ import annotations

import json
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("args", "code", "kind"),
    [
        (("domains", "list"), 0, None),
        (("products", "get", "B0D8W1YVBX", "--domain", "XX"), 2, "invalid_arguments"),
        (("products", "fetch"), 2, "unknown_command"),
        (("tokens", "status", "--fixture", "never-recorded"), 6, "fixture_not_found"),
        (("tokens", "status", "--live"), 4, "auth_missing"),
    ],
)
def test_exit_code(args: tuple[str, ...], code: int, kind: str | None, kc: Any) -> None:
    done = kc("--json", *args)
    assert done.returncode == code
    assert json.loads(done.stdout).get("error", {}).get("kind") == kind
