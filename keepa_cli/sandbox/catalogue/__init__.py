"""An invented shop: categories, products and offers that follow from a seed."""

from __future__ import annotations

from keepa_cli.sandbox.catalogue.catalogue import Catalogue

__all__ = ["Catalogue"]
