"""What a plan is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Sort(StrEnum):
    """What an input of a plan is: it says which stand-in prices a step whose value is not known yet."""

    ASIN = "asin"
    CATEGORY = "category"
    SELLER = "seller"
    TERM = "term"
    FILE = "file"


@dataclass(frozen=True)
class Given:
    """The input `name` of the plan; a step leaves a parameter out whose input was not given and is not `required`."""

    name: str
    required: bool = False


@dataclass(frozen=True)
class From:
    """Values out of the answer of an earlier step: the first `limit` at `path`, where `[*]` and `.*` stand for all.

    `limit` may name an input that holds the number. `labels` is the path of their names. With `match`, the input of
    that name decides: the one value whose name it is; several of that name are ambiguous.
    """

    step: str
    path: str
    sort: Sort
    limit: int | str = 1
    labels: str | None = None
    match: str | None = None


@dataclass(frozen=True)
class Files:
    """The artifacts of earlier `steps`, and the input files of the plan where `given`. With `body`, what Keepa sent
    instead of the view that was made of it."""

    steps: tuple[str, ...] = ()
    given: bool = False
    body: bool = False


@dataclass(frozen=True)
class Either:
    """The input where it was given, else what an earlier step found."""

    given: Given
    found: From


@dataclass(frozen=True)
class Place:
    """A file or folder beside the artifacts, that a step writes itself."""

    name: str


@dataclass(frozen=True)
class Pairs:
    """Parameters of another operation, written NAME=VALUE."""

    values: Mapping[str, Any]


Value = Any
"""A value of a parameter, or one of the references above."""


@dataclass(frozen=True)
class Step:
    """One operation of a plan. It is left out of the plan unless all inputs of `needs` and none of `unless` were
    given. `keeps_body` keeps what Keepa sent beside the view. An `optional` step may be skipped."""

    id: str
    command: str
    why: str
    params: Mapping[str, Value] = field(default_factory=dict)
    kind: str = "answer"
    needs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    optional: bool = False
    keeps_body: bool = False

    @property
    def artifact(self) -> str:
        return f"{self.id}.json"

    @property
    def body(self) -> str:
        return f"{self.id}.body.json"

    @property
    def sources(self) -> tuple[str, ...]:
        """The steps whose answers this one reads, in the order of its parameters."""
        found: list[str] = []
        for raw in _flat(self.params.values()):
            value = raw.found if isinstance(raw, Either) else raw
            found += [value.step] if isinstance(value, From) else value.steps if isinstance(value, Files) else ()
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Plan:
    """A workflow. Of each group of `wants` one input at least must be given; those in `single` take one value."""

    name: str
    purpose: str
    steps: tuple[Step, ...]
    wants: tuple[tuple[str, ...], ...] = ()
    toolset: str = "research"
    profile: str = "live_read_allowed"
    single: tuple[str, ...] = ()

    @property
    def takes(self) -> tuple[str, ...]:
        """The names of all inputs that make a difference to a step."""
        found = [name for group in self.wants for name in group]
        for step in self.steps:
            found += [*step.needs, *step.unless]
            for raw in _flat(step.params.values()):
                value = raw.given if isinstance(raw, Either) else raw
                if isinstance(value, Given):
                    found.append(value.name)
                elif isinstance(value, Files) and value.given:
                    found.append("input")
        return tuple(dict.fromkeys(found))

    @property
    def choices(self) -> frozenset[str]:
        """Inputs that stand for what an earlier step would find: they can be given while a run is under way."""
        values = _flat(v for step in self.steps for v in step.params.values())
        return frozenset(v.given.name for v in values if isinstance(v, Either))

    def chosen(self, inputs: Mapping[str, Any]) -> tuple[Step, ...]:
        """The steps that these inputs make, in order."""
        given = {name for name, value in inputs.items() if value not in (None, [], "")}
        return tuple(s for s in self.steps if given.issuperset(s.needs) and not given.intersection(s.unless))

    def missing(self, inputs: Mapping[str, Any]) -> list[tuple[str, ...]]:
        """The groups of inputs of which none was given."""
        return [group for group in self.wants if all(inputs.get(name) in (None, [], "") for name in group)]


def _flat(values: Any) -> list[Any]:
    found: list[Any] = []
    for value in values:
        inner = (
            value.values.values() if isinstance(value, Pairs) else value if isinstance(value, list | tuple) else None
        )
        found += _flat(inner) if inner is not None else [value]
    return found


def levels(steps: Sequence[Step]) -> list[list[str]]:
    """Steps that can run side by side, group after group: each reads answers of earlier groups only."""
    level: dict[str, int] = {}
    for step in steps:
        level[step.id] = 1 + max((level[s] for s in step.sources if s in level), default=-1)
    return [[name for name, at in level.items() if at == n] for n in range(max(level.values(), default=-1) + 1)]
