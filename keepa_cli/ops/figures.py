"""Figures: price and rank history, changes, comparisons, risks and graphs as SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.registry import Param, operation
from keepa_cli.ops import _inputs, _outputs
from keepa_cli.ops._names import FIGURES_RESEARCH, REPORTS_BUILD
from keepa_cli.ops._params import Asin, Domain

if TYPE_CHECKING:
    from keepa_cli.research.figures.material import Material
    from keepa_cli.research.figures.model import Figure, Skipped

VIEW = "figures_research"
BOTH = "both"
Format = Literal["svg", "png", "both"]
Look = Literal["light", "dark", "both"]


@operation(
    FIGURES_RESEARCH,
    toolset="reports",
    effect="write_local",
    examples=(
        "kc figures research --input product.json --out-dir figures",
        "kc figures research --input compare.json --figure-set compare --theme both --format png --out-dir figures",
        "kc figures research --fixture product_B0PPJ248DY_full --figure-set history --out-dir figures",
    ),
)
def research(
    ctx: Context,
    out_dir: Annotated[str, Param("Folder to write the figures to.", metavar="FOLDER")],
    input: _inputs.Inputs = [],  # noqa: A002, B006
    fixture: _inputs.Fixtures = [],  # noqa: B006
    payload: _inputs.Payload | None = None,
    figure_set: Annotated[
        Literal["all", "history", "compare", "audit"],
        Param("history: prices, rank, offers, changes; compare: products side by side; audit: risks and graph."),
    ] = "all",
    format: Annotated[Format, Param("File format; PNG files have twice the pixels.")] = "svg",  # noqa: A002
    theme: Annotated[Look, Param("Colours.")] = "light",
    asin: Annotated[list[Asin], Param("Draw these products only.")] = [],  # noqa: B006
    domain: Annotated[Domain, Param("Marketplace of products that do not name theirs.")] = "US",
    specs: Annotated[bool, Param("Also write the Vega-Lite specification of each figure.")] = False,
) -> dict[str, Any]:
    """Draw figures from products, product views, comparisons, history rows or research graphs.

    Works on this machine only and costs nothing; needs the extra figures. Each figure has its source data beside it
    as JSON. What the inputs cannot give is listed in `skipped` with its reason. The same inputs give the same bytes.
    """
    from keepa_cli.research.figures import sets
    from keepa_cli.research.figures.render import renderer

    _outputs.target(ctx, out_dir, folder=True)
    given = _inputs.read(ctx, input, fixture, payload)
    renderer()
    material = _material(ctx, given, asin, domain)
    drawing = Drawing(ctx, given, _pair(format, "svg", "png"), _pair(theme, "light", "dark"), specs)
    for made in sets.figures(material, figure_set):
        drawing.add(made)
    data = {
        "view": VIEW,
        "figure_set": figure_set,
        "available_figure_sets": {"all": list(sets.ALL)} | {name: list(names) for name, names in sets.SETS.items()},
        **drawing.written(out_dir),
        "inputs": [one.described for one in given],
        "next_actions": _next(ctx, {"input": input, "fixture": fixture}, drawing, material),
    }
    warnings = _warnings(material, drawing)
    return data | ({"warnings": warnings} if warnings else {})


def _pair(chosen: str, first: str, second: str) -> tuple[str, ...]:
    return (first, second) if chosen == BOTH else (chosen,)


def _material(ctx: Context, given: Sequence[_inputs.Given], asins: Sequence[str], domain: str) -> Material:
    """What the inputs hold. Raises `missing_inputs` where nothing in them can be drawn."""
    from keepa_cli.keepa.domains import resolve
    from keepa_cli.ops._actions import planner
    from keepa_cli.research.figures.material import Material

    material = Material(planner(ctx), resolve(domain), frozenset(a.upper() for a in asins))
    for one in given:
        material.add(one.name, one.data)
    if len(material.empty) == len(given):
        wanted = f" of {', '.join(asins[:5])}" if asins else ""
        raise KeepaCliError(
            Kind.MISSING_INPUTS,
            f"Nothing{wanted} that can be drawn is in {', '.join(material.empty)[:200]}: give answers of products get, "
            "product views, a comparison, history rows or a research graph.",
            details={Kind.MISSING_INPUTS.value: ["products", "research_graph"], "searched": material.empty},
            next_actions=["kc products get --help"],
        )
    material.finish()
    return material


class Drawing:
    """Figures on their way into files: all of them are written, or none."""

    def __init__(
        self,
        ctx: Context,
        given: Sequence[_inputs.Given],
        formats: Sequence[str],
        themes: Sequence[str],
        specs: bool,
    ) -> None:
        self.ctx, self.formats, self.themes, self.specs = ctx, formats, themes, specs
        self.inputs = [one.described for one in given]
        self.files: dict[str, bytes] = {}
        self.rows: list[tuple[str, str, dict[str, Any]]] = []
        self.skipped: list[dict[str, str]] = []

    def add(self, made: Figure | Skipped) -> None:
        """Draw a figure in every theme and format, or note why there is none."""
        from keepa_cli.research.figures.model import Skipped

        if isinstance(made, Skipped):
            self.skipped.append(made.described)
            return
        self.ctx.tell(f"drawing {made.name}")
        source = f"{made.name}.data.json"
        self.files[source] = _json(made.source(self.inputs))
        for theme in self.themes:
            self._theme(made, theme, source)

    def _theme(self, figure: Figure, theme: Any, source: str) -> None:
        from keepa_cli.research.figures import render

        spec = render.themed(figure, theme)
        if self.specs:
            self.files[f"{figure.name}.{theme}.vl.json"] = _json(spec)
        drawn = render.svg(spec)
        for form in self.formats:
            name = f"{figure.name}.{theme}.{form}"
            content = self.files[name] = drawn if form == "svg" else render.png(spec, drawn)
            width, height = render.size(content)
            row = figure.described | {"format": form, "theme": theme, "width": width, "height": height}
            self.rows.append((name, source, row))

    def written(self, folder: str) -> dict[str, Any]:
        """`{count, figures, skipped}` after the files were written; without a figure nothing is."""
        told = _outputs.write_all(self.ctx, folder, self.files) if self.files else {}
        figures = [
            row
            | {k: told[name][k] for k in ("path", "size_bytes", "sha256")}
            | {"source_data_path": told[source]["path"]}
            for name, source, row in self.rows
        ]
        return {"count": len(figures), "figures": figures, "skipped": self.skipped}


def _json(value: Any) -> bytes:
    from keepa_cli.keepa.strictjson import dump_json

    return f"{dump_json(value)}\n".encode()


def _next(ctx: Context, params: dict[str, Any], drawing: Drawing, material: Material) -> list[dict[str, Any]]:
    """The histories that are missing, and a report from the same inputs where they can be named again."""
    from keepa_cli.ops._actions import planner
    from keepa_cli.research.needs import Need

    plan, found = planner(ctx), []
    for code, asins in material.without_history().items():
        asked = {"asin": asins[:20], "domain": code, "full": True}
        found.append(plan(Need.GET_HISTORY, asked, "Their histories, which the inputs do not hold."))
    named = {name: value for name, value in params.items() if value}
    if drawing.rows and named and _reports_take(named):
        found.append(plan(Need.BUILD_REPORT, named, "Put the figures into a report."))
    return found


def _reports_take(named: dict[str, Any]) -> bool:
    """Whether there is an operation that builds reports from these parameters alone."""
    if REPORTS_BUILD.partition(".")[0] not in ops.families():
        return False
    args = {a.name: a for a in ops.find(REPORTS_BUILD).args}
    return set(named) <= set(args) and not any(a.required and n not in named for n, a in args.items())


def _warnings(material: Material, drawing: Drawing) -> list[dict[str, Any]]:
    found = [{"code": "nothing_to_draw", "message": f"Nothing in {name} can be drawn."} for name in material.empty]
    if not drawing.rows:
        found.append({"code": "no_figures", "message": "No figure could be drawn; `skipped` tells why."})
    return found
