"""Comparing recordings, and recording again what a fixture holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from keepa_cli.cassettes import evidence
from keepa_cli.cassettes.diff import compare_exchanges
from keepa_cli.cassettes.fingerprint import fingerprint
from keepa_cli.cassettes.model import Exchange
from keepa_cli.cassettes.promote import writing
from keepa_cli.cassettes.recordings import recordings
from keepa_cli.cassettes.verify import wire_request
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.files import write_atomic
from keepa_cli.ops import _cassettes_files as files

Recorder = Callable[[list[str], str, dict[str, Any]], Mapping[str, Any]]


def difference(ctx: Context, old: str, new: str, *, whole: bool) -> dict[str, Any]:
    before, after = files.exchanges_of(ctx, old), files.exchanges_of(ctx, new)
    found = compare_exchanges(before.exchanges, after.exchanges, whole=whole)
    return {"old": before.file, "new": after.file} | flat(found)


def flat(found: dict[str, Any]) -> dict[str, Any]:
    """A comparison with one list of moved structure and one of moved values, each row naming its exchange."""
    pairs = found["exchanges"]
    shape = [
        {"exchange": pair["ordinal"], "change": change, **row}
        for pair in pairs
        for change, rows in pair["shape"].items()
        for row in rows
    ]
    values = [{"exchange": pair["ordinal"], **row} for pair in pairs for row in pair["values"]["changes"]]
    kept = ("ordinal", "verdict", "breaking", "status", "request", "lists")
    return {
        **{k: v for k, v in found.items() if k != "exchanges"},
        "exchanges": [{k: pair[k] for k in kept} for pair in pairs],
        "shape": shape,
        "values": values,
        "values_moved": sum(pair["values"]["count"] for pair in pairs),
    }


def refreshed(ctx: Context, name: str, record: Recorder, *, live: bool, dry_run: bool) -> dict[str, Any]:
    """The drift of the fixture `name` against the newest recording of its request."""
    cassette = files.fixture(ctx, name)
    last = cassette.exchanges[-1]
    request = wire_request(last)
    query = [f"{key}={value}" for key, value in request.query]
    if request.method != "GET":
        raise invalid(f"{name} holds a {request.method}; only GET requests are refreshed.", field="name", value=name)
    if dry_run:
        return {"dry_run": True, "name": name} | unwrapped(record(query, request.path, {"dry_run": True}))
    if live:
        unwrapped(record(query, request.path, {"record": name}))
    path = _newest(ctx, fingerprint(last.method, last.url, last.request_body), name)
    fresh = files.exchanges_of(ctx, str(path))
    found = compare_exchanges([last], [_same_request(fresh.exchanges, last)])
    kept = _keep(ctx, cassette.root, name, found)
    actions = [f"kc cassettes promote {path.name} --name {name} --replace"] if found["verdict"] != "identical" else []
    return {"name": name, "recording": path.name, "report": kept, "next_actions": actions} | flat(found)


def _same_request(exchanges: list[Exchange], wanted: Exchange) -> Exchange:
    mark = fingerprint(wanted.method, wanted.url, wanted.request_body)
    return next(e for e in reversed(exchanges) if fingerprint(e.method, e.url, e.request_body) == mark)


def _newest(ctx: Context, mark: str, name: str) -> Path:
    for recording in reversed(list(recordings(ctx.state_dir))):
        try:
            found = files.exchanges_of(ctx, str(recording.path)).exchanges
        except KeepaCliError:
            continue
        if any(fingerprint(e.method, e.url, e.request_body) == mark for e in found):
            return recording.path
    raise KeepaCliError(
        Kind.MISSING_INPUTS,
        f"The inbox holds no recording of the request of {name}.",
        details={"missing_inputs": ["recording"], "fingerprint": mark},
        next_actions=[f"kc cassettes refresh {name} --live --yes"],
    )


def _keep(ctx: Context, root: Path | None, name: str, found: dict[str, Any]) -> str | None:
    """Store the drift report as evidence beside the fixture; None where the library cannot be written."""
    if root is None:
        return None
    moment = ctx.now()
    folder = evidence.evidence_root(root) / "drift"
    outline = {
        "schema_version": evidence.SCHEMA_VERSION,
        "name": name,
        "compared_at": evidence.utc(moment),
        "verdict": found["verdict"],
        "breaking": found["breaking"],
        "shape": [pair["shape"] for pair in found["exchanges"]],
        "values_moved": sum(pair["values"]["count"] for pair in found["exchanges"]),
    }
    path = folder / f"{evidence.stamp(moment)}-{name}.json"
    try:
        with writing(root):
            write_atomic(path, evidence.dump_json(outline))
    except KeepaCliError as error:
        if error.retryable:
            raise
        return None
    return path.relative_to(root.parent).as_posix()


def named_values(items: list[str]) -> dict[str, Any]:
    """NAME=VALUE items as parameters, values as text; a name given twice is a list."""
    found: dict[str, list[str]] = {}
    for item in items:
        name, given, value = item.partition("=")
        if not given or not name.strip():
            raise invalid("A parameter is written NAME=VALUE.", field="params", value=item)
        found.setdefault(name.strip().replace("-", "_"), []).append(value)
    return {name: values if len(values) > 1 else values[0] for name, values in found.items()}


def unwrapped(envelope: Mapping[str, Any]) -> dict[str, Any]:
    """The data of an inner call, with its token bucket; an inner failure is raised as it was."""
    if envelope["ok"]:
        shown = {k: envelope[k] for k in ("request", "token_bucket", "provenance", "warnings") if envelope.get(k)}
        return {**shown, "data": envelope["data"]}
    error = envelope["error"]
    raise KeepaCliError(
        Kind(error["kind"]),
        error["message"],
        details=error["details"],
        next_actions=error["next_actions"],
        retryable=error["retryable"],
        token_bucket=envelope.get("token_bucket"),
    )
