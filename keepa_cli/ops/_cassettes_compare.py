"""Comparing recordings, and recording again what a fixture holds."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
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


def difference(ctx: Context, old: str, new: str, *, whole: bool, fail: bool) -> dict[str, Any]:
    before, after = files.exchanges_of(ctx, old), files.exchanges_of(ctx, new)
    found = flat(compare_exchanges(before.exchanges, after.exchanges, whole=whole))
    shown = {"old": before.file, "new": after.file} | found
    return _without_drift(shown, after.file) if fail else shown


def _without_drift(found: dict[str, Any], new: str) -> dict[str, Any]:
    """The comparison; `contract_error` where structure is gone or has another type."""
    if found["contract"] != "error":
        return found
    broken = [row for row in found["shape"] if row["change"] in {"removed", "type_changed"}]
    first = f"{broken[0]['path']} ({broken[0]['change']})" if broken else "another status or fewer exchanges"
    raise KeepaCliError(
        Kind.CONTRACT_ERROR,
        f"{new} has another shape than before: {first}" + (f" and {len(broken) - 1} more." if broken[1:] else "."),
        details={"errors": broken[:20], **found},
        next_actions=found.get("next_actions") or ["Read details.shape; --whole looks at every item of long lists."],
    )


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
    kept = ("ordinal", "verdict", "breaking", "contract", "status", "request", "lists")
    return {
        **{k: v for k, v in found.items() if k != "exchanges"},
        "exchanges": [{k: pair[k] for k in kept} for pair in pairs],
        "shape": shape,
        "values": values,
        "values_moved": sum(pair["values"]["count"] for pair in pairs),
    }


@dataclass(frozen=True)
class Wish:
    """How a fixture is to be refreshed."""

    live: bool = False
    dry_run: bool = False
    whole: bool = False
    fail: bool = False


def refreshed(ctx: Context, name: str, record: Recorder, wish: Wish) -> dict[str, Any]:
    """The drift of the fixture `name` against the newest recording of its request."""
    cassette = files.fixture(ctx, name)
    last = cassette.exchanges[-1]
    request = wire_request(last)
    query = [f"{key}={value}" for key, value in request.query]
    if request.method != "GET":
        raise invalid(f"{name} holds a {request.method}; only GET requests are refreshed.", field="name", value=name)
    if wish.dry_run:
        return {"dry_run": True, "name": name} | unwrapped(record(query, request.path, {"dry_run": True}))
    if wish.live:
        unwrapped(record(query, request.path, {"record": name}))
    path = _newest(ctx, fingerprint(last.method, last.url, last.request_body), name)
    new = _same_request(files.exchanges_of(ctx, str(path)).exchanges, last)
    found = compare_exchanges([last], [new], whole=wish.whole)
    kept = _keep(ctx, cassette.root, name, found, _compared(last, new, path))
    actions = [f"kc cassettes promote {path.name} --name {name} --replace"] if found["verdict"] != "identical" else []
    shown = {"name": name, "recording": path.name, "report": kept, "next_actions": actions} | flat(found)
    return _without_drift(shown, path.name) if wish.fail else shown


def _compared(old: Exchange, new: Exchange, path: Path) -> dict[str, Any]:
    """What was compared, so that a report can be traced: the recording and the hashes of both bodies."""
    hashes = {"old_sha256": hashlib.sha256(old.body).hexdigest(), "new_sha256": hashlib.sha256(new.body).hexdigest()}
    return {"recording": path.name, "fingerprint": fingerprint(old.method, old.url, old.request_body)} | hashes


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


def _keep(ctx: Context, root: Path | None, name: str, found: dict[str, Any], compared: dict[str, Any]) -> str | None:
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
        "contract": found["contract"],
        "compared": compared,
        "status": [pair["status"] for pair in found["exchanges"]],
        "lists": [pair["lists"] for pair in found["exchanges"]],
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
