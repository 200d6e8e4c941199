"""A template, its parameters, and the selection that they make."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.keepa import deals, finder
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.selection import Checked

FINDER: Final = "finder"
DEALS: Final = "deals"
Kind = Literal["number", "id", "text"]


@dataclass(frozen=True)
class Slot:
    """A parameter: the field of the selection that it fills, and its default; None leaves the field out.

    `end` is the end of a range of two numbers (0 lower, 1 upper) where the field takes both. `many` fields take a
    list, written with commas.
    """

    name: str
    field: str
    about: str
    default: Any = None
    kind: Kind = "number"
    end: int | None = None
    many: bool = False

    def read(self, given: str) -> Any:
        """The value that a text stands for. Raises `invalid_arguments`."""
        parts = [part.strip() for part in given.split(",")] if self.many else [given.strip()]
        if not all(parts):
            raise invalid(f"The parameter {self.name} is empty.", field=self.name, value=given[:80])
        if self.kind != "text":
            wrong = next((p for p in parts if not re.fullmatch(r"-?[0-9]{1,18}", p)), None)
            if wrong is not None:
                wanted = "a category id" if self.kind == "id" else "a whole number"
                raise invalid(f"{self.name} must be {wanted}, not {wrong[:60]!r}.", field=self.name, value=wrong[:60])
        values: list[Any] = parts if self.kind == "text" else [int(p) for p in parts]
        return values if self.many else values[0]


@dataclass(frozen=True)
class Template:
    """`base` are the fields that make the template what it is; `slots` fill the others."""

    name: str
    kind: Literal["finder", "deals"]
    title: str
    about: str
    base: Mapping[str, Any]
    slots: tuple[Slot, ...] = ()
    caution: str = ""
    required: tuple[str, ...] = field(default=())

    def values(self, given: Mapping[str, str]) -> dict[str, Any]:
        """The value of every parameter. Raises `invalid_arguments` for unknown ones and for those that are missing."""
        known = {slot.name: slot for slot in self.slots}
        for name in given:
            if name not in known:
                raise _unknown(self, name, list(known))
        found = {n: slot.read(given[n]) if n in given else slot.default for n, slot in known.items()}
        lacking = [n for n in self.required if found[n] is None]
        if lacking:
            raise invalid(
                f"{self.name} needs --param {lacking[0]}=…: {known[lacking[0]].about}.", field=lacking[0], value=None
            )
        return found

    def selection(self, values: Mapping[str, Any], domain: Domain) -> Checked:
        """The selection as it would be sent. Raises `invalid_arguments` that names every field that is wrong."""
        found: dict[str, Any] = dict(self.base)
        for slot in self.slots:
            value = values[slot.name]
            if value is not None and slot.end is None:
                found[slot.field] = value
            elif value is not None and slot.end is not None:
                pair = list(found.get(slot.field, (0, 2**31 - 1)))
                pair[slot.end] = value
                found[slot.field] = pair
        return finder.check(found) if self.kind == FINDER else deals.check(found, domain.id)


def _unknown(template: Template, name: str, known: list[str]) -> KeepaCliError:
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    said = f"{template.name} has no parameter {name[:60]!r}.{hint}"
    return invalid(said, field="param", value=name[:60], allowed=known)
