"""The selection of /sellerquery. Keepa's full list of fields is not public, so unknown ones pass with a note.
Source: keepa-api.md §5.12."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa import selection as rules
from keepa_cli.keepa.selection import IDS, INT_MAX, MAX_RESULTS, TEXT, TEXTS, Checked, Field, Refusals

PER_PAGE = 50
WHOLE_PAGE = 100
"""What perPage 0 stands for."""
CONTROL = ("minMatch", "page", "perPage", "sort")
PERCENT = Field("int", low=0, high=100)
COUNT = Field("int", low=0, high=INT_MAX)
RANGES: Mapping[str, Field] = {"currentRating": PERCENT, "currentRatingCount": COUNT, "totalStorefrontAsins": COUNT}
FIELDS: Mapping[str, Field] = {
    "search": TEXT,
    "sellerName": TEXT,
    "businessName": TEXT,
    "addressCountry": TEXTS,
    "brands": TEXTS,
    "rootCategories_include": IDS,
    "competitorSellerIds": TEXTS,
    **{f"{name}_{bound}": spec for name, spec in RANGES.items() for bound in ("gte", "lte")},
}


def check(given: Mapping[str, Any]) -> Checked:
    """The selection as it is sent. Raises `invalid_arguments` that names every field which is wrong."""
    refusals = Refusals()
    asked = {str(name): value for name, value in given.items()}
    notes: list[str] = []
    sent = {name: _value(name, value, asked, refusals, notes) for name, value in sorted(asked.items())}
    if not set(asked) - set(CONTROL):
        refusals.add("selection", "the selection holds no filter: give at least one", allowed=sorted(FIELDS))
    rules.check_ranges(sent, refusals)
    rules.check_keywords("search", sent.get("search"), refusals)
    if not refusals.problems:
        _check_paging(sent, refusals)
    refusals.raise_any()
    return Checked(sent, tuple(notes))


def results_of(given: Mapping[str, Any]) -> int:
    """The most seller ids that a selection can return; the default where `perPage` is unusable."""
    per_page = given.get("perPage")
    if not isinstance(per_page, int) or isinstance(per_page, bool) or not 0 <= per_page <= MAX_RESULTS:
        return PER_PAGE
    return per_page or WHOLE_PAGE


def _value(name: str, value: Any, given: Mapping[str, Any], refusals: Refusals, notes: list[str]) -> Any:
    if name == "sort":
        return rules.check_sort(value, None, refusals)
    if name == "minMatch":
        return rules.check_min_match(value, given, _lists(given), refusals)
    if name == "page":
        return refusals.check_value(name, Field("int", low=0, high=MAX_RESULTS), value)
    if name == "perPage":
        return _per_page(value, refusals)
    if name in FIELDS:
        return refusals.check_value(name, FIELDS[name], value)
    return _undescribed(name, value, refusals, notes)


def _lists(given: Mapping[str, Any]) -> list[str]:
    return [n for n, v in given.items() if (FIELDS[n].many if n in FIELDS else isinstance(v, list))]


def _per_page(value: Any, refusals: Refusals) -> Any:
    wanted = f"0 (a page of {WHOLE_PAGE}) or an integer from {PER_PAGE} to {MAX_RESULTS}"
    sent, whole = rules.fits(Field("int", low=0, high=MAX_RESULTS), value)
    if not whole or 0 < sent < PER_PAGE:
        refusals.add("perPage", f"perPage must be {wanted}, not {rules.shown(value)}", value, wanted)
    return sent


def _undescribed(name: str, value: Any, refusals: Refusals, notes: list[str]) -> Any:
    """A field that nobody described: refused where it looks like a slip of a known one or holds nothing."""
    close = rules.nearest(name, (*FIELDS, *CONTROL))
    if close:
        refusals.unknown(name, (*FIELDS, *CONTROL))
    elif value in (None, "", [], {}):
        refusals.add(name, f"{name} holds nothing", value)
    else:
        notes.append(f"{name} is no field that is known here; it is sent as given.")
    return value


def _check_paging(sent: Mapping[str, Any], refusals: Refusals) -> None:
    page, per_page = sent.get("page", 0), results_of(sent)
    if page and page * per_page >= MAX_RESULTS:
        refusals.add("page", f"page ({page}) times perPage ({per_page}) must be below {MAX_RESULTS}", page, MAX_RESULTS)
