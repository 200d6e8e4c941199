"""Lists of ASINs as people keep them: text, CSV, JSON or JSON lines, with what is wrong told by line."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.core.files import read_bytes
from keepa_cli.keepa.asin import parse_asin
from keepa_cli.keepa.strictjson import BOM, load_json
from keepa_cli.ops._inputs import path_of

STANDARD_INPUT = "-"
LARGEST = 16 << 20
COLUMN = "asin"
_PLACES = (
    "asins",
    "asinList",
    "candidates",
    "items",
    "rows",
    "products",
    "data",
    "body",
    "bestSellersList",
    "identity",
)
"""Members of JSON objects that lists of ASINs stand in."""
_DEEPEST = 6


@dataclass
class Asins:
    """ASINs without repeats in their order, and what is none. Lines count from 1; `source` is a file, "-" or the
    command line."""

    found: dict[str, None] = field(default_factory=dict)
    invalid: list[dict[str, Any]] = field(default_factory=list)
    repeats: int = 0

    def add(self, value: Any, source: str, line: int) -> None:
        try:
            asin = parse_asin(value)
        except KeepaCliError as error:
            self.invalid.append({"source": source, "line": line, "value": str(value)[:80], "reason": error.message})
            return
        self.repeats += asin in self.found
        self.found[asin] = None


def read(ctx: Context, targets: Iterable[str]) -> Asins:
    """The ASINs of all targets: each a file, - for standard input, or an ASIN. Raises for a file that is unreadable."""
    asins = Asins()
    for number, target in enumerate(targets, 1):
        if target == STANDARD_INPUT:
            _listed(asins, ctx.stdin.read(LARGEST + 1).encode("utf-8", "surrogatepass"), "standard input")
        elif path_of(ctx, target).is_file() or _names_a_file(target):
            _listed(asins, read_bytes(path_of(ctx, target), limit=LARGEST), target)
        else:
            asins.add(target, "command line", number)
    return asins


def _names_a_file(target: str) -> bool:
    return bool(re.search(r"[\\/]|\.(txt|csv|tsv|json|jsonl|ndjson)$", target, re.IGNORECASE))


def _listed(asins: Asins, raw: bytes, source: str) -> None:
    if len(raw) > LARGEST:
        raise invalid(f"{source} is longer than {LARGEST} bytes.", field="targets", value=source)
    try:
        text = raw.removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise invalid(
            f"{source} is not UTF-8 text: byte {error.start} is {raw[error.start]:#04x}.", field="targets", value=source
        ) from None
    for line, value in _values(text, source):
        asins.add(value, source, line)


def _values(text: str, source: str) -> Iterator[tuple[int, Any]]:
    if text.lstrip()[:1] in {"[", "{"}:
        return _of_json(text, source)
    head = next((line for line in text.splitlines() if line.strip()), "")
    columns = [name.strip().strip('"').lower() for name in re.split(r"[,;\t]", head)]
    return _of_table(text, head, columns) if COLUMN in columns else _of_words(text)


def _of_words(text: str) -> Iterator[tuple[int, str]]:
    """Words between spaces, commas and semicolons; # starts a comment."""
    for number, line in enumerate(text.splitlines(), 1):
        for word in re.split(r"[\s,;]+", line.partition("#")[0].strip()):
            if word.strip("\"'"):
                yield number, word.strip("\"'")


def _of_table(text: str, head: str, columns: list[str]) -> Iterator[tuple[int, str]]:
    """The column named asin; lines are those of the file, also where a cell has several."""
    separator = next(s for s in ",;\t" if s in head or len(columns) == 1)
    place = columns.index(COLUMN)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=separator)
    begun = False
    for row in reader:
        if not any(cell.strip() for cell in row):
            continue
        if begun and len(row) > place and row[place].strip():
            yield reader.line_num, row[place].strip()
        elif begun:
            yield reader.line_num, ""
        begun = True


def _of_json(text: str, source: str) -> Iterator[tuple[int, Any]]:
    """Strings, or objects with an `asin`; the line is the place in the list, or of a JSON line its number."""
    try:
        yield from enumerate(_in_json(load_json(text.encode("utf-8", "surrogatepass"))), 1)
        return
    except ValueError as error:
        problem = error
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    try:
        parsed = [(number, json.loads(line)) for number, line in lines]
    except (ValueError, RecursionError):
        raise invalid(f"{source} is not JSON: {str(problem)[:200]}.", field="targets", value=source) from None
    for number, value in parsed:
        for asin in _in_json(value):
            yield number, asin


def _in_json(value: Any, depth: int = 0) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _in_json(item, depth)
    elif isinstance(value, dict) and COLUMN in value:
        yield value[COLUMN]
    elif isinstance(value, dict) and depth < _DEEPEST:
        place = next((name for name in _PLACES if isinstance(value.get(name), list | dict)), None)
        yield from _in_json(value[place], depth + 1) if place else ["an object without asin"]
    else:
        yield value
