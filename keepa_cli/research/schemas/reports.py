"""Schemas of what is made for people: reports and static sites."""

from __future__ import annotations

from keepa_cli.research.reports.build import PARTS
from keepa_cli.research.schemas.build import (
    ANY,
    COUNT,
    FLAG,
    OPEN,
    SHA256,
    TEXT,
    TIME,
    Schema,
    closed,
    const,
    listed,
    maybe,
    one_of,
)
from keepa_cli.research.schemas.shared import OUTPUT, WORD, call

NAMES = listed(TEXT)
ORIGINS = one_of(("live", "sandbox", "import", "unknown"))


def source() -> Schema:
    """An input of a report, with where its data came from."""
    return closed(
        {"name": TEXT, "source": TEXT, "kind": TEXT, "origin": ORIGINS, "synthetic": FLAG,
         "recorded_at": maybe(TIME), "sha256": SHA256}
    )  # fmt: skip


def report() -> Schema:
    """`data` of reports build."""
    product = closed({"asin": maybe(TEXT), "domain": maybe(TEXT), "one_line": maybe(TEXT)})
    step = call(WORD, step=COUNT, evidence=NAMES)
    needed = {
        "view": const("reports_build"), "title": TEXT, "format": one_of(("markdown", "html", "json")),
        "sections": listed(one_of(PARTS)), "products": listed(product), "synthetic": NAMES,
        "inputs": listed(source()), "figures": listed(OPEN), "figures_left_out": listed(OPEN),
        "next_actions": listed(step),
    }  # fmt: skip
    return closed(needed, {"text": TEXT, "output": OUTPUT, "outputs": listed(OPEN)})


def snapshot() -> Schema:
    """`data` of browse snapshot."""
    page = closed({"name": TEXT, "path": TEXT})
    product = closed({"asin": maybe(TEXT), "domain": maybe(TEXT), "path": TEXT})
    needed = {
        "view": const("browse_snapshot"), "title": TEXT, "output": OUTPUT, "pages": listed(page),
        "products": listed(product), "files": COUNT, "size_bytes": COUNT, "removed": listed(ANY), "synthetic": NAMES,
        "inputs": listed(source()), "figures": listed(OPEN), "figures_left_out": listed(OPEN),
        "next_actions": listed(call(WORD, step=COUNT, evidence=NAMES)),
    }  # fmt: skip
    return closed(needed)


def views() -> dict[str, tuple[str, Schema]]:
    return {"reports_build": ("A report", report()), "browse_snapshot": ("Products as pages", snapshot())}
