"""The verb of secrets at rest: what the file of a recording still holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from keepa_cli.cassettes.codec import dump_cassette, parse_cassette
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.sanitize import sanitize
from keepa_cli.cassettes.scan import scan_paths
from keepa_cli.core.redact import Redactor
from tests.cases_adapters import verb


@verb("cassette.secret")
def secret(given: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    """Sanitize and write the exchanges; answer with the watched texts that the file does not hold."""
    redactor = Redactor(given["secret"])
    file = tmp_path / "recorded.yaml"
    file.write_bytes(b"".join(dump_cassette(sanitize(_exchange(e), redactor)[0] for e in given["exchanges"])))
    data = file.read_bytes()
    findings = scan_paths([tmp_path], redactor)
    return {
        "must_not_contain": [t for t in _watched(given["secret"]) if t.encode() not in data and not findings],
        "interactions": len(parse_cassette(data, "recorded.yaml")),
    }


def _watched(key: str) -> list[str]:
    import base64
    from urllib.parse import quote

    return [quote(key, safe=""), key, base64.b64encode(key.encode()).decode()]


def _exchange(given: dict[str, Any]) -> Exchange:
    request, response = given["request"], given["response"]
    body = response["body"] if isinstance(response["body"], str) else json.dumps(response["body"])
    return Exchange(
        request["method"],
        request["url"],
        {name: [value] for name, value in request["headers"].items()},
        (request["body"] or "").encode(),
        response["status"],
        "OK",
        {name: [value] for name, value in response["headers"].items()},
        body.encode(),
    )
