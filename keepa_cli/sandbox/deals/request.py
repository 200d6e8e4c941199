"""The body of /deal: what Keepa demands of it, and what its two switches turn on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa import deals as rules
from keepa_cli.keepa.domains import DOMAINS
from keepa_cli.keepa.selection import BOOL, MAX_KEYWORDS
from keepa_cli.sandbox import selections
from keepa_cli.sandbox.messages import Call, invalid_parameter

SORTS = (-4, -3, -2, -1, 0, 1, 2, 3, 4)
OFF = (False, -1)


@dataclass(frozen=True)
class Wanted:
    """`ranges` and `filters` are empty unless their switch is on."""

    domain: int
    slot: int
    window: int
    page: int
    sort: int
    include: frozenset[int]
    exclude: frozenset[int]
    ranges: dict[str, tuple[int, int]]
    filters: dict[str, Any]
    key: str


def read(call: Call) -> Wanted:
    given = selections.selection(call)
    ranges = {name: _range(name, given[name]) for name in rules.RANGES if name in given}
    filters = {
        name: selections.checked(name, given[name], spec) for name, spec in rules.FILTERS.items() if name in given
    }
    if len(str(filters.get("titleSearch", "")).split()) > MAX_KEYWORDS:
        raise invalid_parameter("titleSearch")
    return Wanted(
        domain=_domain(given),
        slot=_price_type(given),
        window=_number(given, "dateRange"),
        page=_number(given, "page"),
        sort=_sort(given),
        include=_categories(given, "includeCategories"),
        exclude=_categories(given, "excludeCategories"),
        ranges=ranges if _switch(given, "isRangeEnabled") else {},
        filters={n: v for n, v in filters.items() if v not in OFF} if _switch(given, "isFilterEnabled") else {},
        key=json.dumps(given, sort_keys=True),
    )


def _domain(given: dict[str, Any]) -> int:
    found = given.get("domainId")
    if not isinstance(found, int) or isinstance(found, bool) or found not in DOMAINS or not DOMAINS[found].has("deal"):
        raise invalid_parameter("domainId")
    return found


def _price_type(given: dict[str, Any]) -> int:
    """Exactly one type that has deals, in a list or alone."""
    value = given.get("priceTypes")
    values = value if isinstance(value, list) else [value]
    if len(values) != 1 or not isinstance(values[0], int) or isinstance(values[0], bool):
        raise invalid_parameter("priceTypes")
    if values[0] not in rules.PRICE_TYPES:
        raise invalid_parameter("priceTypes")
    return int(values[0])


def _number(given: dict[str, Any], name: str) -> int:
    return int(selections.checked(name, given.get(name, 0), rules.FIELDS[name]))


def _sort(given: dict[str, Any]) -> int:
    """0, which clients send for nothing, is age; age cannot be inverted."""
    found = given.get("sortType", 0)
    if isinstance(found, bool) or found not in SORTS:
        raise invalid_parameter("sortType")
    return 1 if found in (0, -1) else int(found)


def _switch(given: dict[str, Any], name: str) -> bool:
    return bool(selections.checked(name, given.get(name, False), BOOL))


def _categories(given: dict[str, Any], name: str) -> frozenset[int]:
    if name not in given:
        return frozenset()
    found = selections.checked(name, given[name], rules.CATEGORIES)
    return frozenset(int(v) for v in (found if isinstance(found, list) else [found]))


def _range(name: str, value: Any) -> tuple[int, int]:
    """[lower, upper]; an upper bound of -1 is open for sales ranks."""
    numbers = value if isinstance(value, list) else []
    if len(numbers) != 2 or not all(isinstance(n, int) and not isinstance(n, bool) for n in numbers):
        raise invalid_parameter(name)
    low, high = numbers
    if name == "salesRankRange" and high == -1:
        high = 2**31
    if low > high:
        raise invalid_parameter(name)
    return low, high
