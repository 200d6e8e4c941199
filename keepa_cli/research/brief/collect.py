"""What a brief is made from, found in any result: sentences, risks, names, texts, gaps and next actions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.core.paths import render
from keepa_cli.research.graph.model import GRAPH
from keepa_cli.research.product.values import listed
from keepa_cli.research.risks import CODES, SEVERITIES

DEEPEST = 40
Steps = tuple[str | int, ...]
Locate = Callable[[Steps, Any], str]
SKIPPED = frozenset({GRAPH, "body", "absent", "inputs", "temporal_features", "history_summary", "stats_summary"})
"""Members that hold nothing for a brief, or much of it."""


@dataclass(frozen=True)
class Link:
    """Where something stands: the input and the JSON path in it."""

    source: str
    path: str


@dataclass(frozen=True)
class Item:
    """One thing that was found: what it is about, what it says, where it stands."""

    about: str | None
    value: Any
    link: Link


@dataclass
class Collected:
    """Everything that was found, in the order of the inputs."""

    statements: list[Item] = field(default_factory=list)
    contexts: list[Item] = field(default_factory=list)
    risks: list[Item] = field(default_factory=list)
    warnings: list[Item] = field(default_factory=list)
    actions: list[Item] = field(default_factory=list)
    gaps: list[Item] = field(default_factory=list)
    names: list[tuple[str, Item]] = field(default_factory=list)
    texts: list[tuple[str, Item]] = field(default_factory=list)
    levels: list[Item] = field(default_factory=list)
    risks_assessed: bool = False


def collect(found: Collected, source: str, data: Any, locate: Locate) -> None:
    """Add what `data` holds. `locate` tells the path in the input of what stands at some steps in `data`."""
    stack: list[tuple[Steps, Any, str | None]] = [((), data, None)]
    while stack:
        steps, value, about = stack.pop()
        if isinstance(value, Mapping):
            about = _about(value) or about
            _Taker(found, source, locate, steps, about).take(value)
        if len(steps) < DEEPEST:
            stack += reversed([((*steps, step), inner, about) for step, inner in _inside(value)])


def _about(value: Mapping[str, Any]) -> str | None:
    identity = value.get("identity")
    for holder in (value, identity if isinstance(identity, Mapping) else {}):
        asin = holder.get("asin")
        if isinstance(asin, str) and 0 < len(asin) <= 40:
            return asin
    return None


def _inside(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        yield from ((k, v) for k, v in value.items() if k not in SKIPPED and isinstance(v, dict | list))
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        yield from enumerate(value)


class _Taker:
    """Reads one object."""

    def __init__(self, found: Collected, source: str, locate: Locate, steps: Steps, about: str | None) -> None:
        self.found, self.source, self.locate, self.steps, self.about = found, source, locate, steps, about

    def item(self, value: Any, *more: str | int, of: Any = None, about: str | None = None) -> Item:
        where = self.locate((*self.steps, *more), of if of is not None else value)
        return Item(about or self.about, value, Link(self.source, where))

    def take(self, value: Mapping[str, Any]) -> None:
        last = self.steps[-1] if self.steps else None
        if _text(value.get("one_line")):
            self.found.statements.append(self.item(value["one_line"], "one_line"))
        if last == "brief" and _text(value.get("decision")):
            self.found.statements.append(self.item(value["decision"], "decision"))
        if last == "brief":
            warnings = listed(value.get("risk"))
            self.found.warnings += [self.item(w, "risk", i) for i, w in enumerate(warnings) if _text(w)]
        if isinstance(value.get("decision_context"), Mapping) and value["decision_context"]:
            self.found.contexts.append(self.item(dict(value["decision_context"]), "decision_context"))
        self._risks(value)
        for i, entry in enumerate(listed(value.get("next_actions"))):
            if isinstance(entry, Mapping) and _text(entry.get("command")) and isinstance(entry.get("params"), Mapping):
                self.found.actions.append(self.item(entry, "next_actions", i))
        self._gaps(value)
        self._names(value)
        self._texts(value.get("content"))

    def _risks(self, value: Mapping[str, Any]) -> None:
        taxonomy, summary = value.get("risk_taxonomy"), value.get("risk_summary")
        if isinstance(taxonomy, Mapping) and isinstance(taxonomy.get("items"), list):
            self.found.risks_assessed = True
            for i, entry in enumerate(taxonomy["items"]):
                if _is_risk(entry):
                    self.found.risks.append(self.item(entry, "risk_taxonomy", "items", i))
        if isinstance(summary, Mapping) and "status" not in summary:
            self.found.risks_assessed = True
            for code, entry in summary.items():
                worst = entry.get("worst") if isinstance(entry, Mapping) else None
                if isinstance(worst, Mapping) and _is_risk({**worst, "code": code}):
                    risk = {**worst, "code": code, "asins": listed(entry.get("asins"))}
                    self.found.risks.append(self.item(risk, "risk_summary", code, "worst", about=worst.get("asin")))

    def _gaps(self, value: Mapping[str, Any]) -> None:
        for i, entry in enumerate(listed(value.get("missing_data"))):
            fact = entry.get("field", entry.get("fact")) if isinstance(entry, Mapping) else None
            if _text(fact) and _text(entry.get("reason")):
                gap = {"fact": fact, "reason": entry["reason"]}
                self.found.gaps.append(self.item(gap, "missing_data", i))
        quality = value.get("data_quality")
        if isinstance(quality, Mapping):
            self.found.levels.append(self.item(quality, "data_quality"))
            for i, name in enumerate(listed(quality.get("not_requested"))):
                if _text(name):
                    gap = {"fact": name, "reason": "not_requested"}
                    self.found.gaps.append(self.item(gap, "data_quality", "not_requested", i))
            for i, entry in enumerate(listed(quality.get("missing"))):
                if isinstance(entry, Mapping) and _text(entry.get("fact")) and _text(entry.get("reason")):
                    gap = {"fact": entry["fact"], "reason": entry["reason"]}
                    self.found.gaps.append(self.item(gap, "data_quality", "missing", i))

    def _names(self, value: Mapping[str, Any]) -> None:
        last = self.steps[-1] if self.steps else None
        if not (last == "identity" or "asin" in value):
            return
        for name in ("brand", "manufacturer"):
            if _text(value.get(name)):
                self.found.names.append((name, self.item(value[name], name)))
        if _text(value.get("title")):
            self.found.texts.append(("title", self.item(value["title"], "title")))

    def _texts(self, content: Any) -> None:
        if isinstance(content, Mapping):
            for i, feature in enumerate(listed(content.get("features"))):
                if _text(feature):
                    self.found.texts.append(("feature", self.item(feature, "content", "features", i)))
            if _text(content.get("description")):
                self.found.texts.append(("description", self.item(content["description"], "content", "description")))


def in_place(steps: Steps, _: Any) -> str:
    """A locator for data that is the input itself."""
    return render(steps)


def below(prefix: str) -> Locate:
    """A locator for data that stands at `prefix` in the input."""
    return lambda steps, _: prefix + render(steps)[1:]


def _is_risk(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and value.get("code") in CODES
        and value.get("severity") in SEVERITIES
        and _text(value.get("reason"))
    )


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
