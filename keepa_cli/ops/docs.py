"""The documentation that came with this program."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import confine, read_bytes
from keepa_cli.core.registry import Param, operation

PACKAGE = Path(__file__).parents[1]


def docs_root() -> Path:
    """The docs folder: inside the installed package, or of the checkout."""
    bundled = PACKAGE / "bundled" / "docs"
    return bundled if bundled.is_dir() else PACKAGE.parent / "docs"


def _title(path: Path) -> str:
    for line in read_bytes(path).decode("utf-8").splitlines():
        if line.startswith("# "):
            return line[2:].strip()
    return path.stem


def _pages() -> dict[str, Path]:
    root = docs_root()
    return {p.relative_to(root).with_suffix("").as_posix(): p for p in sorted(root.rglob("*.md"))}


@operation("docs.index", toolset="research", examples=("kc docs index",))
def index() -> dict[str, Any]:
    """List the documentation pages."""
    return {
        "pages": [
            {"page": page, "title": _title(path), "size_bytes": path.stat().st_size} for page, path in _pages().items()
        ]
    }


@operation("docs.read", toolset="research", examples=("kc docs read quickstart", "kc docs read reference/errors"))
def read(
    page: Annotated[str, Param("Name of a page, as `docs index` lists it.", position=True)] = "index",
) -> dict[str, Any]:
    """Read one documentation page."""
    name = page.removesuffix(".md")
    confine(docs_root(), name)
    pages = _pages()
    if name not in pages:
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            f"There is no documentation page {page!r}.",
            details={"field": "page", "value": page, "allowed": list(pages)},
            next_actions=["kc docs index"],
        )
    path = pages[name]
    return {"page": name, "title": _title(path), "text": read_bytes(path).decode("utf-8")}
