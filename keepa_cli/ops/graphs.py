"""Pictures of price history, drawn by Keepa."""

from __future__ import annotations

from typing import Annotated, Any

from keepa_cli.core.registry import Param, Request, operation
from keepa_cli.keepa import costs, graph
from keepa_cli.ops._pairs import Pair, pairs
from keepa_cli.ops._params import Asin, Domain, domain_id

Switch = Annotated[bool | None, Param(parse=graph.switch, accepts=("boolean", "integer"))]
Colour = Annotated[str | None, Param(metavar="RRGGBB", parse=graph.colour)]
COLOURS = {
    "c_background": "cBackground", "c_font": "cFont", "c_amazon": "cAmazon", "c_new": "cNew", "c_used": "cUsed",
    "c_sales": "cSales", "c_fba": "cFBA", "c_fbm": "cFBM", "c_bb": "cBB", "c_bbu": "cBBU", "c_ld": "cLD",
    "c_wd": "cWD", "c_pe": "cPE",
}  # fmt: skip
PLAIN = (*graph.SERIES, "yzoom", "title", "legend", "subranks", "monthlysold", *graph.RANGES)
WIRE = COLOURS | {name: name for name in PLAIN}
"""Parameters by the names they have here and over the wire."""


def _view(picture: Any, _: dict[str, Any]) -> dict[str, Any]:
    width, height = graph.size(picture) or (None, None)
    return {"format": "png", "width": width, "height": height, "size_bytes": len(picture)}


@operation(
    "graphs.image",
    toolset="research",
    cacheable=False,
    cost=lambda _: costs.graphimage(),
    view=_view,
    examples=(
        "kc graphs image B001GZ6QEC --domain US --out graph.png",
        "kc graphs image B001GZ6QEC --range 365 --width 800 --height 400 --salesrank --dry-run",
        "kc graphs image B001GZ6QEC --no-amazon --bb --c-bb ff8800 --live --out graph.png",
    ),
)
def image(
    asin: Annotated[Asin, Param("The product.", position=True)],
    domain: Domain = "US",
    range: Annotated[int | None, Param("Days back from today [90].", metavar="DAYS", min=1, max=10_000)] = None,  # noqa: A002
    width: Annotated[int | None, Param("Pixels, 300-1800 [500].", metavar="PX", min=300, max=1800)] = None,
    height: Annotated[int | None, Param("Pixels, 150-1800 [200].", metavar="PX", min=150, max=1800)] = None,
    amazon: Annotated[Switch, Param("Amazon's price (shown unless --no-amazon).")] = None,
    new: Annotated[Switch, Param("The lowest new price (shown unless --no-new).")] = None,
    used: Annotated[Switch, Param("The lowest used price.")] = None,
    salesrank: Annotated[Switch, Param("The sales rank.")] = None,
    bb: Annotated[Switch, Param("The buy box price.")] = None,
    bbu: Annotated[Switch, Param("The used buy box price.")] = None,
    fba: Annotated[Switch, Param("The lowest new price fulfilled by Amazon.")] = None,
    fbm: Annotated[Switch, Param("The lowest new price fulfilled by the merchant.")] = None,
    ld: Annotated[Switch, Param("Lightning deals.")] = None,
    wd: Annotated[Switch, Param("Warehouse deals.")] = None,
    pe: Annotated[Switch, Param("Prime exclusive prices.")] = None,
    yzoom: Annotated[Switch, Param("Fit the price axis to the prices (unless --no-yzoom).")] = None,
    title: Annotated[Switch, Param("The title of the product (shown unless --no-title).")] = None,
    legend: Annotated[Switch, Param("A legend.")] = None,
    lw: Annotated[
        float | None, Param("Line width, 1-10.", metavar="WIDTH", parse=lambda v: graph.number("lw", v))
    ] = None,
    types: Annotated[list[int], Param("Draw these price types by index: 0-30, 32-35.", metavar="INDEX")] = [],  # noqa: B006
    subranks: Annotated[Switch, Param("A second chart with the ranks in subcategories.")] = None,
    monthlysold: Annotated[Switch, Param("A second chart with the units sold per month.")] = None,
    c_background: Annotated[Colour, Param("Colour of the background.")] = None,
    c_font: Annotated[Colour, Param("Colour of the texts.")] = None,
    c_amazon: Annotated[Colour, Param("Colour of --amazon.")] = None,
    c_new: Annotated[Colour, Param("Colour of --new.")] = None,
    c_used: Annotated[Colour, Param("Colour of --used.")] = None,
    c_sales: Annotated[Colour, Param("Colour of --salesrank.")] = None,
    c_fba: Annotated[Colour, Param("Colour of --fba.")] = None,
    c_fbm: Annotated[Colour, Param("Colour of --fbm.")] = None,
    c_bb: Annotated[Colour, Param("Colour of --bb.")] = None,
    c_bbu: Annotated[Colour, Param("Colour of --bbu.")] = None,
    c_ld: Annotated[Colour, Param("Colour of --ld.")] = None,
    c_wd: Annotated[Colour, Param("Colour of --wd.")] = None,
    c_pe: Annotated[Colour, Param("Colour of --pe.")] = None,
    param: Annotated[list[Pair], Param("Any other parameter of the picture.")] = [],  # noqa: B006
) -> Request:
    """Download the picture of a product's price history: a PNG, written to --out.

    Costs 1 token, nothing when the same picture was asked for within 90 minutes; the answer does not say which.
    """
    given = {WIRE[name]: value for name, value in locals().items() if name in WIRE}
    known = {"domain": domain_id(domain, "graphimage"), "asin": asin} | given | {"types": types or None}
    return Request("GET", "/graphimage", graph.query(known, pairs(param)), binary=True)
