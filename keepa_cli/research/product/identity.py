"""What the product is: names, kind, marketplace, family, codes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.productview import children
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.media import image_urls
from keepa_cli.research.product.values import listed, moment, shortened, text
from keepa_cli.research.subject import Subject

TITLE, SHORT_TITLE = 200, 80
"""Characters of a title shown where it is not whole; the summary shows fewer."""
ASIN, NAME = 40, 80
TEXTS = {
    "brand": "brand",
    "manufacturer": "manufacturer",
    "model": "model",
    "part_number": "partNumber",
    "color": "color",
    "size": "size",
    "product_type": "type",
}
CODES = {"ean": "eanList", "upc": "upcList", "gtin": "gtinList"}
CODES_SHOWN = 3
_ASIN = re.compile(r"[0-9A-Z]{10}")


def section(look: Look) -> Section:
    s = look.subject
    product, wants = s.product, look.wants("identity")
    found = Section().put("asin", s.asin and s.asin[:ASIN], Reason.UNREADABLE)
    title = text(product, "title")
    cut = False
    if title and not look.whole:
        title, cut = shortened(title, SHORT_TITLE if look.profile == "summary" else TITLE)
    found.put("title", title, Reason.NOT_COLLECTED)
    if cut:
        found["title_truncated"] = True
    for name, field in TEXTS.items():
        value = text(product, field) if wants(name) else None
        if value is not None or name in ("brand", "manufacturer"):
            found.put(name, value and shortened(value, NAME)[0], Reason.NOT_COLLECTED)
    found["domain"] = s.domain.code
    found.put("kind", s.kind, Reason.UNREADABLE)
    found.put("parent_asin", _parent(product))
    if wants("variation_count"):
        _family(found, s)
    found.put("url", page_url(s), Reason.NOT_COMPUTABLE)
    if wants("image_url"):
        found.put("image_url", next(iter(image_urls(product)), None), Reason.NOT_COLLECTED)
    for name, field in CODES.items():
        given = listed(product.get(field)) if wants(name) else []
        codes = [str(c)[:20] for c in given if isinstance(c, str | int)]
        if codes:
            found[name] = codes[:CODES_SHOWN]
    found.put("updated_at", moment(product, "lastUpdate"), Reason.NOT_COLLECTED)
    found.put("tracked_since_at", moment(product, "trackingSince"), Reason.NOT_COLLECTED)
    found.put("listed_since_at", moment(product, "listedSince"), Reason.NOT_COLLECTED)
    found["evidence_path"] = s.path
    return found


def page_url(s: Subject) -> str | None:
    """The product's page on Amazon; None for an ASIN that is none: no link is made from it."""
    return f"https://www.{s.domain.host}/dp/{s.asin}" if _ASIN.fullmatch(s.asin or "") else None


def _parent(product: Mapping[str, Any]) -> str | None:
    found = text(product, "parentAsin")
    return found and found[:ASIN]


def _family(found: Section, s: Subject) -> None:
    """How many variations the answer lists. A child lists none: that is no zero."""
    count = len(children(s.product))
    is_parent = s.kind == "variation_parent"
    lacking = Reason.NOT_COLLECTED if is_parent else Reason.NONE if s.product.get("parentAsin") is None else None
    found.put("variation_count", count or None, lacking or Reason.NOT_APPLICABLE)
