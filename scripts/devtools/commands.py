"""The commands of scripts/dev.py."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from devtools.checks import check
from devtools.run import INTERRUPTED, REPO, Stop, run, say
from devtools.venv import ensure

HELP = """usage: python scripts/dev.py COMMAND [ARGUMENTS]

  demo            see the main job: record, sanitize, promote, verify, replay (no key, no network)
  test [ARGS]     run the tests; arguments go to pytest
  check [NAMES]   everything a change must pass beside the tests: style, types, layers, docs, secrets, wheel
  gates           what MCP clients rely on: surface, official conformance suite and Inspector (fetched with npm where
                  Node is present; --require: fail where it is not), times against a bare SDK server
  docs [--check]  write the generated pages again, or compare them
  bench [NAMES]   measure against the figures in benchmarks/ (--strict: fail when one is over its bar)

The first run makes .venv in this folder and installs into it; later runs reuse it.
"""


def demo(args: list[str]) -> int:
    python = ensure((), steps=3)
    say("[3/3] running the demo ...")
    return run([python, "-m", "keepa_cli", "demo", *args])


def test(args: list[str]) -> int:
    python = ensure(("dev",))
    say("[3/3] running the tests ...")
    workers = [] if args else ["-n", str(max(1, min(4, (os.cpu_count() or 1) + 1)))]  # many tests wait for processes
    return run([python, "-m", "pytest", *workers, *args], env=_caching())


def _caching() -> dict[str, str]:
    """The environment with compiled files kept: the tests start hundreds of processes."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def docs(args: list[str]) -> int:
    python = ensure(("dev",))
    return run([python, REPO / "scripts" / "build_docs.py", *args])


def bench(args: list[str]) -> int:
    python = ensure(("dev",))
    return run([python, "-m", "benchmarks.run", *args])


GATES = ("check_mcp_surface.py", "check_mcp_conformance.py", "check_mcp_inspector.py", "check_mcp_performance.py")
NODE_GATES = frozenset({"check_mcp_conformance.py", "check_mcp_inspector.py"})
REQUIRE = "--require"
"""Without Node its gates say so and pass; with this they fail."""


def gates(args: list[str]) -> int:
    python = ensure(("dev",))
    plain = [arg for arg in args if arg != REQUIRE]
    given = {name: args if name in NODE_GATES else plain for name in GATES}
    codes = {name: run([python, REPO / "scripts" / name, *given[name]], env=_caching()) for name in GATES}
    broken = [name for name, code in codes.items() if code]
    say(f"{len(GATES) - len(broken)} of {len(GATES)} gates hold." + (f" Not: {', '.join(broken)}" if broken else ""))
    return int(bool(broken))


COMMANDS: dict[str, Callable[[list[str]], int]] = {
    "demo": demo,
    "test": test,
    "check": check,
    "gates": gates,
    "docs": docs,
    "bench": bench,
}


def main(argv: list[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # consoles that cannot show what pip says
    if not argv or argv[0] in {"-h", "--help", "help"}:
        print(HELP, end="")
        return 0 if argv else 2
    name, rest = argv[0], argv[1:]
    if name not in COMMANDS:
        print(f"There is no command {name!r}; the commands are {', '.join(COMMANDS)}.", file=sys.stderr)
        return 2
    if not (REPO / "pyproject.toml").is_file():
        return Stop(f"{REPO} is not a checkout of keepa-cli.", f"run {Path(__file__).name} from a full clone").show()
    try:
        return COMMANDS[name](rest)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return INTERRUPTED
    except Stop as stop:
        return stop.show()
