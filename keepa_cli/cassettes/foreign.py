"""Cassettes that were not promoted: opened one after the other, and only when a request may be in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from keepa_cli.cassettes import codec
from keepa_cli.cassettes.listing import Entry
from keepa_cli.cassettes.loading import Loaded, Loader, Stamp, file_stamp, read_regular
from keepa_cli.core.errors import KeepaCliError

_SAMPLE = 20


class Foreign:
    """An index of cassettes whose names say nothing. Paths are searched in order; the first that answers wins."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self.reset(())

    def reset(self, entries: Iterable[Entry]) -> None:
        """Start over with these files."""
        self.entries = list(entries)
        self.unreadable: dict[str, str] = {}
        self._requests: dict[int, list[tuple[str, str]]] = {}
        self._index: dict[str, int] = {}
        self._cursor: dict[str, int] = {}
        self._seen: dict[int, Stamp | None] = {}

    def find(self, print_: str, path: str) -> tuple[Entry, Loaded] | None:
        """The first cassette that holds an answer to the request `print_` for `path`."""
        needle = path.rpartition("/")[2].encode("utf-8", "surrogateescape")
        at = self._cursor.get(path, 0)
        while at < self._index.get(print_, len(self.entries)):
            if at not in self._requests:
                self._look_into(at, needle)
            at += 1
        self._cursor[path] = max(at, self._cursor.get(path, 0))
        found = self._index.get(print_)
        if found is None:
            return None
        entry = self.entries[found]
        loaded = self._loader.get(entry)
        return (entry, loaded) if print_ in loaded.answers else None

    def changed(self) -> bool:
        """Whether a file that was looked into is not as it was."""
        return any(file_stamp(self.entries[at].path) != stamp for at, stamp in self._seen.items())

    def _look_into(self, at: int, needle: bytes) -> None:
        entry = self.entries[at]
        try:
            data, self._seen[at] = read_regular(entry.path, codec.SIZE_LIMIT)
            if needle in data or not data.strip():
                loaded = self._loader.get(entry)
                self._add(at, loaded)
        except KeepaCliError as error:
            self.unreadable[entry.logical] = str(error.details.get("problem", error.message))
            self._requests[at] = []
        except OSError as error:
            self.unreadable[entry.logical] = error.strerror or type(error).__name__

    def _add(self, at: int, loaded: Loaded) -> None:
        self._requests[at] = []
        for print_, indices in loaded.answers.items():
            exchange = loaded.exchanges[indices[0]]
            self._requests[at].append((exchange.method, exchange.url))
            self._index[print_] = min(at, self._index.get(print_, at))

    def requests(self) -> Iterator[tuple[Entry, str, str]]:
        """Method and URL of every request found so far, and of the first files where none was."""
        for at in range(min(len(self.entries), _SAMPLE) if not any(self._requests.values()) else 0):
            if at not in self._requests:
                self._look_into(at, b"")
        for at, found in self._requests.items():
            for method, url in found:
                yield self.entries[at], method, url
