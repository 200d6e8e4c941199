"""What reports and snapshots share: inputs with their origin, and figures drawn from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import read_bytes
from keepa_cli.ops import _cassettes_files, _inputs
from keepa_cli.ops._actions import planner
from keepa_cli.ops._names import BROWSE_SNAPSHOT, REPORTS_BUILD

if TYPE_CHECKING:
    from keepa_cli.keepa.domains import Domain
    from keepa_cli.research.reports.build import Input, Read
    from keepa_cli.research.reports.drawn import Drawn

OWN = frozenset({REPORTS_BUILD, BROWSE_SNAPSHOT})
"""Suggestions that lead to a report: this is it."""
ORIGINS = frozenset({"live", "sandbox", "import"})
LARGEST_FIGURE = 8 << 20
MOST_RECORDINGS = 1000
MOST_DRAWN = 30
"""Products of a snapshot that get figures."""


def inputs(ctx: Context, given: Sequence[_inputs.Given]) -> list[Input]:
    """The inputs with what is known of where their data came from."""
    from keepa_cli.research.reports.build import UNKNOWN, Input

    found = []
    for one in given:
        told = _of_fixture(ctx, one.name) if one.source == "fixture" else _of_envelope(one.data)
        told = told or _of_recording(ctx, one.sha256)
        origin = told.get("origin")
        recorded = told.get("recorded_at")
        known = origin if origin in ORIGINS else UNKNOWN
        at = recorded if isinstance(recorded, str) else None
        found.append(Input(one.name, one.source, one.data, one.sha256, str(known), at))
    return found


def _of_fixture(ctx: Context, name: str) -> Mapping[str, Any]:
    from keepa_cli.cassettes import evidence

    try:
        return _told(evidence.read_sidecar(_cassettes_files.fixture(ctx, name).path))
    except KeepaCliError:
        return {}


def _of_recording(ctx: Context, sha256: str) -> Mapping[str, Any]:
    """What is known of a body that is the answer of a recording: a body alone does not tell where it came from."""
    from keepa_cli.cassettes import evidence

    for entry in islice(_cassettes_files.library(ctx).entries(), MOST_RECORDINGS):
        try:
            told = _told(evidence.read_sidecar(entry.path)) if entry.fingerprint else {}
        except KeepaCliError:
            continue
        if told.get("body_sha256") == sha256:
            return told
    return {}


def _told(proof: Mapping[str, Any]) -> Mapping[str, Any]:
    facts, promotion = proof.get("interactions"), proof.get("promotion")
    last = facts[-1] if isinstance(facts, list) and facts and isinstance(facts[-1], dict) else {}
    origin = promotion.get("origin") if isinstance(promotion, dict) else None
    return {"origin": origin, "recorded_at": last.get("recorded_at"), "body_sha256": last.get("body_sha256")}


def _of_envelope(data: Any) -> Mapping[str, Any]:
    found = data.get("provenance") if isinstance(data, Mapping) and "ok" in data else None
    return found if isinstance(found, Mapping) else {}


def read(ctx: Context, found: Sequence[Input], domain: Domain, most: int) -> Read:
    from keepa_cli.research.reports.build import read as sorted_out

    return sorted_out(found, domain, planner(ctx), most)


def replan(ctx: Context) -> Callable[[Mapping[str, Any]], dict[str, Any] | None]:
    """Checks suggestions anew; those that lead to a report are not needed in one."""
    from keepa_cli.ops._research_brief import replanned

    return lambda entry: {} if entry.get("command") in OWN else replanned(ctx, entry)


def nothing(given: Sequence[_inputs.Given]) -> KeepaCliError:
    """The refusal of inputs that nothing can be told of."""
    names = [one.name for one in given]
    return KeepaCliError(
        Kind.MISSING_INPUTS,
        f"Nothing to report is in {', '.join(names)[:200]}: give answers of products get, product views, a comparison, "
        "a research graph, a brief or business figures.",
        details={Kind.MISSING_INPUTS.value: ["products", "research_graph", "research_brief"], "searched": names},
        next_actions=["kc products get --help"],
    )


def draw(ctx: Context, found: Read, figure_set: str, themes: Sequence[str]) -> tuple[list[Drawn], list[dict[str, str]]]:
    """The figures of a set in some themes, and those that the inputs cannot give with their reasons."""
    from keepa_cli.research.figures import sets
    from keepa_cli.research.figures.model import Skipped
    from keepa_cli.research.reports.drawn import draw as drawn

    keys = [p.key for p in found.material.products]
    made: list[Drawn] = []
    skipped: list[dict[str, str]] = []
    for figure in sets.figures(found.material, figure_set):
        if isinstance(figure, Skipped):
            skipped.append(figure.described)
            continue
        ctx.tell(f"drawing {figure.name}")
        made.append(drawn(figure, themes, keys))
    return made, skipped


def draw_each(ctx: Context, found: Read, themes: Sequence[str]) -> tuple[list[Drawn], list[dict[str, str]]]:
    """The figures of every product that has a page, and those of all."""
    from keepa_cli.research.figures import sets
    from keepa_cli.research.reports.drawn import draw as drawn

    keys = [p.key for p in found.products]
    made: list[Drawn] = []
    skipped: list[dict[str, str]] = []
    wishes: list[tuple[str, Callable[[], Any]]] = [
        (f"{name}-{product.key}", partial(make, product))
        for product in found.products[:MOST_DRAWN]
        for name, make in sets.OWN.items()
    ]
    wishes += [(name, partial(make_shared, found.material)) for name, make_shared in sets.SHARED.items()]
    for name, wish in wishes:
        figure = wish()
        if isinstance(figure, str):
            skipped.append({"name": name, "reason": figure})
            continue
        ctx.tell(f"drawing {name}")
        made.append(drawn(figure, themes, keys))
    if rest := found.products[MOST_DRAWN:]:
        skipped.append({"name": "more", "reason": f"The figures of {len(rest)} more products are left out."})
    return made, skipped


def can_draw() -> dict[str, Any] | None:
    """A warning where the extra that draws is not installed."""
    from keepa_cli.research.figures.render import renderer

    try:
        renderer()
    except KeepaCliError as error:
        hint = ", ".join(map(str, error.next_actions))
        return {"code": "figures_left_out", "message": f"{error.message} Built without figures; to draw them: {hint}"}
    return None


def given_figures(ctx: Context, files: Sequence[str]) -> list[Drawn]:
    """Figures out of files, each with a name of its own."""
    from keepa_cli.research.reports.drawn import given

    found: list[Drawn] = []
    for name in files:
        one = given(name, read_bytes(_inputs.path_of(ctx, name), limit=LARGEST_FIGURE))
        taken = {d.name for d in found}
        base, n = one.name, 2
        while one.name in taken:
            one.name, n = f"{base}-{n}", n + 1
        found.append(one)
    return found
