"""One of several processes that spend at once: python -m tests.engine.fire_worker URL STATE_DIR NUMBER CALLS."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

from keepa_cli import ops
from keepa_cli.core.context import Context
from keepa_cli.engine import Flags, Options, run
from tests.support.sandbox import KEY


def tracking(asin: str) -> dict[str, object]:
    threshold = {"domain": 1, "csvType": 0, "isDrop": True, "thresholdValue": 1999}
    return {"asin": asin, "mainDomainId": 1, "thresholdValues": [threshold]}


def main(url: str, state: str, number: int, calls: int) -> None:
    env = {
        "KEEPA_CLI_CONFIG": str(Path(state) / "config.toml"),
        "KEEPA_CLI_STATE_DIR": state,
        "KEEPA_BASE_URL": url,
        "KEEPA_API_KEY": KEY,
        "KEEPA_CLI_NO_CACHE": "1",
    }
    ctx = Context(env=env, sleep=lambda seconds: time.sleep(min(seconds, 0.02)))
    options = Options(flags=Flags(live=True), yes=True, find=ops.find)
    ended: Counter[str] = Counter()
    for n in range(calls):
        asin = f"B{number:02d}{n:07d}"
        name, params = "products.get", {"asin": [asin], "history": False, "buybox": n % 3 == 0}
        if n % 10 == 9:
            name, params = "tracking.add", {"tracking": [tracking(asin)], "list_name": f"w{number}n{n}"}
        result = run(ops.find(name), params, ctx, options)
        ended["ok" if result["ok"] else result["error"]["kind"]] += 1
    print(json.dumps(ended))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
