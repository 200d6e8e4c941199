"""Pictures and videos."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.dealview import IMAGES
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.values import rows

SHOWN, SHOWN_WHOLE = 6, 100
CREATORS_SHOWN = 12
_NAME = re.compile(r"[A-Za-z0-9][\w.+%,~-]{0,199}", re.ASCII)
"""File names that a link is made of; anything else is no picture of Amazon's."""


def section(look: Look) -> Section:
    s = look.subject
    product = s.product
    found = Section()
    images = image_urls(product)
    known = isinstance(product.get("images"), list) or isinstance(product.get("imagesCSV"), str)
    found.put("image_count", _image_count(product) if known else None, Reason.NOT_COLLECTED)
    found.put("images", images[: SHOWN_WHOLE if look.whole else SHOWN], Reason.NONE if known else Reason.NOT_COLLECTED)
    videos = product.get("videos")
    lacking = Reason.NOT_COLLECTED if s.asked.videos else Reason.NOT_REQUESTED
    found.put("video_count", len(videos) if isinstance(videos, list) else None, lacking)
    if videos and isinstance(videos, list):
        found["videos_by_creator"] = _creators(videos)
    found["evidence_path"] = [s.at(name) for name in ("images", "imagesCSV", "videos") if name in product] or s.path
    return found


def image_urls(product: Mapping[str, Any]) -> list[str]:
    """The address of every picture in its largest size. Older answers hold the names as comma text."""
    names: list[Any] = [image.get("l") or image.get("m") for image in rows(product.get("images"))]
    text = product.get("imagesCSV")
    if not names and isinstance(text, str):
        names = list(text.split(","))
    usable = [name for name in names if isinstance(name, str) and _NAME.fullmatch(name)]
    return [IMAGES + name for name in dict.fromkeys(usable)]


def _image_count(product: Mapping[str, Any]) -> int:
    images = product.get("images")
    if isinstance(images, list):
        return len(images)
    text = product.get("imagesCSV")
    return len([n for n in text.split(",") if n]) if isinstance(text, str) else 0


def _creators(videos: list[Any]) -> dict[str, int]:
    names = (v.get("creator") if isinstance(v, Mapping) else None for v in videos)
    counted = Counter(name[:40] if isinstance(name, str) and name else "unknown" for name in names)
    return dict(sorted(counted.most_common(CREATORS_SHOWN), key=lambda item: (-item[1], item[0])))
