"""/graphimage: pictures of price history."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from keepa_cli.keepa import costs, graph
from keepa_cli.sandbox import params as read
from keepa_cli.sandbox.bodies import Chunk
from keepa_cli.sandbox.chart import SERIES, SHOWN_AT_FIRST, Chart, draw
from keepa_cli.sandbox.messages import Call, invalid_parameter
from keepa_cli.sandbox.shop import Answer, Shop

PNG_TYPE = (("Content-Type", "image/png"),)
_HEX = re.compile(r"[0-9a-fA-F]{6}")
T = TypeVar("T")


def graphimage(shop: Shop, call: Call, now: int, _: Sequence[str]) -> Answer:
    """A picture costs a token, the same one within 90 minutes nothing; the answer has no token fields."""
    domain, asin = read.domain(call.params, call.path), call.params.get("asin", "")
    if not read.ASIN.fullmatch(asin):
        raise invalid_parameter("asin")
    chart = _chart(call.params)
    key = (call.key, tuple(sorted(call.params.items())))
    picture, again = shop.graphs.made(key, lambda: Chunk(draw(chart, shop.catalogue.market(asin, domain, now), now)))
    return Answer(tokens=0 if again else costs.graphimage().estimated, body=picture, headers=PNG_TYPE)


def _chart(params: read.Params) -> Chart:
    """What is asked for; parameters that nobody knows are ignored."""

    def value(name: str, check: Callable[[str], T], default: T) -> T:
        if not params.get(name):
            return default
        try:
            return check(params[name])
        except ValueError:
            raise invalid_parameter(name) from None

    def on(name: str, default: bool = False) -> bool:
        return value(name, graph.switch, default)

    def number(name: str, default: int) -> int:
        return int(value(name, lambda text: float(graph.number(name, text)), float(default)))

    second = [on("subranks"), on("monthlysold")]
    return Chart(
        width=number("width", Chart.width),
        height=number("height", Chart.height),
        days=number("range", Chart.days),
        thick=number("lw", Chart.thick),
        on=frozenset(name for name in SERIES if on(name, name in SHOWN_AT_FIRST)),
        types=tuple(value("types", graph.types, [])),
        zoomed=on("yzoom", True),
        title=on("title", True),
        legend=on("legend"),
        second=any(second),
        colours={name: found for name in graph.COLOURS if (found := value(name, _colour, ""))},
    )


def _colour(text: str) -> Any:
    if not _HEX.fullmatch(text):
        raise ValueError(text)
    return text
