"""`dev.py check`: what a change must pass beside the tests."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from devtools import wheel
from devtools.run import REPO, Stop, capture, last_lines, say
from devtools.venv import ensure

Result = tuple[int, str]


@dataclass(frozen=True)
class Check:
    name: str
    what: str
    run: Callable[[Path], Result]


def _module(*command: str) -> Callable[[Path], Result]:
    return lambda python: capture([python, "-m", *command])


def _layers(python: Path) -> Result:
    program = "from importlinter.cli import lint_imports_command as lint; lint()"
    return capture([python, "-c", program, "--no-cache"])


def _docs(python: Path) -> Result:
    return capture([python, REPO / "scripts" / "build_docs.py", "--check"])


BY_NAME = {"secret_parameter", "secret_field", "credentials_header"}
"""Rules that see a name such as `key=`; pages show it with made-up values. The shape of a key counts everywhere."""
IN_SCHEMAS = BY_NAME | {"personal_data"}
"""Schemas describe fields such as `email`; what stands behind the name there is a description, not a value."""


def _secrets(python: Path) -> Result:
    """Test sources are left out: they are full of made-up secrets."""
    names = ("cassettes", "evidence", "docs", "tests/evals", "tests/house/__snapshots__", ".github")
    places = [name for name in names if (REPO / name).is_dir()] + [p.name for p in REPO.glob("*.md")]
    command = [python, "-m", "keepa_cli", "--json", "cassettes", "scan", *places]
    code, output = capture(command, env=wheel.scratch_environment(REPO))
    try:
        answer = json.loads(output)
        found = [] if answer["ok"] else answer["error"]["details"]["findings"]
    except (ValueError, KeyError):
        return code or 1, output
    real = [f for f in found if f["rule"] not in _only_named(f["file"])]
    return int(bool(real)), "\n".join(f"{f['file']} {f['location']}: {f['rule']}" for f in real)


def _only_named(file: str) -> set[str]:
    """The rules whose findings in `file` are names without a value."""
    if file.endswith(".md"):
        return BY_NAME
    return IN_SCHEMAS if "/docs/schema/" in file.replace("\\", "/") else set()


def _outside(_: Path) -> Result:
    """In an environment of its own: the client and what it pulls in stay out of ours. A skipped test is a failure."""
    python = ensure(("dev", "outside"), venv=REPO / ".venv-outside", steps=2)
    code, output = capture([python, "-m", "pytest", "-rs", "tests/outside"])
    return (code or int(" skipped" in output)), output


CHECKS = (
    Check("ruff", "style and common mistakes", _module("ruff", "check", ".")),
    Check("format", "layout of the source", _module("ruff", "format", "--check", ".")),
    Check("mypy", "types, strict", _module("mypy")),
    Check("layers", "imports go one way", _layers),
    Check("house", "sizes, spellings, light imports, help pages", _module("pytest", "tests/house")),
    Check("docs", "generated pages are current", _docs),
    Check("secrets", "no key, cookie or address in tracked recordings", _secrets),
    Check("wheel", "an installed wheel works in an empty folder", wheel.smoke),
    Check("outside", "the public Python client works against the sandbox", _outside),
)


def check(args: list[str]) -> int:
    unknown = [name for name in args if name not in {c.name for c in CHECKS}]
    if unknown:
        raise Stop(
            f"There is no check {unknown[0]!r}; the checks are {', '.join(c.name for c in CHECKS)}.",
            "python scripts/dev.py check",
            2,
        )
    python = ensure(("dev",))
    chosen = [c for c in CHECKS if not args or c.name in args]
    failed = [c.name for number, c in enumerate(chosen, 1) if not _passes(c, python, f"[{number}/{len(chosen)}]")]
    if failed:
        print(f"{len(failed)} of {len(chosen)} checks failed: {', '.join(failed)}", file=sys.stderr)
        return 1
    say(f"all {len(chosen)} checks hold")
    return 0


def _passes(c: Check, python: Path, label: str) -> bool:
    say(f"{label} {c.name}: {c.what} ...")
    began = time.monotonic()
    try:
        code, output = c.run(python)
    except Stop as stop:
        code, output = stop.code, stop.sentence
    say(f"      {'ok' if code == 0 else 'FAILED'} ({time.monotonic() - began:.1f} s)")
    if code:
        say(last_lines(output, 200 if os.environ.get("CI") else 60))
    return code == 0
