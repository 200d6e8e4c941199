"""The names of the cassettes below a root. No file is opened and no link is followed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from keepa_cli.cassettes.names import is_cassette_name, split_file_name

_DEEPEST = 16
_SETTLED_NS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One cassette file. `fingerprint` is None for a cassette that was not promoted."""

    root: Path
    relative: str
    name: str
    fingerprint: str | None

    @property
    def path(self) -> Path:
        return self.root / self.relative

    @property
    def logical(self) -> str:
        """Where it is, from the folder that holds the root, with slashes."""
        return f"{self.root.name}/{self.relative}" if self.root.name else self.relative

    @property
    def folder(self) -> str:
        return self.relative.partition("/")[0] if "/" in self.relative else ""


class Listing:
    """What lies below one root, by fingerprint and by name."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.refresh()

    def refresh(self) -> None:
        """List the root anew."""
        self.named: dict[str, list[Entry]] = {}
        self.foreign: list[Entry] = []
        self.skipped: dict[str, str] = {}
        self._folders: dict[str, int] = {}
        self._listed_ns = time.time_ns()
        for entry in sorted(self._walk(str(self.root), "", 0), key=lambda e: e.relative):
            if entry.fingerprint is None:
                self.foreign.append(entry)
            else:
                self.named.setdefault(entry.fingerprint, []).append(entry)

    def entries(self) -> Iterator[Entry]:
        """All cassettes of the root in the order of their paths."""
        yield from sorted((e for many in self.named.values() for e in many), key=lambda e: e.relative)
        yield from self.foreign

    def stale(self) -> bool:
        """Whether a folder changed since it was listed, or so shortly before that a change could have been missed."""
        return any(
            now != then or self._listed_ns - then < _SETTLED_NS
            for then, now in ((known, _changed_ns(folder)) for folder, known in self._folders.items())
        )

    def _walk(self, folder: str, prefix: str, depth: int) -> Iterator[Entry]:
        self._folders[folder] = _changed_ns(folder)
        deeper = []
        try:
            with os.scandir(folder) as found:
                for item in found:
                    name = item.name
                    if name.startswith("."):
                        continue
                    if item.is_dir(follow_symlinks=False) and not _junction(item):
                        deeper.append(name)
                    elif is_cassette_name(name):
                        if item.is_file(follow_symlinks=False):
                            yield Entry(self.root, prefix + name, *split_file_name(name))
                        else:
                            link = item.is_symlink() or _junction(item)
                            self.skipped[prefix + name] = "a link, and links are not followed" if link else "not a file"
        except OSError:
            return
        for name in deeper if depth < _DEEPEST else ():
            yield from self._walk(os.path.join(folder, name), f"{prefix}{name}/", depth + 1)  # noqa: PTH118 - hot


def _changed_ns(folder: str) -> int:
    try:
        return Path(folder).stat().st_mtime_ns
    except OSError:
        return -1


def _junction(item: os.DirEntry[str]) -> bool:
    check = getattr(item, "is_junction", None)
    return bool(check and check())
