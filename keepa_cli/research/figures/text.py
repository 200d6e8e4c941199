"""Text that is drawn: without characters that a drawing cannot hold, cut to the room that there is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

_DROPPED = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Control and bidirectional characters, halves of surrogate pairs, unassigned: none belongs into an XML text."""
ELLIPSIS = "…"
_FOREIGN = re.compile(
    "[^\u0020-\u024f\u0370-\u03ff\u0400-\u052f\u1e00-\u1eff\u2010-\u2025\u2027\u2030-\u203a\u20ac\u2116\u2122\u2212]+"
)
"""Everything but Latin, Greek, Cyrillic and common signs."""


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


def drawable(text: str) -> str:
    """`text` in the characters of the font that comes with the renderer: others would be boxes, or differ from machine
    to machine. An ellipsis stands where something is left out."""
    return text if text.isascii() else " ".join(_FOREIGN.sub(ELLIPSIS, text).split())


def harmless(value: Any) -> Any:
    """A specification with every text in it cleaned: one control character would end the renderer's process."""
    return texts(value, lambda text: text if text.isascii() and text.isprintable() else clean(text))


def texts(value: Any, change: Callable[[str], str]) -> Any:
    """JSON data with every text value changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {k: texts(v, change) for k, v in value.items()}
    return [texts(v, change) for v in value] if isinstance(value, list | tuple) else value


def _columns(c: str) -> int:
    return 2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1
