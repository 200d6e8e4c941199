"""Servers that run while a check looks at them."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mcptools.node import REPO

START_SECONDS = 30.0
ADDRESS = re.compile(r"http://\S+/mcp")
KEEPA = ["-m", "keepa_cli", "mcp", "serve"]
FIXTURE = ["-m", "tests.support.conformance_server"]


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    address: str
    pid: int


@contextmanager
def serving(arguments: Sequence[str], env: Mapping[str, str], folder: Path = REPO) -> Iterator[Served]:
    """A server that listens at a free port until the block ends, and works in `folder`."""
    child = subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=dict(env), text=True, encoding="utf-8", errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    late = threading.Timer(START_SECONDS, child.kill)
    late.start()
    try:
        address = _address(child)
        late.cancel()
        yield Served(address, child.pid)
    finally:
        late.cancel()
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _address(child: subprocess.Popen[str]) -> str:
    seen = []
    for line in child.stdout or ():
        seen.append(line)
        found = ADDRESS.search(line)
        if found:
            threading.Thread(target=_drain, args=(child,), daemon=True).start()
            return found[0]
    raise RuntimeError("the server did not start: " + "".join(seen)[-500:])


def _drain(child: subprocess.Popen[str]) -> None:
    """What a server says later must not fill its pipe."""
    for _ in child.stdout or ():
        pass
