"""The pages of a snapshot, by their names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keepa_cli.keepa.strictjson import dump_json
from keepa_cli.research.browse.rows import COLUMNS, row
from keepa_cli.research.reports import graphs, page
from keepa_cli.research.reports.build import Read, sections
from keepa_cli.research.reports.drawn import Drawn

INDEX, MANIFEST = "index.html", "snapshot.json"
VERSION = "1"
OURS = re.compile(r"(?:index|compare|business|graph|sources)\.html|(?:products|data)/[0-9A-Za-z-]{1,40}\.(?:html|json)")
"""Names that pages of a snapshot have: an earlier list of pages is believed no further than that."""
PAGES: Mapping[str, tuple[str, str]] = {
    "index.html": ("Products", "index.html.j2"),
    "compare.html": ("Side by side", "compare.html.j2"),
    "business.html": ("Business figures", "business.html.j2"),
    "graph.html": ("Research graph", "graph.html.j2"),
    "sources.html": ("Sources", "sources.html.j2"),
}


class Site:
    """The files of a snapshot, made from the content of a report."""

    def __init__(self, report: Mapping[str, Any], found: Read, drawn: Sequence[Drawn], theme: page.Look) -> None:
        self.report, self.found, self.theme = report, found, theme
        self.own, self.shared = page.by_product(report["products"], drawn)
        self.style = page.stylesheet(theme)
        self.script = page.script("site.js.j2")
        graph = report["research_graph_report"]
        self.graph = graphs.shown(graph) if graph else {}
        self.pages = list(self._pages())

    def _pages(self) -> Iterator[str]:
        filled = {
            "compare.html": self.report["comparison"],
            "business.html": self.report["business"],
            "graph.html": self.graph,
        }
        yield from (name for name in PAGES if filled.get(name, True))

    def files(self) -> dict[str, bytes]:
        """Everything that is written, the list of it last."""
        made = {name: self._page(name) for name in self.pages}
        for card in self.report["products"]:
            made[f"products/{card['key']}.html"] = self._product(card)
            made[f"data/{card['key']}.json"] = self._data(card["key"])
        listed = {name: hashlib.sha256(data).hexdigest() for name, data in made.items()}
        about = {"view": "browse_site", "version": VERSION, "title": self.report["title"], "files": listed}
        return made | {MANIFEST: f"{dump_json(about)}\n".encode()}

    def _page(self, name: str) -> bytes:
        title, template = PAGES[name]
        rows = [row(c) for c in self.report["products"]] if name == INDEX else []
        return self._render(template, title, "", here=name, rows=rows, columns=COLUMNS)

    def _product(self, card: Mapping[str, Any]) -> bytes:
        drawn = self.own.get(card["key"], [])
        return self._render("product.html.j2", card["title"] or card["asin"], "../", here="", c=card, drawn=drawn)

    def _render(self, template: str, title: str, up: str, **more: Any) -> bytes:
        scripts = [self.script] if more["here"] == INDEX else []
        made: str = page.environment().get_template(template).render(
            r=self.report, heading=title, up=up, style=self.style, script=self.script, graph=self.graph,
            nav=[(name, PAGES[name][0]) for name in self.pages], csp=page.policy([self.style], scripts),
            links={c["label"]: f"{up}products/{c['key']}.html" for c in self.report["products"]},
            shared=self._shared(more["here"]), theme=self.theme, filled=sections(self.report), **more,
        )  # fmt: skip
        return made.encode("utf-8", "replace")

    def _shared(self, here: str) -> list[Drawn]:
        """The figures of all products, on the page that they belong to."""
        wanted = {"graph.html": ("graph",), "compare.html": ("metrics", "multiples-prices", "multiples-ranks", "risks")}
        return [d for d in self.shared if d.name in wanted.get(here, ())]

    def _data(self, key: str) -> bytes:
        """The product as Keepa sent it, where the inputs hold that; else its view."""
        product = next(p for p in self.found.products if p.key == key)
        data = product.subject.product if product.subject is not None else self.found.views[key]
        return f"{dump_json(data)}\n".encode("utf-8", "replace")


def earlier(text: str) -> dict[str, str]:
    """The files of an earlier snapshot with their hashes, out of its list; nothing where that is not one of ours."""
    from keepa_cli.keepa.strictjson import load_json

    try:
        found = load_json(text.encode())
    except (ValueError, RecursionError):
        return {}
    files = found.get("files") if isinstance(found, Mapping) and found.get("view") == "browse_site" else None
    listed = files.items() if isinstance(files, Mapping) else ()
    return {n: h for n, h in listed if OURS.fullmatch(n) and isinstance(h, str)}
