"""Selections, the JSON that /query, /deal and /sellerquery filter by: typed fields, refusals that name everything."""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.registry import Request
from keepa_cli.keepa.strictjson import load_json
from keepa_cli.keepa.wire import encode

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LONG_MAX = 2**63 - 1
MAX_VALUES = 50
MAX_KEYWORDS = 50
MAX_SORT = 3
MAX_RESULTS = 10_000
MAX_URL = 1900
"""Longer requests go by POST; with the key, a URL of this length stays below 2000 characters."""

_SHOWN = 5
_NUMBER = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True)
class Field:
    """What a field of a selection takes. `many` fields take one value or a list; "id" is a number of up to 64 bits,
    as a number or as text."""

    kind: Literal["int", "float", "bool", "str", "id"]
    many: bool = False
    low: int = INT_MIN
    high: int = INT_MAX
    max_items: int = MAX_VALUES
    choices: tuple[int, ...] = ()

    @property
    def wanted(self) -> str:
        """What it takes, in words."""
        one = {"bool": "true or false", "str": "text", "float": "a number", "id": "a category or node id"}
        text = one.get(self.kind) or self._integer()
        return f"{text}, or a list of up to {self.max_items}" if self.many else text

    def _integer(self) -> str:
        if self.choices:
            return f"one of {', '.join(map(str, self.choices))}"
        if (self.low, self.high) == (INT_MIN, INT_MAX):
            return "an integer of 32 bits"
        return f"an integer from {self.low} to {self.high}"


BOOL, INT, TEXT = Field("bool"), Field("int"), Field("str")
TEXTS = Field("str", many=True)
IDS = Field("id", many=True, low=0, high=LONG_MAX)


@dataclass(frozen=True)
class Checked:
    """A selection ready to be sent, its fields in alphabetical order, and what a reader should know about it."""

    selection: dict[str, Any]
    notes: tuple[str, ...] = ()


def fits(spec: Field, value: Any) -> tuple[Any, bool]:
    """The value as it is sent, and whether it fits: whole floats become integers, everything else stays as given."""
    if not isinstance(value, list | tuple):
        return _fits_one(spec, value)
    if not spec.many or not 1 <= len(value) <= spec.max_items:
        return value, False
    checked = [_fits_one(spec, v) for v in value]
    return [v for v, _ in checked], all(ok for _, ok in checked)


def _fits_one(spec: Field, value: Any) -> tuple[Any, bool]:
    if spec.kind == "bool":
        return value, isinstance(value, bool)
    if spec.kind == "str":
        return value, isinstance(value, str) and bool(value.strip()) and _is_utf8(value)
    if isinstance(value, bool):
        return value, False
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if spec.kind == "float":
        return value, isinstance(value, int | float) and math.isfinite(value)
    return value, _whole_number_fits(spec, value)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _whole_number_fits(spec: Field, value: Any) -> bool:
    """Keepa's own query export writes the numbers of lists and ids as text."""
    if isinstance(value, str) and (spec.many or spec.kind == "id") and _NUMBER.fullmatch(value):
        value = int(value)
    return isinstance(value, int) and spec.low <= value <= spec.high and (not spec.choices or value in spec.choices)


@dataclass
class Refusals:
    """Collects what is wrong with a selection, so that one refusal names it all."""

    problems: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, message: str, value: Any = None, allowed: Any = None, **more: Any) -> None:
        found = {"field": name, "message": message, "value": shown(value)}
        self.problems.append(found | ({} if allowed is None else {"allowed": allowed}) | more)

    def check_value(self, name: str, spec: Field, value: Any) -> Any:
        """The value as it is sent; a problem is noted where it does not fit."""
        sent, ok = fits(spec, value)
        if not ok:
            self.add(name, f"{name} must be {spec.wanted}, not {_described(value)}", value, spec.wanted)
        return sent

    def unknown(self, name: str, known: Iterable[str], hint: str = "", meant: Sequence[str] = ()) -> None:
        """Refuse a field that there is not: with what was `meant`, else with fields like it, else with a hint."""
        close = list(meant) or nearest(name, known)
        said = f"did you mean {' or '.join(close)}?" if close else hint
        self.add(name, f"there is no field {name!r}" + (f"; {said}" if said else ""), did_you_mean=close)

    def raise_any(self) -> None:
        if not self.problems:
            return
        sentences = [p["message"] for p in self.problems[:_SHOWN]]
        more = len(self.problems) - len(sentences)
        text = "; ".join(sentences) + (f"; and {more} more" if more else "")
        first = {k: v for k, v in self.problems[0].items() if k != "message"}
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            f"The selection cannot be sent: {text}" + ("" if text.endswith(("?", ".")) else "."),
            details={"errors": self.problems, **first},
            next_actions=["Correct these fields; --dry-run shows what would be sent."],
        )


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Up to 3 known names like `name`: first the same in another case, then similar ones."""
    names = list(known)
    same = [n for n in names if n.lower() == name.lower()]
    return same or difflib.get_close_matches(name, names, n=3, cutoff=0.7)


def shown(value: Any) -> Any:
    """A value small and plain enough for an error."""
    if isinstance(value, bool | int | None) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)[:80] if isinstance(value, str) else json.dumps(value, default=str)[:80]


def _described(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}: {shown(value)}" if value else "an empty list"
    return "null" if value is None else json.dumps(shown(value), ensure_ascii=False)


def parse_selection(value: Any) -> dict[str, Any]:
    """A selection given as an object or as its JSON text. Raises `invalid_arguments` for everything else."""
    if isinstance(value, str):
        value = _parsed(value)
    if not isinstance(value, dict):
        kind = "list" if isinstance(value, list | tuple) else type(value).__name__
        raise invalid(
            f"The selection must be a JSON object, not {kind}.", field="selection", value=shown(value), allowed="object"
        )
    return value


def _parsed(text: str) -> Any:
    try:
        found = load_json(text.encode())
    except ValueError as error:
        reason = "not UTF-8 text" if isinstance(error, UnicodeError) else str(error)
        raise invalid(
            f"The selection is {reason}.", field="selection", value=text[:80], allowed="a JSON object"
        ) from None
    repeated = _repeated(text)
    if repeated:
        raise invalid(f"The selection names {repeated} twice.", field=repeated, value=text[:80])
    return found


def _repeated(text: str) -> str | None:
    twice: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice.extend(name for name in names if names.count(name) > 1)
        return dict(pairs)

    json.loads(text.removeprefix("\ufeff"), object_pairs_hook=note)
    return twice[0] if twice else None


def check_ranges(given: Mapping[str, Any], refusals: Refusals) -> None:
    """Refuse a lower bound above its upper bound: it can match nothing and is paid for."""
    for name, low in given.items():
        high = given.get(name.removesuffix("_gte") + "_lte") if name.endswith("_gte") else None
        if _is_number(low) and _is_number(high) and low > high:
            upper = name.removesuffix("_gte") + "_lte"
            refusals.add(name, f"{name} ({low}) is above {upper} ({high})", low, f"at most {high}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_keywords(name: str, value: Any, refusals: Refusals) -> None:
    """Refuse too many words; a phrase in quotes counts as one."""
    words = re.findall(r'"[^"]*"|\S+', value) if isinstance(value, str) else []
    if len(words) > MAX_KEYWORDS:
        refusals.add(name, f"{name} takes at most {MAX_KEYWORDS} keywords, not {len(words)}", value, MAX_KEYWORDS)


def check_sort(value: Any, sortable: Iterable[str] | None, refusals: Refusals) -> Any:
    """A list of up to 3 [field, "asc" or "desc"], fields without suffix; `sortable` None takes any name."""
    wanted = f'a list of up to {MAX_SORT} pairs [field, "asc" or "desc"]'
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MAX_SORT:
        refusals.add("sort", f"sort must be {wanted}, not {_described(value)}", value, wanted)
        return value
    for entry in value:
        pair = entry if isinstance(entry, list | tuple) and len(entry) == 2 else (None, None)
        if not isinstance(pair[0], str) or pair[1] not in ("asc", "desc"):
            refusals.add("sort", f"sort must be {wanted}, not {_described(value)}", entry, wanted)
        elif sortable is not None and pair[0] not in set(sortable):
            bare = re.sub("_(gte|lte)$", "", pair[0])
            close = [bare] if bare in set(sortable) else nearest(pair[0], sortable)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            refusals.add("sort", f"sort cannot use {pair[0]!r}{hint}", pair[0], wanted, did_you_mean=close)
    return [list(e) if isinstance(e, tuple) else e for e in value]


def check_min_match(value: Any, given: Mapping[str, Any], listed: Iterable[str], refusals: Refusals) -> Any:
    """`minMatch`: field -> how many of its listed values must match, from 1 to their number."""
    if not isinstance(value, dict) or not value:
        refusals.add("minMatch", f"minMatch must be an object field: number, not {_described(value)}", value, "object")
        return value
    fields = set(listed)
    for name, wanted in value.items():
        values = given.get(name)
        count = len(values) if isinstance(values, list | tuple) else int(values is not None)
        place = f"minMatch.{name}"
        if name not in fields or not count:
            refusals.add(place, f"minMatch names {name!r}, which is no list of this selection", wanted, sorted(
                f for f in given if f in fields))  # fmt: skip
        elif not isinstance(wanted, int) or isinstance(wanted, bool) or not 1 <= wanted <= count:
            refusals.add(place, f"{place} must be from 1 to {count}, not {_described(wanted)}", wanted, f"1 to {count}")
    return dict(sorted(value.items()))


def selection_request(path: str, query: Mapping[str, Any], selection: dict[str, Any], notes: Iterable[str]) -> Request:
    """GET with the selection in the URL, so that a recording shows it, or POST where the URL would be too long."""
    by_url = Request("GET", path, {**query, "selection": selection}, notes=tuple(notes))
    if len(encode(by_url).url()) <= MAX_URL:
        return by_url
    return Request("POST", path, query, selection, notes=tuple(notes))
