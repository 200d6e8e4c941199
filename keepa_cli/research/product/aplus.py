"""A+ content: how much of it there is, and who made it. What it says stays in the raw body."""

from __future__ import annotations

from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.values import listed, rows


def section(look: Look) -> Section:
    s = look.subject
    contents = s.product.get("aPlus")
    known = isinstance(contents, list)
    lacking = Reason.NOT_COLLECTED if s.asked.aplus else Reason.NOT_REQUESTED
    modules = [m for content in rows(contents) for m in rows(content.get("module"))]
    found = Section()
    found.put("content_count", len(contents) if isinstance(contents, list) else None, lacking)
    found.put("module_count", len(modules) if known else None, lacking)
    found.put("image_count", sum(len(listed(m.get("image"))) for m in modules) if known else None, lacking)
    found.put("text_count", sum(len(listed(m.get("text"))) for m in modules) if known else None, lacking)
    if known:
        found["from_manufacturer"] = any(c.get("fromManufacturer") is True for c in rows(contents))
    found["evidence_path"] = s.at("aPlus") if "aPlus" in s.product else s.path
    return found
