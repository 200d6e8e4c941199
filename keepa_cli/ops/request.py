"""Any Keepa endpoint, with parameters given by hand."""

from __future__ import annotations

from typing import Annotated, Any

from keepa_cli.core.registry import Cost, Param, Request, operation
from keepa_cli.keepa import rawcosts
from keepa_cli.ops._names import REQUEST_GET
from keepa_cli.ops._pairs import Pair, pairs

Endpoint = Annotated[
    str, Param("Path below the API, such as /product.", position=True, pattern=r"/[A-Za-z][A-Za-z0-9/_-]{0,63}")
]
TRACKING = "/tracking"


def _cost(params: dict[str, Any]) -> Cost:
    return rawcosts.of_request(params["endpoint"].rstrip("/"), pairs(params["param"]), params.get("body"))


@operation(
    REQUEST_GET,
    toolset="research",
    cost=_cost,
    examples=("kc request get /product --param domain=1 --param asin=B001GZ6QEC --dry-run",),
)
def get(endpoint: Endpoint, param: Annotated[list[Pair], Param("Query parameters.")] = []) -> Request:  # noqa: B006
    """Send a GET request with any parameters.

    The key is added by the client and refused as a parameter. Values are sent as given. Costs what the endpoint costs,
    and always asks for --yes when live, except /token.
    """
    path = endpoint.rstrip("/")
    return Request("GET", path, pairs(param), writes=path == TRACKING)


@operation(
    "request.post",
    toolset="research",
    cost=_cost,
    effect="write_remote",
    examples=("""kc request post /query --param domain=1 --body '{"title": "kettle"}' --dry-run""",),
)
def post(
    endpoint: Endpoint,
    body: Annotated[Any, Param("The JSON body.", metavar="JSON", accepts=("object", "array"))],
    param: Annotated[list[Pair], Param("Query parameters.")] = [],  # noqa: B006
) -> Request:
    """Send a POST request with a JSON body.

    Upstream may change state, so the request is never sent twice and always needs --yes.
    """
    return Request("POST", endpoint.rstrip("/"), pairs(param), body)
