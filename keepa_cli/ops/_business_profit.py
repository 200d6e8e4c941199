"""business.profit: what one unit of a product earns."""

from __future__ import annotations

from typing import Annotated, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.core.registry import Cost, Param, Request, operation
from keepa_cli.keepa import costs, domains
from keepa_cli.ops._names import PROFIT
from keepa_cli.ops._params import Asin, Domain, domain_id


def _amount(value: Any) -> str:
    from keepa_cli.research.business.amounts import decimal_text

    return decimal_text(value)


def _rate(value: Any) -> str:
    from keepa_cli.research.business.amounts import percent_text

    return percent_text(value)


TEXT = ("string", "integer")
Amount = Annotated[str, Param(metavar="AMOUNT", parse=_amount, accepts=TEXT, examples=("4.20",))]
Rate = Annotated[str, Param(metavar="PERCENT", parse=_rate, accepts=TEXT, examples=("12.5",))]
FULL = {"history": True, "stats": "0", "videos": True, "aplus": True}
"""The same request as `products get --full`, so that one recording serves both."""
MONEY = ("cost", "inbound", "storage", "other", "shipping_cost", "fulfilment_fee", "min_referral_fee")


def _view(body: Any, params: dict[str, Any]) -> dict[str, Any]:
    from keepa_cli.research.business.profit import profit_view

    return profit_view(body, params)


def _finish(ctx: Context, call: Any, data: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    """Suggest the same figures on the buy box price where they rest on the lowest new offer."""
    from keepa_cli.ops._actions import planner
    from keepa_cli.research.needs import Need

    first = data["products"][0]["metrics"]["profit"] if data["products"] else None
    if first and first["price_basis"] == "new" and not params["buybox"]:
        again = {k: v for k, v in params.items() if v not in (None, False)} | {"buybox": True}
        reason = "The same figures at the buy box price, which is what customers pay."
        data["brief"]["next_actions"].append(planner(ctx)(Need.ESTIMATE_PROFIT, again, reason))
    return data


def _cost(params: dict[str, Any]) -> Cost:
    return costs.product(1, {"buybox": params.get("buybox")})


def _check(given: dict[str, Any], domain: str, fba: bool, fbm: bool) -> None:
    """Contradictions, and decimals that the currency does not have."""
    from keepa_cli.research.business.amounts import minor_units

    if fba and fbm:
        raise invalid(
            "A unit is shipped by Amazon (--fba) or by the merchant (--fbm), not both.", field="fbm", value=fbm
        )
    if given["shipping_cost"] is not None and not fbm:
        raise invalid("--shipping-cost goes with --fbm.", field="shipping_cost", value=given["shipping_cost"])
    if given["fulfilment_fee"] is not None and fbm:
        raise invalid("--fulfilment-fee is a fee of FBA; with --fbm give --shipping-cost.", field="fulfilment_fee")
    for name, text in given.items():
        if text is not None:
            try:
                minor_units(text, domains.resolve(domain))
            except ValueError as error:
                raise _odd(name, text, error) from None


def _odd(name: str, text: str, error: ValueError) -> KeepaCliError:
    return invalid(f"--{name.replace('_', '-')}: {error}.", field=name, value=text)


@operation(
    PROFIT,
    toolset="business",
    cost=_cost,
    returns="product",
    view=_view,
    finish=_finish,
    examples=(
        "kc business profit B0PPJ248DY --cost 4.20",
        "kc business profit B0PPJ248DY --cost 4.20 --inbound 0.55 --ads-rate 8 --return-rate 3 --buybox --live",
        "kc business profit B0PPJ248DY --cost 4.20 --fbm --shipping-cost 3.90 --dry-run",
    ),
)
def profit(
    asin: Annotated[Asin, Param("The product.", position=True)],
    cost: Annotated[Amount, Param("What one unit costs you, in the currency of the marketplace.")],
    domain: Domain = "US",
    inbound: Annotated[Amount | None, Param("Shipping one unit to the warehouse [0].")] = None,
    ads_rate: Annotated[Rate | None, Param("Advertising, in percent of the price [0].")] = None,
    return_rate: Annotated[
        Rate | None, Param("Units that come back, in percent; each loses its whole price [0].")
    ] = None,
    storage: Annotated[Amount | None, Param("Storing one unit until it is sold [0].")] = None,
    other: Annotated[Amount | None, Param("Any further cost of one unit [0].")] = None,
    fba: Annotated[bool, Param("Amazon ships (the default).")] = False,
    fbm: Annotated[bool, Param("The merchant ships: no FBA fee, but --shipping-cost.")] = False,
    shipping_cost: Annotated[Amount | None, Param("Shipping one unit to the customer, with --fbm [0].")] = None,
    referral_rate: Annotated[Rate | None, Param("Referral fee in percent instead of Keepa's.")] = None,
    min_referral_fee: Annotated[Amount | None, Param("Amazon's least referral fee per unit [0].")] = None,
    fulfilment_fee: Annotated[Amount | None, Param("FBA fee per unit instead of Keepa's.")] = None,
    buybox: Annotated[bool, Param("Count with the buy box price: 2 tokens more.")] = False,
) -> Request:
    """Tell what one unit earns at the price of today and at the mean prices of 30, 90 and 365 days.

    Fees are the product's own; what Keepa does not know is an option, shown with its value under `assumptions`.
    Prices are the buy box with --buybox, else the lowest new offer.
    """
    given = {
        "cost": cost, "inbound": inbound, "storage": storage, "other": other, "shipping_cost": shipping_cost,
        "fulfilment_fee": fulfilment_fee, "min_referral_fee": min_referral_fee,
    }  # fmt: skip
    _check(given, domain, fba, fbm)
    options: dict[str, Any] = FULL | ({"buybox": True} if buybox else {})
    return Request("GET", "/product", {"domain": domain_id(domain, "product"), "asin": [asin]} | options, asked=(asin,))
