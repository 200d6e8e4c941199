"""Which places on the disk the arguments of an agent may name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind

VARIABLE = "KEEPA_CLI_MCP_ROOTS"
MOST_PATHS = 1000
READS = frozenset(
    {"input", "inputs", "files", "file", "plan", "selection_file", "figure", "figures", "graphs", "paths"}
)
WRITES = frozenset({"out", "out_dir", "chunks_dir"})


class Roots:
    """The folders below which paths of arguments must lie, after resolving links."""

    def __init__(self, folders: list[Path], cwd: Path) -> None:
        self.folders = [Path(os.path.realpath(folder)) for folder in folders]
        self.cwd = cwd

    @classmethod
    def of(cls, ctx: Context, *, anywhere: bool = False) -> Roots:
        """KEEPA_CLI_MCP_ROOTS (a path list), else the working folder; the folders for outputs and for runs of workflows
        are always among them.

        `anywhere` is for callers in this process, which reach every file without us."""
        if anywhere:
            return cls([Path(ctx.cwd.anchor)], ctx.cwd)
        named = [Path(p) for p in ctx.env.get(VARIABLE, "").split(os.pathsep) if p.strip()]
        return cls([*(named or [ctx.cwd]), output_folder(ctx), ctx.state_dir / "workflows"], ctx.cwd)

    def inside(self, text: str, field: str) -> Path:
        """The real path that `text` names. Raises `invalid_arguments` when it lies outside."""
        if "\x00" in text or not text.strip():
            raise _outside(text, field, self.folders)
        try:
            path = Path(os.path.realpath(self.cwd / Path(text).expanduser()))
        except (ValueError, OSError, RuntimeError):  # half characters, too long a name, no such user
            raise _outside(text, field, self.folders) from None
        if not any(path == folder or folder in path.parents for folder in self.folders):
            raise _outside(text, field, self.folders)
        return path

    def check(self, params: Mapping[str, Any]) -> Mapping[str, Path]:
        """The files that `params` name to be read, by what was given. Raises for any path outside."""
        found: dict[str, Path] = {}
        named = list(_paths(params))
        if len(named) > MOST_PATHS:
            raise _too_many(named[0][0], len(named))
        for name, text in named:
            path = self.inside(text, name)
            if name in READS:
                found[text] = path
        return found


def output_folder(ctx: Context) -> Path:
    """Where answers that are too large for a message are written."""
    return ctx.state_dir / "outputs"


def _paths(params: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in params.items():
        if name in READS | WRITES:
            yield from ((name, v) for v in (value if isinstance(value, list) else [value]) if isinstance(v, str))


def _too_many(field: str, count: int) -> KeepaCliError:
    return KeepaCliError(
        Kind.INVALID_ARGUMENTS,
        f"A call takes at most {MOST_PATHS} paths, not {count}.",
        details={"field": field, "allowed": MOST_PATHS, "value": count},
    )


def _outside(text: str, field: str, folders: list[Path]) -> KeepaCliError:
    return KeepaCliError(
        Kind.INVALID_ARGUMENTS,
        f"{field} names {text[:200]!r}, which is outside the folders of this server.",
        details={"field": field, "value": text[:200], "allowed": [str(f) for f in folders]},
        next_actions=[f"Start the server with {VARIABLE} naming the folder."],
    )
