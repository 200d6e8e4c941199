"""Figures inside reports and pages."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.research.figures.model import Figure
from keepa_cli.research.figures.sets import PER_PRODUCT

_PNG = b"\x89PNG\r\n\x1a\n"
_NAME = re.compile("[^0-9A-Za-z._-]+")


@dataclass
class Drawn:
    """A figure as it is shown: its files by theme, and `path`, where a report finds it. `given` ones were not drawn
    here: they are shown as images, so that nothing in them can run or load anything."""

    name: str
    title: str
    description: str
    product: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    given: bool = False
    path: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def drawn(self) -> Iterator[dict[str, Any]]:
        """Each theme with its markup; one alone is shown in every theme."""
        for theme, content in self.files.items():
            yield {"theme": theme if len(self.files) > 1 else "all", "html": self._markup(content)}

    def _markup(self, content: bytes) -> Any:
        from markupsafe import Markup

        if not self.given:
            return Markup(content.decode())  # noqa: S704 - drawn by the renderer, which escapes the texts in it
        kind = "png" if content.startswith(_PNG) else "svg+xml"
        return Markup('<img alt="" src="data:image/{};base64,{}">').format(kind, base64.b64encode(content).decode())

    @property
    def suffix(self) -> str:
        return "png" if next(iter(self.files.values()), b"").startswith(_PNG) else "svg"

    def described(self) -> dict[str, Any]:
        """What a JSON report and an answer tell of it."""
        told = {"name": self.name, "title": self.title, "description": self.description}
        return told | {"product": self.product, "path": self.path, **self.about}


def draw(figure: Figure, themes: Iterable[str], keys: Iterable[str]) -> Drawn:
    """A figure in some themes."""
    from keepa_cli.research.figures import render

    files = {theme: render.svg(render.themed(figure, theme)) for theme in themes}  # type: ignore[arg-type]
    owner = next((k for k in keys for name in PER_PRODUCT if figure.name == f"{name}-{k}"), "")
    told = figure.described
    about = {"data_basis": figure.data_basis, "points": figure.points}
    return Drawn(figure.name, told["title"], told["description"], owner, files, about=about)


def given(name: str, content: bytes) -> Drawn:
    """A figure of a file: an SVG or a PNG. Raises `invalid_arguments` for anything else."""
    head = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not (content.startswith(_PNG) or (head.startswith((b"<svg", b"<?xml", b"<!--")) and b"<svg" in head)):
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS, f"{name} is no SVG and no PNG.", details={"field": "figure", "value": name}
        )
    stem = _NAME.sub("-", name.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]).strip("-.")[:80] or "figure"
    return Drawn(stem, stem, f"Figure {stem}, taken as it was given.", files={"all": content}, given=True)
