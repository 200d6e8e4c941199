"""The real server with one tool that misbehaves on request: `resolve_research_target` does what its text says."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
import warnings
from typing import Any

from keepa_cli import ops
from keepa_cli.cli import main
from keepa_cli.core.context import Context

SECRET_PATH = "/srv/secret-project/keys.txt"


def odd(ctx: Context, text: str, domain: Any = None, kind: str | None = None) -> dict[str, Any]:
    """What a defect in a tool, or in a library below it, can do."""
    deed, _, rest = text.partition(":")
    if deed == "sleep":
        time.sleep(float(rest))
    elif deed == "wait":
        ctx.sleep(float(rest))
    elif deed == "steps":
        for step in range(int(rest)):
            ctx.tell(f"step {step}")
            time.sleep(0.02)
    elif deed == "raise":
        raise RuntimeError(f"cannot open {SECRET_PATH}")
    elif deed == "surrogate":
        return {"title": "cut emoji \ud83d", "\udc00": 1}
    elif deed == "nan":
        return {"a": float("nan"), "b": [float("inf")]}
    elif deed == "object":
        return {"a": object(), "b": {1, 2}}
    elif deed == "print":
        print("stray print")
        sys.stdout.flush()
        os.write(1, b"stray os.write\n")
        subprocess.run([sys.executable, "-c", "print('stray child')"], check=True)
        logging.getLogger("any").warning("stray log")
        warnings.warn("stray warning", DeprecationWarning, stacklevel=1)
    elif deed == "read":
        return {"read": sys.stdin.read(1), "fd": os.read(0, 1).decode()}
    elif deed == "exit":
        raise SystemExit(3)
    elif deed == "deep":
        found: dict[str, Any] = {}
        for _ in range(3000):
            found = {"d": found}
        return found
    return {"did": deed, "at": time.monotonic()}


if __name__ == "__main__":
    target = ops.find("research.resolve")
    assert target.args, "its parameters stay what they are"
    object.__setattr__(target, "run", odd)
    if "ODD_PENDING" in os.environ:
        from keepa_cli.interfaces.mcp import stdio

        stdio.MOST_PENDING = int(os.environ["ODD_PENDING"])
    sys.exit(main())
