"""Long lists: how much of them is shown. What Keepa sends, and what it costs, stays the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from keepa_cli.core.registry import Param

Limit = Annotated[
    int | None,
    Param("Show only the first N of the list; the cost stays the same, and --out keeps all.", metavar="N", min=1),
]


def cut(values: Sequence[Any], limit: int | None) -> list[Any]:
    """The first `limit` values, all without one."""
    return list(values if limit is None else values[:limit])


def limit_note(limit: int | None) -> tuple[str, ...]:
    """What the answer says about a limit."""
    return () if limit is None else (f"At most {limit} of the list are shown; Keepa sends and charges the whole list.",)


def rows(value: Any) -> list[dict[str, Any]]:
    """The objects of a list in an answer; null, an absent list and elements of another kind are nothing."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """The same for a list of texts."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
