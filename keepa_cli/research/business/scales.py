"""Every threshold and weight of the business figures, in one place. docs/numbers.md explains them."""

from __future__ import annotations

from collections.abc import Mapping

VERSION = "1"
"""Of the methods: it changes when a formula or a number of this table does."""

FAST_UNITS, STEADY_UNITS = 1000, 100
"""Units a month, at least, of a fast and of a steady seller."""
FAST_DROPS, STEADY_DROPS = 60, 10
"""Drops of the sales rank in 30 days that stand in for it."""

FEW_OFFERS, SOME_OFFERS = 2, 10
"""Up to so many offers competition is low, and medium; it is high beyond."""
CONCENTRATED_HHI = 2500
"""From here on the buy box is concentrated in few hands."""

OUT_OF_STOCK_HIGH, OUT_OF_STOCK_MEDIUM = 30, 10
"""Percent of the last 90 days without an offer from which the stock-out risk is high, and medium."""

STALE_DAYS = 30
"""A `monthlySold` that was checked longer ago is told to be old."""

WEIGHTS: Mapping[str, int] = {"velocity": 40, "competition": 25, "inventory": 15, "cashflow": 20}
"""Of the parts of the opportunity score, in percent."""
TOP_UNITS = 100_000
"""The highest bracket of `monthlySold`; it scores 100 points, one unit scores none, on a logarithmic scale."""
POINTS_PER_OFFER = 10
"""Points that every further offer takes from 100."""
AMAZON_CAP = 30
"""The most points for competition where Amazon itself sells the product."""
RISK_POINTS: Mapping[str, int] = {"low": 100, "medium": 60, "high": 20, "out_of_stock_now": 0}
