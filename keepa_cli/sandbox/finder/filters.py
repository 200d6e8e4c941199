"""Whether a product passes the filters of a selection."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from keepa_cli.keepa.finder import field_of
from keepa_cli.keepa.finderfields import BOUNDS
from keepa_cli.sandbox.catalogue.entry import Entry
from keepa_cli.sandbox.finder import values

EXCLUDE = "\u271c"
CHEAP = frozenset(
    (
        "title",
        "brand",
        "manufacturer",
        "color",
        "rootCategory",
        "productType",
        "categories_include",
        "categories_exclude",
    )
)
"""Answered without any history, so they are asked first."""
Test = Callable[[Entry], bool]


def matching(entries: Iterable[Entry], filters: Mapping[str, Any], least: Mapping[str, int]) -> list[Entry]:
    """The products that pass every filter; `least` says how many listed values of a field must match."""
    tests = [test_of(name, filters[name], least.get(name, 1)) for name in sorted(filters, key=lambda n: n not in CHEAP)]
    return [entry for entry in entries if all(test(entry) for test in tests)]


def test_of(name: str, value: Any, least: int) -> Test:
    spec = field_of(name)
    if name == "title":
        return title_test(str(value))
    base, _, bound = name.rpartition("_")
    if bound in BOUNDS:
        return _bound(base, bound, value)
    if spec is not None and spec.kind == "bool":
        return lambda entry: values.flag(entry, name) is bool(value)
    wanted = value if isinstance(value, list) else [value]
    if name == "categories_exclude":
        return lambda entry: not set(values.texts(entry, name)) & {str(v) for v in wanted}
    return _listed(name, [str(v) for v in wanted], least)


def _bound(base: str, bound: str, limit: float) -> Test:
    def test(entry: Entry) -> bool:
        found = values.number(entry, base)
        return found is not None and (found >= limit if bound == "gte" else found <= limit)

    return test


def _listed(name: str, wanted: list[str], least: int) -> Test:
    refused = {v[1:].strip().lower() for v in wanted if v.startswith(EXCLUDE)}
    asked = {v.strip().lower() for v in wanted if not v.startswith(EXCLUDE)}

    def test(entry: Entry) -> bool:
        held = {text.lower() for text in values.texts(entry, name)}
        return not held & refused and (not asked or len(held & asked) >= least)

    return test


def title_test(text: str) -> Test:
    """Every keyword must be there as a whole word, phrases in quotes as they are; a leading - must not."""
    words = [(sign == "-", phrase or word) for sign, phrase, word in re.findall(r'(-?)(?:"([^"]*)"|(\S+))', text)]
    patterns = [
        (negated, re.compile(rf"(?<!\w){re.escape(word.strip())}(?!\w)", re.IGNORECASE))
        for negated, word in words
        if word.strip()
    ]
    return lambda entry: all(bool(pattern.search(entry.card.title)) is not negated for negated, pattern in patterns)
