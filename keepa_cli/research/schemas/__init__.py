"""JSON Schemas of every view: what stands in `data` where `data.view` names it. Each is complete in itself."""

from __future__ import annotations

from collections.abc import Mapping

from keepa_cli.research.product.profiles import LIMITS, PROFILES
from keepa_cli.research.schemas import analysis, graphs, history, lists, local, product, reports, work
from keepa_cli.research.schemas.build import Schema, ref
from keepa_cli.research.schemas.shared import definitions, used

PRODUCT = "product"
TAXONOMY = "risk-taxonomy"
STABLE: Mapping[str, str] = {"products-agent-view": PRODUCT}
"""Further names under which the schema of a view is known."""
FOLDER = "view/"


def views() -> dict[str, tuple[str, Schema]]:
    """View -> (title, schema), without the definitions that it refers to."""
    return {
        PRODUCT: ("Products as views", _products()),
        "history_export": ("Histories as rows", history.export()),
        "history_trend": ("How histories moved", history.trend()),
        **analysis.views(),
        **lists.views(),
        **graphs.views(),
        **work.views(),
        **local.views(),
        **reports.views(),
    }


def _products() -> Schema:
    shown = {
        profile: {"sections": list(sections)} | ({"limit_bytes": LIMITS[profile]} if profile in LIMITS else {})
        for profile, sections in PROFILES.items()
    }
    return {**product.product_view(ref(PRODUCT)), "x-profiles": {str(name): one for name, one in shown.items()}}


def documents() -> dict[str, tuple[str, Schema]]:
    """Name -> (title, complete schema): `view/NAME` of every view, the stable names, and the risk taxonomy."""
    known = definitions() | {PRODUCT: product.product_definition()}
    found = {FOLDER + name: (title, complete(schema, known)) for name, (title, schema) in views().items()}
    found |= {alias: found[FOLDER + name] for alias, name in STABLE.items()}
    title = "Risks of products: codes, severities, figures"
    return found | {TAXONOMY: (title, complete(known["risk_taxonomy"], known))}


def complete(schema: Schema, known: Mapping[str, Schema]) -> Schema:
    """The schema with the definitions that it refers to."""
    needed = used(schema, dict(known))
    return schema | {"$defs": {name: known[name] for name in sorted(needed)}}
