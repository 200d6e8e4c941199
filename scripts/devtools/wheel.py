"""Build the wheel, install it into an empty environment far from the checkout, and use it there."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from devtools.run import REPO, Stop, capture, last_lines
from devtools.venv import create, install, python_of


def scratch_environment(home: Path) -> dict[str, str]:
    """The environment of a user without key, settings or recordings; the checkout is not importable from it."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("KEEPA_", "PYTHON")) and k != "CI"}
    return kept | {
        "KEEPA_CLI_CONFIG": str(home / "none" / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "none" / "state"),
        "KEEPA_CLI_DATA_DIR": str(home / "none" / "data"),
        "PYTHONIOENCODING": "utf-8",
    }


def smoke(python: Path) -> tuple[int, str]:
    """Exit code and report of the whole check. `python` is the one that builds."""
    with tempfile.TemporaryDirectory(prefix="keepa wheel ") as folder:
        place = Path(folder).resolve()
        wheel = _build(python, place / "dist")
        create(place / "venv")
        installed = python_of(place / "venv")
        install(installed, str(wheel), label=wheel.name)
        empty = place / "empty"
        empty.mkdir()
        try:
            return 0, _use(installed, empty, scratch_environment(place))
        except Stop as stop:
            return stop.code, stop.sentence


def _build(python: Path, target: Path) -> Path:
    code, output = capture([python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", target, REPO])
    found = sorted(target.glob("*.whl"))
    if code or len(found) != 1:
        raise Stop(f"The wheel could not be built:\n{last_lines(output)}")
    return found[0]


def _use(python: Path, cwd: Path, env: Mapping[str, str]) -> str:
    """The commands a new user tries first; each must answer from the wheel alone."""

    def kc(*args: str) -> dict:
        code, output = capture([python, "-m", "keepa_cli", "--json", *args], cwd=cwd, env=env)
        try:
            answer = json.loads(output)
        except ValueError:
            raise Stop(f"kc --json {' '.join(args)} printed no JSON (exit {code}):\n{last_lines(output)}") from None
        if code or not answer.get("ok"):
            raise Stop(f"kc --json {' '.join(args)} ended with {code}:\n{last_lines(output)}")
        return answer

    kc("doctor")
    kc("docs", "index")
    kc("docs", "read", "quickstart")
    fixture = kc("tokens", "status")
    if fixture["provenance"]["mode"] != "replay":
        raise Stop(f"tokens status was not replayed: {fixture['provenance']}")
    kc("evals", "run")
    return "doctor, docs, replay and evals answer from the wheel"
