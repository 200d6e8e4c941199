"""JSON Schemas: of Keepa's answers, of views, of every operation's parameters, of the envelope and its errors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import read_bytes, refuse_link, write_atomic
from keepa_cli.core.registry import Param, operation

DEFAULT_OUT = "docs/schema"


@operation(
    "schema.generate",
    toolset="curation",
    effect="write_local",
    examples=("kc schema generate", "kc schema generate --out schemas", "kc schema generate --check"),
)
def generate(
    ctx: Context,
    out: Annotated[str, Param("The folder to write to.", metavar="DIR")] = DEFAULT_OUT,
    check: Annotated[bool, Param("Write nothing; end with `contract_error` where a file is not current.")] = False,
) -> dict[str, Any]:
    """Write every JSON Schema that this program keeps to: answers, views, parameters, envelope, errors.

    JSON Schema 2020-12. The files are the same on every machine; those of operations that are gone are removed, other
    files in the folder are left alone.
    """
    from keepa_cli.ops import _schemas

    folder = ctx.cwd / Path(out).expanduser()
    refuse_link(folder)
    texts = _schemas.texts()
    changed = [name for name, text in texts.items() if _read(folder / name) != text.encode()]
    gone = sorted(_ours(folder, _schemas.NAMESPACE) - texts.keys())
    if check:
        _refuse_old(out, changed, gone)
    else:
        for name in changed:
            write_atomic(folder / name, texts[name].encode())
        for name in gone:
            (folder / name).unlink()
    return {"folder": str(folder), "schemas": len(texts), "written": [] if check else changed, "removed": gone}


def _read(path: Path) -> bytes | None:
    return read_bytes(path) if path.is_file() else None


def _ours(folder: Path, namespace: str) -> set[str]:
    """Files in the places of schemas that this program wrote once."""
    mark = f'"$id": "{namespace}'.encode()
    parts = ("", "response", "input", "view")
    found = (path for part in parts for path in (folder / part).glob("*.json") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in found if mark in read_bytes(path)[:500]}


def _refuse_old(out: str, changed: list[str], gone: list[str]) -> None:
    if not changed and not gone:
        return
    first = (changed or gone)[0]
    raise KeepaCliError(
        Kind.CONTRACT_ERROR,
        f"{len(changed) + len(gone)} schemas in {out} are not current, the first is {first}.",
        details={"changed": changed, "gone": gone},
        next_actions=[f"kc schema generate --out {out}"],
    )
