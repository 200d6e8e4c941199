"""What this machine already knows: recordings by their evidence, a few of their bodies, and the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

from keepa_cli.cassettes import evidence
from keepa_cli.cassettes.listing import Entry
from keepa_cli.cassettes.loading import load
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa.strictjson import load_json
from keepa_cli.ops import _cassettes_files
from keepa_cli.research.contents import Item, contents
from keepa_cli.research.matching import fit, score, words_of

ENDPOINTS: Mapping[str, frozenset[str]] = {
    "product": frozenset({"product"}),
    "search": frozenset({"search"}),
    "category": frozenset({"category"}),
    "seller": frozenset({"seller", "topseller", "sellerquery"}),
    "bestsellers": frozenset({"bestsellers"}),
    "finder": frozenset({"query"}),
    "deal": frozenset({"deal", "lightningdeal"}),
    "tracking": frozenset({"tracking"}),
}
DOCS = "docs"
WITH_TITLES = frozenset().union(*ENDPOINTS.values())
MOST_OPENED, MOST_BYTES = 60, 16 << 20
MOST_SIDECARS = 500
_WEIGHTS = {"name": 10.0, "request": 9.0, "asin": 9.0, "title": 7.0, "endpoint": 4.0}


@dataclass
class Record:
    """A recording with what is known of it without opening it; `items` are there once it was opened, those that fit
    best first."""

    entry: Entry
    fixture: str
    request: str = ""
    recorded_at: str | None = None
    origin: str = "unknown"
    items: list[Item] = field(default_factory=list)
    opened: bool = False
    score: float = 0.0
    where: dict[str, list[str]] = field(default_factory=dict)

    def judge(self, asked: list[str]) -> None:
        """How well it fits. Of many items the best one counts: two words in two titles are no match."""
        fits = [-sum(map(bool, (fit(w, words_of(" ".join(filter(None, i)))) for w in asked))) for i in self.items]
        self.items = [i for _, i in sorted(zip(fits, self.items, strict=True), key=lambda pair: pair[0])]
        best = self.items[0] if self.items else (None, None)
        fields = {
            "name": words_of(self.entry.name),
            "request": words_of(_values(self.request)),
            "endpoint": [self.entry.folder.casefold()],
            "asin": words_of(best[0] or ""),
            "title": words_of(best[1] or ""),
        }
        self.score, self.where = score(asked, {name: (_WEIGHTS[name], words) for name, words in fields.items()})


@dataclass
class Searched:
    """What was looked at, so that nobody takes silence for absence."""

    records: list[Record]
    notes: list[str]
    opened: int = 0
    unopened: int = 0


def records(ctx: Context, endpoints: frozenset[str] | None) -> Searched:
    """Every recording of the library with what its evidence says."""
    entries = [e for e in _cassettes_files.library(ctx).entries() if endpoints is None or e.folder in endpoints]
    names = Counter((e.root, e.name) for e in entries)
    notes: list[str] = []
    proofs = _proofs(entries, notes)
    first: dict[str, Entry] = {}
    found: list[Record] = []
    for entry in entries:
        twice = names[entry.root, entry.name] > 1
        fixture = f"{entry.name}.{entry.fingerprint}" if twice and entry.fingerprint else entry.name
        if first.setdefault(fixture, entry) is entry:
            found.append(Record(entry, fixture, **proofs(entry)))
    return Searched(found, notes)


def _proofs(entries: Iterable[Entry], notes: list[str]) -> Callable[[Entry], dict[str, Any]]:
    """Reads what is known of an entry: from the manifest of its root, read once, else from the file beside it."""
    manifests = {}
    for root in dict.fromkeys(e.root for e in entries):
        try:
            manifests[root] = evidence.Manifest.read(evidence.manifest_path(root))
        except KeepaCliError as error:
            manifests[root] = evidence.Manifest()
            notes.append(error.message)
    left = MOST_SIDECARS

    def proof(entry: Entry) -> dict[str, Any]:
        nonlocal left
        row = manifests[entry.root].get(evidence.logical_path(entry.path, entry.root))
        if row is not None:
            return _of_row(row)
        left -= bool(entry.fingerprint)
        return _of_sidecar(entry) if entry.fingerprint and left >= 0 else {}

    return proof


def _of_row(row: Mapping[str, str]) -> dict[str, Any]:
    origin = row["summary"].rpartition("origin ")[2].strip()
    known = {"request": row["title"].partition(": ")[2], "recorded_at": row["recorded_at"] or None}
    return known | ({"origin": origin} if origin in {"live", "sandbox", "import"} else {})


def _of_sidecar(entry: Entry) -> dict[str, Any]:
    try:
        proof = evidence.read_sidecar(entry.path)
    except KeepaCliError:
        return {}
    facts, promotion = proof.get("interactions"), proof.get("promotion")
    last = facts[-1] if isinstance(facts, list) and facts and isinstance(facts[-1], dict) else {}
    query = f"?{last['query']}" if last.get("query") else ""
    origin = promotion.get("origin") if isinstance(promotion, dict) else None
    return {
        "request": f"{last['method']} {last['path']}{query}" if {"method", "path"} <= set(last) else "",
        "recorded_at": last.get("recorded_at") if isinstance(last.get("recorded_at"), str) else None,
        "origin": origin if isinstance(origin, str) else "unknown",
    }


def _values(request: str) -> str:
    """The values of a request without the names and switches, which say nothing about its subject."""
    pairs = parse_qsl(request.partition("?")[2], keep_blank_values=True)
    return " ".join(unquote_plus(v) for _, v in pairs if len(v) > 1)


def search(ctx: Context, asked: list[str], searched: Searched, limit: int) -> list[Record]:
    """The recordings that fit, best first. Bodies are opened where names and requests do not hold every word, and for
    what is shown; newest first, within a limit."""
    for record in searched.records:
        record.judge(asked)
    if not any(len(r.where) == len(asked) for r in searched.records):
        left = sorted((r for r in searched.records if r.entry.folder in WITH_TITLES), key=_newest_first, reverse=True)
        for record in _within(left, searched):
            open_record(record)
            record.judge(asked)
    found = sorted((r for r in searched.records if r.where and r.score > 0), key=_best_first)
    for record in found[:limit]:
        if not record.opened and record.entry.folder in WITH_TITLES:
            searched.opened += 1
            open_record(record)
            record.judge(asked)
    return found


def _within(candidates: list[Record], searched: Searched) -> Iterator[Record]:
    size = 0
    for number, record in enumerate(candidates):
        try:
            size += record.entry.path.stat().st_size
        except OSError:
            continue
        if number >= MOST_OPENED or size > MOST_BYTES:
            searched.unopened = len(candidates) - number
            return
        searched.opened += 1
        yield record


def open_record(record: Record) -> None:
    """Look into the last answer of a recording. What cannot be read stays unknown: `cassettes verify` complains."""
    record.opened = True
    try:
        record.items = contents(load_json(load(record.entry).exchanges[-1].body))
    except (KeepaCliError, OSError, ValueError, IndexError):
        return


def _newest_first(record: Record) -> tuple[str, str]:
    return record.recorded_at or "", record.fixture


def _best_first(record: Record) -> tuple[float, int, str]:
    moment = record.recorded_at or ""
    return -record.score, -int("".join(c for c in moment if c.isdecimal())[:14] or 0), record.fixture


def age_days(now: datetime, recorded: str | None) -> int | None:
    """Whole days since a recording was made."""
    try:
        moment = datetime.fromisoformat(recorded or "")
    except ValueError:
        return None
    return max(0, (now - moment).days) if moment.tzinfo else None
