"""Foreign text inside sentences of ours: one line, no characters that command a terminal or turn the reading order."""

from __future__ import annotations

import unicodedata
from typing import Any

HARMFUL = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def one_line(value: Any, limit: int = 60) -> str:
    """`value` as harmless text of at most `limit` characters; what is cut ends in an ellipsis."""
    text = value[: 4 * limit + 400] if isinstance(value, str) else ""
    plain = text.isascii() and text.isprintable()
    shown = text if plain else "".join(" " if unicodedata.category(c) in HARMFUL else c for c in text)
    words = " ".join(shown.split())
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"
