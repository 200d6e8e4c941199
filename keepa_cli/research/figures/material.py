"""What figures are drawn from, out of any input: products with histories, views, comparisons, rows, graphs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.keepa.domains import DOMAINS, Domain
from keepa_cli.research.compare import VIEW as COMPARE_VIEW
from keepa_cli.research.compare import Comparison
from keepa_cli.research.figures.model import ANSWER, COMPARED, GRAPH, ROWS, VIEW, Product
from keepa_cli.research.figures.risks import UNRATED, Judged
from keepa_cli.research.figures.rows import subjects_of_rows
from keepa_cli.research.figures.text import clean
from keepa_cli.research.graph.find import Source, graphs_in, is_graph
from keepa_cli.research.inputs import product_views, raw_products, unwrapped
from keepa_cli.research.needs import Planner
from keepa_cli.research.subject import Subject

_PLAIN = re.compile(r"[0-9A-Z]{1,20}")
_ASIN = re.compile(r"[0-9A-Z]{10}")
_CODES = frozenset(d.code for d in DOMAINS.values())
FOUND = frozenset({"found", "unasked"})


@dataclass
class Material:
    """Everything in the inputs that can be drawn, in their order. `empty` names inputs that hold nothing of it."""

    plan: Planner
    domain: Domain
    only: Collection[str] = ()
    products: list[Product] = field(default_factory=list)
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    judged: list[Judged] = field(default_factory=list)
    graphs: list[Source] = field(default_factory=list)
    bases: dict[str, set[str]] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    _known: dict[tuple[str, str], Product] = field(default_factory=dict, repr=False)
    _comparisons: dict[str, Comparison] = field(default_factory=dict, repr=False)

    def add(self, name: str, data: Any) -> None:
        """Take what an input holds; nothing in it makes this raise."""
        before = self._count()
        raw = list(raw_products(data, self.domain))
        for subject in raw:
            self._subject(subject, ANSWER)
        for subject, cut in subjects_of_rows(unwrapped(data), self.domain):
            self._subject(subject, ROWS, cut)
        for view in product_views(data):
            self._view(view)
        self._comparison(unwrapped(data))
        if not raw:
            for path, graph in ((p, g) for p, g in graphs_in(data) if is_graph(g)):
                self.graphs.append(Source(name, graph, path))
                self._based("graphs", GRAPH)
        if self._count() == before:
            self.empty.append(name)

    def finish(self) -> None:
        """Once all inputs were added: the rows, risks and graphs of the products that came with their histories."""
        for code, comparison in self._comparisons.items():
            found = comparison.result()
            for row in found["rows"]:
                self.rows.append(row | {"asin": self._label(row["asin"], code)})
            for asin, items in comparison.risks.items():
                self.judged.append(Judged(self._label(asin, code), items))
            self.graphs += [Source(f"{code}:{asin}", graph) for asin, graph in comparison.graphs.items()]
            for what in ("rows", "judged", "graphs"):
                self._based(what, ANSWER)

    def basis(self, what: str) -> str:
        return "+".join(sorted(self.bases.get(what, set())))

    def without_history(self) -> dict[str, list[str]]:
        """The products that came without their history, by marketplace."""
        found: dict[str, list[str]] = {}
        for product in self.products:
            held = product.subject is not None and (product.subject.asked.history or not product.subject.usable)
            if not held and _ASIN.fullmatch(product.key) and product.domain in _CODES:
                found.setdefault(product.domain, []).append(product.key)
        return found

    def _count(self) -> int:
        return len(self.products) + len(self.rows) + len(self.judged) + len(self.graphs)

    def _wanted(self, asin: Any) -> bool:
        return not self.only or (isinstance(asin, str) and asin.upper() in self.only)

    def _subject(self, subject: Subject, basis: str, cut: str = "") -> None:
        if not subject.asin or not self._wanted(subject.asin):
            return
        title = _title(subject.product.get("title"))
        product = self._product(subject.asin, subject.domain.code, title, basis)
        if product.subject is not None and product.subject.asked.history:
            return
        product.subject, product.basis, product.cut = subject, basis, cut
        if basis == ANSWER:
            code = subject.domain.code
            self._comparisons.setdefault(code, Comparison(self.plan)).add(subject)

    def _view(self, view: Mapping[str, Any]) -> None:
        identity = _section(view, "identity")
        asin = identity.get("asin")
        if not isinstance(asin, str) or not asin or not self._wanted(asin):
            return
        code = str(identity.get("domain") or self.domain.code)
        product = self._product(asin, code, _title(identity.get("title")), VIEW)
        if product.view is None and product.subject is None:
            product.view = view
            self.rows.append(_row(product.label, view))
            self._based("rows", VIEW)
            if isinstance(_section(view, "risk_taxonomy").get("items"), list):
                self._judge(product.label, _section(view, "risk_taxonomy")["items"], VIEW)

    def _comparison(self, data: Any) -> None:
        if not isinstance(data, Mapping) or data.get("view") != COMPARE_VIEW:
            return
        rows = [r for r in _list(data.get("rows")) if isinstance(r, Mapping) and isinstance(r.get("asin"), str)]
        worst = {
            (code, case.get("worst", {}).get("asin")): case["worst"]
            for code, case in _section(data, "risk_summary").items()
            if isinstance(case, Mapping) and isinstance(case.get("worst"), Mapping)
        }
        codes_of = dict(_homes(data))
        for row in rows:
            if not self._wanted(row["asin"]):
                continue
            home = codes_of.get(row["asin"], self.domain.code)
            label = clean(row["asin"])
            codes = [c for c in _list(row.get("risk_codes")) if isinstance(c, str)]
            items = [{"code": c, "severity": UNRATED} | worst.get((c, row["asin"]), {}) for c in codes]
            self._judge(label, items, COMPARED)
            if row.get("status", "found") in FOUND:
                self.rows.append({**row, "asin": label})
                self._based("rows", COMPARED)
                self._product(row["asin"], home, _title(row.get("title")), COMPARED)

    def _product(self, asin: str, code: str, title: str, basis: str) -> Product:
        """The product of an ASIN and a marketplace, new where it is the first time."""
        known = self._known.get((asin, code))
        if known is None:
            plain = asin if _PLAIN.fullmatch(asin) else f"product-{len(self.products) + 1}"
            others = [p for p in self.products if p.key == plain or p.key.startswith(f"{plain}-")]
            key = f"{plain}-{code}" if others and code.isalnum() else plain
            label = clean(asin)[:20] if not others else f"{clean(asin)[:20]} {clean(code)[:4]}"
            known = self._known[asin, code] = Product(key, label, title, clean(code)[:4], basis)
            self.products.append(known)
        return known

    def _label(self, asin: str, code: str) -> str:
        return next((p.label for (a, c), p in self._known.items() if a.upper() == asin and c == code), asin)

    def _judge(self, label: str, items: Any, basis: str) -> None:
        self.judged.append(Judged(label, [i for i in items if isinstance(i, Mapping)]))
        self._based("judged", basis)

    def _based(self, what: str, basis: str) -> None:
        self.bases.setdefault(what, set()).add(basis)


def _homes(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(ASIN, marketplace) of the products in the graph of a comparison: its rows do not tell the marketplace."""
    for node in _list(_section(data, "research_graph").get("nodes")):
        parts = str(node.get("id")).split(":") if isinstance(node, Mapping) else []
        if len(parts) == 3 and parts[0] == "product":
            yield parts[2], parts[1]


def _row(label: str, view: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a comparison, from the sections of a product view."""
    pricing, demand, rating, offers = (_section(view, n) for n in ("pricing", "demand", "rating", "offers"))
    return {
        "asin": label,
        "title": _section(view, "identity").get("title"),
        "new_price": pricing.get("new"),
        "buy_box_price": pricing.get("buy_box"),
        "sales_rank": demand.get("sales_rank"),
        "monthly_sold": demand.get("monthly_sold"),
        "rating": rating.get("rating"),
        "review_count": rating.get("review_count"),
        "offer_count": offers.get("new_offer_count"),
    }


def _title(value: Any) -> str:
    return clean(value) if isinstance(value, str) else ""


def _section(view: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = view.get(name)
    return found if isinstance(found, Mapping) else {}


def _list(value: Any) -> Iterator[Any]:
    yield from value if isinstance(value, list) else ()
