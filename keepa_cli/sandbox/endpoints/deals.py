"""/deal: recent price drops."""

from __future__ import annotations

import json
from collections.abc import Sequence

from keepa_cli.keepa import costs
from keepa_cli.sandbox.bodies import Chunk
from keepa_cli.sandbox.deals import request
from keepa_cli.sandbox.deals.browse import browse
from keepa_cli.sandbox.messages import Call, dumps
from keepa_cli.sandbox.shop import Answer, Shop


def deal(shop: Shop, call: Call, now: int, spoiled: Sequence[str]) -> Answer:
    """The same question within two minutes gets the same deals, and costs as much."""
    wanted = request.read(call)
    found, cached = shop.deals.made(wanted.key, lambda: Chunk(dumps(browse(shop.catalogue, wanted, now))))
    shown = json.loads(found.data) if spoiled else found
    return Answer({"deals": shown, "dealsCached": cached}, costs.deal().estimated)
