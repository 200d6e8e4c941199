"""Recordings, fixtures and their evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from keepa_cli.agent.resources.model import Content, Reading, as_json, not_found
from keepa_cli.core.errors import KeepaCliError

RECENT = 20


def fixtures_manifest(reading: Reading) -> Content:
    """Every fixture that replays here, newest evidence first, without its body."""
    rows = _listing(reading)
    return as_json({"fixtures": rows, "count": len(rows), "fixture_resource": "keepa://fixtures/{name}"})


def fixture(reading: Reading) -> Content:
    """The body of a fixture."""
    from keepa_cli.ops import _cassettes_files

    try:
        found = _cassettes_files.fixture(reading.session.ctx, reading.uri.name)
    except KeepaCliError as error:
        raise not_found(reading, error.message) from None
    body = reading.session.ctx.redactor.body(found.exchanges[-1].body)
    try:
        return Content(body.decode("utf-8"))
    except UnicodeDecodeError:
        import base64

        return Content(mime="application/octet-stream", blob=base64.b64encode(body).decode())


def cassette(reading: Reading) -> Content:
    """What a cassette holds: its interactions and evidence, not the bodies."""
    from keepa_cli.ops import _cassettes_files

    try:
        found = _cassettes_files.described(reading.session.ctx, reading.uri.name)
    except KeepaCliError as error:
        raise not_found(reading, error.message) from None
    return as_json(reading.session.ctx.redactor.data(found))


def asin_fixture(reading: Reading) -> Content:
    """Fixtures that answer for an ASIN, found by name and by evidence."""
    asin = reading.uri.name.upper()
    if not (len(asin) == 10 and asin.isalnum() and asin.isascii()) or reading.uri.rest != "fixture":
        raise not_found(reading, "keepa://asin/{asin}/fixture with an ASIN of 10 letters and digits")
    rows = [row for row in _listing(reading) if asin in str(row["name"]).upper()]
    return as_json({"asin": asin, "candidates": rows, "count": len(rows)})


def evidence_recent(reading: Reading) -> Content:
    rows = sorted(_manifest(reading), key=lambda row: row.get("updated_at", ""), reverse=True)[:RECENT]
    return as_json(
        {"evidence": rows, "count": len(rows), "evidence_resource": "keepa://evidence/{encoded_logical_path}"}
    )


def evidence(reading: Reading) -> Content:
    """The manifest row of a logical path, and the sidecar beside the cassette."""
    wanted = reading.uri.decoded or reading.uri.name
    row = next((r for r in _manifest(reading) if r.get("logical_path") == wanted), None)
    if row is None:
        raise not_found(reading, "keepa://evidence/recent lists logical paths")
    return as_json({"row": row, "sidecar": _sidecar(reading, wanted)})


def _listing(reading: Reading) -> list[dict[str, Any]]:
    from keepa_cli.ops import _cassettes_files

    found: list[dict[str, Any]] = _cassettes_files.listing(reading.session.ctx, None)["fixtures"]
    return found


def _manifest(reading: Reading) -> Iterator[dict[str, str]]:
    from keepa_cli.cassettes import evidence as proofs
    from keepa_cli.ops import _cassettes_files

    for root in _cassettes_files.library(reading.session.ctx).roots:
        try:
            yield from proofs.Manifest.read(proofs.manifest_path(root))
        except KeepaCliError:
            continue  # cassettes verify is the one that complains


def _sidecar(reading: Reading, logical: str) -> Any:
    from keepa_cli.cassettes import evidence as proofs
    from keepa_cli.core.files import confine
    from keepa_cli.ops import _cassettes_files

    for root in _cassettes_files.library(reading.session.ctx).roots:
        try:
            path = confine(root.parent, logical)
            if path.is_file():
                return json.loads(json.dumps(proofs.read_sidecar(path)))
        except KeepaCliError:
            continue
    return None
