"""Text that is drawn: without characters that a drawing cannot hold, cut to the room that there is."""

from __future__ import annotations

import unicodedata
from typing import Any

_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Control and bidirectional characters, halves of surrogate pairs, unassigned: none belongs into an XML text."""
ELLIPSIS = "…"


def clean(text: Any) -> str:
    """`text` on one line without control, bidirectional and other invisible characters."""
    kept = (" " if c.isspace() else c for c in str(text) if c.isspace() or unicodedata.category(c) not in _DROPPED)
    return " ".join("".join(kept).split())


def cut(text: Any, room: int) -> str:
    """The cleaned text in at most `room` columns; wide characters take two."""
    cleaned = clean(text)
    if sum(map(_columns, cleaned)) <= room:
        return cleaned
    kept, used = "", 1
    for c in cleaned:
        used += _columns(c)
        if used > room:
            break
        kept += c
    return kept.rstrip() + ELLIPSIS


def harmless(value: Any) -> Any:
    """A specification with every text in it cleaned: one control character would end the renderer's process."""
    if isinstance(value, str):
        return value if value.isascii() and value.isprintable() else clean(value)
    if isinstance(value, dict):
        return {k: harmless(v) for k, v in value.items()}
    return [harmless(v) for v in value] if isinstance(value, list | tuple) else value


def _columns(c: str) -> int:
    return 2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1
