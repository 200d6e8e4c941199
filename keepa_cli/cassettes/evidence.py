"""What proves a fixture: a row in evidence/manifest.csv, a sidecar beside it, and a record of each promotion."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import read_bytes

SCHEMA_VERSION = 1
COLUMNS = (
    "logical_path", "title", "status", "updated_at", "summary", "sha256", "size_bytes", "endpoint", "fingerprint",
    "source_cassette", "recorded_at", "tokens_consumed", "sanitizer_version", "schema_verdict", "eval_verdict",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@")
_CELL_LIMIT = 300
_MANIFEST_LIMIT = 64 << 20
_SIDECAR_LIMIT = 8 << 20


def evidence_root(library_root: Path) -> Path:
    """The evidence folder of a cassette library: its sibling."""
    return library_root.parent / "evidence"


def manifest_path(library_root: Path) -> Path:
    return evidence_root(library_root) / "manifest.csv"


def sidecar_path(cassette: Path) -> Path:
    """`<name>.<fingerprint>.evidence.json` beside a cassette."""
    return cassette.with_name(cassette.stem + ".evidence.json")


def logical_path(cassette: Path, library_root: Path) -> str:
    """The path of a cassette as evidence names it: from the folder that holds the library, with slashes."""
    return cassette.relative_to(library_root.parent).as_posix()


def utc(moment: datetime) -> str:
    """A moment as evidence writes it: ISO 8601 in UTC, whole seconds, Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stamp(moment: datetime) -> str:
    """A moment as file names carry it; sorts by time."""
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%S%fZ")


def cell(value: Any) -> str:
    """One CSV cell: one line, and never a formula where the file is opened in a spreadsheet."""
    text = "" if value is None else str(value)
    text = "".join(c if c.isprintable() else " " for c in text)[:_CELL_LIMIT]
    return "'" + text if text.lstrip().startswith(_FORMULA) else text


def dump_json(value: Any) -> bytes:
    """Evidence as JSON text: sorted keys, ASCII, one final newline."""
    return json.dumps(value, sort_keys=True, indent=2, allow_nan=False).encode("ascii") + b"\n"


class Manifest:
    """The rows of a manifest.csv by logical path. A missing file is an empty manifest."""

    def __init__(self, rows: Mapping[str, Mapping[str, str]] | None = None, raw: bytes = b"") -> None:
        self._rows: dict[str, dict[str, str]] = {k: dict(v) for k, v in (rows or {}).items()}
        self._read = raw

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """The manifest at `path`. Raises `cassette_invalid` for other columns, doubled rows and broken text."""
        if not path.exists():
            return cls()
        raw = read_bytes(path, limit=_MANIFEST_LIMIT)
        try:
            table = list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline=""), strict=True))
        except (UnicodeDecodeError, csv.Error) as error:
            raise _broken(path, f"it is not a CSV file in UTF-8 ({type(error).__name__})") from None
        if not table or tuple(table[0]) != COLUMNS:
            raise _broken(path, "its columns are not those of a manifest")
        rows: dict[str, dict[str, str]] = {}
        for number, line in enumerate(table[1:], start=2):
            if len(line) != len(COLUMNS):
                raise _broken(path, f"row {number} has {len(line)} cells instead of {len(COLUMNS)}")
            if line[0] in rows:
                raise _broken(path, f"row {number} repeats {line[0]}")
            rows[line[0]] = dict(zip(COLUMNS, line, strict=True))
        return cls(rows, raw)

    @property
    def parent_sha256(self) -> str | None:
        """The hash of the file as it was read: the link to the state before."""
        return hashlib.sha256(self._read).hexdigest() if self._read else None

    def __iter__(self) -> Iterator[dict[str, str]]:
        return iter(self._rows.values())

    def __contains__(self, logical: str) -> bool:
        return cell(logical) in self._rows

    def get(self, logical: str) -> dict[str, str] | None:
        return self._rows.get(cell(logical))

    def put(self, row: Mapping[str, Any]) -> None:
        """Add or replace the row of one logical path."""
        cells = {column: cell(row.get(column)) for column in COLUMNS}
        self._rows[cells["logical_path"]] = cells

    def drop(self, logical: str) -> None:
        self._rows.pop(cell(logical), None)

    def dump(self) -> bytes:
        """The file: rows sorted by logical path, so that two promotions meet in one order whoever comes first."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([self._rows[k][c] for c in COLUMNS] for k in sorted(self._rows))
        return out.getvalue().encode("utf-8")


def read_sidecar(cassette: Path) -> dict[str, Any]:
    """The evidence beside `cassette`. Raises `cassette_invalid` when it is missing or broken."""
    path = sidecar_path(cassette)
    if not path.is_file():
        raise _broken(path, "the evidence of the cassette is missing")
    try:
        found = json.loads(read_bytes(path, limit=_SIDECAR_LIMIT))
    except (ValueError, RecursionError):
        raise _broken(path, "it is not JSON") from None
    if not isinstance(found, dict) or found.get("schema_version") != SCHEMA_VERSION:
        raise _broken(path, f"it is not evidence of version {SCHEMA_VERSION}")
    return found


def _broken(path: Path, why: str) -> KeepaCliError:
    return KeepaCliError(
        Kind.CASSETTE_INVALID, f"{path}: {why}.", details={"file": str(path)}, next_actions=["kc cassettes verify"]
    )
