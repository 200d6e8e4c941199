"""Paths into JSON data: `$.data.body.products[0].asin`, `data.body["a.key"]`, `items[-1]`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_PART = re.compile(
    r"""
    \.?(?P<name>[A-Za-z0-9_\-]+)          # a plain name; after the first part with a dot
    | \[(?P<index>-?\d+)\]                # a position; negative ones count from the end
    | \[(?P<quoted>"(?:[^"\\]|\\.)*")\]   # any name, as a JSON string
    | \['(?P<single>[^'\\]*)'\]           # any name without quotes and backslashes
    """,
    re.VERBOSE,
)
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_\-]+")
EXAMPLE = "$.data.body.products[0].asin"


class Missing(LookupError):
    """Nothing stands at the path; the message names the first part that is not there."""


@dataclass(frozen=True)
class Path:
    """A parsed path. An int part is a position; a digits-only name (`products.0`) is a position in arrays too."""

    text: str
    parts: tuple[str | int, ...]

    def get(self, value: Any) -> Any:
        """What stands at the path in `value`. Raises Missing."""
        for depth, part in enumerate(self.parts):
            try:
                value = _step(value, part)
            except (KeyError, IndexError):
                raise Missing(f"nothing at {render(self.parts[: depth + 1])}") from None
            except TypeError:
                raise Missing(f"{render(self.parts[:depth])} is {json_type(value)}, it has no {part!r}") from None
        return value


def parse(text: Any) -> Path:
    """ValueError, with a sentence, for what is not a path."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"a path is a text such as {EXAMPLE}")
    rest = text[1:] if text.startswith("$") else text
    if rest.startswith(".") and text == rest:
        raise ValueError(f"the path {text!r} starts with a dot; write {'$' + text}")
    parts: list[str | int] = []
    at = 0
    while at < len(rest):
        found = _PART.match(rest, at)
        if not found or (found["name"] and rest[at] != "." and (at > 0 or text.startswith("$"))):
            raise ValueError(f"the path {text!r} cannot be read from {rest[at : at + 20]!r} on; write {EXAMPLE}")
        parts.append(_part(found))
        at = found.end()
    return Path(text, tuple(parts))


def _part(found: re.Match[str]) -> str | int:
    if found["index"] is not None:
        return int(found["index"])
    if found["quoted"] is not None:
        return str(json.loads(found["quoted"]))
    return found["name"] or found["single"] or ""


def _step(value: Any, part: str | int) -> Any:
    if isinstance(value, dict) and isinstance(part, str):
        return value[part]
    if isinstance(value, list) and isinstance(part, int):
        return value[part]
    if isinstance(value, list) and isinstance(part, str) and re.fullmatch("[0-9]{1,9}", part):
        return value[int(part)]
    raise TypeError(part)


@lru_cache(4096)
def render(parts: tuple[str | int, ...]) -> str:
    """The canonical spelling of a path."""
    return "$" + "".join(
        f"[{p}]" if isinstance(p, int) else f".{p}" if _PLAIN_NAME.fullmatch(p) else f"[{json.dumps(p)}]" for p in parts
    )


def json_type(value: Any) -> str:
    """The JSON name of a value's type; whole numbers are "integer"."""
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), type(value).__name__)
