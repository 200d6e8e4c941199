"""A report of given inputs as plain data: the JSON report, and what the templates of the others show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.keepa.domains import DOMAINS, Domain
from keepa_cli.research.brief import build as briefs
from keepa_cli.research.brief.build import Replan
from keepa_cli.research.brief.documents import Document, kind_of
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.figures.material import Material
from keepa_cli.research.figures.model import Product
from keepa_cli.research.graph.model import NodeType
from keepa_cli.research.inputs import unwrapped
from keepa_cli.research.needs import Planner
from keepa_cli.research.product.values import listed
from keepa_cli.research.product.view import product_view
from keepa_cli.research.reports import graphs, tables
from keepa_cli.research.reports.cards import SECTIONS, card, rows, section
from keepa_cli.research.reports.texts import label, text_of, why

VIEW = "report"
VERSION = "1"
SYNTHETIC = "sandbox"
UNKNOWN = "unknown"
PARTS = (
    "summary", "products", "comparison", "risks", "business", "research_graph_report", "figures", "missing",
    "next_actions", "evidence",
)  # fmt: skip
STEP = (
    "action", "reason", "command", "tool", "params", "cli", "estimated_tokens", "worst_case_tokens",
    "requires_confirmation", "for",
)  # fmt: skip
MOST_PRODUCTS = 100
"""Products that a report shows; a snapshot shows more, as each has a page of its own."""
_CODES: Mapping[str, Domain] = {d.code: d for d in DOMAINS.values()}
Told = Callable[[str], None]


@dataclass(frozen=True)
class Input:
    """One input with where its data came from: `origin` is live, sandbox, import or unknown."""

    name: str
    source: str
    data: Any
    sha256: str
    origin: str = UNKNOWN
    recorded_at: str | None = None

    @property
    def shown(self) -> Section:
        found = Section(name=text_of(self.name) or "input", source=self.source, kind=kind_of(self.data))
        found |= {"origin": self.origin, "synthetic": self.origin == SYNTHETIC}
        found.put("recorded_at", self.recorded_at, Reason.NOT_COLLECTED)["sha256"] = self.sha256
        return found


@dataclass
class Read:
    """What the inputs hold: `views` by the key of the product, and the input that each was first found in."""

    inputs: Sequence[Input]
    material: Material
    views: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    sources: dict[str, Input] = field(default_factory=dict)

    @property
    def products(self) -> list[Product]:
        return [p for p in self.material.products if p.key in self.views]


def read(inputs: Sequence[Input], domain: Domain, plan: Planner, most: int = MOST_PRODUCTS) -> Read:
    """Sort out the inputs; of a product that came as Keepa sent it the view is made here."""
    material = Material(plan, domain)
    found = Read(inputs, material)
    for one in inputs:
        known = len(material.products)
        material.add(one.name, one.data)
        found.sources |= {product.key: one for product in material.products[known:]}
    material.finish()
    for product in material.products[:most]:
        if product.subject is not None and product.view is None:
            found.views[product.key] = product_view(product.subject, plan, "audit", fields=SECTIONS)
        elif product.view is not None:
            found.views[product.key] = product.view
    return found


def build(found: Read, title: str, domain: Domain, plan: Planner, replan: Replan) -> dict[str, Any]:
    """The whole report. The same inputs give the same report: its times are those of the data."""
    documents = [Document(i.name, i.data, i.sha256) for i in found.inputs]
    brief, merged = briefs.build(documents, title, domain, plan, replan)
    earlier = [_inner(d.data) for d in documents if kind_of(d.data) == briefs.VIEW]
    cards = [_card(found, p, domain) for p in found.products]
    graph = graphs.report(merged) if _entities(brief) else {}
    return {
        "view": VIEW,
        "version": VERSION,
        "title": title,
        "synthetic": sorted({i.name for i in found.inputs if i.origin == SYNTHETIC}),
        "data_as_of": _span(cards),
        "summary": _summary(brief, earlier, cards),
        "products": cards,
        "comparison": tables.comparison(found.material.rows) if len(found.material.rows) > 1 else {},
        "risks": _risks(brief, earlier),
        "business": tables.business((i.name, i.data) for i in found.inputs),
        "research_graph_report": graph,
        "figures": [],
        "figures_left_out": [],
        "missing": _missing(brief, earlier, found),
        "next_actions": _steps(brief, earlier, replan),
        "evidence": {"links": brief["evidence_links"], "inputs": [dict(i.shown) for i in found.inputs]},
    }


def _card(found: Read, product: Product, domain: Domain) -> dict[str, Any]:
    source = found.sources[product.key]
    told = card(product.key, found.views[product.key], place(product, domain))
    return told | {"label": product.label, "source": source.name, "synthetic": source.origin == SYNTHETIC}


def place(product: Product, domain: Domain) -> Domain:
    """The marketplace of a product."""
    return product.subject.domain if product.subject is not None else _CODES.get(product.domain, domain)


def empty(report: Mapping[str, Any]) -> bool:
    """Whether nothing in the inputs can be reported."""
    told = report["summary"]["decisions"] or report["risks"]["items"]
    return not (told or any(report[n] for n in ("products", "comparison", "business", "research_graph_report")))


def sections(report: Mapping[str, Any]) -> list[str]:
    """The parts that the report has something in."""
    return [n for n in PARTS if _filled(report[n])]


def _filled(part: Any) -> bool:
    return any(map(_filled, part.values())) if isinstance(part, Mapping) else bool(part)


def _summary(brief: Mapping[str, Any], earlier: Sequence[Any], cards: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What the inputs conclude, each sentence once; those of a single product stand with the product."""
    said = list(_statements(brief, earlier))
    own = {c["one_line"] for c in cards}
    decisions = [s for s in said if s["text"] not in own] or ([] if cards else said)
    facts = [
        ("Products", len(cards)),
        ("Inputs", len(brief["data_quality"]["inputs"])),
        ("Risks found", brief["risk_summary"]["item_count"]),
        ("Entities", _entities(brief)),
    ]
    return {
        "decisions": decisions,
        "lines": [{"key": c["key"], "asin": c["asin"], "title": c["title"], "text": c["one_line"]} for c in cards],
        "counts": [{"label": name, "text": text_of(n)} for name, n in facts],
    }


def _statements(brief: Mapping[str, Any], earlier: Sequence[Any]) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    parts = [brief, *earlier]
    for row in (r for part in parts for r in rows(section(part, "decision_summary").get("statements"))):
        text = text_of(row.get("text"))
        if text and text not in seen:
            seen.add(text)
            yield {"about": text_of(row.get("about")) or "", "text": text}


def _risks(brief: Mapping[str, Any], earlier: Sequence[Any]) -> dict[str, Any]:
    summaries = [section(part, "risk_summary") for part in (brief, *earlier)]
    items: dict[tuple[str, ...], dict[str, str]] = {}
    for row in (r for s in summaries for r in rows(s.get("items"), 200)):
        asins = [a for a in listed(row.get("asins")) if isinstance(a, str)]
        found = {
            "about": text_of(row.get("about")) or ", ".join(asins),
            "severity": text_of(row.get("severity")) or "",
            "code": text_of(row.get("code")) or "",
            "reason": text_of(row.get("reason")) or "",
        }
        items.setdefault((found["about"], found["code"], found["reason"]), found)
    assessed = any(s.get("status") == "assessed" for s in summaries)
    warnings = (text_of(w.get("text")) for s in summaries for w in rows(s.get("warnings")))
    return {
        "status": "assessed" if assessed else "not_assessed",
        "items": list(items.values()),
        "warnings": list(dict.fromkeys(w for w in warnings if w)),
    }


def _entities(brief: Mapping[str, Any]) -> int:
    """How many things the graphs know, the graphs themselves not counted."""
    counts = brief["entity_graph_summary"]["nodes_by_type"]
    return sum(n for kind, n in counts.items() if kind != NodeType.RESEARCH_GRAPH)


def _missing(brief: Mapping[str, Any], earlier: Sequence[Any], found: Read) -> dict[str, Any]:
    quality = brief["data_quality"]
    said = [t for part in earlier for n in listed(section(part, "data_quality").get("notes")) if (t := text_of(n))]
    held = [p for p in found.material.products if p.subject is not None or p.view is not None]
    rest = len(held) - len(found.views)
    notes = [f"{rest:,} more products are left out here: {len(found.views):,} are shown."] if rest > 0 else []
    return {
        "facts": [
            {"fact": label(r["fact"]), "reason": why(r["reason"]), "for": ", ".join(map(str, r["for"]))}
            for r in quality["missing"]
        ],
        "notes": [*notes, *(said if earlier else quality["notes"])],
    }


def _steps(brief: Mapping[str, Any], earlier: Sequence[Any], replan: Replan) -> list[dict[str, Any]]:
    """What the inputs suggest, each command once; what earlier briefs suggest is checked anew."""
    found = list(brief["follow_up_plan"]["steps"])
    for row in (r for part in earlier for r in rows(section(part, "follow_up_plan").get("steps"))):
        step = replan(row) if {"command", "params"} <= set(row) else None
        found += [step] if step else []
    by_cli = {step["cli"]: {n: step[n] for n in STEP if n in step} for step in reversed(found) if "cli" in step}
    return list(by_cli.values())[::-1]


def _span(cards: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The oldest and the newest answer behind the products."""
    times = sorted(t["at"] for c in cards for t in c["times"] if t["label"] == "Data as of")
    return {"from": times[0], "until": times[-1]} if times else {}


def _inner(data: Any) -> Mapping[str, Any]:
    found = unwrapped(data)
    return found if isinstance(found, Mapping) else {}
