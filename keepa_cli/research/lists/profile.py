"""The profile that the views of all lists share: brief first, rows, quality, signals, next actions, evidence, graph."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.paths import render
from keepa_cli.keepa.clock import as_minute, even_minute, iso
from keepa_cli.keepa.csvtypes import SeriesKind, csv_type
from keepa_cli.keepa.domains import Domain
from keepa_cli.keepa.money import money, tenths
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.graph.model import Graph, NodeType
from keepa_cli.research.needs import Need, Planner

SHOWN = 25
"""Rows of a profile where no limit was asked for."""
COMPARED = 5
"""Products that a next action compares."""
READ_ORDER = ("agent_brief", "data_quality", "selection_signals", "next_actions")
_ASIN = re.compile(r"[0-9A-Z]{10}")
_SELLER = re.compile(r"[0-9A-Z]{10,21}")

Ask = tuple[Need, Mapping[str, Any], str]
"""(need, parameters, reason) of a next action."""


@dataclass(frozen=True)
class Listing:
    """An answer that holds a list, with what is needed to read it. `limit` is the most rows that are shown."""

    body: Mapping[str, Any]
    domain: Domain
    params: Mapping[str, Any]
    plan: Planner
    limit: int | None = None

    @property
    def most(self) -> int:
        return SHOWN if self.limit is None else self.limit

    def key(self, value: Any) -> str:
        """The key of a node of the graph: ids can exist in several marketplaces."""
        return f"{self.domain.code}:{value}"

    def product(self, graph: Graph, asin: str, title: Any = None) -> str:
        return graph.node(NodeType.PRODUCT, self.key(asin), title or asin)

    def actions(self, asked: Iterable[Ask]) -> list[dict[str, Any]]:
        """The entries of `next_actions`. What an odd answer makes unusable is left out: nobody could run it."""
        found = []
        for need, params, reason in asked:
            try:
                found.append(self.plan(need, params, reason))
            except KeepaCliError:
                continue
        return found


@dataclass
class Profile:
    """The parts of one profile. `rows` is the name of the member that holds `shown`, `total` how many there are;
    `count` what the answer counts where that is something else."""

    view: str
    endpoint: str
    one_line: str
    rows: str
    shown: list[Any]
    total: int
    graph: Graph
    facts: Section = field(default_factory=Section)
    key_facts: Section = field(default_factory=Section)
    context: Mapping[str, Any] = field(default_factory=dict)
    missing: list[dict[str, Any]] = field(default_factory=list)
    signals: Section = field(default_factory=Section)
    notes: list[str] = field(default_factory=list)
    count: int | None = None
    unreadable: int = 0
    evidence: list[tuple[str, str]] = field(default_factory=list)
    asked: list[Ask] = field(default_factory=list)

    def build(self, listing: Listing) -> dict[str, Any]:
        actions = listing.actions(self.asked)
        brief = {
            "read_order": [*READ_ORDER[:1], self.rows, *READ_ORDER[1:]],
            "one_line": self.one_line,
            "key_facts": self.key_facts,
            "decision_context": dict(self.context),
            "missing_data": self.missing,
            "recommended_next_actions": [a["action"] for a in actions],
        }
        count = self.total if self.count is None else self.count
        counted = {"count": count, "shown": len(self.shown), "omitted": self.total - len(self.shown)}
        head = {"view": self.view, "agent_brief": brief, "domain": listing.domain.code}
        return head | self.facts | counted | {self.rows: self.shown} | self._rest(listing, actions)

    def _rest(self, listing: Listing, actions: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "data_quality": self._quality(),
            "selection_signals": self.signals,
            "next_actions": actions,
            "evidence_index": [{"fact": fact, "evidence_path": path} for fact, path in self.evidence],
            "research_graph": self.graph.as_dict(),
            "provenance": provenance(listing, self.endpoint),
        }

    def _quality(self) -> dict[str, Any]:
        notes = list(self.notes)
        if self.total > len(self.shown):
            notes.append(f"{self.total - len(self.shown)} of {self.total} rows are cut here; --limit shows more.")
        if self.unreadable:
            notes.append(f"{self.unreadable} rows of the answer are not what Keepa documents; they are left out.")
        if not self.total:
            notes.append("The answer is empty: Keepa knows nothing that fits.")
        level = "empty" if not self.total else "partial" if self.missing or self.unreadable else "complete"
        return {"level": level, "rows": self.total, "unreadable_rows": self.unreadable, "notes": notes}


def provenance(listing: Listing, endpoint: str) -> Section:
    """Which answer the view was made from; the envelope tells where its bytes came from."""
    stamp = listing.body.get("timestamp")
    minute = as_minute(even_minute(stamp)) if type(stamp) is int and stamp > 0 else None
    given = {k: v for k, v in listing.params.items() if v not in (None, [], False) and k not in {"view", "limit"}}
    found = Section(endpoint=endpoint, domain=listing.domain.code, params=given)
    return found.put("answered_at", iso(minute) if minute else None, Reason.NOT_COLLECTED)


def missing(name: str, reason: Reason, how: str) -> dict[str, Any]:
    """An entry of `missing_data`: what this kind of answer does not tell, and what would."""
    return {"field": name, "reason": reason.value, "how_to_get": how}


def is_asin(value: Any) -> bool:
    return isinstance(value, str) and bool(_ASIN.fullmatch(value))


def is_seller(value: Any) -> bool:
    return isinstance(value, str) and bool(_SELLER.fullmatch(value))


def whole(value: Any) -> int | None:
    """A number that Keepa counts with; None for negative ones (-1, -2) and for what is no integer."""
    return value if type(value) is int and value >= 0 else None


def number(value: Any) -> int | float | None:
    """A figure such as a percentage, rounded to 2 decimals; None for what is no finite number."""
    if type(value) is int:
        return value
    return round(value, 2) if isinstance(value, float) and abs(value) < 1e15 else None


def text(value: Any) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def price(minor: Any, domain: Domain, path: str | None = None) -> dict[str, Any] | None:
    """A money fact; None where there is no price."""
    if whole(minor) is None:
        return None
    return money(minor, domain) | ({"evidence_path": path} if path else {})


def difference(minor: int, domain: Domain) -> dict[str, Any]:
    """A change of an amount with its sign."""
    found = money(abs(minor), domain)
    sign = "-" if minor < 0 else ""
    return found | {"raw": minor, "amount": f"{sign}{found['amount']}", "formatted": f"{sign}{found['formatted']}"}


def value_of(index: int, raw: Any, domain: Domain, *, signed: bool = False) -> dict[str, Any] | None:
    """The value of a price type: money, a rating, or a plain number. None where there is none."""
    if type(raw) is not int or (raw < 0 and not signed):
        return None
    kind = csv_type(index).kind
    if kind is SeriesKind.PRICE:
        return difference(raw, domain) if signed else money(raw, domain)
    if kind is SeriesKind.SCORE:
        return {"raw": raw, "value": ("-" if raw < 0 else "") + str(tenths(abs(raw)))}
    return {"raw": raw, "value": raw}


def at(*steps: str | int) -> str:
    """A path in the raw body."""
    return render(steps)


def compare_and_get(asins: Sequence[str], domain: str, what: str) -> list[Ask]:
    """What to do with candidates: compare the first ones, look at the very first."""
    usable = [a for a in asins if is_asin(a)][:COMPARED]
    if not usable:
        return []
    found: list[Ask] = []
    if len(usable) > 1:
        reason = f"Compare the first {len(usable)} {what} side by side, 1 token each."
        found.append((Need.COMPARE_PRODUCTS, {"asin": usable, "domain": domain}, reason))
    params = {"asin": usable[:1], "domain": domain, "full": True}
    return [*found, (Need.GET_PRODUCT, params, f"Read the first of the {what} with its whole history.")]
