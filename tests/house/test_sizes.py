"""Small files and small functions; what is too long is listed with its exact size, and the list only shrinks."""

from __future__ import annotations

import json
from pathlib import Path

from tests.house.source import functions, modules, text

MAX_FILE = 400
MAX_FUNCTION = 60
MOST_EXCEPTIONS = 0


def oversize() -> dict[str, int]:
    """Each file and function over its limit: "path" or "path::function" -> lines."""
    found = {n: lines for n in modules() if (lines := text(n).count("\n")) > MAX_FILE}
    return found | {f"{n}::{f}": lines for n in modules() for f, lines in functions(n) if lines > MAX_FUNCTION}


def listed() -> dict[str, int]:
    return json.loads((Path(__file__).parent / "exceptions.json").read_text(encoding="utf-8"))


def test_files_and_functions_are_small() -> None:
    too_long = oversize()
    grown = {place: lines for place, lines in too_long.items() if lines > listed().get(place, 0)}
    assert not grown, "split these (at most 400 lines a file, 60 a function)"


def test_the_exception_list_only_shrinks() -> None:
    too_long = oversize()
    stale = {place: lines for place, lines in listed().items() if too_long.get(place) != lines}
    assert not stale, "these shrank or went away: write their size of today, or take them off the list"
    assert len(listed()) <= MOST_EXCEPTIONS
