"""Reports: what is known of products as Markdown, one HTML page or JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.errors import invalid
from keepa_cli.core.registry import Param, operation
from keepa_cli.ops import _inputs, _outputs
from keepa_cli.ops._names import REPORTS_BUILD
from keepa_cli.ops._params import Domain

if TYPE_CHECKING:
    from keepa_cli.research.reports.drawn import Drawn

VIEW = "reports_build"
SUFFIXES = {"markdown": ".md", "html": ".html", "json": ".json"}
LONGEST_TITLE = 200
INLINE = 96 << 10
"""Bytes of a report that an answer passes on by itself."""
Format = Literal["markdown", "html", "json"]
Files = Annotated[_inputs.Inputs, Param(position=True)]


@operation(
    REPORTS_BUILD,
    toolset="reports",
    effect="write_local",
    examples=(
        "kc reports build product.json --format html --out report.html",
        "kc reports build compare.json brief.json velocity.json --out-dir report",
        "kc reports build --fixture product_B0PPJ248DY_full --title 'Dog leads' --out report.md",
    ),
)
def build(
    ctx: Context,
    input: Files = [],  # noqa: A002, B006
    fixture: _inputs.Fixtures = [],  # noqa: B006
    payload: _inputs.Payload | None = None,
    title: Annotated[str, Param("Title of the report.", metavar="TEXT")] = "Product research",
    format: Annotated[  # noqa: A002
        Format | None, Param("Form of the report; without it the ending of --out decides, else markdown.")
    ] = None,
    out: Annotated[
        str | None, Param("Write the report to this file; figures of Markdown go beside it.", metavar="FILE")
    ] = None,
    out_dir: Annotated[str | None, Param("Write report and figures into this folder.", metavar="FOLDER")] = None,
    figure_set: Annotated[Literal["all", "history", "compare", "audit"], Param("Which figures to draw.")] = "all",
    figure: Annotated[
        list[str], Param("Show this SVG or PNG instead of drawing. Repeatable.", metavar="FILE", whole=True)
    ] = [],  # noqa: B006
    no_figures: Annotated[bool, Param("Draw no figures.")] = False,
    theme: Annotated[
        Literal["auto", "light", "dark"], Param("Colours; auto follows the reader's screen in HTML.")
    ] = "auto",
    domain: Annotated[Domain, Param("Marketplace of products that do not name theirs.")] = "US",
) -> dict[str, Any]:
    """Build a report from product views, answers of Keepa, comparisons, graphs, briefs or business figures.

    Works on this machine only and costs nothing. HTML is one page that loads nothing. Numbers are those of the views;
    what came from the sandbox is marked as synthetic. The same inputs give the same bytes. Without --out or --out-dir
    a small report comes as `text`, without figures. Figures need the extra figures.
    """
    chosen = _format(format, out)
    _check(ctx, title, out, out_dir)
    given = _inputs.read(ctx, input, fixture, payload)
    writes = bool(out or out_dir)
    wishes = Wishes(chosen, theme, figure_set, figure, not no_figures and writes, writes)
    report, drawn, warnings = _made(ctx, given, title.strip(), domain, wishes)
    if not writes and not no_figures:
        warnings.append({"code": "figures_left_out", "message": "Figures need --out or --out-dir."})
    data = _answer(report, chosen, drawn)
    folder = _folder(out, out_dir)
    for one in drawn:
        one.path = f"{folder}/{one.name}.{one.suffix}" if chosen != "html" else f"#figure-{one.name}"
    data["figures"] = report["figures"] = [d.described() for d in drawn]
    content = _rendered(report, chosen, drawn, theme)
    data |= _kept(ctx, content, chosen, drawn, out, out_dir)
    return data | ({"warnings": warnings} if warnings else {})


class Wishes:
    """What the caller wants of figures."""

    def __init__(self, form: str, theme: str, figure_set: str, files: Sequence[str], draw: bool, writes: bool) -> None:
        self.figure_set, self.files = figure_set, files
        self.draw = draw and not files
        self.show_given = writes
        both = theme == "auto" and form == "html"
        self.themes = ("light", "dark") if both else ("dark",) if theme == "dark" else ("light",)


def _format(given: str | None, out: str | None) -> str:
    if given:
        return given
    ending = PurePath(out).suffix.lower() if out else ""
    return {".html": "html", ".htm": "html", ".json": "json"}.get(ending, "markdown")


def _check(ctx: Context, title: str, out: str | None, out_dir: str | None) -> None:
    """Everything that can be refused before the work is done."""
    if not title.strip() or len(title) > LONGEST_TITLE:
        raise invalid(f"--title takes 1 to {LONGEST_TITLE} characters.", field="title", value=title[:80])
    if out and out_dir:
        raise invalid("Give --out or --out-dir, not both.", field="out_dir", value=out_dir)
    if out:
        _outputs.target(ctx, out)
    if out_dir:
        _outputs.target(ctx, out_dir, folder=True)


def _made(
    ctx: Context, given: Sequence[_inputs.Given], title: str, domain: str, wishes: Wishes
) -> tuple[dict[str, Any], list[Drawn], list[dict[str, Any]]]:
    from keepa_cli.keepa.domains import resolve
    from keepa_cli.ops import _report_parts as parts
    from keepa_cli.ops._actions import planner
    from keepa_cli.research.reports import build as reports

    place = resolve(domain)
    found = parts.read(ctx, parts.inputs(ctx, given), place, reports.MOST_PRODUCTS)
    report = reports.build(found, title, place, planner(ctx), parts.replan(ctx))
    if reports.empty(report):
        raise parts.nothing(given)
    drawn = parts.given_figures(ctx, wishes.files) if wishes.show_given else []
    warnings: list[dict[str, Any]] = []
    if wishes.draw:
        lacking = parts.can_draw()
        if lacking:
            warnings.append(lacking)
        else:
            drawn, report["figures_left_out"] = parts.draw(ctx, found, wishes.figure_set, wishes.themes)
    return report, drawn, warnings


def _answer(report: Mapping[str, Any], form: str, drawn: Sequence[Drawn]) -> dict[str, Any]:
    from keepa_cli.research.reports.build import sections

    return {
        "view": VIEW,
        "title": report["title"],
        "format": form,
        "sections": [*sections(report), *(["figures"] if drawn else [])],
        "products": [{"asin": c["asin"], "domain": c["domain"], "one_line": c["one_line"]} for c in report["products"]],
        "synthetic": report["synthetic"],
        "inputs": report["evidence"]["inputs"],
        "figures": [],
        "figures_left_out": report["figures_left_out"],
        "next_actions": [{k: v for k, v in step.items() if k != "for"} for step in report["next_actions"]],
    }


def _folder(out: str | None, out_dir: str | None) -> str:
    """Where figures are, as a report beside them names it."""
    return "figures" if out_dir or not out else f"{PurePath(out).stem}-figures"


def _rendered(report: Mapping[str, Any], form: str, drawn: Sequence[Drawn], theme: Any) -> bytes:
    from keepa_cli.keepa.strictjson import dump_json
    from keepa_cli.research.reports import page

    if form == "json":
        return f"{dump_json(report)}\n".encode()
    made = page.html(report, drawn, theme) if form == "html" else page.text(report, drawn)
    return made.encode("utf-8", "replace")


def _kept(
    ctx: Context, content: bytes, form: str, drawn: Sequence[Drawn], out: str | None, out_dir: str | None
) -> dict[str, Any]:
    """Write the report, its figures first: a report never names a figure that is not there."""
    files = {} if form == "html" else {d.path.rpartition("/")[2]: next(iter(d.files.values())) for d in drawn}
    count = len(drawn)
    if out_dir:
        name = f"report{SUFFIXES[form]}"
        all_files = {f"figures/{n}": data for n, data in files.items()} | {name: content}
        written = _outputs.write_all(ctx, out_dir, all_files)
        return {"output": written[name] | {"format": form, "result_count": count}, "outputs": _others(written, name)}
    if out:
        folder = str(PurePath(out).with_name(_folder(out, None)))
        written = _outputs.write_all(ctx, folder, files) if files else {}
        return {"output": _outputs.write(ctx, out, content, format=form, count=count), "outputs": _others(written, "")}
    if len(content) > INLINE:
        raise invalid(
            f"The report has {len(content):,} bytes: give --out FILE.", field="out", value=None, size_bytes=len(content)
        )
    return {"text": content.decode()}


def _others(written: Mapping[str, Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    return [{k: v for k, v in one.items() if v is not None} for n, one in written.items() if n != name]
