"""Templates: ready-made finder and deals selections for common research."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.registry import Param, operation
from keepa_cli.keepa import domains
from keepa_cli.ops._list_views import write_selection
from keepa_cli.ops._names import DEALS_QUERY, FINDER_QUERY
from keepa_cli.ops._pairs import Pair, pairs
from keepa_cli.ops._params import Domain


@operation(
    "templates.list",
    toolset="research",
    examples=("kc templates list", "kc templates list --kind deals"),
)
def list_(
    kind: Annotated[Literal["finder", "deals"] | None, Param("Only selections of this kind.")] = None,
) -> dict[str, Any]:
    """List the templates: what each looks for, and its parameters with their defaults."""
    from keepa_cli.research.templates.table import TEMPLATES

    rows = [
        {
            "name": t.name,
            "kind": t.kind,
            "title": t.title,
            "params": {s.name: s.default for s in t.slots if s.default is not None},
            "also": [s.name for s in t.slots if s.default is None],
            "show": f"kc templates show {t.name}",
        }
        for t in TEMPLATES
        if kind in (None, t.kind)
    ]
    return {"view": "templates", "count": len(rows), "templates": rows}


@operation(
    "templates.show",
    toolset="research",
    effect="write_local",
    examples=(
        "kc templates show low-competition --param category=1055398 --param max_reviews=200",
        "kc templates show deal-price-drop --domain DE --out drops.json",
    ),
)
def show(
    ctx: Context,
    name: Annotated[str, Param("The template, such as low-competition.", metavar="NAME", position=True)],
    param: Annotated[list[Pair], Param("Parameters of the template; kc templates list names them.")] = [],  # noqa: B006
    domain: Domain = "US",
    out: Annotated[str | None, Param("Write the selection to this file.", metavar="FILE")] = None,
) -> dict[str, Any]:
    """Show a template as a selection that can be run, with notes on every field. Sends nothing, costs nothing.

    The selection is checked as finder query or deals query would check it; both take the file of --out with
    --selection-file.
    """
    from keepa_cli.ops._actions import action
    from keepa_cli.research.lists.field_notes import field_notes
    from keepa_cli.research.templates.table import template

    found, place = template(name), domains.resolve(domain)
    given = pairs(param)
    values = found.values(given)
    checked = found.selection(values, place)
    command = FINDER_QUERY if found.kind == "finder" else DEALS_QUERY
    params = {"selection": checked.selection, "domain": place.code}
    run = {"action": f"query_{found.kind}", "reason": f"{found.title}."} | action(ctx, command, params)
    slots = [
        {"name": s.name, "field": s.field, "about": s.about, "given": s.name in given}
        | ({} if values[s.name] is None else {"value": values[s.name]})
        for s in found.slots
    ]
    return {
        "view": "template",
        "name": found.name,
        "kind": found.kind,
        "title": found.title,
        "about": found.about,
        "caution": found.caution,
        "domain": place.code,
        "params": slots,
        "selection": checked.selection,
        "field_notes": field_notes(checked.selection, place),
        "next_actions": [run],
        "warnings": [{"code": "selection", "message": note} for note in checked.notes],
    } | write_selection(ctx, out, checked.selection)
