"""The selection of /deal: its fields, its one price type, its two master switches. Source: keepa-api.md §5.6, §6.8."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa import selection as rules
from keepa_cli.keepa.csvtypes import BY_NAME, CSV_TYPES
from keepa_cli.keepa.selection import BOOL, LONG_MAX, MAX_RESULTS, TEXT, TEXTS, Checked, Field, Refusals

PAGE_SIZE = 150
LAST_PAGE = MAX_RESULTS // PAGE_SIZE
PRICE_TYPES: Mapping[int, str] = {
    i: CSV_TYPES[i].name for i in (0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 18, 19, 20, 21, 22, 32, 33)
}
"""Types that have deals. Keepa's documentation lists them; its client flags differ and are not followed."""
DATE_RANGES = ("day", "week", "month", "90days")
SORTS: Mapping[str, int] = {"age": 1, "delta": 2, "rank": 3, "percent": 4}
LEAST_PERCENT, LEAST_PERCENT_OF_RANKS = 10, 80
CATEGORIES = Field("id", many=True, low=0, high=LONG_MAX, max_items=500)

RANGES = ("currentRange", "deltaRange", "deltaPercentRange", "deltaLastRange", "salesRankRange")
FLAGS = (
    "isLowest", "isLowest90", "isLowestOffer", "isBackInStock", "isOutOfStock", "hasReviews", "filterErotic",
    "isPrimeExclusive", "mustHaveAmazonOffer", "mustNotHaveAmazonOffer", "singleVariation", "isHighest", "isRisers",
)  # fmt: skip
ATTRIBUTES = (
    "material", "type", "manufacturer", "brand", "productGroup", "model", "color", "size", "unitType", "scent",
    "itemForm", "pattern", "style", "itemTypeKeyword", "targetAudienceKeyword", "edition", "format", "author",
    "binding", "languages", "brandStoreName", "brandStoreUrlName", "websiteDisplayGroup", "websiteDisplayGroupName",
    "salesRankDisplayGroup",
)  # fmt: skip
LEGACY = ("categorySearch",)
FILTERS: Mapping[str, Field] = {
    **dict.fromkeys(FLAGS, BOOL),
    "minRating": Field("int", low=-1, high=50),
    "warehouseConditions": Field("int", many=True, low=1, high=5),
    "titleSearch": TEXT,
    **dict.fromkeys(ATTRIBUTES, TEXTS),
    **dict.fromkeys(LEGACY, TEXT),
}
"""What the switch isFilterEnabled turns on."""
FIELDS: Mapping[str, Field] = {
    "page": Field("int", low=0, high=LAST_PAGE),
    "dateRange": Field("int", choices=(0, 1, 2, 3)),
    "sortType": Field("int", choices=(-4, -3, -2, 1, 2, 3, 4)),
    "includeCategories": CATEGORIES,
    "excludeCategories": CATEGORIES,
    "isRangeEnabled": BOOL,
    "isFilterEnabled": BOOL,
    **FILTERS,
}
OWN_CHECKS = ("domainId", "priceTypes", *RANGES)
CONTRADICTIONS = (
    ("isLowest", "isRisers"), ("isLowestOffer", "isRisers"), ("isBackInStock", "isOutOfStock"),
    ("mustHaveAmazonOffer", "mustNotHaveAmazonOffer"),
)  # fmt: skip


def check(given: Mapping[str, Any], domain: int) -> Checked:
    """The selection as it is sent to the marketplace `domain`, with the switches that its ranges and filters need.

    Null, empty text and empty lists count as not given. Raises `invalid_arguments` that names every wrong field.
    """
    refusals = Refusals()
    asked = {str(name): value for name, value in given.items() if value is not None and value not in ("", [], ())}
    sent = {name: _value(name, value, refusals) for name, value in sorted(asked.items())}
    sent["priceTypes"] = _price_types(asked.get("priceTypes"), refusals)
    _check_domain(asked.get("domainId"), domain, refusals)
    for one, other in CONTRADICTIONS:
        if sent.get(one) is True and sent.get(other) is True:
            refusals.add(one, f"{one} and {other} exclude each other", True, f"one of {one}, {other}")
    _check_categories(sent, refusals)
    rules.check_keywords("titleSearch", sent.get("titleSearch"), refusals)
    refusals.raise_any()
    notes = [*_switch(sent, "isRangeEnabled", _ranges_of(sent)), *_switch(sent, "isFilterEnabled", _filters_of(sent))]
    return Checked(dict(sorted((sent | {"domainId": domain}).items())), (*notes, *_notes(sent)))


def price_type(value: Any) -> int | None:
    """The number of a price type with deals, given as number, digits or name in any case; None for anything else."""
    if isinstance(value, str):
        named = BY_NAME.get(value.strip().upper())
        value = named.index if named else int(value) if value.strip().isdecimal() and len(value) < 5 else None
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and value in PRICE_TYPES else None


def price_types_text() -> str:
    return ", ".join(f"{i} {name}" for i, name in PRICE_TYPES.items())


def _value(name: str, value: Any, refusals: Refusals) -> Any:
    if name in RANGES:
        return _range(name, value, refusals)
    if name in OWN_CHECKS:
        return value
    if name in FIELDS:
        return refusals.check_value(name, FIELDS[name], value)
    hint = "filters need no minMatch here" if name == "minMatch" else f"the fields are {', '.join(sorted(FIELDS))}"
    refusals.unknown(name, (*FIELDS, *OWN_CHECKS), hint)
    return value


def _price_types(value: Any, refusals: Refusals) -> list[int]:
    allowed = price_types_text()
    if value is None:
        refusals.add("priceTypes", f"priceTypes is missing: name exactly one of {allowed}", allowed=allowed)
        return []
    values = list(value) if isinstance(value, list | tuple) else [value]
    found = price_type(values[0]) if len(values) == 1 else None
    if found is None:
        said = rules.shown(value if len(values) > 1 else values[0])
        refusals.add("priceTypes", f"priceTypes must be exactly one of {allowed}, not {said}", value, allowed)
        return []
    return [found]


def _range(name: str, value: Any, refusals: Refusals) -> Any:
    """[lower, upper]; an upper bound of -1 leaves the range of sales ranks open."""
    wanted = "two integers [lower, upper] in ascending order"
    pair = list(value) if isinstance(value, list | tuple) else []
    checked = [rules.fits(rules.INT, v) for v in pair]
    low, high = [v for v, _ in checked] if len(pair) == 2 and all(ok for _, ok in checked) else (1, 0)
    if low > high and not (name == "salesRankRange" and (high, low >= 0) == (-1, True)):
        refusals.add(name, f"{name} must be {wanted}, not {rules.shown(value)}", value, wanted)
        return value
    return [low, high]


def _check_domain(given: Any, domain: int, refusals: Refusals) -> None:
    if given is not None and (isinstance(given, bool) or given != domain):
        refusals.add("domainId", f"domainId must be {domain}, not {rules.shown(given)}", given, domain)


def _check_categories(sent: Mapping[str, Any], refusals: Refusals) -> None:
    both = [set(map(str, v if isinstance(v, list) else [v])) for v in (
        sent.get("includeCategories", []), sent.get("excludeCategories", []))]  # fmt: skip
    for category in sorted(both[0] & both[1]):
        refusals.add("excludeCategories", f"category {category} is included and excluded", category)


def _ranges_of(sent: Mapping[str, Any]) -> list[str]:
    return [name for name in RANGES if name in sent]


def _filters_of(sent: Mapping[str, Any]) -> list[str]:
    """Filters that do something: false and a minimum of -1 are off."""
    return [name for name in FILTERS if name in sent and sent[name] is not False and sent[name] != -1]


def _switch(sent: dict[str, Any], switch: str, given: list[str]) -> list[str]:
    """Turn the switch on where something needs it; a switch that was set by hand stays, and is told about."""
    if not given or sent.setdefault(switch, True):
        return []
    return [f"{switch} is false, so Keepa may ignore {', '.join(given)}; leave it out to have it set."]


def _notes(sent: Mapping[str, Any]) -> list[str]:
    notes = [f"Keepa no longer documents {name}; it may be ignored or refused." for name in LEGACY if name in sent]
    least = LEAST_PERCENT_OF_RANKS if sent["priceTypes"] == [BY_NAME["SALES"].index] else LEAST_PERCENT
    percent = sent.get("deltaPercentRange")
    if percent and percent[0] < least and not sent.get("isRisers"):
        notes.append(f"Keepa has no deals below {least} % here, so deltaPercentRange begins there.")
    return notes
