"""Files that operations write: one place, so that every one of them is confined, atomic and free of secrets."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import Transaction, check_writable, lock, recover, refuse_link, write_atomic

MODE = 0o644


def target(ctx: Context, out: str, *, folder: bool = False) -> Path:
    """Where `out` is written, relative to the working folder. Raises for links, for a folder where a file is meant
    and for places that cannot be written; nothing was created then."""
    path = ctx.cwd / Path(out).expanduser()
    refuse_link(path)
    wrong = path.is_file() if folder else path.is_dir()
    if wrong:
        found = "a file" if folder else "a folder"
        raise KeepaCliError(Kind.INVALID_ARGUMENTS, f"{out} is {found}.", details={"field": "out", "value": out})
    if not folder:
        check_writable(path.parent)
    return path


def write(ctx: Context, out: str, data: bytes, *, format: str, count: int | None = None) -> dict[str, Any]:  # noqa: A002
    """Write one file; `{path, format, size_bytes, result_count, sha256}`. A file that tells a secret is refused."""
    path = target(ctx, out)
    write_atomic(path, _clean(ctx, data, path), mode=MODE)
    return described(path, data, format, count)


def write_all(
    ctx: Context, out: str, files: Mapping[str, bytes], stale: Callable[[Path], Iterable[str]] = lambda _: ()
) -> dict[str, dict[str, Any]]:
    """Write files below the folder `out`, all or nothing; their descriptions by name.

    `stale` looks at the folder before anything is written, while no other writer can: it raises to refuse, and names
    the files that are removed in the same step.
    """
    root = target(ctx, out, folder=True)
    root.mkdir(parents=True, exist_ok=True)
    with lock(root, what="output folder"):
        recover(root)
        change = Transaction(root)
        for name in stale(root):
            change.remove(root / name)
        for name, data in files.items():
            refuse_link((root / name).parent)
            refuse_link(root / name)
            change.add(root / name, _clean(ctx, data, root / name), mode=MODE)
        change.commit()
    return {name: described(root / name, data, Path(name).suffix.lstrip("."), None) for name, data in files.items()}


def described(path: Path, data: bytes, format: str, count: int | None) -> dict[str, Any]:  # noqa: A002
    return {
        "path": str(path),
        "format": format,
        "size_bytes": len(data),
        "result_count": count,
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def _clean(ctx: Context, data: bytes, path: Path) -> bytes:
    if ctx.redactor.find(data):
        raise KeepaCliError(Kind.SECRET_DETECTED, f"{path.name} would hold a secret; it is not written.")
    return data
