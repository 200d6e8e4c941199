"""What a request asks of each product."""

from __future__ import annotations

from dataclasses import dataclass

from keepa_cli.keepa.stats import Interval


@dataclass(frozen=True)
class Options:
    """`stats` counts only when `with_stats`, for None means all history there. Defaults are Keepa's."""

    with_stats: bool = False
    stats: Interval = None
    update: int = 1
    history: bool = True
    days: int | None = None
    offers: int | None = None
    only_live_offers: bool = False
    rating: bool = False
    buybox: bool = False
    stock: bool = False
    videos: bool = False
    aplus: bool = False
    historical_variations: bool = False
