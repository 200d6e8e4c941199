"""`${name}` in the exchanges of an eval: values that only a run knows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_REFERENCE = re.compile(r"\$\{([a-z][a-z0-9_]{0,39})\}")


def names_in(value: Any) -> Iterator[str]:
    """The names that a value refers to."""
    if isinstance(value, str):
        yield from _REFERENCE.findall(value)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from names_in(key)
            yield from names_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from names_in(item)


def filled(value: Any, known: Mapping[str, Any]) -> Any:
    """`value` with its references replaced. A text that is one reference becomes the value as it is."""
    if isinstance(value, str):
        whole = _REFERENCE.fullmatch(value)
        if whole:
            return known[whole[1]]
        return _REFERENCE.sub(lambda found: _text(known[found[1]]), value)
    if isinstance(value, Mapping):
        return {filled(key, known) if isinstance(key, str) else key: filled(item, known) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [filled(item, known) for item in value]
    return value


def placeholders(value: Any) -> Any:
    """`value` with a short text for every reference: enough to read checks before anything runs."""
    return filled(value, dict.fromkeys(names_in(value), "x"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
