"""The rules of a /query selection: fields, types, sort, paging, minMatch. Source: keepa-api.md §5.5."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa import selection as rules
from keepa_cli.keepa.finderfields import BOUNDS, CONTROL, fields, legacy_fields, sortable
from keepa_cli.keepa.selection import MAX_RESULTS, Checked, Field, Refusals

PER_PAGE = 50
"""Keepa's default, and the least it accepts."""
COMMON_WORDS: Mapping[str, str] = {
    "price": "current_NEW", "newprice": "current_NEW", "amazonprice": "current_AMAZON", "usedprice": "current_USED",
    "buybox": "current_BUY_BOX_SHIPPING", "buyboxprice": "current_BUY_BOX_SHIPPING", "salesrank": "current_SALES",
    "rank": "current_SALES", "bsr": "current_SALES", "rating": "current_RATING", "reviews": "current_COUNT_REVIEWS",
    "reviewcount": "current_COUNT_REVIEWS", "offers": "current_COUNT_NEW", "sellers": "current_COUNT_NEW",
}  # fmt: skip
"""What people call fields that Keepa names after its price types."""


def check(given: Mapping[str, Any]) -> Checked:
    """The selection as it is sent. Raises `invalid_arguments` that names every field which is wrong.

    Values stay as given; only whole floats become integers.
    """
    refusals = Refusals()
    given = {str(name): value for name, value in given.items()}
    sent = {name: _value(name, value, given, refusals) for name, value in sorted(given.items())}
    if not set(given) - set(CONTROL):
        refusals.add("selection", "the selection holds no filter: give at least one", allowed="at least one filter")
    rules.check_ranges(sent, refusals)
    rules.check_keywords("title", sent.get("title"), refusals)
    _check_paging(sent, refusals)
    refusals.raise_any()
    return Checked(sent, tuple(_notes(sent)))


def results_of(given: Mapping[str, Any]) -> int:
    """The most ASINs that a selection can return and be charged for; the default where `perPage` is unusable."""
    per_page = given.get("perPage")
    usable = isinstance(per_page, int) and not isinstance(per_page, bool) and PER_PAGE <= per_page <= MAX_RESULTS
    return per_page if usable and isinstance(per_page, int) else PER_PAGE


def from_text(name: str, text: str) -> Any:
    """The value of a filter written as text, by the type of its field; what does not fit stays text."""
    spec = field_of(name)
    if spec is None or spec.kind in {"str", "id"}:
        return text
    word = text.strip()
    if spec.kind == "bool":
        return {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}.get(word.lower(), text)
    try:
        return int(word) if spec.kind == "int" else float(word)
    except ValueError:
        return text


def field_of(name: str) -> Field | None:
    """What a filter takes; None for an unknown one."""
    return fields().get(name) or legacy_fields().get(name)


def _value(name: str, value: Any, given: Mapping[str, Any], refusals: Refusals) -> Any:
    if name == "sort":
        return rules.check_sort(value, sortable(), refusals)
    if name == "minMatch":
        return rules.check_min_match(value, given, _lists(), refusals)
    if name in CONTROL:
        return value
    spec = field_of(name)
    if spec is None:
        refusals.unknown(name, fields(), _hint(name), meant(name))
        return value
    return refusals.check_value(name, spec, value)


def _lists() -> list[str]:
    return [name for name, spec in fields().items() if spec.many]


def meant(name: str) -> list[str]:
    """The fields behind an everyday word such as salesRank or price_min."""
    word = re.sub("[^a-z]|_?(gte|lte|min|max|from|to)$", "", name.lower().removeprefix("current_"))
    if word in {"category", "categories"}:
        return ["categories_include", "rootCategory"]
    return [f"{COMMON_WORDS[word]}_{bound}" for bound in BOUNDS] if word in COMMON_WORDS else []


def _hint(name: str) -> str:
    """What to say where no field is spelled like it."""
    if name in {"domain", "domainId"}:
        return "the marketplace is the parameter domain"
    if name in {"stats", "key"}:
        return f"{name} is no filter"
    return "see the fields of Keepa's product finder"


def _check_paging(sent: dict[str, Any], refusals: Refusals) -> None:
    """`page` from 0, `perPage` from 50, and their product within the results that Keepa gives out."""
    page = _whole(sent, "page", 0, MAX_RESULTS // PER_PAGE, 0, refusals)
    per_page = _whole(sent, "perPage", PER_PAGE, MAX_RESULTS, PER_PAGE, refusals)
    if page * per_page > MAX_RESULTS:
        refusals.add(
            "page",
            f"page ({page}) times perPage ({per_page}) must be at most {MAX_RESULTS}",
            page,
            f"at most {MAX_RESULTS // per_page} with perPage {per_page}",
        )


def _whole(sent: dict[str, Any], name: str, low: int, high: int, default: int, refusals: Refusals) -> int:
    if name not in sent:
        return default
    before = len(refusals.problems)
    sent[name] = refusals.check_value(name, Field("int", low=low, high=high), sent[name])
    return default if len(refusals.problems) > before else int(sent[name])


def _notes(sent: Mapping[str, Any]) -> list[str]:
    notes = [
        f"Keepa no longer documents {name}; it may be ignored or refused." for name in sent if name in legacy_fields()
    ]
    filters = [value for name, value in sent.items() if name not in CONTROL]
    bounds = [name for name in sent if name not in CONTROL and name.endswith(tuple(f"_{b}" for b in BOUNDS))]
    if len(bounds) == len(filters) and all(value == -1 for value in filters):
        notes.append("Every bound is -1 (none): Keepa was seen refusing such selections.")
    return notes
