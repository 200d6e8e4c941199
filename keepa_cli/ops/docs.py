"""The documentation that came with this program, in the order in which to read it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import confine, read_bytes
from keepa_cli.core.registry import Param, operation
from keepa_cli.ops._names import DOCS_READ

PACKAGE = Path(__file__).parents[1]
URI = "keepa://wiki/page/"
SCHEMA_URI = "keepa://schema/"
OTHER_URIS = ("keepa://zread/wiki/page/", "keepa://zread/wiki/", "keepa://wiki/")
GUIDE_URI, GUIDES = "keepa://guides/", {"cassette-promotion": "cassettes"}
"""Guides are pages under `guides/`, but for these."""
CURRENT = "current"
FIRST = "index"
ORDER = (
    FIRST, "quickstart", "contract", "views", "workflows", "cassettes", "sandbox", "ledger", "testing", "python",
    "agents", "architecture",
)  # fmt: skip
"""What to read first; the other pages follow by name, generated references last."""
GENERATED = ("reference/", "zh/")
INPUTS = "input/"
"""One schema for each operation: `capabilities` has them."""


def docs_root() -> Path:
    """The docs folder: inside the installed package, or of the checkout."""
    bundled = PACKAGE / "bundled" / "docs"
    return bundled if bundled.is_dir() else PACKAGE.parent / "docs"


def title_of(text: str, otherwise: str) -> str:
    """The first heading of a page."""
    return next((line[2:].strip() for line in text.splitlines() if line.startswith("# ")), otherwise)


def pages() -> dict[str, Path]:
    """Every page by name, in reading order."""
    root = docs_root()
    found = {p.relative_to(root).with_suffix("").as_posix(): p for p in root.rglob("*.md")}
    return {name: found[name] for name in sorted(found, key=_place)}


def _place(name: str) -> tuple[int, bool, str]:
    return (ORDER.index(name) if name in ORDER else len(ORDER), name.startswith(GENERATED), name)


@operation("docs.index", toolset="research", tool="docs_index", examples=("kc docs index",))
def index(ctx: Context) -> dict[str, Any]:
    """List the documentation in reading order, the schemas of answers and views, and what recordings there are."""
    from keepa_cli.ops import _cassettes_files

    library = _cassettes_files.library(ctx)
    listed = [_listed(page, path) for page, path in pages().items()]
    return {
        "view": "docs_index",
        "pages": listed,
        "recommended_read_order": [p["page"] for p in listed if not p["page"].startswith(GENERATED)],
        "schemas": [s for s in _schemas() if not s["schema"].startswith(INPUTS)],
        "fixtures": {"count": sum(1 for _ in library.entries()), "list_with": "kc cassettes list"},
        "evidence": list(_manifests(library.roots)),
    }


def _listed(page: str, path: Path) -> dict[str, Any]:
    raw = read_bytes(path)
    title = title_of(raw.decode("utf-8", "replace"), page)
    return {"page": page, "title": title, "uri": URI + page, "size_bytes": len(raw)}


def _schemas() -> Iterator[dict[str, Any]]:
    folder = docs_root() / "schema"
    for path in sorted(folder.rglob("*.json")) if folder.is_dir() else ():
        name = path.relative_to(folder).as_posix().removesuffix(".json").removesuffix(".schema")
        yield {"schema": name, "uri": SCHEMA_URI + name, "size_bytes": path.stat().st_size}


def _manifests(roots: list[Path]) -> Iterator[dict[str, Any]]:
    from keepa_cli.cassettes import evidence

    for root in roots:
        path = evidence.manifest_path(root)
        if path.is_file():
            try:
                yield {"manifest": str(path), "rows": sum(1 for _ in evidence.Manifest.read(path))}
            except KeepaCliError as error:
                yield {"manifest": str(path), "problem": error.message}


@operation(
    DOCS_READ,
    toolset="research",
    tool="docs_read",
    examples=(
        "kc docs read quickstart",
        "kc docs read reference/errors",
        "kc docs read --uri keepa://wiki/page/contract",
    ),
)
def read(
    page: Annotated[str | None, Param("Name of a page, as `docs index` lists it.", position=True)] = None,
    uri: Annotated[
        str | None, Param("The page by its address: keepa://wiki/page/NAME.", metavar="URI", examples=(URI + FIRST,))
    ] = None,
) -> dict[str, Any]:
    """Read one documentation page; the first one when none is named."""
    if page is not None and uri is not None:
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            "Give a page or a uri, not both.",
            details={"field": "uri", "value": uri},
            next_actions=["kc docs index"],
        )
    field, given = ("uri", uri) if uri is not None else ("page", page if page is not None else FIRST)
    name = _page_of(given)
    if name.startswith(SCHEMA_URI):
        return _schema(name.removeprefix(SCHEMA_URI), given)
    confine(docs_root(), name)
    known = pages()
    if name not in known:
        raise _no_page(field, given, list(known))
    text = read_bytes(known[name]).decode("utf-8")
    order = list(known)
    following = order[order.index(name) + 1 :][:1]
    found = {"view": "docs_page", "page": name, "uri": URI + name, "title": title_of(text, name), "text": text}
    return found | ({"next_page": following[0]} if following else {})


def _page_of(text: str) -> str:
    """The page that a name or address means; an address of a schema stays as it is."""
    for prefix in (URI, *OTHER_URIS):
        if text.startswith(prefix):
            name = unquote(text.removeprefix(prefix)).strip("/")
            return FIRST if name in ("", CURRENT) else name.removesuffix(".md")
    if text.startswith(GUIDE_URI):
        name = unquote(text.removeprefix(GUIDE_URI)).strip("/")
        return GUIDES.get(name, GUIDE_URI.removeprefix("keepa://") + name)
    return text if text.startswith(SCHEMA_URI) else text.removesuffix(".md")


def _schema(name: str, given: str) -> dict[str, Any]:
    import json

    known = {s["schema"]: s for s in _schemas()}
    if name not in known:
        raise _no_page("uri", given, [s["uri"] for s in known.values()])
    folder = docs_root() / "schema"
    path = next(p for p in (folder / f"{name}.json", folder / f"{name}.schema.json") if p.is_file())
    text = read_bytes(path).decode("utf-8")
    return {"view": "docs_schema", "schema": name, "uri": SCHEMA_URI + name, "content": json.loads(text)}


def _no_page(field: str, given: str, allowed: list[str]) -> KeepaCliError:
    import difflib

    close = difflib.get_close_matches(_page_of(given), allowed, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    shown = re.sub(r"\s+", " ", given)[:120]
    return KeepaCliError(
        Kind.INVALID_ARGUMENTS,
        f"There is no documentation page {shown!r}.{hint}",
        details={"field": field, "value": given[:200], "allowed": allowed},
        next_actions=["kc docs index"],
    )
