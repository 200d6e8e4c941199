"""From data to HTML and Markdown. Everything that a template prints is escaped unless this module made it markup."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from keepa_cli.research.figures.text import clean, cut
from keepa_cli.research.reports import graphs, markdown
from keepa_cli.research.reports.build import sections
from keepa_cli.research.reports.drawn import Drawn
from keepa_cli.research.reports.texts import label, moment, why

if TYPE_CHECKING:
    from jinja2 import Environment

Look = Literal["auto", "light", "dark"]
TITLES: Mapping[str, str] = {
    "summary": "Summary", "comparison": "Side by side", "figures": "Figures", "products": "Products",
    "risks": "Risks", "business": "Business figures", "research_graph_report": "Research graph",
    "missing": "Missing data", "next_actions": "Next steps", "evidence": "Evidence and provenance",
}  # fmt: skip
_BLANKS = re.compile(r"\n{3,}")
_EDGES = re.compile(r"[ \t]+$|^[ \t]+", re.M)
SHORT = 90


def html(report: Mapping[str, Any], drawn: Sequence[Drawn], theme: Look) -> str:
    """One page that needs nothing else."""
    style = stylesheet(theme)
    own, shared = by_product(report["products"], drawn)
    keys = {c["label"]: f"#p-{c['key']}" for c in report["products"]}
    filled = set(sections(report)) | {"evidence"} | ({"figures"} if shared else set())
    named = [n for n in TITLES if n in filled and (n != "figures" or shared)]
    return environment().get_template("report.html.j2").render(
        r=report, own=own, shared=shared, links=keys, titles=TITLES, sections=named, style=style,
        graph=_graph(report), csp=policy([style]),
    )  # fmt: skip


def text(report: Mapping[str, Any], drawn: Sequence[Drawn]) -> str:
    """The report as Markdown; its figures are files whose paths it names."""
    own, shared = by_product(report["products"], drawn)
    made = markdown_environment().get_template("report.md.j2").render(
        r=report, own=own, shared=shared, titles=TITLES, graph=_graph(report), sections=sections(report)
    )  # fmt: skip
    return _BLANKS.sub("\n\n", _EDGES.sub("", made)).strip() + "\n"


def _graph(report: Mapping[str, Any]) -> dict[str, Any]:
    found = report["research_graph_report"]
    return graphs.shown(found) if found else {}


def by_product(
    cards: Iterable[Mapping[str, Any]], drawn: Sequence[Drawn]
) -> tuple[dict[str, list[Drawn]], list[Drawn]]:
    """The figures of each product, and those of all."""
    own: dict[str, list[Drawn]] = {str(c["key"]): [d for d in drawn if d.product == c["key"]] for c in cards}
    return own, [d for d in drawn if d.product not in own]


def policy(styles: Sequence[str], scripts: Sequence[str] = ()) -> str:
    """A policy under which a page loads nothing from anywhere, and runs nothing but its own script."""
    parts = ["default-src 'none'", "img-src data:", f"style-src {_hashes(styles)}"]
    parts += [f"script-src {_hashes(scripts)}"] if scripts else []
    return "; ".join([*parts, "base-uri 'none'", "form-action 'none'"])


def _hashes(texts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(t.encode()).digest()).decode() for t in texts)
    return " ".join(f"'sha256-{d}'" for d in digests)


def stylesheet(theme: Look) -> Any:
    """The style of a page, as markup."""
    from markupsafe import Markup

    made = environment().get_template("style.css.j2").render(theme=theme)
    return Markup(re.sub(r"\n{2,}", "\n", made).strip())  # noqa: S704 - a template of ours without foreign text


def script(template: str) -> Any:
    """A script of ours, as markup."""
    from markupsafe import Markup

    return Markup(environment().get_template(template).render().strip())  # noqa: S704 - no foreign text in it


@cache
def environment() -> Environment:
    """Templates that escape for HTML."""
    found = _environment(autoescape=True, finalize=_visible)
    found.filters |= _FILTERS
    return found


@cache
def markdown_environment() -> Environment:
    """Templates that escape for Markdown."""
    from markupsafe import Markup

    def marked(make: Callable[[Any], str]) -> Callable[[Any], Markup]:
        return lambda value: Markup(make(value))  # noqa: S704 - made for Markdown by functions that escape

    def finalize(value: Any) -> Any:
        return value if isinstance(value, Markup) else markdown.escaped(value)

    found = _environment(autoescape=False, finalize=finalize, trim_blocks=True, lstrip_blocks=True)
    found.filters |= _FILTERS | {
        "code": marked(markdown.code),
        "block": marked(lambda line: markdown.block([str(line)])),
        "path": marked(markdown.path),
        "address": marked(str),
        "value": _value,
    }
    return found


def _environment(**options: Any) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader

    loaders = [PackageLoader(f"keepa_cli.research.{name}") for name in ("reports", "browse")]
    return Environment(loader=ChoiceLoader(loaders), keep_trailing_newline=True, **options)  # noqa: S701


def _visible(value: Any) -> Any:
    """Text without characters that turn the reading order or cannot be shown; markup of ours as it is."""
    return clean(value) if type(value) is str else value


def _value(fact: Mapping[str, Any]) -> str:
    shown: str | None = fact["text"]
    return why(fact["absent"]["text"]) if shown is None else shown


def _line(facts: Iterable[Mapping[str, Any]]) -> str:
    return " · ".join(f"{f['label']} {f['text']}" for f in facts if f["text"] is not None)


_FILTERS: dict[str, Callable[..., Any]] = {
    "why": why,
    "words": label,
    "moment": lambda at: moment(at) or "",
    "day": lambda at: at[:10] if moment(at) else "",
    "short": lambda text: cut(text, SHORT),
    "count": lambda n: f"{n:,}",
    "line": _line,
    "clean": clean,
}
