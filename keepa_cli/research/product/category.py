"""Where the product stands in Amazon's tree, and in which category its sales rank counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.keepa.dealview import category_id
from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.values import rows, shortened, text
from keepa_cli.research.subject import Subject

NAME = 80
PATH_SHOWN = 12


def section(look: Look) -> Section:
    s = look.subject
    product = s.product
    tree = [node(n.get("catId"), n.get("name")) for n in rows(product.get("categoryTree"))]
    path = [n for n in tree if n is not None]
    names = {n["id"]: n.get("name") for n in path}
    root, leaves = _known(product.get("rootCategory")), product.get("categories")
    leaf = _known(leaves[-1]) if isinstance(leaves, list) and leaves else None
    found = Section()
    found.put("root", path[0] if path else _named(root, names), Reason.NOT_COLLECTED)
    found.put("leaf", path[-1] if path else _named(leaf, names), Reason.NOT_COLLECTED)
    found.put("path", path[:PATH_SHOWN], Reason.NOT_COLLECTED)
    found.put("rank_reference", _named(reference(product), names), _why_no_reference(product))
    found.put("display_group", text(product, "websiteDisplayGroupName"), Reason.NOT_COLLECTED)
    found.put("item_type", text(product, "itemTypeKeyword"), Reason.NOT_COLLECTED)
    found["evidence_path"] = _evidence(s)
    return found


def reference(product: Mapping[str, Any]) -> int | None:
    """The category in which the sales rank counts."""
    return _known(product.get("salesRankReference"))


def category_names(product: Mapping[str, Any]) -> dict[int, str]:
    """The names of the categories that the product's own tree tells."""
    nodes = (node(n.get("catId"), n.get("name")) for n in rows(product.get("categoryTree")))
    return {n["id"]: n["name"] for n in nodes if n and n.get("name")}


def node(number: Any, name: Any) -> Section | None:
    """`{id, name}`; None for the ids that stand for an unknown category."""
    known = _known(number)
    if known is None:
        return None
    shown = shortened(name, NAME)[0] if isinstance(name, str) and name.strip() else None
    return Section(id=known).put("name", shown, Reason.NOT_COLLECTED)


def _known(number: Any) -> int | None:
    return category_id(number) if type(number) is int and number > 0 else None


def _named(number: int | None, names: Mapping[int, Any]) -> Section | None:
    return None if number is None else node(number, names.get(number))


def _why_no_reference(product: Mapping[str, Any]) -> Reason:
    return Reason.NOT_COLLECTED if product.get("salesRankReference") is None else Reason.NONE


def _evidence(s: Subject) -> list[str] | str:
    fields = ("categoryTree", "rootCategory", "categories", "salesRankReference")
    return [s.at(name) for name in fields if name in s.product][:2] or s.path
