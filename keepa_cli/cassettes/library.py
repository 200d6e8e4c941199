"""The library: recorded answers by request fingerprint, from the first of several folders that has them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from keepa_cli.cassettes.fingerprint import normal_path, of_recording
from keepa_cli.cassettes.foreign import Foreign
from keepa_cli.cassettes.listing import Entry, Listing
from keepa_cli.cassettes.loading import KEEP_BYTES, Loaded, Loader, Stamp, unreadable
from keepa_cli.cassettes.model import Cassette, Exchange
from keepa_cli.cassettes.names import check_name
from keepa_cli.cassettes.roots import bundled_root, library_roots
from keepa_cli.core.errors import KeepaCliError, Kind, invalid

if TYPE_CHECKING:
    from keepa_cli.cassettes.misses import Recorded
    from keepa_cli.keepa.wire import WireRequest

__all__ = ["Hit", "Library", "bundled_root", "library_roots"]
REPEATS = ("hold_last", "once")
_LOOK_AGAIN_AFTER = 1.0


@dataclass(frozen=True)
class Hit:
    """A recorded answer. `ordinal` counts from 0; `location` is the path without what lies above the root."""

    exchange: Exchange
    path: Path
    name: str
    root: Path
    ordinal: int
    fingerprint: str
    recorded_at: str | None
    origin: str
    location: str


class Library:
    """Answers requests from cassettes. Thread-safe; never writes, never opens a socket, never reads a key.

    Several answers recorded for one request are played in their order. Then the last one is held
    (`repeats="hold_last"`), or a further request is a miss (`repeats="once"`).
    """

    def __init__(
        self,
        roots: Iterable[Path | str],
        *,
        repeats: str = "hold_last",
        keep_bytes: int = KEEP_BYTES,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if repeats not in REPEATS:
            raise invalid(
                f"{repeats!r} is not a way to treat repeats.", field="repeats", value=repeats, allowed=REPEATS
            )
        self.roots = [Path(root) for root in roots]
        self.repeats = repeats
        self._lock = threading.RLock()
        self._loader = Loader(keep_bytes)
        self._foreign = Foreign(self._loader)
        self._turns: dict[str, tuple[Path, Stamp, int]] = {}
        self._heads: dict[Entry, Recorded | None] = {}
        self._monotonic = monotonic
        self._listings: list[Listing] = []
        self._listed_at = float("-inf")

    def play(self, request: WireRequest) -> Hit:
        """The next recorded answer to `request`. Raises `cassette_miss`, or `cassette_invalid` for a broken file."""
        print_ = of_recording(request)
        with self._lock:
            self._notice_changes()
            found = self._find(print_, request)
            if found is None and self._refresh():
                found = self._find(print_, request)
            if found is None:
                raise self._miss(print_, request)
            entry, loaded = found
            return self._turn(print_, request, entry, loaded)

    def fixture(self, name: str) -> Cassette:
        """The promoted cassette called `name`, with or without suffix; `name.fingerprint` where two share a name.

        Raises `invalid_arguments` for anything but a plain file name, `fixture_not_found`, `cassette_invalid`.
        """
        entry, loaded = self._fixture(name)
        return Cassette(loaded.path, entry.name, loaded.exchanges, loaded.sha256, loaded.stamp[1], entry.root)

    def fixture_hits(self, name: str) -> list[Hit]:
        """The answers of the fixture `name` in their order. Raises what `fixture` raises."""
        entry, loaded = self._fixture(name)
        prints = {index: print_ for print_, indices in loaded.answers.items() for index in indices}
        return [_hit(entry, loaded, print_, index, n) for n, (index, print_) in enumerate(sorted(prints.items()))]

    def _fixture(self, name: str) -> tuple[Entry, Loaded]:
        bare = check_name(name, field="fixture")
        with self._lock:
            self._notice_changes()
            entry = self._named(bare)
            if entry is None and self._refresh():
                entry = self._named(bare)
            if entry is None:
                from keepa_cli.cassettes.misses import no_fixture

                raise no_fixture(bare, self._listings)
            try:
                return entry, self._loader.get(entry)
            except OSError as error:
                raise unreadable(entry, error) from None

    def entries(self) -> Iterator[Entry]:
        """Every cassette, root by root, in the order of their paths; hidden files and links are left out."""
        with self._lock:
            self._notice_changes()
            found = [entry for listing in self._listings for entry in listing.entries()]
        return iter(found)

    def first_writable(self) -> Path:
        """The root that promotion writes to: the first that is writable and not the bundled samples."""
        own = self.roots
        if len(own) > 1 and os.path.realpath(own[-1]) == os.path.realpath(bundled_root()):
            own = own[:-1]
        for root in own:
            if _writable(root):
                return root
        raise KeepaCliError(
            Kind.IO_ERROR,
            "No folder of the cassette library can be written.",
            details={"roots": [str(root) for root in self.roots]},
            next_actions=["mkdir cassettes", "Set KEEPA_CLI_CASSETTES to a folder that can be written."],
        )

    def _notice_changes(self) -> None:
        if self._monotonic() - self._listed_at > _LOOK_AGAIN_AFTER:
            self._refresh()

    def _refresh(self) -> bool:
        """List what changed since it was listed. Returns whether anything did."""
        self._listed_at = self._monotonic()
        if not self._listings:
            for root in self.roots:
                self._loader.settle(root)
            self._listings = [Listing(root) for root in self.roots]
            changed = True
        else:
            stale = [listing for listing in self._listings if listing.stale()]
            for listing in stale:
                self._loader.settle(listing.root)
                listing.refresh()
            changed = bool(stale) or self._foreign.changed()
        if changed:
            self._foreign.reset(entry for listing in self._listings for entry in listing.foreign)
        return changed

    def _find(self, print_: str, request: WireRequest) -> tuple[Entry, Loaded] | None:
        for listing in self._listings:
            for entry in listing.named.get(print_, ()):
                try:
                    return entry, self._loader.get(entry)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    raise unreadable(entry, error) from None
        try:
            return self._foreign.find(print_, normal_path(request.path))
        except OSError:
            return None

    def _turn(self, print_: str, request: WireRequest, entry: Entry, loaded: Loaded) -> Hit:
        indices = loaded.answers[print_]
        path, stamp, turn = self._turns.get(print_, (None, None, 0))
        if path != loaded.path or stamp != loaded.stamp:
            turn = 0
        if turn >= len(indices) and self.repeats == "once":
            from keepa_cli.cassettes.misses import used_up

            raise used_up(print_, request, entry, len(indices))
        ordinal = min(turn, len(indices) - 1)
        self._turns[print_] = (loaded.path, loaded.stamp, turn + 1)
        return _hit(entry, loaded, print_, indices[ordinal], ordinal)

    def _named(self, name: str) -> Entry | None:
        for listing in self._listings:
            promoted = [e for many in listing.named.values() for e in many]
            for candidates in (promoted, listing.foreign):
                same = [e for e in candidates if name in (e.name, f"{e.name}.{e.fingerprint}")]
                if len(same) > 1:
                    raise _ambiguous(name, same)
                if same:
                    return same[0]
        return None

    def _miss(self, print_: str, request: WireRequest) -> KeepaCliError:
        from keepa_cli.cassettes.misses import no_answer

        return no_answer(print_, request, self._listings, self._foreign, self._heads)


def _hit(entry: Entry, loaded: Loaded, print_: str, index: int, ordinal: int) -> Hit:
    return Hit(
        exchange=loaded.exchanges[index],
        path=loaded.path,
        name=entry.name,
        root=entry.root,
        ordinal=ordinal,
        fingerprint=print_,
        recorded_at=loaded.recorded_at(index),
        origin=loaded.origin,
        location=entry.logical,
    )


def _writable(root: Path) -> bool:
    existing = root
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _ambiguous(name: str, entries: Sequence[Entry]) -> KeepaCliError:
    choices = sorted(f"{e.name}.{e.fingerprint}" if e.fingerprint else e.logical for e in entries)
    return invalid(
        f"{len(entries)} cassettes are called {name!r}; add the fingerprint to the name.",
        field="fixture",
        value=name,
        allowed=choices,
    )
