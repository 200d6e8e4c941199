"""Which figures belong to which set, and all figures of a set from what the inputs hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from keepa_cli.research.figures import graph, history, metrics, multiples, risks, windows
from keepa_cli.research.figures.material import Material
from keepa_cli.research.figures.model import Figure, Product, Skipped
from keepa_cli.research.graph.merge import merge_graphs
from keepa_cli.research.subject import Subject

FigureSet = Literal["all", "history", "compare", "audit"]
SETS: Mapping[str, tuple[str, ...]] = {
    "history": ("history", "signals", "windows"),
    "compare": ("metrics", "multiples-prices", "multiples-ranks"),
    "audit": ("risks", "graph"),
}
"""The one table. The set `all` is every figure in this order."""
ALL = tuple(name for names in SETS.values() for name in names)
PER_PRODUCT = frozenset(SETS["history"])
MOST_PRODUCTS = 8
"""Products with figures of their own in one run."""
NO_HISTORY = "The input holds no history of it."


def names_of(figure_set: str) -> tuple[str, ...]:
    return SETS.get(figure_set, ALL)


def figures(material: Material, figure_set: str) -> Iterator[Figure | Skipped]:
    """Every figure of the set in order, made when it is asked for; what cannot be made is told with its reason."""
    for name in names_of(figure_set):
        if name in PER_PRODUCT:
            yield from _each(name, material)
        else:
            made = SHARED[name](material)
            yield Skipped(name, made) if isinstance(made, str) else made


def _each(name: str, material: Material) -> Iterator[Figure | Skipped]:
    if not material.products:
        yield Skipped(name, "The input holds no product.")
    drawn, reasons = _with_data(name, material.products)
    yield from (Skipped(name, reason) for reason in reasons)
    for product in drawn[:MOST_PRODUCTS]:
        made = OWN[name](product)
        yield Skipped(f"{name}-{product.key}", made) if isinstance(made, str) else made
    rest = drawn[MOST_PRODUCTS:]
    if rest:
        reason = f"Each run draws {MOST_PRODUCTS} products; {_named(rest)} are left out: choose with --asin."
        yield Skipped(f"{name}-more", reason)


def _with_data(name: str, products: Sequence[Product]) -> tuple[list[Product], list[str]]:
    """The products that have what the figure is made from, and why the others have not."""
    views = [p for p in products if p.subject is None and p.view is not None]
    compared = [p for p in products if p.subject is None and p.view is None]
    reasons = []
    if compared:
        what = "change over windows" if name == "windows" else "history"
        reasons.append(f"A comparison holds no {what} of {_named(compared)}: give the products as Keepa sent them.")
    if views and name != "windows":
        reasons.append(
            f"A product view holds no whole history of {_named(views)}: give the products as Keepa sent them "
            "(kc products get --full --out FILE) or the rows of history export."
        )
    return [p for p in products if p.subject is not None or (p.view is not None and name == "windows")], reasons


def _named(products: Sequence[Product]) -> str:
    rest = f" and {len(products) - 5} more" if len(products) > 5 else ""
    return ", ".join(p.label for p in products[:5]) + rest


def _of_history(make: Callable[[Product, Subject], Figure | str]) -> Callable[[Product], Figure | str]:
    return lambda product: make(product, product.subject) if product.subject is not None else NO_HISTORY


def _windows(product: Product) -> Figure | str:
    if product.subject is not None:
        if not product.subject.usable or not product.subject.asked.history:
            return history.nothing(product, product.subject, "price and no rank")
        return windows.windows(product, windows.cells_of(product.subject))
    cells = windows.cells_of_view(product.view or {})
    if not cells:
        return f"The view of {product.label} has no temporal_features: ask for --view research."
    return windows.windows(product, cells)


def _basis(material: Material) -> str:
    return "+".join(sorted({p.basis for p in material.products if p.subjects}))


def _metrics(material: Material) -> Figure | str:
    rows = [r for r in material.rows if r.get("status") not in {"invalid", "not_found"}]
    return metrics.metrics(rows, material.basis("rows"))


def _graph(material: Material) -> Figure | str:
    if not material.graphs:
        return "The input holds no research graph and no product to make one of."
    if len(material.graphs) == 1 and isinstance(material.graphs[0].graph, Mapping):
        return graph.graph(material.graphs[0].graph, material.basis("graphs"))
    merged = merge_graphs(material.graphs, "all inputs")
    return graph.graph(merged["research_graph"], material.basis("graphs"))


OWN: Mapping[str, Callable[[Product], Figure | str]] = {
    "history": _of_history(history.history),
    "signals": _of_history(history.signals),
    "windows": _windows,
}
SHARED: Mapping[str, Callable[[Material], Figure | str]] = {
    "metrics": _metrics,
    "multiples-prices": lambda m: multiples.prices(m.products, _basis(m)),
    "multiples-ranks": lambda m: multiples.ranks(m.products, _basis(m)),
    "risks": lambda m: risks.risks(m.judged, m.basis("judged")),
    "graph": _graph,
}
