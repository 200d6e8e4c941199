"""JSON that local operations work on: files, fixtures, or data given in the call."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import read_bytes
from keepa_cli.core.registry import Param

LARGEST = 512 << 20

Inputs = Annotated[
    list[str],
    Param(
        "JSON files: answers of Keepa, saved output of kc --json, or graphs. Repeatable.",
        metavar="FILE",
        whole=True,
        examples=("products.json",),
    ),
]
Fixtures = Annotated[list[str], Param("Promoted fixtures to work on. Repeatable.", metavar="NAME")]
Payload = Annotated[
    dict[str, Any], Param("The data itself instead of a file: an answer, an envelope, a view or a graph.")
]


@dataclass(frozen=True)
class Given:
    """One input: what it is called, where it came from (`file`, `fixture` or `payload`), its data and their hash."""

    name: str
    source: str
    data: Any
    sha256: str

    @property
    def described(self) -> dict[str, Any]:
        return {"name": self.name, "source": self.source, "sha256": self.sha256}


def read(
    ctx: Context, files: Sequence[str] = (), fixtures: Sequence[str] = (), payload: dict[str, Any] | None = None
) -> list[Given]:
    """All inputs in the order given. Raises `missing_inputs` without any, and names a file that is no JSON."""
    found = [_file(ctx, name) for name in files] + [_fixture(ctx, name) for name in fixtures]
    if payload is not None:
        found.append(_payload(payload))
    if not found:
        raise KeepaCliError(
            Kind.MISSING_INPUTS,
            "There is nothing to work on: give a file, a fixture or a payload.",
            details={Kind.MISSING_INPUTS.value: ["input", "fixture", "payload"]},
            next_actions=["kc cassettes list"],
        )
    return found


def path_of(ctx: Context, text: str) -> Path:
    """The file that an argument names."""
    return ctx.cwd / Path(text).expanduser()


def _file(ctx: Context, name: str) -> Given:
    raw = read_bytes(path_of(ctx, name), limit=LARGEST)
    return Given(name, "file", parsed(raw, name), hashlib.sha256(raw).hexdigest())


def _fixture(ctx: Context, name: str) -> Given:
    from keepa_cli.ops import _cassettes_files

    cassette = _cassettes_files.fixture(ctx, name)
    body = cassette.exchanges[-1].body
    return Given(cassette.name, "fixture", parsed(body, name), hashlib.sha256(body).hexdigest())


def _payload(data: dict[str, Any]) -> Given:
    from keepa_cli.keepa.strictjson import dump_json

    return Given("payload", "payload", data, hashlib.sha256(dump_json(data).encode()).hexdigest())


def parsed(raw: bytes, name: str) -> Any:
    """The JSON of an input. Raises `invalid_arguments` that names it."""
    from keepa_cli.keepa.strictjson import load_json

    try:
        return load_json(raw)
    except (ValueError, RecursionError) as error:
        raise KeepaCliError(
            Kind.INVALID_ARGUMENTS,
            f"{name} is not JSON: {str(error)[:200]}.",
            details={"field": "input", "value": name},
        ) from None
