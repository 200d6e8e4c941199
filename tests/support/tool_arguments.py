"""One call of every tool that succeeds on recordings alone, and what it needs on the disk."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

FULL = "product_B0PPJ248DY_full"
RECORDING = "product_B0PPJ248DY.fc5c5b26d48b9515.yaml"
CURATION = {"profile": "fixture_curation"}
CALLS: dict[str, dict[str, Any]] = {
    "products_get": {"asin": "B0PPJ248DY", "full": True},
    "products_compare": {"asin": ["B0PPJ248DY", "B022HVQ8NU"], "dry_run": True},
    "categories_search": {"term": "kitchen"},
    "categories_products": {"category": "4255431"},
    "categories_finder_selection": {"category": 1055398, "out": "selection.json"},
    "finder_query": {"title": "kettle"},
    "deals_query": {"price_type": "NEW"},
    "sellers_get": {"seller": "ATX8WCBDJYYKAT"},
    "bestsellers_get": {"category": "4255431"},
    "topsellers_list": {},
    "workflow_plan": {"name": "product-research", "asin": "B0D8W1YVBX"},
    "find_fast_movers": {"input": ["product.json"]},
    "inventory_audit": {"fixture": FULL},
    "market_opportunity": {"fixture": FULL},
    "agent_profile_generate": {},
    "research_graph_merge": {"fixture": FULL},
    "research_brief_export": {"fixture": FULL, "title": "Kettles"},
    "docs_index": {},
    "docs_read": {"page": "quickstart"},
    "context_policy": {},
    "resolve_research_target": {"text": "B0D8W1YVBX"},
    "query_research_context": {"text": "kettle"},
    "audit_cost": {"operation": "products.get", "param": ["asin=B001GZ6QEC"]},
    "reports_build": {"fixture": FULL, "out_dir": "report"},
    "figures_research": {"fixture": FULL, "out_dir": "figures"},
    "browse_snapshot": {"fixture": FULL, "out_dir": "site"},
    "cassettes_sanitize": {"file": "recorded.yaml", **CURATION},
    "cassettes_promote": {"file": "recorded.yaml", "name": "mine", "dry_run": True, **CURATION},
    "cassettes_promote_and_verify": {"file": "recorded.yaml", "name": "mine", "dry_run": True, **CURATION},
    "tracking_list": {},
    "tracking_list_names": {},
    "tracking_get": {"asin": "B0PPJ248DY"},
    "tracking_notifications": {},
}


def prepare(work: Path) -> None:
    """The files that the calls name, in the working folder."""
    from keepa_cli import ops
    from keepa_cli.core.context import Context
    from keepa_cli.engine import Flags, Options, run

    cassettes = Path(__file__).parents[2] / "cassettes"
    shutil.copy(cassettes / "product" / RECORDING, work / "recorded.yaml")
    ctx = Context(env={}, cwd=work)
    found = run(ops.find("products.get"), {"asin": ["B0PPJ248DY"]}, ctx, Options(Flags(fixture=FULL)))
    (work / "product.json").write_text(json.dumps(found), encoding="utf-8")
