"""Parameters that selections share: the selection itself, ranges, sorting."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from keepa_cli.core.errors import invalid
from keepa_cli.core.registry import Param
from keepa_cli.keepa.selection import LONG_MAX, parse_selection

_RANGE = re.compile(r"(-?\d{1,10})?\.\.(-?\d{1,10})?")
_SORT = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,60})(?::(asc|desc))?")


def _range(value: Any) -> str:
    text = re.sub(r"\s", "", value)
    found = _RANGE.fullmatch(text)
    if not found or text == "..":
        raise ValueError(f"a range is written MIN..MAX in whole numbers, either end may be left out, not {value!r}")
    if found[1] and found[2] and int(found[1]) > int(found[2]):
        raise ValueError(f"the range {text} begins above its end")
    return text


def _sort(value: Any) -> str:
    found = _SORT.fullmatch(value.strip())
    if not found:
        raise ValueError(f"a sort is written FIELD:asc or FIELD:desc, not {value!r}")
    return f"{found[1]}:{found[2] or 'asc'}"


Selection = Annotated[
    dict[str, Any],
    Param(
        "The selection as a JSON object; options add to it and win over it. "
        "--selection-file FILE reads it from a file, - from standard input.",
        metavar="JSON",
        position=True,
        parse=parse_selection,
        accepts=("object", "string"),
        from_file=True,
    ),
]
Range = Annotated[str, Param("A range.", metavar="MIN..MAX", parse=_range, examples=("1000..5000", "..5000", "1000.."))]
Sort = Annotated[
    str, Param("Sort order.", metavar="FIELD:asc|desc", parse=_sort, whole=True, examples=("current_SALES:asc",))
]
CategoryId = Annotated[int, Param("Category node id.", metavar="ID", min=0, max=LONG_MAX)]
Text = Annotated[str, Param("Text.", metavar="TEXT", whole=True)]
Assignment = Annotated[str, Param("A filter as FIELD=VALUE.", metavar="FIELD=VALUE", whole=True)]
Page = Annotated[int, Param("Page of the result, from 0.", min=0, max=10_000)]


def ends(text: str) -> tuple[int | None, int | None]:
    """The two ends of a range, None where one is open."""
    low, _, high = text.partition("..")
    return int(low) if low else None, int(high) if high else None


def bounds(field: str, text: str | None) -> dict[str, int]:
    """A range as the two bounds of a field."""
    low, high = ends(text) if text else (None, None)
    return {k: v for k, v in ((f"{field}_gte", low), (f"{field}_lte", high)) if v is not None}


def sort_pairs(sort: list[str]) -> list[list[str]]:
    """Sort orders as the selection has them."""
    return [entry.split(":") for entry in sort]


def given(**values: Any) -> dict[str, Any]:
    """The values that were given."""
    return {name: value for name, value in values.items() if value not in (None, [])}


def assignments(pairs: list[str], read: Callable[[str, str], Any]) -> dict[str, Any]:
    """FIELD=VALUE pairs with their values as `read` takes them; a field that is named again makes a list."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, is_pair, text = pair.partition("=")
        if not is_pair or not name.strip():
            raise invalid("A filter is written FIELD=VALUE.", field="filter", value=pair, allowed="FIELD=VALUE")
        value = read(name.strip(), text)
        before = found.get(name.strip())
        found[name.strip()] = value if before is None else [*(before if isinstance(before, list) else [before]), value]
    return found
