"""What a file or payload holds: a Keepa answer, a product, an envelope of ours, a view, a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from keepa_cli.keepa.domains import Domain
from keepa_cli.research.subject import Subject, subject, subjects

PRODUCT_VIEW = "product"
"""`data.view` of an answer that holds product views."""


def unwrapped(data: Any) -> Any:
    """The data of an envelope, and the body that it passes on; anything else as it is."""
    if isinstance(data, Mapping) and "ok" in data and isinstance(data.get("data"), Mapping):
        data = data["data"]
    if isinstance(data, Mapping) and isinstance(data.get("body"), Mapping):
        return data["body"]
    return data


def raw_products(data: Any, domain: Domain) -> Iterator[Subject]:
    """The products as Keepa sent them: of an answer, of a list of products, or a product alone. Paths are those in
    `data` once unwrapped."""
    found = unwrapped(data)
    if isinstance(found, Mapping) and isinstance(found.get("products"), list) and not found.get("view"):
        yield from subjects(found, domain, {})
    elif isinstance(found, list):
        for i, product in enumerate(found):
            if _is_product(product):
                yield subject(product, f"$[{i}]", None, domain, {})
    elif _is_product(found):
        yield subject(found, "$", None, domain, {})


def product_views(data: Any) -> Iterator[Mapping[str, Any]]:
    """The product views in an answer of ours."""
    found = unwrapped(data)
    if isinstance(found, Mapping) and found.get("view") == PRODUCT_VIEW and isinstance(found.get("products"), list):
        yield from (p for p in found["products"] if isinstance(p, Mapping))


def _is_product(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("asin"), str) and "view" not in value
