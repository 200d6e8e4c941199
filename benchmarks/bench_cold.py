"""Cold starts: everyday commands against importing click, a replay against importing requests."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[1]
ROUNDS = 15
KC = ("-m", "keepa_cli")
CLICK = ("-c", "import click")
REQUESTS = ("-c", "import requests")
CASES = (
    ("kc --version", ("--version",), CLICK, 2.0),
    ("kc --help", ("--help",), CLICK, 2.0),
    ("kc doctor", ("--json", "doctor"), CLICK, 2.0),
    ("kc products get (replay)", ("--json", "products", "get", "B0D8W1YVBX", "--domain", "US"), REQUESTS, 1.0),
)


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="keepa-bench-") as folder:
        env = _environment(Path(folder))
        return [_row(name, args, base, bar, env, Path(folder)) for name, args, base, bar in CASES]


def _environment(home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("KEEPA_") and k != "CI"}
    return kept | {
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
        "KEEPA_CLI_DATA_DIR": str(home / "data"),
        "KEEPA_CLI_CASSETTES": str(REPO / "cassettes"),
    }


def _row(
    name: str, args: tuple[str, ...], base: tuple[str, ...], bar: float, env: dict[str, str], cwd: Path
) -> dict[str, Any]:
    """The median of the ratios of neighbouring runs, so that a slow moment of the machine hits both sides."""
    ours = (*KC, *args)
    _seconds(ours, env, cwd)
    _seconds(base, env, cwd)
    pairs = [(_seconds(ours, env, cwd), _seconds(base, env, cwd)) for _ in range(ROUNDS)]
    mine, theirs = (statistics.median(side) * 1000 for side in zip(*pairs, strict=True))
    detail = f"{mine:.0f} ms against {theirs:.0f} ms for {base[-1]!r}, {ROUNDS} pairs"
    return {"name": name, "ratio": statistics.median(a / b for a, b in pairs), "bar": bar, "detail": detail}


def _seconds(args: tuple[str, ...], env: dict[str, str], cwd: Path) -> float:
    began = time.perf_counter()
    done = subprocess.run([sys.executable, *args], env=env, cwd=cwd, capture_output=True, check=False)
    elapsed = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"{' '.join(args)} ended with {done.returncode}: {(done.stdout + done.stderr)[-300:]!r}")
    return elapsed
