"""Repeatable randomness: every fact has a generator of its own, so the order of questions changes nothing."""

from __future__ import annotations

import random
from dataclasses import dataclass

MAX_CATEGORY = 9_223_372_036_854_775_807


def rng(*parts: object) -> random.Random:
    """A generator that depends on `parts` alone."""
    return random.Random(":".join(map(str, parts)))  # noqa: S311 - repeatable, not secret


@dataclass(frozen=True)
class Item:
    """One ASIN of one shop on one marketplace."""

    seed: int
    asin: str
    domain: int

    def rng(self, part: str) -> random.Random:
        """For facts that differ between marketplaces: prices, ranks, offers."""
        return rng(self.seed, self.asin, self.domain, part)

    def shared(self, part: str) -> random.Random:
        """For facts that are the same everywhere: the name, the size, the brand."""
        return rng(self.seed, self.asin, part)
