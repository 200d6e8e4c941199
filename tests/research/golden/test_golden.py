"""What each command shows of the shipped recordings, word for word. Read the difference before you accept it:

pytest tests/research/golden --snapshot-update
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tests.conftest import REPO
from tests.support.gallery import SCENES, played

CHANGING = frozenset({"docs_index", "docs_page", "docs_schema", "context_policy", "research_query"})
"""What they show changes with every page, operation or recording; their schemas hold."""
TWICE = frozenset({
    "category_search-both", "product-audit", "product-offers", "products-summary", "products-chunks",
    "history_export-csv", "bestsellers", "finder_selection-out", "research_brief_export-many", "workflow_run-dry",
    "workflow_plan-category", "research_graph_merge-out", "reports_build-html", "business-fast",
})  # fmt: skip
"""Scenes whose views another scene shows as well."""
GOLDEN = sorted(SCENES.keys() - CHANGING - TWICE)
UNLIKE = {"sha256": "<sha256>", "size_bytes": 0, "run": "<run>", "quote_token": "<quote>", "age_s": 0}
"""Members that differ from machine to machine: hashes of files with paths in them, ages, sizes of drawings."""
HASH = re.compile(r"\b[0-9a-f]{64}\b")
RESOURCE = re.compile(r"keepa://(output|workflow)/[A-Za-z0-9_-]{12,}")


def stable(value: Any, places: dict[str, str]) -> Any:
    """The value without what belongs to this machine."""
    if isinstance(value, dict):
        return {k: UNLIKE[k] if k in UNLIKE else stable(v, places) for k, v in value.items()}
    if isinstance(value, list):
        return [stable(item, places) for item in value]
    if not isinstance(value, str):
        return value
    for place, name in places.items():
        value = value.replace(place, name)
    value = HASH.sub("<sha256>", value)
    return RESOURCE.sub(r"keepa://\1/<encoded>", value.replace("\\", "/") if "<home>" in value else value)


class Golden(JSONSnapshotExtension):
    """One file per scene; the members stand in the order in which they are shown."""

    @classmethod
    def get_snapshot_name(cls, *, test_location: Any, index: Any = 0) -> str:
        return str(index)

    def serialize(self, data: Any, **_: Any) -> str:
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("scene", GOLDEN)
def test_a_view_is_what_it_was(scene: str, snapshot: SnapshotAssertion) -> None:
    gallery = played()
    places = {str(gallery.work): "<folder>", str(gallery.folder): "<home>", str(REPO): "<repository>"}
    assert stable(gallery[scene]["data"], places) == snapshot(name=scene, extension_class=Golden)
