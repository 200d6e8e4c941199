"""Products that are not what Keepa documents: real or made ones with something odd put into them."""

from __future__ import annotations

import random
from typing import Any

ODD: tuple[Any, ...] = (
    None, 0, -1, -2, 1, 10**12, -(10**12), 2**63 - 1, 1.5, True, False, "", "-1", "-2", "x", "\u202eevil\u0000",
    "\ud800", "<script>alert(1)</script>", "A" * 5000, [], [None], [1], [1, 2, 3], ["1", "2"], [[1, -1]], {}, {"a": 1},
    [{}], [[]], 8_075_000, "8075000", [8_075_000, -1], [8_075_000, 100, 0], [8_000_000, 5, 7_000_000, 4],
    [8_075_000.5, 1],
)  # fmt: skip
"""Values that stand where others are expected."""


def mutated(value: Any, rng: random.Random, times: int) -> Any:
    """`value` after `times` changes in place; the changed value where its top is replaced."""
    for _ in range(times):
        _change(value, rng)
    return value


def _change(value: Any, rng: random.Random) -> None:
    """Walk down at random, then replace, remove, repeat, cut or shuffle."""
    while True:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        if not keys:
            return
        key = rng.choice(keys)
        inner = value[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.6:
            value = inner
            continue
        _put(value, key, rng)
        return


def _put(value: Any, key: Any, rng: random.Random) -> None:
    kind = rng.randrange(6)
    inner = value[key]
    if kind == 0:
        del value[key]
    elif kind == 1 and isinstance(inner, list):
        value[key] = inner[: rng.randrange(len(inner) + 1)]
    elif kind == 2 and isinstance(inner, list):
        rng.shuffle(inner)
    elif kind == 3 and isinstance(value, list):
        value.insert(key, rng.choice(ODD))
    elif kind == 4 and isinstance(inner, int):
        value[key] = inner * rng.choice((-1, 2, 1000))
    else:
        value[key] = rng.choice(ODD)


def shortened(product: dict[str, Any], points: int) -> dict[str, Any]:
    """The product with only the newest points of its long histories."""
    found = dict(product)
    triples = {7, *range(18, 30), 32}
    found["csv"] = [s and s[-points * (3 if i in triples else 2) :] for i, s in enumerate(product.get("csv") or [])]
    found["salesRanks"] = {k: v[-2 * points :] for k, v in (product.get("salesRanks") or {}).items()}
    for name in ("monthlySoldHistory", "buyBoxSellerIdHistory"):
        found[name] = product.get(name) and product[name][-2 * points :]
    return found
