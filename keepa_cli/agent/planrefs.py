"""References inside the arguments of a planned step: `{"$from": "step.NAME", ...}` and `{"$input": "NAME"}`.

The plan writes them where an earlier step gives the value; `workflow_context` says which answer each step had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from keepa_cli.agent.uris import parse_uri
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.registry import Operation

CONTAINERS = ("steps", "outputs", "results", "step_outputs", "previous_outputs")
FROM, INPUT = "$from", "$input"
MOST = 1000
Cached = Callable[[str], Mapping[str, Any] | None]
Keep = Callable[[Any], str]


def settle(
    op: Operation, params: dict[str, Any], runtime: Mapping[str, Any], cached: Cached, keep: Keep
) -> list[dict[str, Any]]:
    """Put values in the place of references; what came from which step. `keep` makes a file of an answer.

    A step that is null in the context was skipped: lists do without it. Raises `missing_inputs` for steps that are not
    there, and for paths at which they hold nothing.
    """
    many = {a.name: a.many for a in op.args}
    found = _Found(runtime, cached, keep)
    for name, value in params.items():
        if name in many and _refers(value):
            values = list(found.values(name, value))
            params[name] = values if many[name] else values[0] if values else None
    if found.lacking:
        named = ", ".join(dict.fromkeys(row["from"] for row in found.lacking))
        raise KeepaCliError(
            Kind.MISSING_INPUTS,
            f"{op.name} refers to {named}, which gives nothing.",
            details={
                Kind.MISSING_INPUTS.value: list(dict.fromkeys(row["param"] for row in found.lacking)),
                "unresolved": found.lacking,
                "accepted_sources": ['workflow_context {"steps": {NAME: {"resource_uri": "keepa://research/KEY"}}}'],
            },
            next_actions=["Read keepa://workflow/runtime-contract."],
        )
    return found.record


def _refers(value: Any) -> bool:
    if isinstance(value, list):
        return any(_refers(item) for item in value)
    return isinstance(value, Mapping) and (FROM in value or INPUT in value or _refers(value.get("value")))


class _Found:
    """What the references of one call lead to."""

    def __init__(self, runtime: Mapping[str, Any], cached: Cached, keep: Keep) -> None:
        self.record: list[dict[str, Any]] = []
        self.lacking: list[dict[str, str]] = []
        self._cached, self._keep = cached, keep
        self._steps: dict[str, Any] = {}
        self._inputs: dict[str, Any] = {}
        for name in ("workflow_inputs", "workflow_context"):
            held = runtime.get(name)
            if isinstance(held, Mapping):
                given = held.get("given")
                self._inputs |= {k: v for k, v in held.items() if k not in CONTAINERS}
                self._inputs |= given if isinstance(given, Mapping) else {}
                for container in CONTAINERS:
                    inside = held.get(container)
                    self._steps |= inside if isinstance(inside, Mapping) else {}

    def values(self, param: str, value: Any) -> Iterator[Any]:
        if isinstance(value, list):
            for item in value:
                yield from self.values(param, item)
        elif isinstance(value, Mapping) and INPUT in value:
            yield from self._input(param, str(value[INPUT]))
        elif isinstance(value, Mapping) and FROM in value:
            yield from self._from(param, value)
        elif isinstance(value, Mapping) and _refers(value.get("value")):
            yield from (f"{value.get('name')}={one}" for one in self.values(param, value["value"]))
        else:
            yield value

    def _input(self, param: str, name: str) -> Iterator[Any]:
        given = self._inputs.get(name)
        if given in (None, [], ""):
            self.lacking.append({"param": param, "from": f"input {name}"})
            return
        yield from given if isinstance(given, list) else [given]

    def _from(self, param: str, ref: Mapping[str, Any]) -> Iterator[Any]:
        name = str(ref[FROM]).removeprefix("step.")
        if name in self._steps and self._steps[name] is None:
            return
        answer = self._answer(self._steps.get(name))
        values = list(self._of(answer, ref)) if answer is not None else []
        if not values:
            self.lacking.append({"param": param, "from": f"step {name}"[:200]})
        self.record.append({"param": param, "step": name, "count": len(values)})
        yield from values

    def _answer(self, held: Any) -> Mapping[str, Any] | None:
        """The envelope of a step: itself, or by the address of an answer of this session."""
        text = held.get("resource_uri") or held.get("uri") if isinstance(held, Mapping) else held
        if isinstance(text, str):
            uri = parse_uri(text)
            return self._cached(uri.name) if uri is not None and uri.collection == "research" else None
        if not isinstance(held, Mapping):
            return None
        inner = held.get("structuredContent", held)
        return inner if isinstance(inner, Mapping) and isinstance(inner.get("data"), Mapping) else None

    def _of(self, answer: Mapping[str, Any], ref: Mapping[str, Any]) -> Iterator[Any]:
        if "path" in ref:
            from keepa_cli.research.workflow.choosing import at

            limit = ref.get("limit")
            most = limit if isinstance(limit, int) and 0 < limit < MOST else MOST
            named = [v for v in at(answer, str(ref["path"])) if isinstance(v, str | int)]
            yield from list(dict.fromkeys(named))[:most]
        elif "body" in ref:
            output = answer["data"].get("output")
            if isinstance(output, Mapping) and isinstance(output.get("path"), str):
                yield output["path"]
        else:
            yield self._keep(dict(answer))
