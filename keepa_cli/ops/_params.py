"""Parameter types that several operations share."""

from __future__ import annotations

from typing import Annotated, Any

from keepa_cli.core.registry import Param
from keepa_cli.keepa import asin as asins
from keepa_cli.keepa import domains


def _domain(value: Any) -> str:
    return domains.resolve(value).code


Domain = Annotated[
    str,
    Param(
        "Amazon marketplace: code, id or host suffix (US, 1, com), any case.",
        metavar="DOMAIN",
        parse=_domain,
        accepts=("string", "integer"),
        examples=("US", "DE", "co.jp"),
    ),
]
Asin = Annotated[
    str,
    Param(
        "Amazon product id: 10 letters and digits.",
        metavar="ASIN",
        parse=asins.parse_asin,
        accepts=("string", "integer"),
        examples=("B001GZ6QEC",),
    ),
]
Code = Annotated[
    str,
    Param(
        "UPC, EAN, ISBN-13 or GTIN.",
        metavar="CODE",
        parse=asins.parse_code,
        accepts=("string", "integer"),
        examples=("0747474801770",),
    ),
]


def domain_id(code: str, endpoint: str) -> int:
    """The number of a marketplace on the wire; `invalid_arguments` where Keepa does not serve it at `endpoint`."""
    return domains.require(code, endpoint).id
