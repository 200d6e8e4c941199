"""The pages on views and workflows say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from keepa_cli.ops._workflow_plans import PLANS
from keepa_cli.research import schemas
from keepa_cli.research.facts import Reason
from keepa_cli.research.product.profiles import LIMITS, SECTIONS, Profile
from keepa_cli.research.risks import THRESHOLDS

DOCS = Path(__file__).parents[2] / "docs"
VIEWS, WORKFLOWS = ((DOCS / name).read_text("utf-8") for name in ("views.md", "workflows.md"))
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in VIEWS.splitlines() if line.startswith("|")]


def row(first: str) -> list[str]:
    (found,) = [r for r in ROWS if r[0] == first]
    return found


def test_every_view_has_its_place() -> None:
    named = set(re.findall(r"`([a-z_]+)`", "\n".join(r[0] for r in ROWS)))
    assert set(schemas.views()) - {"docs_index", "docs_page", "docs_schema"} <= named
    assert all(f"keepa://schema/{name}" in VIEWS for name in (*schemas.STABLE, schemas.TAXONOMY))


def test_profiles_have_their_sizes() -> None:
    for profile in Profile:
        limit = LIMITS.get(profile)
        assert row(f"`{profile.value}`")[1] == (f"{limit // 1024} KB" if limit else "")


def test_sections_stand_in_their_order() -> None:
    listed = VIEWS.partition("The sections, in this order:")[2].partition(".")[0]
    assert re.findall(r"`([a-z_]+)`", listed) == list(SECTIONS)


def test_every_reason_is_explained() -> None:
    assert all(len(row(f"`{reason.value}`")) == 3 for reason in Reason)


def test_risks_have_their_limits() -> None:
    for code, limit in THRESHOLDS.items():
        _, figure, medium, high = row(f"`{code.value}`")
        assert figure == f"`{limit.figure}` ({limit.unit})" + (", below" if limit.falling else "")
        assert (float(medium), float(high)) == (limit.medium, limit.high)


def test_every_workflow_is_named() -> None:
    assert set(re.findall(r"^\| `([a-z-]+)` \|", WORKFLOWS, re.MULTILINE)) == {plan.name for plan in _plans()}


def _plans() -> list[object]:
    return list(PLANS.values()) if isinstance(PLANS, dict) else list(PLANS)
