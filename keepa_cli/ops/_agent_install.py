"""Write the entry of this server into the file of an MCP host; everything else in it stays as it is."""

from __future__ import annotations

import difflib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import read_bytes, write_atomic
from keepa_cli.core.redact import REDACTED
from keepa_cli.ops._agent_clients import ALIAS, Client, Server

LARGEST = 16 << 20
BOM = "\ufeff"


@dataclass(frozen=True)
class Change:
    """What would be written. `old` and `new` are whole texts."""

    client: Client
    path: Path
    target: Path
    exists: bool
    old: str
    new: str
    before: Any
    after: Any

    @property
    def changed(self) -> bool:
        return not self.exists or self.old != self.new

    @property
    def diff(self) -> str:
        """The entry before and after. Nothing else of the file is shown, and no value of its variables that we did
        not write: they may be keys."""
        ours = self.after.get("env", {}) if isinstance(self.after, Mapping) else {}
        old, new = _lines(_masked(self.before, ours)), _lines(_masked(self.after, ours))
        title = f"{self.client.container}.{ALIAS}"
        before = f"{self.path if self.exists else os.devnull} {title}"
        return "\n".join(difflib.unified_diff(old, new, before, f"{self.path} {title}", n=99, lineterm=""))

    def write(self, ctx: Context) -> str | None:
        """Replace the file; the path of the copy of what was there. Raises `io_error` with nothing changed."""
        mode = stat.S_IMODE(self.target.stat().st_mode) if self.exists else 0o600
        backup = None
        if self.exists:
            backup = _free(self.target, ctx.now().strftime("%Y%m%dT%H%M%SZ"))
            write_atomic(backup, read_bytes(self.target, limit=LARGEST), mode=mode)
        write_atomic(self.target, self.new.encode("utf-8"), mode=mode)
        return str(backup) if backup else None


def _free(path: Path, stamp: str) -> Path:
    """A name for a copy of `path` that no earlier copy has, not one of the same second either."""
    names = (path.with_name(f"{path.name}.{stamp}{more}.bak") for more in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(name for name in names if not os.path.lexists(name))


def planned(client: Client, server: Server, path: Path) -> Change:
    """The change that puts `server` into the file of `client`. Raises for files that cannot be read or are broken."""
    target = Path(os.path.realpath(path))
    if path.is_symlink() and not target.exists():
        raise KeepaCliError(Kind.IO_ERROR, f"{path} is a link to nothing.", details={"path": str(path)})
    exists = target.exists()
    old = _text(target) if exists else ""
    bom, plain = (BOM, old[1:]) if old.startswith(BOM) else ("", old)
    try:
        before = _entry(client, plain)
        new = plain
        for keys, value in _wanted(client.entry(server), before):
            new = client.put(new, (client.container, ALIAS, *keys), value)
        _prove(client, plain, new, server, before)
    except (ValueError, RecursionError) as error:
        raise KeepaCliError(
            Kind.CONFIG_ERROR,
            f"{path} is not changed: {str(error).rstrip('.')}.",
            details={"path": str(path), "client": client.name},
            next_actions=["Mend the file, or name another one with --config."],
        ) from None
    return Change(client, path, target, exists, old, bom + new, before, _entry(client, new))


def _wanted(entry: Mapping[str, Any], before: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What is to be set: a new entry whole, of an old one only what differs, so that additions of its owner stay."""
    if before is None:
        yield (), dict(entry)
        return
    for name, value in entry.items():
        held = before.get(name)
        if isinstance(value, Mapping) and isinstance(held, Mapping):
            yield from (((name, inner), v) for inner, v in value.items() if held.get(inner) != v)
        elif held != value:
            yield (name,), value


def _entry(client: Client, text: str) -> Any:
    held = client.load(text)
    if not isinstance(held, dict):
        raise ValueError("the file holds no object")  # noqa: TRY004 - data of a file
    servers = held.get(client.container, {})
    if not isinstance(servers, dict):
        raise ValueError(f"{client.container} is no object")  # noqa: TRY004 - data of a file
    entry = servers.get(ALIAS)
    if entry is not None and not isinstance(entry, dict):
        raise ValueError(f"{client.container}.{ALIAS} is no object")
    return entry


def _prove(client: Client, old: str, new: str, server: Server, before: Any) -> None:
    """The new text says what the old one said, and the entry."""
    expected = client.load(old)
    wanted: dict[str, Any] = {**(before or {})}
    for name, value in client.entry(server).items():
        held = wanted.get(name)
        wanted[name] = {**held, **value} if isinstance(value, Mapping) and isinstance(held, Mapping) else value
    servers = {**expected.get(client.container, {}), ALIAS: wanted}
    if client.load(new) != {**expected, client.container: servers}:
        raise ValueError("it cannot be changed without changing something else in it, such as a name given twice")


def _text(path: Path) -> str:
    raw = read_bytes(path, limit=LARGEST)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise KeepaCliError(
            Kind.CONFIG_ERROR, f"{path} is not UTF-8 text; it is not changed.", details={"path": str(path)}
        ) from None


def _masked(entry: Any, ours: Mapping[str, Any]) -> Any:
    if not isinstance(entry, Mapping):
        return entry
    found = dict(entry)
    for name in ("env", "headers"):
        if isinstance(found.get(name), Mapping):
            held = found[name].items()
            found[name] = {k: v if ours.get(k) == v and _plain(k, v) else REDACTED for k, v in held}
    return found


def _plain(name: str, value: Any) -> bool:
    """A value that this program writes: a reference or a folder."""
    return name == "KEEPA_CLI_MCP_ROOTS" or (isinstance(value, str) and value.startswith("$"))


def _lines(entry: Any) -> list[str]:
    return json.dumps(entry, ensure_ascii=False, indent=2).splitlines() if entry is not None else []
