"""The JSON that /query, /deal and /sellerquery filter by, refused where it cannot be read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from keepa_cli.keepa import selection as rules
from keepa_cli.keepa.selection import MAX_RESULTS, Field, Refusals
from keepa_cli.sandbox.messages import Call, invalid_parameter

FIRST_PER_PAGE = 50
EMPTY: tuple[Any, ...] = (None, "", [], {})


def body_of(call: Call, name: str) -> Any:
    """The JSON of a request: its body, whatever its content type says, or its parameter `name`."""
    text: bytes | str = call.body if call.body.lstrip().startswith((b"{", b"[")) else call.params.get(name, "")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise invalid_parameter(name) from None


def selection(call: Call) -> dict[str, Any]:
    """The selection of a request without what is null or empty: clients send those for what is not set."""
    found = body_of(call, "selection")
    if not isinstance(found, dict):
        raise invalid_parameter("selection")
    return {name: value for name, value in found.items() if value not in EMPTY}


def checked(name: str, value: Any, spec: Field) -> Any:
    """A value that fits its field; 0 and 1 pass for booleans."""
    if spec.kind == "bool" and value in (0, 1):
        return bool(value)
    sent, fits = rules.fits(spec, value)
    if not fits:
        raise invalid_parameter(name)
    return sent


def paging(given: Mapping[str, Any], *, least: int = FIRST_PER_PAGE, zero: int | None = None) -> tuple[int, int]:
    """(page, entries per page); `zero` is what perPage 0 stands for."""
    page = checked("page", given.get("page", 0), Field("int", low=0, high=MAX_RESULTS))
    per_page = checked("perPage", given.get("perPage", least), Field("int", low=0, high=MAX_RESULTS))
    if per_page == 0 and zero is not None:
        per_page = zero
    if per_page < least:
        raise invalid_parameter("perPage")
    if page * per_page > MAX_RESULTS:
        raise invalid_parameter("page")
    return page, per_page


def sorting(given: Mapping[str, Any], known: Iterable[str], default: list[list[str]]) -> list[list[str]]:
    """Up to three pairs of field and direction."""
    if "sort" not in given:
        return default
    refusals = Refusals()
    found: list[list[str]] = rules.check_sort(given["sort"], known, refusals)
    if refusals.problems:
        raise invalid_parameter("sort")
    return found


def least_matches(given: Mapping[str, Any], lists: Iterable[str]) -> dict[str, int]:
    if "minMatch" not in given:
        return {}
    refusals = Refusals()
    found: dict[str, int] = rules.check_min_match(given["minMatch"], given, lists, refusals)
    if refusals.problems:
        raise invalid_parameter("minMatch")
    return found


def ordered(found: list[Any], order: list[list[str]], value: Any) -> list[Any]:
    """Sorted by the pairs of `order`; entries without a value come last, whatever the direction."""
    for name, direction in reversed(order):
        down = direction == "desc"
        known = [(value(entry, name), entry) for entry in found]
        there = sorted((k for k in known if k[0] is not None), key=lambda k: k[0], reverse=down)
        found = [entry for _, entry in there] + [entry for v, entry in known if v is None]
    return found
