"""From a specification to SVG and PNG, by the extra `figures`."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Mapping
from typing import Any

from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.research.figures.model import Figure
from keepa_cli.research.figures.text import drawable, harmless, texts
from keepa_cli.research.figures.theme import Theme, config

VEGA_LITE = "5.21"
_SIZE = re.compile(rb'width="([0-9.]+)" height="([0-9.]+)"')
_TAG = re.compile("<[^<>]+>")
_CLIP = re.compile(r'( clip-path="url\(#clip|<clipPath id="clip)([0-9]+)(\)"|")')
PNG_SCALE = 2
"""Pixels of a PNG for one of the figure, so that it is sharp on the screens of today."""
INSTALL = 'pip install "keepa-cli[figures]"'


def themed(figure: Figure, theme: Theme) -> dict[str, Any]:
    """The whole specification of a figure in one theme."""
    drawn: dict[str, Any] = harmless(dict(figure.spec) | {"description": figure.description, "config": config(theme)})
    return drawn


def renderer() -> Any:
    """The drawing library. Raises `missing_inputs` where the extra is not installed."""
    try:
        import vl_convert
    except ImportError:
        raise KeepaCliError(
            Kind.MISSING_INPUTS,
            "Drawing figures needs the extra figures of keepa-cli, which is not installed.",
            details={Kind.MISSING_INPUTS.value: ["extra figures"], "extra": "figures"},
            next_actions=[INSTALL],
        ) from None
    return vl_convert


def svg(spec: Mapping[str, Any]) -> bytes:
    """The SVG of a themed specification. It loads nothing from anywhere."""
    text: str = renderer().vegalite_to_svg(dict(spec), vl_version=VEGA_LITE, allowed_base_urls=[])
    return _TAG.sub(_Ids(spec).settle, text).encode()


class _Ids:
    """Ids of clip paths that belong to the figure. The renderer counts them on from figure to figure, so that the same
    figure would have other bytes when it is drawn second; and two figures in one page must not share them."""

    def __init__(self, spec: Mapping[str, Any]) -> None:
        self._own = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:8]
        self._seen: dict[str, int] = {}

    def settle(self, tag: re.Match[str]) -> str:
        return _CLIP.sub(self._renamed, tag[0])

    def _renamed(self, found: re.Match[str]) -> str:
        return f"{found[1]}-{self._own}-{self._seen.setdefault(found[2], len(self._seen))}{found[3]}"


def size(drawn: bytes) -> tuple[int, int]:
    """Width and height in pixels of an SVG or PNG that was drawn here."""
    if drawn.startswith(b"\x89PNG"):
        width, height = struct.unpack(">II", drawn[16:24])
        return width, height
    found = _SIZE.search(drawn[:1000])
    return (int(float(found[1])), int(float(found[2]))) if found else (0, 0)


def png(spec: Mapping[str, Any], drawn: bytes) -> bytes:
    """The PNG of a themed specification and its SVG. Text that the own font lacks is left out of it."""
    legible = texts(dict(spec), drawable)
    if legible != spec:
        drawn = svg(legible)
    made: bytes = renderer().svg_to_png(drawn.decode(), scale=PNG_SCALE)
    return made
