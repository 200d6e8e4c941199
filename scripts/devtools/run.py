"""Start child processes so that Ctrl-C, spaces in paths and failures end well."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
INTERRUPTED = 130
GRACE_SECONDS = 10


class Stop(Exception):
    """A failure that a person can act on: a sentence, then the next step."""

    def __init__(self, sentence: str, next_step: str = "", code: int = 1) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.next_step = next_step
        self.code = code

    def show(self) -> int:
        print(self.sentence, file=sys.stderr)
        if self.next_step:
            print(f"Next: {self.next_step}", file=sys.stderr)
        return self.code


def say(text: str) -> None:
    print(text, flush=True)


def run(command: Sequence[str | Path], *, cwd: Path = REPO, env: Mapping[str, str] | None = None) -> int:
    """Run in the foreground with our streams and return the exit code. On Ctrl-C the child may clean up first."""
    with subprocess.Popen([str(part) for part in command], cwd=cwd, env=dict(env) if env else None) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            _let_go(child)
            raise


def capture(
    command: Sequence[str | Path],
    *,
    cwd: Path = REPO,
    env: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> tuple[int, str]:
    """Run without input; return the exit code and stdout and stderr together. `on_line` sees each line as it comes."""
    lines: list[str] = []
    with subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        env=dict(env) if env else None,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    ) as child:
        try:
            assert child.stdout
            for line in child.stdout:
                lines.append(line)
                if on_line:
                    on_line(line)
            code = child.wait()
        except KeyboardInterrupt:
            _let_go(child)
            raise
    return code, "".join(lines)


def _let_go(child: subprocess.Popen[str]) -> None:
    try:
        child.wait(GRACE_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        child.kill()


def last_lines(text: str, count: int = 25) -> str:
    return "\n".join(text.rstrip().splitlines()[-count:])


class Progress:
    """Shows that a long step moves: the current line on a terminal, a line every few seconds elsewhere."""

    EVERY_SECONDS = 5.0

    def __init__(self) -> None:
        self.terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self.last = time.monotonic()

    def __call__(self, line: str) -> None:
        text = line.strip()
        if not text.startswith(("Collecting", "Downloading", "Building", "Installing", "Preparing", "Obtaining")):
            return
        if self.terminal:
            print("\r      " + text[:70].ljust(70), end="", flush=True)
        elif time.monotonic() - self.last >= self.EVERY_SECONDS:
            say("      " + text[:100])
            self.last = time.monotonic()

    def close(self) -> None:
        if self.terminal:
            print("\r" + " " * 76 + "\r", end="", flush=True)
