"""What is left of a price: integers of the smallest currency unit, exact at every step.

Every part that is a share of the price is rounded by itself to whole minor units, a half up.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from keepa_cli.research.business.amounts import half_up

NARROWEST = Fraction(1, 10_000)
"""Where less than this share of a price is left after fees, no price of use breaks even."""


@dataclass(frozen=True)
class Terms:
    """Amounts in minor units, shares as fractions of the price. None is a fee that is not known."""

    cost: int
    referral: Fraction | None
    fulfilment: int | None
    inbound: int = 0
    storage: int = 0
    closing: int = 0
    other: int = 0
    ads: Fraction = Fraction(0)
    returns: Fraction = Fraction(0)
    least_referral: int = 0

    @property
    def invested(self) -> int:
        """What is paid before anything is sold."""
        return self.cost + self.inbound

    @property
    def complete(self) -> bool:
        return self.referral is not None and self.fulfilment is not None


def parts(terms: Terms, price: int) -> dict[str, int | None]:
    """Every deduction from a price; their sum and the profit are the price."""
    return {
        "cost": terms.cost,
        "inbound": terms.inbound,
        "referral_fee": referral_fee(terms, price),
        "fulfilment_fee": terms.fulfilment,
        "closing_fee": terms.closing,
        "storage": terms.storage,
        "advertising": half_up(terms.ads * price),
        "returns": half_up(terms.returns * price),
        "other": terms.other,
    }


def referral_fee(terms: Terms, price: int) -> int | None:
    return None if terms.referral is None else max(half_up(terms.referral * price), terms.least_referral)


def profit(terms: Terms, price: int) -> int | None:
    """What is left of a price; None while a fee is not known."""
    known = [p for p in parts(terms, price).values() if p is not None]
    return price - sum(known) if terms.complete else None


def break_even(terms: Terms) -> int | None:
    """The smallest price with no loss; None while a fee is not known or when shares eat the whole price.

    The profit there is 0: one minor unit more of price adds at most one to the profit.
    """
    if terms.referral is None or terms.fulfilment is None:
        return None
    shares = terms.ads + terms.returns
    fixed = (
        terms.cost + terms.inbound + terms.fulfilment + terms.closing + terms.storage + terms.other
    )  # fmt: skip
    if 1 - shares - terms.referral < NARROWEST:
        return None
    slack = Fraction(3, 2)
    by_share = (fixed - slack) / (1 - shares - terms.referral)
    by_least = (fixed + terms.least_referral - slack) / (1 - shares)
    price = max(0, int(max(by_share, by_least)))
    while (left := profit(terms, price)) is not None and left < 0:
        price += 1
    return price
