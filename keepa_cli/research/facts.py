"""How views say what is known, what is not, and why.

A member of a view that has no value is null, and `absent` beside it gives the reason. Not requested, not collected,
none and zero are four different things.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

ABSENT = "absent"


class Reason(StrEnum):
    """Why a member of a view is null."""

    NOT_REQUESTED = "not_requested"
    """The request did not ask for it; asking again with another option gives it."""
    NOT_COLLECTED = "not_collected"
    """Asked for, but Keepa has not collected it (-2, or an empty slot that was unlocked)."""
    NONE = "none"
    """Keepa knows that there is none: no offer, no rank, no coupon (-1, an empty list)."""
    UNREADABLE = "unreadable"
    """Something stands there that is not what Keepa documents."""
    TOO_LITTLE_HISTORY = "too_little_history"
    """The history does not reach far enough for this figure."""
    NOT_COMPUTABLE = "not_computable"
    """A figure that it is made from is absent, or a division by zero would be needed."""
    NOT_APPLICABLE = "not_applicable"
    """It has no meaning for this kind of product or request."""


class Confidence(StrEnum):
    """How far a derived figure can be trusted."""

    EXACT = "exact"
    """Keepa's own number, or computed from complete data by Keepa's own rule."""
    HIGH = "high"
    MEDIUM = "medium"
    LOWER_BOUND = "lower_bound"
    """The true value is at least this: `monthlySold` is the bottom of a bracket."""
    LOW = "low"
    """An estimate from a proxy."""


class Section(dict[str, Any]):
    """A part of a view. `lack` gives a member no value, with its reason; `put` takes either."""

    def lack(self, name: str, reason: Reason) -> Section:
        self[name] = None
        self[ABSENT] = {**self.get(ABSENT, {}), name: reason.value}
        return self

    def put(self, name: str, value: Any, reason: Reason = Reason.NONE) -> Section:
        """`value` where there is one, else null with `reason`. False, 0 and "" are values; an empty list is none."""
        if value is None or value == []:
            return self.lack(name, reason)
        self[name] = value
        return self


def derived(
    value: Any,
    *,
    method: str,
    inputs: Mapping[str, Any],
    confidence: Confidence,
    evidence_path: str | list[str],
    reason: Reason = Reason.NOT_COMPUTABLE,
    **more: Any,
) -> Section:
    """A figure that Keepa does not send: `{value, method, inputs, confidence, evidence_path, …}`.

    `evidence_path` is the JSON path (or paths) in the raw body that the figure is made from. Inputs that are absent
    are left out of `inputs`. Without a value `absent.value` tells the reason.
    """
    found = Section().put("value", value, reason)
    known = {k: v for k, v in inputs.items() if v is not None}
    return Section(
        found
        | {"method": method, "inputs": known, "confidence": confidence.value, "evidence_path": evidence_path}
        | more
    )
