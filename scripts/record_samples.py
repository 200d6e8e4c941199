"""Record the sample cassettes of this repository anew, from the sandbox with a fixed seed and clock.

Run it in the development environment: python scripts/record_samples.py [NAME ...]
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPO))

from keepa_cli import ops  # noqa: E402
from keepa_cli.core.context import Context  # noqa: E402
from keepa_cli.engine import Flags, Options, run  # noqa: E402
from keepa_cli.sandbox import Sandbox, SandboxConfig  # noqa: E402
from keepa_cli.sandbox.catalogue import example_asin  # noqa: E402

MOMENT = 1_795_000_000.0
ASIN = example_asin(1)
SELLER, MERCHANT = "ATX8WCBDJYYKAT", "AXKXSDEC5EN794"
"""The second one has a storefront."""
BROWSE_NODE = 27722360121
"""The category that a search for "kitchen" finds first."""
Answers = Mapping[str, Mapping[str, Any]]
Sample = tuple[str, dict[str, Any] | Callable[[Answers], dict[str, Any]]]
"""An operation and its parameters, which may come from the answers recorded before it."""
TRACKING = {
    "asin": ASIN,
    "mainDomainId": 1,
    "updateInterval": 6,
    "ttl": 8760,
    "thresholdValues": [{"domain": 1, "csvType": 1, "isDrop": True, "thresholdValue": 1500}],
}
BASICS: dict[str, Sample] = {
    f"product_{ASIN}": ("products.get", {"asin": [ASIN]}),
    f"product_{ASIN}_full": ("products.get", {"asin": [ASIN], "full": True}),
    f"product_{ASIN}_stats90": ("products.get", {"asin": [ASIN], "stats": "90", "rating": True, "buybox": True}),
    "product_search_kettle": ("products.search", {"term": "kettle", "asins_only": True}),
    "category_roots_US": ("categories.get", {"category": [0], "parents": True}),
    "category_search_kitchen": ("categories.search", {"term": "kitchen"}),
    "token_status": ("tokens.status", {}),
}
LISTS: dict[str, Sample] = {
    "finder_kettle": ("finder.query", {"title": "kettle"}),
    "deals_new_US": ("deals.query", {"price_type": "NEW"}),
    f"seller_{SELLER}": ("sellers.get", {"seller": [SELLER]}),
    "seller_finder_rated": ("sellers.query", {"rating": "98.."}),
    "bestsellers_kitchen": ("bestsellers.get", {"category": "4255431"}),
    "topsellers_US": ("topsellers.list", {}),
    "lightningdeals_US": ("lightningdeals.list", {}),
    "lightningdeal_B0FLASHY01": ("lightningdeals.list", {"asin": "B0FLASHY01"}),
    f"graph_{ASIN}": ("graphs.image", {"asin": ASIN}),
    "tracking_add": ("tracking.add", {"tracking": TRACKING}),
    "tracking_list": ("tracking.list", {}),
    "tracking_list_names": ("tracking.list-names", {}),
    "tracking_get": ("tracking.get", {"asin": ASIN}),
    "tracking_notifications": ("tracking.notifications", {}),
    "tracking_remove": ("tracking.remove", {"asin": ASIN}),
}


def _best(answers: Answers) -> dict[str, Any]:
    found = answers["bestsellers_kitchen_dining"]["body"]["bestSellersList"]["asinList"]
    return {"asin": found[:3], "full": True}


def _offered(answers: Answers) -> dict[str, Any]:
    found = answers[f"seller_{MERCHANT}_storefront"]["body"]["sellers"][MERCHANT]["asinList"]
    return {"asin": found[:3], "full": True}


RESEARCH: dict[str, Sample] = {
    "bestsellers_kitchen_dining": ("bestsellers.get", {"category": str(BROWSE_NODE)}),
    "products_kitchen_dining_best": ("products.get", _best),
    f"seller_{MERCHANT}_storefront": ("sellers.get", {"seller": [MERCHANT], "storefront": True}),
    f"products_{MERCHANT}_first": ("products.get", _offered),
    f"product_{ASIN}_offers": ("products.get", {"asin": [ASIN], "full": True, "offers": 20}),
}
"""What the workflows ask for."""
GROUPS = (BASICS, LISTS, RESEARCH)
"""Each group has a sandbox of its own, so that a token balance depends on the calls of its group alone."""


def main(names: list[str]) -> int:
    """Record every sample, or those named; promote each over the one that is there; verify the lot."""
    unknown = set(names) - {name for group in GROUPS for name in group}
    if unknown:
        raise SystemExit(f"No such samples: {', '.join(sorted(unknown))}")
    work = Path(tempfile.mkdtemp(prefix="keepa-cli-samples-"))
    env = {
        "KEEPA_CLI_CONFIG": str(work / "config.toml"),
        "KEEPA_CLI_STATE_DIR": str(work / "state"),
        "KEEPA_CLI_DATA_DIR": str(work / "data"),
        "KEEPA_CLI_CASSETTES": str(REPO / "cassettes"),
        "KEEPA_API_KEY": "samplekey0000000" * 4,
        "KEEPA_CLI_ALLOW_LIVE_IN_CI": "1",
        "PATH": os.environ.get("PATH", ""),
    }
    try:
        for group in GROUPS:
            if not names or set(names) & set(group):
                _record(group, env)
        context = Context(env=env, cwd=REPO)
        for name in names or [name for group in GROUPS for name in group]:
            recording = next((work / "state" / "inbox").glob(f"{name}-2*.yaml"))
            promotion = {"file": str(recording), "name": name, "replace": True}
            _must(run(ops.find("cassettes.promote-and-verify"), promotion, context, Options(find=ops.find)))
            print(f"promoted {name}")
        _must(run(ops.find("cassettes.verify"), {}, context, Options(find=ops.find)))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return 0


def _record(group: dict[str, Sample], env: dict[str, str]) -> None:
    with Sandbox(SandboxConfig(seed=1, rate=20, clock=lambda: MOMENT)) as box:
        answers: dict[str, Mapping[str, Any]] = {}
        for name, (operation, given) in group.items():
            params = given(answers) if callable(given) else given
            context = Context(env=env | {"KEEPA_BASE_URL": box.base_url}, cwd=REPO)
            out = Path(env["KEEPA_CLI_STATE_DIR"]) / "picture.png" if operation == "graphs.image" else None
            options = Options(flags=Flags(record=name), yes=True, out=out)
            answers[name] = _must(run(ops.find(operation), params, context, options))["data"]
            print(f"recorded {name}")


def _must(result: dict[str, Any]) -> dict[str, Any]:
    if not result["ok"]:
        raise SystemExit(f"{result['command']}: {result['error']['message']} {result['error']['details']}")
    return result


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
