"""Products as views instead of as Keepa sends them: profiles, sections, chunks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.errors import invalid
from keepa_cli.core.registry import Param

if TYPE_CHECKING:
    from keepa_cli.research.subject import Subject

RAW, SUMMARY, RESEARCH = "raw", "summary", "research"


def _section(value: Any) -> str:
    from keepa_cli.research.product.view import section_name

    return section_name(value)


View = Annotated[
    Literal["raw", "summary", "deal", "research", "audit"] | None,
    Param(
        "How much of each product: raw as Keepa sends it (default), summary (2 KB), deal (8 KB), research (32 KB), "
        "or audit."
    ),
]
AgentView = Annotated[bool, Param("Same as --view research, where --view names no other.")]
Fields = Annotated[
    list[Annotated[str, Param("Name of a section.", parse=_section)]],
    Param(
        "Show these sections only, whole, instead of those of a profile. Implies --view research.",
        metavar="SECTION",
        examples=("pricing,demand,rating",),
    ),
]
HistoryLimit = Annotated[
    int | None, Param("Newest points shown of each history (default 10). Implies --view research.", min=1, max=10_000)
]
Windows = Annotated[
    list[int],
    Param(
        "Days of the windows in temporal_features (default 7, 30, 90, 180, 365). Implies --view research.",
        metavar="DAYS",
        min=1,
        max=3650,
        max_items=12,
    ),
]
ChunksDir = Annotated[
    str | None,
    Param(
        "Also write each section of each product as a JSON file of its own into this folder. Implies --view research.",
        metavar="FOLDER",
    ),
]
SHAPING = ("agent_view", "fields", "history_limit", "temporal_window_days", "chunks_dir")
"""Parameters that only a view has."""
MOST_COMPARED = 20
_ASIN = re.compile(r"[0-9A-Z]{10}")


def profile_of(params: Mapping[str, Any]) -> str | None:
    """The profile that was asked for; None for products as Keepa sends them. Raises for what contradicts --view raw."""
    given = params.get("view")
    shaping = next((name for name in SHAPING if params.get(name)), None)
    if given == RAW and shaping:
        flag = "--" + shaping.replace("_", "-")
        raise invalid(f"{flag} shapes a view; --view raw has none.", field=shaping, value=params[shaping])
    return (given or RESEARCH) if shaping else None if given in (None, RAW) else given


def check(ctx: Context | None, params: Mapping[str, Any]) -> None:
    """Refuse, before anything is paid for, options that contradict each other and folders that cannot be written."""
    profile_of(params)
    folder = params.get("chunks_dir")
    if folder and ctx is not None:
        from keepa_cli.ops import _outputs

        _outputs.target(ctx, folder, folder=True)


def finish(ctx: Context, call: Callable[..., Any], data: dict[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
    """`{view, profile, count, items, products, chunks?}` where a view was asked for, else `data` as it is."""
    profile = profile_of(params)
    return data if profile is None else viewed(ctx, data, params, profile)


def summarized(
    ctx: Context, call: Callable[..., Any], data: dict[str, Any], params: Mapping[str, Any]
) -> dict[str, Any]:
    """Summary views of all products, and as the next step their comparison."""
    found = viewed(ctx, data, {**params, "full": True}, SUMMARY)
    asins = list(dict.fromkeys(a for row in found["items"] if row["status"] == "found" for a in row["asins"]))
    if len(asins) > 1:
        from keepa_cli.ops._actions import planner
        from keepa_cli.research.needs import Need

        plan = planner(ctx)
        reason = "Hold them against each other: prices, demand, rating, risks."
        asked = {"asin": asins[:MOST_COMPARED], "domain": params["domain"]}
        found["next_actions"] = [plan(Need.COMPARE_PRODUCTS, asked, reason)]
    return found


def viewed(ctx: Context, data: dict[str, Any], params: Mapping[str, Any], profile: str) -> dict[str, Any]:
    """The data of an answer with its products as views of `profile`."""
    from keepa_cli.keepa.domains import resolve
    from keepa_cli.ops._actions import planner
    from keepa_cli.research.inputs import PRODUCT_VIEW
    from keepa_cli.research.product.look import HISTORY_LIMIT, WINDOWS
    from keepa_cli.research.product.profiles import SECTIONS
    from keepa_cli.research.product.view import TRUNCATED, product_view
    from keepa_cli.research.subject import subjects

    plan, fields, found, files = planner(ctx), params.get("fields") or (), [], Chunks()
    limit = params.get("history_limit") or HISTORY_LIMIT
    windows = tuple(dict.fromkeys(params.get("temporal_window_days") or WINDOWS))

    def shown(subject: Subject, sections: Sequence[str]) -> dict[str, Any]:
        return product_view(subject, plan, profile, fields=sections, history_limit=limit, windows=windows)

    for subject in subjects(data.get("body"), resolve(params["domain"]), params):
        found.append(shown(subject, fields))
        if params.get("chunks_dir"):
            files.add(subject.asin, shown(subject, fields or SECTIONS))
    kept = {name: value for name, value in data.items() if name not in {"body", "count", "warnings"}}
    result = {"view": PRODUCT_VIEW, "profile": profile, "count": len(found)} | kept | {"products": found}
    warnings = list(_warnings([p for p in found if TRUNCATED in p], len(found), files))
    if params.get("chunks_dir"):
        result["chunks"] = files.written(ctx, params["chunks_dir"])
    return result | ({"warnings": warnings} if warnings else {})


class Chunks:
    """Sections of products on their way into files of their own."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[str, str, bytes]] = {}
        self._seen: dict[str, int] = {}
        self.unnamed = 0

    def add(self, asin: str | None, view: Mapping[str, Any]) -> None:
        """Every section as a file. What has no proper ASIN gets none: its name is not to be trusted in a path."""
        from keepa_cli.keepa.strictjson import dump_json

        if asin is None or not _ASIN.fullmatch(asin):
            self.unnamed += 1
            return
        self._seen[asin] = number = self._seen.get(asin, 0) + 1
        stem = asin if number == 1 else f"{asin}-{number}"
        for section, value in view.items():
            self._files[f"{stem}-{section}.json"] = (asin, section, f"{dump_json(value)}\n".encode())

    def written(self, ctx: Context, folder: str) -> list[dict[str, Any]]:
        """`{path, asin, section, size_bytes, sha256}` of each file; all are written or none."""
        from keepa_cli.ops import _outputs

        told = _outputs.write_all(ctx, folder, {name: data for name, (_, _, data) in self._files.items()})
        return [
            {"path": told[name]["path"], "asin": asin, "section": section}
            | {key: told[name][key] for key in ("size_bytes", "sha256")}
            for name, (asin, section, _) in self._files.items()
        ]


def _warnings(cut: list[Any], count: int, files: Chunks) -> Iterator[dict[str, Any]]:
    if cut:
        which = f"{len(cut)} of {count} products are" if count > 1 else "The product is"
        yield {
            "code": "truncated",
            "message": f"{which} shown without some facts to stay within the size of the profile: "
            "`truncated` names them, --fields shows whole sections.",
        }
    if files.unnamed:
        yield {"code": "chunks", "message": f"{files.unnamed} products have no proper ASIN and no chunk files."}
