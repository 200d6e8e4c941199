"""The four figures of one product."""

from __future__ import annotations

from keepa_cli.research.business.cashflow import cashflow
from keepa_cli.research.business.inventory import inventory
from keepa_cli.research.business.record import Metrics
from keepa_cli.research.business.sellers import seller_metrics
from keepa_cli.research.business.velocity import velocity
from keepa_cli.research.facts import Section


def measured(m: Metrics) -> dict[str, Section]:
    """velocity, seller_metrics, inventory and cashflow."""
    speed = velocity(m)
    sellers = seller_metrics(m)
    return {
        "velocity": speed,
        "seller_metrics": sellers,
        "inventory": inventory(m, speed, sellers),
        "cashflow": cashflow(m, speed),
    }
