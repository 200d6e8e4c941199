"""The shape of a JSON body: every path with the types seen there, and how two shapes differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Word = Literal["fine", "warning", "error"]
WORDS: tuple[Word, ...] = ("fine", "warning", "error")
"""Verdicts on drift from the mildest to the worst."""

SAMPLE = 200
# Objects whose keys are data (ids, names): all their values share one path.
MAPS = frozenset(
    {"salesRanks", "categories", "categoryParents", "sellers", "buyBoxStats", "buyBoxUsedStats", "deliveryMap"}
    | {"vatRates", "topBrandsWithCounts", "topSellersWithCounts"}
)
_ID = re.compile(r"\d+|(?=.*\d)[A-Z0-9]{10,14}")  # node ids, ASINs, seller ids
# Lists whose places have a meaning each: another length is another contract.
_STATISTICS = ("current", "avg", "avg30", "avg90", "avg180", "avg365", "atIntervalStart", "min", "max", "isLowest")
POSITIONAL = frozenset(
    {"csv", *_STATISTICS, "isLowest90", "minInInterval", "maxInInterval"}
    | {f"outOfStockPercentage{suffix}" for suffix in ("30", "90", "InInterval")}
)


@dataclass
class Shape:
    """`types` maps a path such as products[].csv[] to the JSON types seen there; `lengths` maps the path of a
    positional list to its lengths; `whole` is False when a list was too long to be looked at entirely."""

    types: dict[str, set[str]] = field(default_factory=dict)
    lengths: dict[str, set[int]] = field(default_factory=dict)
    whole: bool = True


def shape_of(body: Any, *, sample: int | None = SAMPLE) -> Shape:
    """The shape of `body`; of lists longer than `sample` the first and last items are looked at, None looks at all."""
    shape = Shape()
    _walk(body, "", "", shape, sample)
    return shape


def json_type(value: Any) -> str:
    """The JSON type of a value; integer and number are kept apart."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names = ((int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    return next(name for kind, name in names if isinstance(value, kind))


def _walk(value: Any, path: str, name: str, shape: Shape, sample: int | None) -> None:
    shape.types.setdefault(path, set()).add(json_type(value))
    if isinstance(value, dict):
        keyed = name in MAPS or (bool(value) and all(map(_ID.fullmatch, value)))
        for key, inner in value.items():
            step = "*" if keyed else key
            _walk(inner, f"{path}.{step}" if path else step, step, shape, sample)
    elif isinstance(value, list):
        if name in POSITIONAL and value:
            shape.lengths.setdefault(path, set()).add(len(value))
        for item in _sampled(value, sample, shape):
            _walk(item, path + "[]", "", shape, sample)


def _sampled(items: list[Any], sample: int | None, shape: Shape) -> Iterator[Any]:
    if sample is None or len(items) <= sample:
        yield from items
        return
    shape.whole = False
    half = sample // 2
    yield from items[:half]
    yield from items[-half:]


@dataclass(frozen=True)
class ShapeDiff:
    """Contract drift. Each list holds dicts with `path`; a path below one that is absent is not repeated."""

    added: list[dict[str, Any]]
    removed: list[dict[str, Any]]
    type_changed: list[dict[str, Any]]
    nullability: list[dict[str, Any]]
    lengths: list[dict[str, Any]]

    @property
    def moved(self) -> bool:
        return any((self.added, self.removed, self.type_changed, self.nullability, self.lengths))

    @property
    def breaking(self) -> bool:
        """Whether a reader of the old shape can fail on the new one: more fields alone cannot hurt it."""
        return any((self.removed, self.type_changed, self.nullability, self.lengths))

    @property
    def contract(self) -> Word:
        """error where structure is gone or has another type, warning where it only grew or may be null."""
        return "error" if self.removed or self.type_changed else "warning" if self.moved else "fine"

    def as_dict(self) -> dict[str, Any]:
        return {
            "added": self.added,
            "removed": self.removed,
            "type_changed": self.type_changed,
            "nullability": self.nullability,
            "lengths": self.lengths,
        }


def compare_shapes(old: Shape, new: Shape) -> ShapeDiff:
    """What moved between two shapes. What an empty list or a null hides counts as unknown, not as removed."""
    changed, nulls = [], []
    for path in sorted(old.types.keys() & new.types.keys()):
        before, after = old.types[path], new.types[path]
        kinds = before - {"null"}, after - {"null"}
        if all(kinds) and kinds[0] != kinds[1]:
            changed.append({"path": path, "from": sorted(before), "to": sorted(after)})
        elif ("null" in before) != ("null" in after) and not _is_slot(path):
            nulls.append({"path": path, "from": sorted(before), "to": sorted(after)})
    lengths = [
        {"path": p, "from": sorted(old.lengths[p]), "to": sorted(new.lengths[p])}
        for p in sorted(old.lengths.keys() & new.lengths.keys())
        if old.lengths[p] != new.lengths[p]
    ]
    return ShapeDiff(_only_in(new, old), _only_in(old, new), changed, nulls, lengths)


def _only_in(here: Shape, there: Shape) -> list[dict[str, Any]]:
    """Paths of `here` that `there` could have shown and did not; the topmost of each branch."""
    missing = []
    for path in sorted(here.types.keys() - there.types.keys()):
        parent = _parent(path)
        visible = parent in there.types and there.types[parent] & {"object", "array"}
        if visible and not path.endswith("[]") and not path.endswith(".*"):
            missing.append({"path": path, "types": sorted(here.types[path])})
    return missing


def _is_slot(path: str) -> bool:
    """Whether `path` is an item of a positional list, where null only says that there is no data yet."""
    return path.endswith("[]") and path[:-2].rpartition(".")[2] in POSITIONAL


def _parent(path: str) -> str:
    if path.endswith("[]"):
        return path[:-2]
    return path.rpartition(".")[0]
