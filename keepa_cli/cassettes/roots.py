"""Where the cassette library lies; apart from the library itself, so that asking costs nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keepa_cli.core.context import Context


def bundled_root() -> Path:
    """The samples: inside the installed package, or the checkout's own cassettes."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "bundled" / "cassettes"
    return installed if installed.is_dir() else package.parent / "cassettes"


def library_roots(ctx: Context) -> list[Path]:
    """The folders of the library in the order in which they are asked; each folder once."""
    here = ctx.cwd / "cassettes"
    wanted = [ctx.cwd / root for root in ctx.settings["cassettes"]]
    wanted += [here] if here.is_dir() else []
    wanted += [ctx.data_dir / "cassettes", bundled_root()]
    distinct: dict[str, Path] = {}
    for root in wanted:
        distinct.setdefault(os.path.realpath(root), root)
    return list(distinct.values())
