"""The category tree of one marketplace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from keepa_cli.sandbox.catalogue.seeds import MAX_CATEGORY, rng
from keepa_cli.sandbox.catalogue.words import BRANDS, TREE


@dataclass
class Node:
    id: int
    name: str
    parent: int = 0
    children: list[int] = field(default_factory=list)


class Tree:
    """Nodes by id. `leaves` are where products stand."""

    def __init__(self, seed: int, domain: int) -> None:
        self._seed, self._domain = seed, domain
        self.nodes: dict[int, Node] = {}
        self.leaves: list[int] = []
        for root, groups in TREE.items():
            top = self._add(root, None)
            for group, names in groups.items():
                middle = self._add(group, top)
                self.leaves += [self._add(name, middle).id for name in names]
        self.roots = [n.id for n in self.nodes.values() if n.parent == 0]
        self.nodes[MAX_CATEGORY] = Node(MAX_CATEGORY, "?")

    def _add(self, name: str, parent: Node | None) -> Node:
        source = rng(self._seed, self._domain, "category", parent.id if parent else 0, name)
        low, high = (10**9, 10**11) if parent else (10**6, 10**7)
        node_id = source.randrange(low, high)
        while node_id in self.nodes:
            node_id = source.randrange(low, high)
        node = self.nodes[node_id] = Node(node_id, name, parent.id if parent else 0)
        if parent:
            parent.children.append(node_id)
        return node

    def path(self, node_id: int) -> list[Node]:
        """From the root to the node."""
        found: list[Node] = []
        while node_id:
            found.append(self.nodes[node_id])
            node_id = found[-1].parent
        return found[::-1]

    def parents(self, ids: list[int]) -> list[int]:
        """All ancestors of `ids`, each once."""
        return list(dict.fromkeys(n.id for i in ids for n in self.path(i)[:-1]))

    def search(self, words: list[str]) -> list[int]:
        """Nodes whose name holds every word, in tree order."""
        return [n.id for n in self.nodes.values() if all(w in n.name.lower() for w in words)]

    def category(self, node_id: int) -> dict[str, Any]:
        """The Category object."""
        node = self.nodes[node_id]
        found: dict[str, Any] = {
            "catId": node.id,
            "children": node.children or None,
            "contextFreeName": node.name,
            "domainId": self._domain,
            "name": node.name,
            "parent": node.parent,
        }
        return found if node_id == MAX_CATEGORY else found | self._figures(node)

    def _figures(self, node: Node) -> dict[str, Any]:
        source = rng(self._seed, self._domain, "figures", node.id)
        count, price = source.randrange(800, 400_000), source.randrange(900, 9000)
        found = {
            "avgBuyBox": price,
            "avgBuyBox365": price * 104 // 100,
            "avgBuyBox90": price * 102 // 100,
            "avgBuyBoxDeviation": price // 3,
            "avgOfferCountNew": round(source.uniform(1, 6), 2),
            "avgOfferCountUsed": round(source.uniform(0, 2), 2),
            "avgRating": source.randrange(35, 48),
            "avgReviewCount": source.randrange(20, 4000),
            "brandCount": source.randrange(40, 4000),
            "hasCouponPercent": round(source.uniform(1, 20), 2),
            "highestRank": count * 3,
            "isBrowseNode": True,
            "isFBAPercent": round(source.uniform(30, 90), 2),
            "lowestRank": source.randrange(1, 60),
            "productCount": count,
            "sellerCount": source.randrange(50, 9000),
            "soldByAmazonPercent": round(source.uniform(5, 60), 2),
            "topBrands": source.sample(BRANDS, 3),
        }
        return found if node.parent else found | {"websiteDisplayGroup": display_group(node.name)}


def display_group(root: str) -> str:
    """`Home & Kitchen` -> `home_and_kitchen_display_on_website`."""
    return root.lower().replace("&", "and").replace(" ", "_") + "_display_on_website"
