"""Parameters that are written NAME=VALUE."""

from __future__ import annotations

from typing import Annotated, Any

from keepa_cli.core.errors import invalid
from keepa_cli.core.redact import SECRET_NAMES
from keepa_cli.core.registry import Operation, Param

Pair = Annotated[str, Param("A query parameter as NAME=VALUE; repeat it for more.", metavar="NAME=VALUE", whole=True)]


def pairs(param: list[str]) -> dict[str, str]:
    """The parameters written NAME=VALUE by name. Raises `invalid_arguments`, also for the name of a secret."""
    query: dict[str, str] = {}
    for pair in param:
        name, given, value = pair.partition("=")
        name = name.strip()
        if not given or not name:
            raise invalid("A parameter is written NAME=VALUE.", field="param", value=name or pair)
        if name.lower() in SECRET_NAMES:
            raise invalid(
                f"{name!r} is never a parameter: the key comes from the environment or the config file.", field="param"
            )
        if name in query:
            raise invalid(f"The parameter {name!r} is given twice.", field="param", value=name)
        query[name] = value
    return query


def parameters(op: Operation, param: list[str]) -> dict[str, Any]:
    """The parameters of `op` as text; a name that is given again makes a list."""
    many = {a.name for a in op.args if a.many}
    found: dict[str, Any] = {}
    for pair in param:
        name, given, value = pair.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not given or not name:
            raise invalid("A parameter is written NAME=VALUE.", field="param", value=pair[:80])
        if name in many:
            found.setdefault(name, []).append(value)
        elif name in found:
            raise invalid(f"The parameter {name!r} is given twice.", field="param", value=name)
        else:
            found[name] = value
    return found
