"""From the journal to the inbox: what was recorded is scanned, stored, and only then forgotten by the journal."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepa_cli import __version__
from keepa_cli.cassettes import journal
from keepa_cli.cassettes.journal import Journalled
from keepa_cli.cassettes.model import Exchange, Finding
from keepa_cli.cassettes.recordings import private_folder
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.files import io_error
from keepa_cli.core.redact import Redactor
from keepa_cli.keepa.answer import bucket_of
from keepa_cli.keepa.strictjson import load_json
from keepa_cli.transport import quarantine

_STAYS = "It stays in the journal and is stored with the next recording."
Store = Callable[[Sequence[Exchange], dict[str, Any]], Path]
Now = Callable[[], datetime]


@dataclass(frozen=True)
class Kept:
    """Where a recording went: `path` in the inbox, or `kept_at` in the quarantine; `problems` say what went wrong."""

    name: str
    path: Path | None = None
    kept_at: Path | None = None
    findings: list[Finding] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    sent: int = 0
    recorded_at: str | None = None

    def recovered(self) -> str:
        """What became of a recording whose recorder was killed, as a sentence for its user."""
        if self.path:
            return f"The recording {self.path.name} was left by a recorder that was killed; it is in the inbox now."
        if self.kept_at:
            return f"A recording {self.name} may not be stored as it is and was cut into {self.kept_at}."
        if self.problems:
            return f"A recording {self.name} cannot be moved to the inbox: {' '.join(self.problems)}"
        spent = "tokens may have been spent on it" if self.sent else "nothing was sent"
        return f"A recorder of {self.name} ended before an answer came: {spent}."


class Keeper:
    """Moves journalled recordings to the inbox through `store(exchanges, meta) -> path`.

    A recording that the scan objects to, or that could not be sanitized, goes to the quarantine with those parts
    cut out. A journal is removed only when its exchanges are on disk elsewhere.
    """

    def __init__(self, state_dir: Path, store: Store, redactor: Redactor, now: Now = lambda: datetime.now(UTC)) -> None:
        self.journals = private_folder(state_dir, "journal")
        self._state_dir, self._store, self._redactor, self._now = state_dir, store, redactor, now

    def recover(self) -> list[Kept]:
        """Keep what recorders left behind that are gone. Running ones are not touched."""
        return [self.keep(found) for found in journal.recover(self.journals)]

    def keep(self, found: Journalled) -> Kept:
        """Put the exchanges of a journal where they belong. Never raises: the answer is still to be delivered."""
        name = str(found.meta.get("name") or "recording")
        common: dict[str, Any] = {"name": name, "sent": found.sent}
        try:
            if not found.exchanges:
                found.discard()
                return Kept(**common)
            findings = quarantine.findings_in(found.exchanges, name, self._redactor)
            withheld = any(note.get("withheld") for note in found.notes)
            if findings or withheld:
                kept_at = self._quarantine(name, found)
                found.discard()
                return Kept(**common, kept_at=kept_at, findings=findings)
            meta = meta_of(found)
            path = self._store(found.exchanges, meta)
            found.discard()
        except Exception as error:  # noqa: BLE001 - whatever goes wrong here, the answer was paid for
            return Kept(**common, problems=[f"{_reason(error, found.path)} {_STAYS}"])
        return Kept(**common, path=path, recorded_at=meta["recorded_at"])

    def _quarantine(self, name: str, found: Journalled) -> Path:
        folder = private_folder(self._state_dir, "quarantine")
        return quarantine.keep(folder, name, found.exchanges, self._redactor, self._now())


def _reason(error: Exception, path: Path) -> str:
    if isinstance(error, OSError):
        error = io_error("move", path, error)
    return error.message if isinstance(error, KeepaCliError) else f"Storing it failed ({type(error).__name__})."


def meta_of(found: Journalled) -> dict[str, Any]:
    """What the note beside a recording says about it."""
    return found.meta | {
        "recorded_at": next((n["recorded_at"] for n in found.notes if n.get("recorded_at")), None),
        "durations_ms": [note.get("duration_ms") for note in found.notes],
        "sanitizer": next((n["sanitizer"] for n in found.notes if n.get("sanitizer")), None),
        "redacted": _summed([note.get("redacted") or {} for note in found.notes]),
        "tokens": [_tokens(exchange) for exchange in found.exchanges],
        "complete": found.ended and not found.torn and (found.outcome or {}).get("kind") is None,
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """The versions of what made a recording."""
    from importlib.metadata import version

    tools = {name: version(name) for name in ("vcrpy", "requests", "urllib3")}
    return {"keepa-cli": __version__, "python": platform.python_version(), **tools}


def _summed(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    return {rule: sum(c.get(rule, 0) for c in counts) for rule in sorted({r for c in counts for r in c})}


def _tokens(exchange: Exchange) -> dict[str, Any]:
    try:
        body = load_json(exchange.body)
    except ValueError:
        return {}
    return bucket_of(body, exchange.status) if isinstance(body, dict) else {}
