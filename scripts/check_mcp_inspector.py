"""Let the official Inspector and the official TypeScript client look at the MCP server, over stdio and HTTP.

    python scripts/check_mcp_inspector.py [--require]

The Inspector lints every tool schema (no warning is let through), lists everything, calls every tool, reads every
resource and an address of every template that needs no earlier answer (each of its commands is a session of its own),
and gets every prompt. The client does the same in one session with all templates, calls every tool wrongly too, and
runs a task. Without Node nothing runs, which is an error with --require only. The first run fetches both with npm (kept
below build/).
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from mcptools import node, serving

from keepa_cli.agent.prompts import PROMPTS
from keepa_cli.agent.resources.table import RESOURCES
from keepa_cli.agent.uris import encode_text
from tests.support.tool_arguments import CALLS, FULL, prepare

SECONDS = 180
WHOLE = ("--toolset", "all")
TOOL_IS_ERROR = 5
RECORDED = "B0PPJ248DY"
TASK = "figures_research"
COUNTED = ("tools", "resources", "templates", "prompts", "answers", "refusals", "readable", "gotten", "tasks")
WHOLE_OF = {"answers": "tools", "refusals": "tools", "readable": "templates", "gotten": "prompts"}
"""What the client counts, and which of it has to be as many as something else."""


@dataclass(frozen=True)
class Look:
    """One command of the Inspector, the exit code it has to have, and a text that it has to show."""

    arguments: tuple[str, ...]
    code: int = 0
    shows: str = ""


LOOKS = (
    Look(("--method", "tools/list", "--strict"), shows="tracking_get"),
    Look(("--method", "resources/list"), shows="keepa://context/policy"),
    Look(("--method", "resources/templates/list"), shows="keepa://research/{cache_key}"),
    Look(("--method", "prompts/list"), shows="product_research"),
    Look(("--method", "resources/read", "--uri", "keepa://context/policy"), shows="contents"),
    Look(("--method", "resources/read", "--uri", "keepa://tools/products_get"), shows="products.get"),
    Look(
        ("--method", "prompts/get", "--prompt-name", "product_research", "--prompt-args", "asin=B001GZ6QEC"),
        shows="messages",
    ),
    Look(("--method", "tools/call", "--tool-name", "context_policy"), shows="budget_ledger"),
    Look(("--method", "tools/call", "--tool-name", "products_get", "--tool-arg", f"asin={RECORDED}"), shows=RECORDED),
    Look(
        ("--method", "tools/call", "--tool-name", "products_get", "--tool-arg", "nonsense=1"),
        TOOL_IS_ERROR,
        "invalid_arguments",
    ),
    Look(("--method", "tools/call", "--tool-name", "no_such_tool"), TOOL_IS_ERROR, "tool_not_found"),
)


def _evident() -> str:
    """A recording that the evidence names."""
    with (node.REPO / "evidence" / "manifest.csv").open(encoding="utf-8", newline="") as rows:
        return next(csv.DictReader(rows))["logical_path"]


STANDING = (
    "schema/products-agent-view", f"fixtures/{FULL}", f"cassettes/{FULL}", f"asin/{RECORDED}/fixture",
    f"cache-key/products.get/{encode_text(json.dumps({'asin': RECORDED}))}",
    f"workflow/{encode_text(json.dumps({'name': 'product-research', 'asin': [RECORDED]}))}/policy",
    "graphs/kettles", "toolsets/research", "tools/products_get", "prompts/product_research", "wiki/page/quickstart",
    f"evidence/{encode_text(_evident())}",
    f"output/{encode_text('product.json')}", f"chunk/{encode_text('product.json')}",
)  # fmt: skip
"""Below keepa://: an address of every template that needs no earlier answer."""


def every_look() -> Iterator[Look]:
    """Every tool, resource and prompt, and what stands below templates."""
    for name, arguments in CALLS.items():
        pairs = [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in arguments.items()]
        given = [part for pair in pairs for part in ("--tool-arg", pair)]
        yield Look(("--method", "tools/call", "--tool-name", name, *given), shows='"ok": true')
    for uri in [*(r.uri for r in RESOURCES), *(f"keepa://{path}" for path in STANDING)]:
        yield Look(("--method", "resources/read", "--uri", uri), shows=f'"uri": "{uri}"')
    for name, prompt in PROMPTS.items():
        given = [part for a in prompt.arguments if a.required for part in ("--prompt-args", f"{a.name}={RECORDED}")]
        yield Look(("--method", "prompts/get", "--prompt-name", name, *given), shows="messages")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--require", action="store_true", help="not being able to run is a failure")
    given = parser.parse_args()
    looks = [*LOOKS, *every_look()]
    try:
        binary = node.node()
    except node.Missing as missing:
        return node.not_run(missing, require=given.require)
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        env = node.environment(home)
        command = [sys.executable, *serving.KEEPA, *WHOLE]
        work = _work(home / "stdio")
        failed = _looks(looks, "stdio", binary, ["--", *command], env, work)
        failed += _client("stdio", binary, {"command": command[0], "args": command[1:], "env": env}, env, work)
        work = _work(home / "http")
        with serving.serving([*serving.KEEPA, *WHOLE, "--http", "--port", "0"], env, work) as served:
            failed += _looks(looks, "HTTP", binary, ["--transport", "http", "--server-url", served.address], env, work)
            failed += _client("HTTP", binary, {"url": served.address}, env, work)
    return int(bool(failed))


def _work(folder: Path) -> Path:
    """A working folder with the files that calls of tools name."""
    folder.mkdir()
    prepare(folder)
    return folder


def _looks(
    looks: Sequence[Look], transport: str, binary: Path, target: list[str], env: Mapping[str, str], home: Path
) -> int:
    began = time.monotonic()

    def wrong(look: Look) -> str:
        command = [str(binary), str(node.INSPECTOR), "--cli", *look.arguments, *target]
        done = _run(command, env, home)
        linted = "--strict" not in look.arguments or not done.stderr.strip()
        if done.returncode == look.code and look.shows in done.stdout + done.stderr and linted:
            return ""
        said = f"{done.stdout[-1000:]}\n{done.stderr[-2000:]}"
        return f"FAILED Inspector over {transport}, exit {done.returncode}: {' '.join(look.arguments)}\n{said}"

    with ThreadPoolExecutor(os.cpu_count() or 1) as several:
        failed = [text for text in several.map(wrong, looks) if text]
    print(*failed, sep="\n", end="\n" if failed else "")
    held = len(looks) - len(failed)
    print(f"{'FAILED' if failed else 'ok    '} Inspector over {transport}: {held} of {len(looks)}, {_since(began)}")
    return len(failed)


def _client(transport: str, binary: Path, target: Mapping[str, object], env: Mapping[str, str], home: Path) -> int:
    began = time.monotonic()
    given = {"sdk": str(node.SCOPE / "sdk"), "calls": CALLS, "recorded": RECORDED, "task": TASK, **target}
    done = _run([str(binary), str(Path(__file__).parent / "mcptools" / "client.mjs"), json.dumps(given)], env, home)
    try:
        seen = json.loads(done.stdout)
    except ValueError:
        seen = {"refused": [done.stderr[-1000:]]}
    wrong = complaints(seen, done.returncode)
    counts = ", ".join(f"{seen.get(name, 0)} {name}" for name in COUNTED)
    print(f"{'FAILED' if wrong else 'ok    '} TypeScript client over {transport}: {counts}, {_since(began)}")
    for line in wrong:
        print("  " + line)
    return int(bool(wrong))


def complaints(seen: Mapping[str, Any], code: int) -> list[str]:
    """What is wrong with what the client saw."""
    found = [str(line) for line in seen["refused"]]
    found += [f"there are no {name}" for name in COUNTED if not seen.get(name)]
    for part, whole in WHOLE_OF.items():
        if seen.get(part) != seen.get(whole):
            found.append(f"{seen.get(part)} {part} of {seen.get(whole)} {whole}")
    return found or ([f"exit code {code}"] if code else [])


def _run(command: list[str], env: Mapping[str, str], home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, env=dict(env), cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True, encoding="utf-8",
        errors="replace", timeout=SECONDS, check=False,
    )  # fmt: skip


def _since(began: float) -> str:
    return f"{time.monotonic() - began:.1f} s"


if __name__ == "__main__":
    sys.exit(main())
