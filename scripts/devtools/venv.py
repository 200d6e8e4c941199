"""Make or reuse a virtual environment and install into it once."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import sys
import tomllib
from pathlib import Path

from devtools.run import REPO, Progress, Stop, capture, last_lines, say

STAMP = "keepa-cli-installed.json"
PARTS = {"bin", "lib", "lib64", "include", "scripts", "share", "etc", "pyvenv.cfg", ".gitignore", ".lock", STAMP}


def python_of(venv: Path) -> Path:
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ensure(extras: tuple[str, ...], *, venv: Path = REPO / ".venv", steps: int = 3) -> Path:
    """The Python of an environment that holds the checkout and at least these extras of it."""
    python = python_of(venv)
    wanted = _wanted(extras)
    if _usable(python):
        if _installed(venv, wanted):
            return python
    else:
        _make(venv, steps)
    _install(venv, extras, wanted, steps)
    return python


def install(python: Path, *what: str, label: str) -> None:
    """pip install with the user's own pip settings; its output is shown only when it fails."""
    progress = Progress()
    code, output = capture([python, "-m", "pip", "install", "--disable-pip-version-check", *what], on_line=progress)
    progress.close()
    if code:
        raise Stop(
            f"pip could not install {label}. Its last lines:\n\n{last_lines(output)}\n",
            "check the network and your pip configuration, then run the same command again; "
            "what was already installed is kept.",
        )


def create(venv: Path) -> None:
    """An empty environment at `venv`; what stands there is cleared. Stop with a next step where Python cannot."""
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise Stop(
            f"{sys.executable} comes without the venv and ensurepip modules, so no environment can be made.",
            "install them (Debian and Ubuntu: sudo apt install python3-venv), or use a Python from python.org.",
        )
    code, output = capture([sys.executable, "-m", "venv", "--clear", venv])
    if code:
        raise Stop(
            f"No virtual environment could be made at {venv}:\n\n{last_lines(output)}\n",
            "check that the folder is writable and the disk has room, then run the same command again.",
        )


def _make(venv: Path, steps: int) -> None:
    again = ""
    if venv.is_symlink() or venv.exists():
        if not _is_ours(venv):
            raise Stop(f"{venv} exists and is not a virtual environment.", f"move it away: {venv}")
        again = " (the old one does not work)"
    say(f"[1/{steps}] making {_short(venv)}{again} ...")
    create(venv)


def _install(venv: Path, extras: tuple[str, ...], wanted: dict[str, object], steps: int) -> None:
    name = f"keepa-cli[{','.join(extras)}]" if extras else "keepa-cli"
    say(f"[2/{steps}] installing {name} into {_short(venv)} ...")
    stamp = venv / STAMP
    stamp.unlink(missing_ok=True)
    target = f"{REPO}[{','.join(extras)}]" if extras else str(REPO)
    install(python_of(venv), "--editable", target, label=name)
    stamp.write_text(json.dumps(wanted), encoding="utf-8")


def _wanted(extras: tuple[str, ...]) -> dict[str, object]:
    """What decides whether an installation is current: the packaging tables, the place of the checkout, the extras."""
    tables = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))
    packaging = json.dumps([tables["build-system"], tables["project"]], sort_keys=True)
    digest = hashlib.sha256((packaging + str(REPO)).encode()).hexdigest()
    return {"packaging": digest, "extras": sorted(extras)}


def _installed(venv: Path, wanted: dict[str, object]) -> bool:
    try:
        have = json.loads((venv / STAMP).read_text(encoding="utf-8"))
        return have["packaging"] == wanted["packaging"] and set(wanted["extras"]) <= set(have["extras"])  # type: ignore[call-overload]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _usable(python: Path) -> bool:
    if not python.exists():
        return False
    probe = "import sys, pip; sys.exit(sys.version_info < (3, 11) or sys.prefix == sys.base_prefix)"
    try:
        return capture([python, "-c", probe])[0] == 0
    except OSError:
        return False


def _is_ours(venv: Path) -> bool:
    """Whether the folder holds nothing but the parts of an environment, so that clearing it loses nothing."""
    if venv.is_symlink() or not venv.is_dir():
        return False
    return (venv / "pyvenv.cfg").is_file() or all(entry.name.lower() in PARTS for entry in venv.iterdir())


def _short(path: Path) -> str:
    return str(path.relative_to(REPO)) if path.is_relative_to(REPO) else str(path)
