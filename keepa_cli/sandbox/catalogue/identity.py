"""What a product is, without prices: names, sizes, pictures, attributes. The same on every marketplace."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from keepa_cli.sandbox.catalogue.seeds import Item, rng
from keepa_cli.sandbox.catalogue.words import ADJECTIVES, BRANDS, COLORS, FEATURES, MATERIALS, TREE, singular

_CODE = "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789"
_LEAVES = tuple(leaf for groups in TREE.values() for leaves in groups.values() for leaf in leaves)


def leaf_index(item: Item) -> int:
    """Which leaf of the tree the product stands in."""
    return item.shared("leaf").randrange(len(_LEAVES))


def words_of(item: Item) -> tuple[str, str, str]:
    """Brand, title and color: cheap, for searches go through many."""
    source = item.shared("title")
    brand, color, noun = source.choice(BRANDS), source.choice(COLORS), singular(_LEAVES[leaf_index(item)])
    feature = source.choice(FEATURES)
    return brand, f"{brand} {source.choice(ADJECTIVES)} {source.choice(MATERIALS)} {noun} - {feature}, {color}", color


def invented_asin(*parts: object) -> str:
    """An ASIN that looks like one and belongs to the invented shop."""
    return "B0" + "".join(rng(*parts).choices(_CODE, k=8))


def code_of(item: Item) -> str:
    """The EAN-13, from the ranges kept for use inside a shop; several products share one. A leading 0 makes a UPC."""
    source = item.shared("code")
    digits = f"{source.choice(('02', '20'))}{source.randrange(900):010d}"
    return digits + str(-sum(int(d) * (3 if i % 2 else 1) for i, d in enumerate(digits)) % 10)


def identity(item: Item) -> dict[str, Any]:
    """The descriptive fields that Keepa always sends, and those of the omitted kind that this product has."""
    source = item.shared("identity")
    brand, title, color = words_of(item)
    noun = singular(_LEAVES[leaf_index(item)])
    ean = code_of(item)
    found: dict[str, Any] = {
        "asin": item.asin,
        "author": None,
        "binding": None,
        "brand": brand,
        "color": color,
        "description": f"<p>{title}.</p>" if source.random() < 0.5 else None,
        "eanList": [ean],
        "edition": None,
        "features": [f"{feature}." for feature in source.sample(FEATURES, 3)],
        "format": None,
        "frequentlyBoughtTogether": None,
        "g": source.randrange(100, 9999),
        "hasReviews": True,
        "images": [_image(source, main=i == 0) for i in range(source.randrange(1, 5))],
        "isAdultProduct": False,
        "isEligibleForTradeIn": False,
        "isHeatSensitive": False,
        "isRedirectASIN": False,
        "itemTypeKeyword": noun.lower().replace(" ", "-"),
        "languages": None,
        "launchpad": False,
        "manufacturer": brand,
        "model": None,
        "numberOfItems": 1,
        "numberOfPages": -1,
        "partNumber": "".join(source.choices(_CODE, k=7)),
        "productGroup": None,
        "publicationDate": 0,
        "releaseDate": 0,
        "size": None,
        "title": title,
        "type": noun.upper().replace(" ", "_"),
        "upcList": [ean[1:]] if ean.startswith("0") else None,
        "urlSlug": "-".join(title.split(" - ")[0].replace("&", "").split()),
    }
    return found | _sizes(source) | _extras(source)


def _sizes(source: random.Random) -> dict[str, int]:
    height, length, width, weight = (source.randrange(20, 600) for _ in range(4))
    return {
        "itemHeight": height,
        "itemLength": length,
        "itemWeight": weight,
        "itemWidth": width,
        "packageHeight": height + 20,
        "packageLength": length + 20,
        "packageQuantity": source.choice((1, 1, -1)),
        "packageWeight": weight + 60,
        "packageWidth": width + 20,
    }


def _extras(source: random.Random) -> dict[str, Any]:
    """Attributes that are left out where a product has none."""
    extras: dict[str, Any] = {}
    if source.random() < 0.3:
        extras["unitCount"] = {"unitType": "Count", "unitValue": 1.0}
    if source.random() < 0.3:
        extras["materials"] = [source.choice(MATERIALS)]
    if source.random() < 0.2:
        extras["batteriesRequired"] = extras["batteriesIncluded"] = source.random() < 0.5
    return extras


def _image(source: random.Random, *, main: bool) -> dict[str, Any]:
    """Large sizes are left out, not null, where they do not exist."""
    name = "".join(source.choices(_CODE, k=9))
    found: dict[str, Any] = {"m": f"41{name}L.jpg", "mH": 500, "mW": 500, "variant": "MAIN" if main else "PT01"}
    if main or source.random() < 0.7:
        found |= {"l": f"71{name}L.jpg", "lH": 1500, "lW": 1500}
    return found


def videos(item: Item) -> list[dict[str, Any]] | None:
    source = item.shared("videos")
    if source.random() < 0.4:
        return None
    name = "".join(source.choices(_CODE, k=9))
    url = f"https://m.media-amazon.com/images/S/sandbox-video/{name}.mp4"
    other = {"creator": "Seller", "duration": source.randrange(8, 120), "name": words_of(item)[0]}
    return [
        {"creator": "Main", "image": f"71{name}L.jpg", "url": url},
        {**other, "image": f"61{name}L.jpg", "title": "Unboxing", "url": url.replace(name, name + "2")},
    ]


def a_plus(item: Item) -> list[dict[str, Any]] | None:
    source = item.shared("aplus")
    if source.random() < 0.4:
        return None
    image = "https://m.media-amazon.com/images/S/aplus-media/" + "".join(source.choices(_CODE, k=12)) + ".png"
    module: list[dict[str, Any]] = [
        {"image": [image], "imageAltText": [words_of(item)[1]]},
        {"text": list(FEATURES[:2])},
    ]
    return [{"fromManufacturer": source.random() < 0.5, "module": module}]


def family(item: Item) -> tuple[str, list[str]]:
    """The parent ASIN and the members of the product's family, itself among them."""
    parent = invented_asin(item.seed, item.asin, "parent")
    return parent, sorted([item.asin, *(invented_asin(item.seed, item.asin, "sibling", i) for i in range(3))])


def variations(members: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"asin": asin, "attributes": [{"dimension": "Color", "value": color}], "image": f"41{asin[2:]}L.jpg"}
        for asin, color in zip(members, COLORS, strict=False)
    ]
