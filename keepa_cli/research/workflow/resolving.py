"""The parameters of a step: from the inputs of the plan, and from earlier answers once they are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.research.workflow.choosing import Choice, choose, limit_of
from keepa_cli.research.workflow.model import Either, Files, From, Given, Pairs, Place, Sort, Step

STAND_INS: Mapping[Sort, Callable[[int], Any]] = {
    Sort.ASIN: lambda n: f"B{n:09d}",
    Sort.CATEGORY: lambda n: n + 1,
    Sort.SELLER: lambda n: f"A{n:013d}",
    Sort.TERM: lambda n: "term",
    Sort.FILE: lambda n: f"artifact-{n}.json",
}
"""Values of the right form, for the price of a step whose values are not known yet. They are never shown."""
INPUT = "input"
_LEFT_OUT = object()


@dataclass
class Sources:
    """What parameters are made from: the inputs; the answers and files of earlier steps; the files' places.

    `answer` gives the answer of a step, `file` the path of its artifact (or of the body beside it); both None as long
    as there is none. A step that was skipped has the path "".
    """

    inputs: Mapping[str, Any]
    place: Callable[[str], str]
    answer: Callable[[str], Any] = lambda _: None
    file: Callable[[str, bool], str | None] = lambda *_: None


@dataclass
class Resolved:
    """`params` as they stand: with references in the place of what is not known. `priced` has stand-ins instead."""

    params: dict[str, Any] = field(default_factory=dict)
    priced: dict[str, Any] = field(default_factory=dict)
    refs: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    choices: dict[str, tuple[From, Choice]] = field(default_factory=dict)

    @property
    def executable(self) -> bool:
        return not self.refs and not self.missing


def resolve(step: Step, sources: Sources, many: frozenset[str], lacking: frozenset[str] = frozenset()) -> Resolved:
    """The parameters of `step`. `many` names its parameters that take lists; inputs in `lacking` were wanted and not
    given."""
    found = Resolved()
    for name, value in step.params.items():
        shown, priced = _value(step, name, value, sources, name in many, found, lacking)
        if shown is not _LEFT_OUT:
            found.params[name], found.priced[name] = shown, priced
    return found


def _value(
    step: Step, name: str, value: Any, sources: Sources, many: bool, into: Resolved, lacking: frozenset[str]
) -> tuple[Any, Any]:
    if isinstance(value, Either):
        given = sources.inputs.get(value.given.name)
        value = value.found if given in (None, [], "") else value.given
    if isinstance(value, Given):
        return _given(value, sources, many, into, lacking)
    if isinstance(value, From):
        return _from(name, value, sources, many, into)
    if isinstance(value, Files):
        return _files(name, value, sources, into, lacking)
    if isinstance(value, Place):
        return (sources.place(value.name),) * 2
    if isinstance(value, Pairs):
        return _pairs(step, name, value, sources, into, lacking)
    return value, value


def _given(value: Given, sources: Sources, many: bool, into: Resolved, lacking: frozenset[str]) -> tuple[Any, Any]:
    given = sources.inputs.get(value.name)
    if given not in (None, [], ""):
        one = given[0] if isinstance(given, list) and not many else given
        return one, one
    if not value.required and value.name not in lacking:
        return _LEFT_OUT, _LEFT_OUT
    into.missing.append(value.name)
    return {"$input": value.name}, STAND_INS[Sort.FILE if value.name == INPUT else Sort(value.name)](0)


def _from(name: str, ref: From, sources: Sources, many: bool, into: Resolved) -> tuple[Any, Any]:
    answer = sources.answer(ref.step)
    if answer is not None:
        choice = choose(ref, answer, sources.inputs)
        into.choices[name] = (ref, choice)
        if choice.values:
            values = choice.values if many else choice.values[0]
            return values, values
    limit = limit_of(ref, sources.inputs)
    shown = {"$from": f"step.{ref.step}", "path": ref.path, "limit": limit}
    into.refs.append(
        {"param": name, "step": ref.step, "artifact": f"{ref.step}.json"} | {k: shown[k] for k in ("path", "limit")}
    )
    stand_ins = [STAND_INS[ref.sort](n) for n in range(limit)]
    return shown, stand_ins if many else stand_ins[0]


def _files(name: str, value: Files, sources: Sources, into: Resolved, lacking: frozenset[str]) -> tuple[Any, Any]:
    shown: list[Any] = list(sources.inputs.get(INPUT) or []) if value.given else []
    priced = list(shown)
    for step in value.steps:
        path = sources.file(step, value.body)
        if path is None:
            kind = "body" if value.body else "artifact"
            into.refs.append({"param": name, "step": step, "artifact": f"{step}{'.body' if value.body else ''}.json"})
            shown.append({"$from": f"step.{step}", kind: into.refs[-1]["artifact"]})
            priced.append(STAND_INS[Sort.FILE](len(priced)))
        elif path:
            shown.append(path)
            priced.append(path)
    if not shown:
        into.missing.append(INPUT)
        return [{"$input": INPUT}], [STAND_INS[Sort.FILE](0)]
    return shown, priced


def _pairs(
    step: Step, name: str, value: Pairs, sources: Sources, into: Resolved, lacking: frozenset[str]
) -> tuple[Any, Any]:
    shown: list[Any] = []
    priced: list[Any] = []
    for key, inner in value.values.items():
        one, cheap = _value(step, name, inner, sources, False, into, lacking)
        for number, item in enumerate(cheap if isinstance(cheap, list) else [cheap]):
            known = one[number] if isinstance(one, list) else one
            shown.append({"name": key, "value": known} if isinstance(known, dict) else f"{key}={known}")
            priced.append(f"{key}={item}")
    return shown, priced
