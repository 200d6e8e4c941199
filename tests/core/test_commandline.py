from __future__ import annotations

import shlex

import pytest

from keepa_cli import ops
from keepa_cli.core.commandline import command_line
from keepa_cli.core.schema import bind


@pytest.mark.parametrize(
    ("name", "params", "line"),
    [
        ("products.get", {"asin": ["B000000001", "B000000002"]}, "kc products get B000000001 B000000002 --record"),
        (
            "products.get",
            {"asin": "B000000001", "domain": "de", "history": False, "stats": 30, "full": True},
            "kc products get B000000001 --domain DE --stats 30 --no-history --full --record",
        ),
        ("categories.search", {"term": "it's $x"}, "kc categories search 'it'\"'\"'s $x' --record"),
        (
            "products.search",
            {"term": "-5 kettle", "domain": "DE"},
            "kc products search --domain DE --record -- '-5 kettle'",
        ),
        (
            "request.get",
            {"endpoint": "/x", "param": ["a=1", "b=c d"]},
            "kc request get /x --param a=1 --param 'b=c d' --record",
        ),
        ("config.set-token", {"token": "secret"}, "kc config set-token --record"),
        ("tokens.status", {}, "kc tokens status --record"),
    ],
)
def test_a_call_as_a_pasteable_command(name: str, params: dict[str, object], line: str) -> None:
    op = ops.find(name)
    assert command_line(op, bind(op, params), ("--record",)) == line
    assert shlex.split(line)[0] == "kc"
