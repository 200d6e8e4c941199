"""Products out of a large body one at a time, so that memory holds one of them and not all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from keepa_cli.core.jsontext import STRING, value_end
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.strictjson import BOM, load_json
from keepa_cli.research.subject import Subject, subject

_SPACE = re.compile(rb"[ \t\r\n]*")
WRAPPINGS = ("data", "body")
"""Members that lead to the body: an envelope of ours holds data, and data the body that it passes on."""


def iter_products(data: bytes) -> Iterator[dict[str, Any]]:
    """Every product of an answer, of an envelope that holds one, or of a list of products, in order.

    What stands among them and is no object is left out. Raises ValueError, with a sentence, for what is not strict
    JSON: what comes before the fault has been given by then.
    """
    for _, product in _numbered(*_list_of(data)):
        yield product


def iter_subjects(data: bytes, domain: Domain) -> Iterator[Subject]:
    """The same as subjects; "now" is the time of the answer, also where it stands behind the products."""
    text, at, prefix, body = _found(data)
    for i, product in _numbered(text, at):
        yield subject(product, f"{prefix}[{i}]", body, domain, {})


def _list_of(data: bytes) -> tuple[bytes, int]:
    text, at, _, _ = _found(data)
    return text, at


def _found(data: bytes) -> tuple[bytes, int, str, dict[str, Any]]:
    """Where the list of products begins, its JSON path in the body, and the members beside it that are no lists."""
    data = data.removeprefix(BOM)
    at = _skip(data, 0)
    if data[at : at + 1] == b"[":
        _nothing_after(data, value_end(data, at))
        return data, at, "$", {}
    outermost = True
    while data[at : at + 1] == b"{":
        places, end = _members(data, at)
        if outermost:
            _nothing_after(data, end)
            outermost = False
        if "products" in places and data[places["products"][0] : places["products"][0] + 1] == b"[":
            stamp = places.get("timestamp")
            beside = {"timestamp": load_json(data[slice(*stamp)])} if stamp else {}
            return data, places["products"][0], "$.products", beside
        inner = next((places[name] for name in WRAPPINGS if name in places), None)
        if inner is None:
            break
        at = inner[0]
    raise ValueError("there is no list of products")


def _nothing_after(data: bytes, end: int) -> None:
    if data[_skip(data, end) :]:
        raise ValueError("not JSON: something follows the value")


def _members(data: bytes, at: int) -> tuple[dict[str, tuple[int, int]], int]:
    """Where each member of the object that begins at `at` stands, and where the object ends."""
    found: dict[str, tuple[int, int]] = {}
    at = _skip(data, at + 1)
    while data[at : at + 1] != b"}":
        key = STRING.match(data, at)
        colon = _skip(data, key.end()) if key else at
        if key is None or data[colon : colon + 1] != b":":
            raise ValueError(f"not JSON: a name is expected at byte {at}")
        start = _skip(data, colon + 1)
        end = value_end(data, start)
        found[str(load_json(key[0]))] = (start, end)
        at = _after_comma(data, end, b"}")
    return found, at + 1


def _numbered(data: bytes, at: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects in the list that begins at `at`, with their positions."""
    at, i = _skip(data, at + 1), 0
    while data[at : at + 1] != b"]":
        end = value_end(data, at)
        value = load_json(data[at:end])
        if isinstance(value, dict):
            yield i, value
        at, i = _after_comma(data, end, b"]"), i + 1


def _after_comma(data: bytes, at: int, close: bytes) -> int:
    """Where the next element begins, or where the list or object closes."""
    at = _skip(data, at)
    mark = data[at : at + 1]
    if mark == close:
        return at
    after = _skip(data, at + 1)
    if mark != b"," or data[after : after + 1] == close:
        raise ValueError(f"not JSON: a comma or {close.decode()} is expected at byte {at}")
    return after


def _skip(data: bytes, at: int) -> int:
    found = _SPACE.match(data, at)
    return found.end() if found else at
