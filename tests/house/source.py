"""The tracked files of the checkout and their syntax trees, read once."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import REPO

PACKAGE = REPO / "keepa_cli"
CODE = ("keepa_cli", "scripts", "benchmarks", "tests")


@cache
def tracked() -> tuple[str, ...]:
    """Paths of every file that git tracks or would track; without git, every file of the source folders."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=REPO,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
    else:
        names = [p.relative_to(REPO).as_posix() for top in CODE for p in (REPO / top).rglob("*")]
    return tuple(sorted(n for n in names if n and (REPO / n).is_file() and "__pycache__" not in n))


@cache
def text(name: str) -> str:
    try:
        return (REPO / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(text(name), name)


def modules(*tops: str) -> list[str]:
    return [n for n in tracked() if n.endswith(".py") and n.split("/")[0] in (tops or CODE)]


@cache
def strings(name: str) -> tuple[tuple[int, str], ...]:
    """Line and value of every string literal of a module; docstrings and keys of dicts are left out."""
    skipped = {id(node.value) for node in ast.walk(tree(name)) if isinstance(node, ast.Expr)}
    skipped |= {id(key) for node in ast.walk(tree(name)) if isinstance(node, ast.Dict) for key in node.keys}
    texts = [n for n in ast.walk(tree(name)) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    return tuple((node.lineno, str(node.value)) for node in texts if id(node) not in skipped)


def functions(name: str) -> Iterator[tuple[str, int]]:
    """Name and length in lines of every function."""
    for node in ast.walk(tree(name)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def relative(path: Path) -> str:
    return path.relative_to(REPO).as_posix()
