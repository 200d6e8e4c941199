"""Recordings, fixtures and their evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

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

    ctx, name = reading.session.ctx, reading.uri.name
    if reading.uri.rest or not set(name).isdisjoint("/\\~\0"):
        raise not_found(reading, "the name of a cassette, not a path")
    try:
        if (ctx.cwd / name).exists():
            reading.session.roots.inside(name, "name")
        found = _cassettes_files.described(ctx, name)
    except KeepaCliError as error:
        raise not_found(reading, error.message) from None
    except (OSError, ValueError):  # no system has a file of that name
        raise not_found(reading) from None
    return as_json(ctx.redactor.data(found))


def asin_fixture(reading: Reading) -> Content:
    """Fixtures that answer for an ASIN: their request names it, or their name does."""
    asin = reading.uri.name.upper()
    if not (len(asin) == 10 and asin.isalnum() and asin.isascii()) or reading.uri.rest != "fixture":
        raise not_found(reading, "keepa://asin/{asin}/fixture with an ASIN of 10 letters and digits")
    asked = _requests(reading)
    rows = [
        {**row, "resource_uri": f"keepa://fixtures/{row['name']}"}
        for row in _listing(reading)
        if asin in str(row["name"]).upper() or asin in asked.get(row["fingerprint"], Asked()).values
    ]
    return as_json({"asin": asin, "candidates": rows, "count": len(rows)})


def sources_of(reading: Reading, root: str) -> list[dict[str, Any]]:
    """Fixtures from whose answers a graph with that root can be made: `type:MARKETPLACE:id` stands in the request."""
    from keepa_cli.keepa.domains import NAMES

    _, _, rest = root.partition(":")
    market, _, named = rest.partition(":")
    domain = NAMES.get(market.lower())
    if domain is None or not named:
        return []
    asked = _requests(reading)
    found = []
    for row in _listing(reading):
        request = asked.get(row["fingerprint"], Asked())
        if named in request.values and request.domain == str(domain.id):
            found.append(
                {
                    "source": f"keepa://fixtures/{row['name']}",
                    "root": root,
                    "endpoint": row["endpoint"],
                    "request": request.text,
                }
            )
    return found


@dataclass(frozen=True)
class Asked:
    """The request of a recording, as its evidence names it."""

    text: str = ""
    values: frozenset[str] = frozenset()
    domain: str | None = None


def _requests(reading: Reading) -> dict[str, Asked]:
    """Requests by fingerprint."""
    found = {}
    for row in _manifest(reading):
        text = row.get("title", "").partition(": ")[2]
        query = parse_qs(text.partition("?")[2])
        values = {part for name in query for value in query[name] for part in (value, *value.split(","))}
        found[row.get("fingerprint", "")] = Asked(text, frozenset(values), query.get("domain", [None])[0])
    return found


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
