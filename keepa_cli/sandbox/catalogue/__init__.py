"""An invented shop: categories, products and offers that follow from a seed."""

from __future__ import annotations

from keepa_cli.sandbox.catalogue.catalogue import SHELF_SEED, Catalogue
from keepa_cli.sandbox.catalogue.identity import invented_asin

__all__ = ["Catalogue", "example_asin"]


def example_asin(seed: int) -> str:
    """An ordinary product that stands in the shop of that seed."""
    return invented_asin(seed, SHELF_SEED, 0)
