"""Snapshots: products as pages to look through without a server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.files import refuse_link
from keepa_cli.core.registry import Param, operation
from keepa_cli.ops import _inputs, _outputs
from keepa_cli.ops._names import BROWSE_SNAPSHOT
from keepa_cli.ops._params import Domain

if TYPE_CHECKING:
    from keepa_cli.research.reports.build import Read

VIEW = "browse_snapshot"
MOST_PAGES = 2000
Files = Annotated[_inputs.Inputs, Param(position=True)]


@operation(
    BROWSE_SNAPSHOT,
    toolset="reports",
    effect="write_local",
    examples=(
        "kc browse snapshot products.json --out-dir site",
        "kc browse snapshot compare.json velocity.json graph.json --title Kettles --out-dir site",
        "kc browse snapshot --fixture product_B0PPJ248DY_full --out-dir site",
    ),
)
def snapshot(
    ctx: Context,
    out_dir: Annotated[str, Param("Folder to write the pages to.", metavar="FOLDER")],
    input: Files = [],  # noqa: A002, B006
    fixture: _inputs.Fixtures = [],  # noqa: B006
    payload: _inputs.Payload | None = None,
    title: Annotated[str, Param("Title of the pages.", metavar="TEXT")] = "Product research",
    no_figures: Annotated[bool, Param("Draw no figures.")] = False,
    theme: Annotated[Literal["auto", "light", "dark"], Param("Colours; auto follows the reader's screen.")] = "auto",
    domain: Annotated[Domain, Param("Marketplace of products that do not name theirs.")] = "US",
) -> dict[str, Any]:
    """Lay products, comparisons, figures and graphs out as pages: a table to search and sort, a page a product.

    Works on this machine only and costs nothing; the pages load nothing and open from a file. The same inputs give the
    same bytes. Pages of an earlier snapshot in the folder are replaced, those no longer needed are removed; other
    files there are never touched. Figures need the extra figures.
    """
    if not title.strip() or len(title) > 200:
        raise invalid("--title takes 1 to 200 characters.", field="title", value=title[:80])
    _outputs.target(ctx, out_dir, folder=True)
    given = _inputs.read(ctx, input, fixture, payload)
    site, report, warnings = _site(ctx, given, title.strip(), domain, None if no_figures else theme, theme)
    removed: list[str] = []
    files = site.files()
    written = _outputs.write_all(ctx, out_dir, files, _stale(files, removed))
    data = _answer(report, site.pages, written, removed)
    return data | ({"warnings": warnings} if warnings else {})


def _site(
    ctx: Context, given: Sequence[_inputs.Given], title: str, domain: str, draw: str | None, theme: Any
) -> tuple[Any, dict[str, Any], list[dict[str, Any]]]:
    from keepa_cli.keepa.domains import resolve
    from keepa_cli.ops import _report_parts as parts
    from keepa_cli.ops._actions import planner
    from keepa_cli.research.browse.site import Site
    from keepa_cli.research.reports import build

    place = resolve(domain)
    found: Read = parts.read(ctx, parts.inputs(ctx, given), place, MOST_PAGES)
    report = build.build(found, title, place, planner(ctx), parts.replan(ctx))
    if build.empty(report):
        raise parts.nothing(given)
    lacking = parts.can_draw() if draw else None
    drawn: list[Any] = []
    if draw and not lacking:
        themes = ("light", "dark") if draw == "auto" else (draw,)
        drawn, report["figures_left_out"] = parts.draw_each(ctx, found, themes)
    report["figures"] = [d.described() for d in drawn]
    return Site(report, found, drawn, theme), report, [lacking] if lacking else []


def _stale(files: Mapping[str, bytes], removed: list[str]) -> Callable[[Path], Iterable[str]]:
    """What to remove, once it is sure that every file in the way is a page of ours that nobody changed."""

    def look(root: Path) -> Iterable[str]:
        from keepa_cli.research.browse.site import MANIFEST, earlier

        listing = root / MANIFEST
        refuse_link(listing)
        listed = earlier(listing.read_text(encoding="utf-8", errors="replace")) if listing.is_file() else {}
        known = {**listed, **({MANIFEST: ""} if listed else {})}
        for name, data in files.items():
            refuse_link((root / name).parent)
            if (root / name).exists() and not _ours(root, name, known, data):
                raise _foreign(root / name)
        gone = [name for name in listed if name not in files and _unchanged(root / name, listed[name])]
        removed.extend(gone)
        return gone

    return look


def _ours(root: Path, name: str, known: Mapping[str, str], data: bytes) -> bool:
    path = root / name
    if name in known and not known[name]:
        return True
    return path.is_file() and (_unchanged(path, known.get(name, "")) or path.read_bytes() == data)


def _unchanged(path: Path, sha256: str) -> bool:
    inside = path.is_file() and not path.is_symlink() and not path.parent.is_symlink()
    return inside and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def _foreign(path: Path) -> KeepaCliError:
    return KeepaCliError(
        Kind.IO_ERROR,
        f"{path} is in the way: it is no page of an earlier snapshot, or was changed since. Nothing was written.",
        details={"path": str(path)},
        next_actions=["Choose another folder with --out-dir, or move the file away."],
    )


def _answer(
    report: Mapping[str, Any], pages: Sequence[str], written: Mapping[str, Mapping[str, Any]], removed: list[str]
) -> dict[str, Any]:
    index = written["index.html"]
    return {
        "view": VIEW,
        "title": report["title"],
        "output": dict(index) | {"format": "html", "result_count": len(report["products"])},
        "pages": [{"name": n, "path": written[n]["path"]} for n in pages],
        "products": [
            {"asin": c["asin"], "domain": c["domain"], "path": written[f"products/{c['key']}.html"]["path"]}
            for c in report["products"]
        ],
        "files": len(written),
        "size_bytes": sum(int(one["size_bytes"]) for one in written.values()),
        "removed": removed,
        "synthetic": report["synthetic"],
        "inputs": report["evidence"]["inputs"],
        "figures": report["figures"],
        "figures_left_out": report["figures_left_out"],
        "next_actions": [{k: v for k, v in step.items() if k != "for"} for step in report["next_actions"]],
    }
