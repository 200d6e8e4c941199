"""One product as the business figures read it, whatever it was read from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.keepa.domains import Domain
from keepa_cli.research.facts import Reason
from keepa_cli.research.subject import Subject

PRICES = ("buy_box", "new")
"""Prices by preference: what a customer pays now, else the lowest new offer."""
OOS_SERIES = ("buy_box", "new", "amazon")
COUNTS = ("total_offer_count", "new_offer_count", "new_fba_offer_count", "new_fbm_offer_count")
NAMES = (
    *PRICES, "monthly_sold", "rank_drops_30", "sales_rank", *COUNTS, "seller_sample", "amazon_sells",
    *(f"out_of_stock_{days}_{name}" for name in OOS_SERIES for days in (30, 90)),
)  # fmt: skip
"""Everything that a record may hold."""


@dataclass(frozen=True)
class Fact:
    """A value with where it stands in its input. `via` says how it was found where there is more than one way."""

    value: Any
    path: str
    at: str | None = None
    via: str = ""


@dataclass(frozen=True)
class Source:
    """Where a record was read: the input's name, kind and hash, and the path in it that evidence paths start from."""

    name: str
    kind: str
    sha256: str
    root: str = "$"

    def shown(self, form: str) -> dict[str, str]:
        return {"name": self.name, "source": self.kind, "form": form, "root": self.root}


@dataclass
class Metrics:
    """The facts of one product. `form` is raw_product, product_view or compare_row; paths start at the source's root.

    What is not among `facts` has its reason in `absent`. `now` is the Keepa minute of the answer, 0 when unknown.
    """

    asin: str | None
    title: str | None
    domain: Domain
    form: str
    path: str
    source: Source
    now: int = 0
    usable: bool = True
    domain_known: bool = True
    subject: Subject | None = None
    facts: dict[str, Fact] = field(default_factory=dict)
    absent: dict[str, Reason] = field(default_factory=dict)

    def get(self, name: str) -> Fact | None:
        return self.facts.get(name)

    def value(self, name: str) -> Any:
        found = self.facts.get(name)
        return found.value if found else None

    def why(self, name: str) -> Reason:
        """Why a fact is absent."""
        return self.absent.get(name, Reason.NOT_APPLICABLE if not self.usable else Reason.NOT_REQUESTED)

    def evidence(self, *names: str) -> str | list[str]:
        """The paths of these facts; that of the product where none is known."""
        paths = list(dict.fromkeys(f.path for n in names if (f := self.facts.get(n))))
        return paths[0] if len(paths) == 1 else paths or self.path

    def price(self) -> tuple[str, Fact] | None:
        """The preferred price that is known, with its name."""
        return next(((n, self.facts[n]) for n in PRICES if n in self.facts), None)

    @property
    def label(self) -> str:
        """How sentences name the product."""
        return self.asin or self.path

    def key(self) -> tuple[str, str]:
        """The same product in two inputs has the same key."""
        return (self.domain.code, self.asin or f"{self.source.name}:{self.path}")


LARGEST = 10**15
"""Numbers beyond are no prices, ranks or counts; they would overflow ratios."""


def whole(value: Any) -> int | None:
    """`value` where it is an integer that is no sentinel."""
    return value if type(value) is int and 0 <= value < LARGEST else None


def member(data: Any, *names: str) -> Any:
    """What stands below `data` along `names`; None where a step is missing."""
    for name in names:
        data = data.get(name) if isinstance(data, Mapping) else None
    return data
