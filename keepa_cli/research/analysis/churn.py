"""How fast the best seller list of a category turns over: what share of it left within 3 and within 12 months."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from keepa_cli.keepa.clock import DAY, as_minute, iso
from keepa_cli.research.facts import Confidence, Reason, Section, derived

VIEW = "bestsellers_churn"
MONTHS: Mapping[str, int] = {"3_months": 91, "12_months": 365}
TOLERANCE: Mapping[str, int] = {"3_months": 21, "12_months": 45}
"""How many days a list may lie beside the wanted day and still count."""
DEPTH = 100
FEW = 20
"""A comparison of fewer ASINs says little."""
UNLABELLED = "unlabelled"
LABELS: Mapping[str, str] = {
    "fomo_spike_die": "more than 40 % left within 3 months and more than 65 % within 12: fashions that come and go",
    "high_churn": "more than 55 % left within 12 months: places are won and lost quickly",
    "mature_stable": "less than 30 % left within 12 months: the same products hold their places",
    "blue_ocean": "30 to 55 % left within 12 months, less than 25 % of them lately: room for newcomers that last",
}


@dataclass(frozen=True)
class Snapshot:
    """A best seller list at a moment (Keepa minute). `path` is where its ASINs stand in the body of `source`."""

    source: str
    minute: int
    dated_by: str
    asins: tuple[str, ...]
    category: int | None
    domain: int | None
    kind: str = ""
    path: str = "$.bestSellersList.asinList"

    def described(self) -> Section:
        found = Section(source=self.source, at=iso(self.minute), dated_by=self.dated_by, list_size=len(self.asins))
        return found.put("category", self.category, Reason.NOT_COLLECTED)


def snapshot(
    source: str, body: Any, *, moment: int | None = None, dated_by: str = "recorded_at", kind: str = ""
) -> Snapshot | None:
    """The list in an answer of /bestsellers; None where it holds none or its time is unknown.

    `moment` is used where a list does not tell its own time, or where it is that of a past month. `kind` tells how the
    list was ranked, where the request is known.
    """
    if not isinstance(body, Mapping):
        return None
    nested = body.get("bestSellersList")
    table, path = (nested, "$.bestSellersList.asinList") if isinstance(nested, Mapping) else (body, "$.asinList")
    listed = table.get("asinList")
    asins = tuple(dict.fromkeys(a for a in listed if isinstance(a, str))) if isinstance(listed, list) else ()
    own = as_minute(table.get("lastUpdate"))
    past = dated_by == "month" and moment is not None
    when, by = (moment, dated_by) if past or not own or own < 0 else (own, "lastUpdate")
    if when is None or not asins:
        return None
    return Snapshot(source, when, by, asins, _number(table, "categoryId"), _number(table, "domainId"), kind, path)


def _number(table: Mapping[str, Any], name: str) -> int | None:
    value = table.get(name)
    return value if type(value) is int and value > 0 else None


def churn(snapshots: Sequence[Snapshot], depth: int = DEPTH) -> Section:
    """The shares of the newest list's forerunners that are no longer in it, and what they say about the category.

    The newest list is "now"; each window compares it with the list nearest to 91 or 365 days before. An ASIN left when
    it stood among the first `depth` then and does not now; lists that are shorter are compared at the shorter length.
    """
    ordered = sorted(snapshots, key=lambda s: (s.minute, s.source))
    newest = ordered[-1]
    windows = {name: _window(ordered, newest, name, depth) for name in MONTHS}
    left = {name: _exact(window["left_share"]) for name, window in windows.items()}
    label = labelled(left["3_months"], left["12_months"])
    return Section(newest=newest.described(), depth=depth, windows=windows, label=_label(label, left))


def _exact(share: Mapping[str, Any]) -> float | None:
    """The share before it was rounded: the limits of the labels are sharp."""
    inputs = share["inputs"]
    return None if share["value"] is None else inputs["left"] / inputs["compared"]


def labelled(left3: float | None, left12: float | None) -> str:
    """The label of the shares that left; `unlabelled` where none of the rules holds or a share is unknown."""
    if left12 is None:
        return UNLABELLED
    if left3 is not None and left3 > 0.40 and left12 > 0.65:
        return "fomo_spike_die"
    if left12 > 0.55:
        return "high_churn"
    if left12 < 0.30:
        return "mature_stable"
    return "blue_ocean" if left3 is not None and left3 < 0.25 else UNLABELLED


def _label(label: str, left: Mapping[str, float | None]) -> dict[str, Any]:
    if label in LABELS:
        why = LABELS[label]
    elif left["12_months"] is None:
        why = "there is no list of about 12 months before the newest one"
    elif left["3_months"] is None:
        why = "30 to 55 % left within 12 months; a list of about 3 months ago would tell more"
    else:
        why = "30 to 55 % left within 12 months, and 25 % or more within 3: between the labels"
    return {"code": label, "why": why}


def _window(ordered: Sequence[Snapshot], newest: Snapshot, name: str, depth: int) -> Section:
    """One comparison: with which list, how far it lies beside the wanted day, and who left and who came."""
    days, tolerance = MONTHS[name], TOLERANCE[name]
    wanted = newest.minute - days * DAY
    found = Section(days=days, tolerance_days=tolerance)
    before = min((s for s in ordered if s is not newest), key=lambda s: abs(s.minute - wanted), default=None)
    if before is None or abs(before.minute - wanted) > tolerance * DAY:
        found["left_share"] = _share(None, {}, "$", Confidence.LOW)
        return found.lack("compared_with", Reason.TOO_LITTLE_HISTORY)
    size = min(depth, len(before.asins), len(newest.asins))
    then, now = before.asins[:size], newest.asins[:size]
    gone, come = [a for a in then if a not in set(now)], [a for a in now if a not in set(then)]
    found["compared_with"] = before.described() | {"days_before": round((newest.minute - before.minute) / DAY)}
    confidence = Confidence.HIGH if size >= FEW else Confidence.LOW
    inputs = {"compared": size, "left": len(gone), "depth": depth}
    found["left_share"] = _share(round(len(gone) / size, 2), inputs, newest.path, confidence)
    return found.put("left_asins", gone[:10]).put("new_asins", come[:10])


def _share(value: float | None, inputs: Mapping[str, Any], path: str, confidence: Confidence) -> Section:
    return derived(
        value,
        method="ASINs of the earlier list that are not in the newest / ASINs compared",
        inputs=inputs,
        confidence=confidence,
        evidence_path=path,
        reason=Reason.TOO_LITTLE_HISTORY,
    )
