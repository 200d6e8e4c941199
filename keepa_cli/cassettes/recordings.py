"""The inbox: recordings that wait under the state directory until they are promoted. For their owner's eyes only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from keepa_cli.cassettes.evidence import dump_json, stamp
from keepa_cli.cassettes.importers import read_meta
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.names import check_name
from keepa_cli.cassettes.stored import stored
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import io_error, write_atomic

FOLDERS = ("inbox", "journal", "quarantine", "failed", "staging")
_NAME = re.compile(r"(?P<name>.+)-(?P<stamp>\d{8}T\d{6,12}Z)(?:-(?P<again>\d+))?-(?P<fp>[0-9a-f]{8})\.yaml")


@dataclass(frozen=True)
class Recording:
    """A recording in the inbox: the name it was given, when it was stored, and what its recorder noted."""

    path: Path
    name: str
    stamp: str
    fingerprint: str
    size: int
    meta: Mapping[str, Any]


def private_folder(state_dir: Path, name: str) -> Path:
    """A folder below the state directory that only its owner can enter; made when it is missing."""
    folder = state_dir / name
    try:
        for each in (state_dir, folder):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)
        if os.name == "posix" and folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise io_error("make the folder", folder, error) from None
    return folder


def store(state_dir: Path, exchanges: Sequence[Exchange], name: str, meta: Mapping[str, Any], now: datetime) -> Path:
    """Put sanitized exchanges into the inbox and return the path of the recording.

    The note beside it is claimed first, exclusively: two recorders never write over one another.
    """
    from keepa_cli.cassettes.codec import dump_cassette
    from keepa_cli.cassettes.fingerprint import fingerprint

    first = exchanges[0]
    short = fingerprint(first.method, first.url, first.request_body)[:8]
    path = _claim(private_folder(state_dir, "inbox"), check_name(name), stamp(now), short)
    write_atomic(path, dump_cassette([stored(e).exchange for e in exchanges]), mode=0o600)
    write_atomic(_note(path), dump_json(dict(meta)), mode=0o600)
    return path


def _claim(folder: Path, name: str, moment: str, short: str) -> Path:
    for attempt in range(1, 1000):
        again = "" if attempt == 1 else f"-{attempt}"
        path = folder / f"{name}-{moment}{again}-{short}.yaml"
        try:
            os.close(os.open(_note(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue
        except OSError as error:
            raise io_error("write", path, error) from None
        return path
    raise KeepaCliError(Kind.IO_ERROR, f"{folder} holds too many recordings of one moment.")


def _note(path: Path) -> Path:
    return path.with_name(path.stem + ".meta.json")


def recordings(state_dir: Path) -> Iterator[Recording]:
    """The recordings in the inbox, oldest first."""
    folder = state_dir / "inbox"
    found = []
    for path in folder.glob("*.yaml") if folder.is_dir() else ():
        parts = _NAME.fullmatch(path.name)
        if parts and path.is_file() and not path.is_symlink():
            found.append((parts["stamp"], int(parts["again"] or 1), path.name, parts, path))
    for moment, _, _, parts, path in sorted(found, key=lambda f: f[:3]):
        yield Recording(path, parts["name"], moment, parts["fp"], path.stat().st_size, read_meta(path))


def find_recording(state_dir: Path, text: str, cwd: Path) -> Path:
    """The file that `text` names: a path, the file name of a recording, or its name (then the newest one)."""
    direct = cwd / Path(text).expanduser()
    if direct.exists() or direct.is_symlink():
        return direct
    known = list(recordings(state_dir))
    for recording in reversed(known):
        if text in (recording.name, recording.path.name, recording.path.stem):
            return recording.path
    names = sorted({r.name for r in known})
    raise KeepaCliError(
        Kind.IO_ERROR,
        f"There is no file {text} and no recording of that name in the inbox.",
        details={"path": text, "recordings": names[:50]},
        next_actions=["kc cassettes list"],
    )
