"""Foreign text inside Markdown: never markup, link, image, raw HTML or a break of a table."""

from __future__ import annotations

import re
from typing import Any

from keepa_cli.research.figures.text import clean

_MARKS = re.compile(r"[\\`*_\[\]|~$]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
_ENTITY = re.compile("[&<>@]")
_AUTOLINK = re.compile(r"(?i)\b(https?|ftp|mailto|xmpp|file|data|javascript)(:)|\b(www)(\.)")
_LEADING = re.compile(r"^(?:([#+=-]+)|(\d{1,9})([.)]))(?=\s|$)")
_RUNS = re.compile("`+")


def escaped(value: Any) -> str:
    """`value` as plain text on one line."""
    text = _ENTITY.sub(lambda m: _ENTITIES[m[0]], clean("" if value is None else value))
    text = _MARKS.sub(lambda m: "\\" + m[0], text)
    text = _AUTOLINK.sub(lambda m: f"{m[1]}&#58;" if m[1] else f"{m[3]}&#46;", text)
    return _LEADING.sub(_led, text)


def _led(found: re.Match[str]) -> str:
    """What opens a heading, a list or a rule at the start of a line."""
    if found[2]:
        return f"{found[2]}\\{found[3]}"
    return f"\\{found[0]}"


def code(value: Any) -> str:
    """`value` as a code span that fits into a cell of a table."""
    text = clean("" if value is None else value)
    if not text:
        return ""
    fence = "`" * (max(map(len, _RUNS.findall(text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def block(lines: list[str]) -> str:
    """Lines as a block of code that nothing in them can end."""
    text = [clean(line) for line in lines]
    fence = "`" * max(3, *(len(run) + 1 for line in text for run in _RUNS.findall(line)), 3)
    return "\n".join([f"{fence}sh", *text, fence])


def path(name: str) -> str:
    """The path of a figure of ours as the target of an image."""
    return re.sub(r"[^0-9A-Za-z._/-]", lambda m: "".join(f"%{b:02X}" for b in m[0].encode()), name)
