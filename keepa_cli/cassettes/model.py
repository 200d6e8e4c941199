"""One recorded exchange as the harness holds it in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Exchange:
    """A request and its answer. `request_headers` and `headers` map names to value lists as vcrpy stores them;
    `body` is what the stored string decodes to (bytes); `request_body` likewise, b"" when there is none."""

    method: str
    url: str
    request_headers: Mapping[str, list[str]]
    request_body: bytes
    status: int
    reason: str
    headers: Mapping[str, list[str]]
    body: bytes


@dataclass(frozen=True)
class Cassette:
    """A cassette file: its path, the promoted name, the library root it belongs to, and its exchanges in order."""

    path: Path
    name: str
    exchanges: tuple[Exchange, ...]
    sha256: str
    size: int
    root: Path | None = None


@dataclass(frozen=True)
class Finding:
    """Something that must not be written: where it is and which rule saw it, never the value."""

    file: str
    location: str
    rule: str
    form: str = "raw"

    def as_dict(self) -> dict[str, Any]:
        return {"file": self.file, "location": self.location, "rule": self.rule, "form": self.form}
