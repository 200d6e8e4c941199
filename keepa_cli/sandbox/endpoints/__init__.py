"""The endpoints: parameters in, payload and price out."""

from __future__ import annotations

from collections.abc import Mapping

from keepa_cli.sandbox.endpoints.deals import deal
from keepa_cli.sandbox.endpoints.finder import query
from keepa_cli.sandbox.endpoints.graphs import graphimage
from keepa_cli.sandbox.endpoints.lists import bestsellers, lightningdeal, topseller
from keepa_cli.sandbox.endpoints.products import category, product, search
from keepa_cli.sandbox.endpoints.sellers import seller, sellerquery
from keepa_cli.sandbox.endpoints.tracking import is_free, tracking
from keepa_cli.sandbox.shop import Answer, Endpoint

__all__ = ["ENDPOINTS"]

ENDPOINTS: Mapping[str, Endpoint] = {
    "/product": Endpoint(product),
    "/search": Endpoint(search),
    "/category": Endpoint(category),
    "/query": Endpoint(query),
    "/deal": Endpoint(deal, stateful=True),
    "/seller": Endpoint(seller),
    "/sellerquery": Endpoint(sellerquery),
    "/bestsellers": Endpoint(bestsellers),
    "/topseller": Endpoint(topseller),
    "/lightningdeal": Endpoint(lightningdeal),
    "/graphimage": Endpoint(graphimage, stateful=True),
    "/tracking": Endpoint(tracking, stateful=True, free=is_free),
    "/token": Endpoint(lambda *_: Answer(), free=lambda _: True),
}
