"""What is known of a product without its histories: enough to search, and to filter by words and categories."""

from __future__ import annotations

from dataclasses import dataclass

from keepa_cli.sandbox.catalogue.identity import leaf_index, words_of
from keepa_cli.sandbox.catalogue.seeds import Item
from keepa_cli.sandbox.catalogue.traits import product_type, traits
from keepa_cli.sandbox.catalogue.words import TREE

_PATHS = [
    f"{root} {group} {leaf}".lower()
    for root, groups in TREE.items()
    for group, names in groups.items()
    for leaf in names
]


@dataclass(frozen=True)
class Card:
    """One product that stands in the shop, the same on every marketplace."""

    asin: str
    kind: int
    special: frozenset[str]
    leaf: int
    brand: str
    title: str
    color: str

    @property
    def text(self) -> str:
        """What a search looks through."""
        return f"{self.title.lower()} {_PATHS[self.leaf]}"


def card(item: Item) -> Card:
    brand, title, color = words_of(item)
    return Card(item.asin, product_type(item.asin), traits(item), leaf_index(item), brand, title, color)
