"""Cold starts: everyday commands against importing click, a replay against importing requests."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

REPO = Path(__file__).resolve().parents[1]
ROUNDS = 15
SCRIPT = Path(sys.executable).with_name("kc")
KC = (str(SCRIPT),) if SCRIPT.is_file() else ("-m", "keepa_cli")
"""The installed command as a person starts it, where there is one."""
CLICK = ("-c", "import click")
REQUESTS = ("-c", "import requests")
CASES = (
    ("kc --version", ("--version",), CLICK, 2.0),
    ("kc --help", ("--help",), CLICK, 2.0),
    ("kc doctor", ("--json", "doctor"), CLICK, 2.0),
)
SMALL = 100_000


def run() -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="keepa-bench-") as folder:
        env = _environment(Path(folder))
        for name, args, base, bar in CASES:
            yield _row(name, args, base, bar, env, Path(folder))
        yield _row("replay of a small product", _replay(), REQUESTS, 1.0, env, Path(folder))


def _replay() -> tuple[str, ...]:
    """The command that replays the smallest product recording of the checkout, whatever it asked for."""
    found = sorted((REPO / "cassettes" / "product").glob("*.yaml"), key=lambda p: p.stat().st_size)
    if not found or found[0].stat().st_size > SMALL:
        raise RuntimeError(f"cassettes/product holds no recording of at most {SMALL} bytes")
    uri = re.search(r"^    uri: (\S+)$", found[0].read_text(encoding="utf-8"), re.MULTILINE)
    assert uri, found[0]
    asked = [word for pair in parse_qsl(urlsplit(uri[1]).query) for word in ("--param", "=".join(pair))]
    return ("--json", "request", "get", "/product", *asked)


def _environment(home: Path) -> dict[str, str]:
    """A new user's, who has set nothing; Python may keep its bytecode, as after any installation."""
    left_out = ("KEEPA_", "XDG_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(left_out)}
    for name in ("CI", "PYTHONDONTWRITEBYTECODE"):
        kept.pop(name, None)
    return kept | {name: str(home) for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA")}


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
