"""Run the official MCP conformance suite against our HTTP transport, in both eras of the protocol.

    python scripts/check_mcp_conformance.py [--require] [--out FOLDER]

The suite asks for tools of its own: a fixture server offers them on our transport and guard. Failures that are known
stand in tests/conformance/, each with its reason; any other one, and a known one that passes by now, fails the run.
The scenarios that need no such tools run against the real server as well. Without Node nothing runs, which is an
error with --require only. The first run fetches the suite with npm (about 330 MB, kept below build/).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from mcptools import node, serving

BASELINES = node.REPO / "tests" / "conformance"
HANDSHAKE, STATELESS = "2025-11-25", "2026-07-28"
SUITE_SECONDS = 600
LINE = re.compile(r"^[✓✗] ([\w/.-]+): (\d+) passed, (\d+) failed")


@dataclass(frozen=True)
class Run:
    """One pass of the suite. `only` names the scenarios that count; without it the baseline decides."""

    name: str
    server: tuple[str, ...]
    era: str
    baseline: str | None = None
    only: tuple[str, ...] = ()


REAL = (*serving.KEEPA, "--http", "--port", "0")
BOTH_ERAS = (
    "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection", "server-sse-multiple-streams",
)  # fmt: skip
RUNS = (
    Run("fixture, event stream", (*serving.FIXTURE, "--sse"), HANDSHAKE, "baseline-2025-sse.yml"),
    Run("fixture, JSON", tuple(serving.FIXTURE), HANDSHAKE, "baseline-2025-json.yml"),
    Run("fixture, event stream", (*serving.FIXTURE, "--sse"), STATELESS, "baseline-2026-sse.yml"),
    Run("fixture, JSON", tuple(serving.FIXTURE), STATELESS, "baseline-2026-json.yml"),
    Run(
        "kc mcp serve", REAL, HANDSHAKE,
        only=(*BOTH_ERAS, "server-initialize", "ping", "server-session-lifecycle"),
    ),
    Run(
        "kc mcp serve", REAL, STATELESS,
        only=(
            *BOTH_ERAS, "caching", "sep-2164-resource-not-found", "http-header-validation",
            "input-required-result-unsupported-methods", "input-required-result-validate-input",
        ),
    ),
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--require", action="store_true", help="not being able to run is a failure")
    parser.add_argument("--out", type=Path, help="keep what the suite wrote")
    given = parser.parse_args()
    try:
        binary = node.node()
    except node.Missing as missing:
        return node.not_run(missing, require=given.require)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        kept = given.out.resolve() if given.out else home / "out"
        failed = [run for run in RUNS if not _holds(run, binary, home, kept)]
    return int(bool(failed))


def _holds(run: Run, binary: Path, home: Path, kept: Path) -> bool:
    began = time.monotonic()
    env = node.environment(home)
    with serving.serving(run.server, env) as served:
        command = [
            binary, node.CONFORMANCE, "server", "--url", served.address, "--requirements", run.era,
            "-o", kept / re.sub(r"\W+", "-", f"{run.name}-{run.era}"),
        ]  # fmt: skip
        if run.baseline:
            command += ["--expected-failures", BASELINES / run.baseline]
        done = subprocess.run(
            [str(part) for part in command], cwd=home, env=env, capture_output=True, text=True, encoding="utf-8",
            errors="replace", timeout=SUITE_SECONDS, check=False,
        )  # fmt: skip
    found = {m[1]: (int(m[2]), int(m[3])) for m in map(LINE.match, done.stdout.splitlines()) if m}
    holds, notes = _judge(run, found, done.returncode)
    passed, failures = _sums(run, found)
    print(
        f"{'ok    ' if holds else 'FAILED'} {run.era} {run.name}: {len(run.only or found)} scenarios, {passed} checks "
        f"passed, {failures} failed{notes} ({time.monotonic() - began:.1f} s)",
        flush=True,
    )
    if not holds:
        print(done.stdout[-4000:], done.stderr[-1000:], sep="\n")
    return holds


def _judge(run: Run, found: dict[str, tuple[int, int]], code: int) -> tuple[bool, str]:
    """Whether the run is as it has to be, and what is to be said of it."""
    if not found:
        return False, ", no scenario ran"
    if run.only:
        bad = [name for name in run.only if found.get(name, (0, 1))[1] or not found[name][0]]
        return not bad, f" ({', '.join(bad)})" if bad else ""
    failing = [name for name, (_, failures) in found.items() if failures]
    return code == 0, f" (known: {', '.join(failing)})" if failing and code == 0 else ""


def _sums(run: Run, found: dict[str, tuple[int, int]]) -> tuple[int, int]:
    counted = [v for k, v in found.items() if not run.only or k in run.only]
    return sum(p for p, _ in counted), sum(f for _, f in counted)


if __name__ == "__main__":
    sys.exit(main())
