"""Finding, listing and describing cassettes for the operations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from keepa_cli.cassettes import evidence, importers, recordings
from keepa_cli.cassettes.importers import Hints, Imported
from keepa_cli.cassettes.listing import Entry
from keepa_cli.cassettes.model import Cassette, Exchange
from keepa_cli.cassettes.promote import Home, refuse_findings
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind
from keepa_cli.core.files import refuse_link, write_atomic
from keepa_cli.core.redact import Redactor

LIBRARY = "library"


def library(ctx: Context) -> Any:
    """The cassette library of this context, the one that replay answers from."""
    from keepa_cli.cassettes.library import Library, library_roots

    return ctx.service(LIBRARY, lambda: Library(library_roots(ctx)))


def home(ctx: Context) -> Home:
    """Where promotions go: the first library that can be written, with the key known so that it can be looked for."""
    return Home(library(ctx).first_writable(), ctx.state_dir, ctx.now, redactor(ctx))


def redactor(ctx: Context) -> Redactor:
    """The redactor with the configured key added where there is one: here it is needed to find it, not to send it."""
    from keepa_cli.core.context import find_key

    key, _ = find_key(ctx.env, ctx.settings)
    if key:
        ctx.redactor.add_secret(key)
    return ctx.redactor


def recover(ctx: Context) -> list[dict[str, Any]]:
    """Move what killed recorders left behind to the inbox; the warnings that its user must see."""
    redactor(ctx)
    if not (ctx.state_dir / "journal").is_dir():
        return []
    from keepa_cli.transport.keeping import Keeper

    def store(exchanges: Sequence[Exchange], meta: dict[str, Any]) -> Path:
        return recordings.store(ctx.state_dir, exchanges, str(meta["name"]), meta, ctx.now())

    kept = Keeper(ctx.state_dir, store, redactor(ctx), ctx.now).recover()
    return [{"code": "recovered", "message": one.recovered()} for one in kept]


def source(ctx: Context, text: str) -> Path:
    """The file that `text` names; a recording that is still in the journal of a killed recorder is found as well."""
    recover(ctx)
    return recordings.find_recording(ctx.state_dir, text, ctx.cwd)


def fixture(ctx: Context, name: str) -> Cassette:
    redactor(ctx)
    found: Cassette = library(ctx).fixture(name)
    return found


def exchanges_of(ctx: Context, text: str) -> Imported:
    """The exchanges of a fixture, a recording or a file, whichever `text` names first. Sanitized."""
    try:
        path = source(ctx, text)
    except KeepaCliError:
        cassette = fixture(ctx, text)
        return Imported("cassette", cassette.path.name, cassette.sha256, cassette.size, list(cassette.exchanges))
    found = importers.load_input(path, Hints(request=None))
    found.exchanges = [clean(e, redactor(ctx))[0] for e in found.exchanges]
    return found


def clean(exchange: Exchange, known: Redactor) -> tuple[Exchange, dict[str, int]]:
    from keepa_cli.cassettes.sanitize import sanitize

    return sanitize(exchange, known)


def listing(ctx: Context, endpoint: str | None) -> dict[str, Any]:
    warnings = recover(ctx)
    ctx.services.pop(LIBRARY, None)  # what was promoted a moment ago belongs in the list
    rows = [_row(ctx, entry) for entry in library(ctx).entries() if endpoint in (None, entry.folder)]
    seen: set[str] = set()
    for row in rows:
        row["shadowed"] = row["name"] in seen
        seen.add(row["name"])
    waiting = [
        {
            "name": r.name,
            "file": r.path.name,
            "origin": r.meta.get("origin", "unknown"),
            "recorded_at": r.stamp,
            "size_bytes": r.size,
        }
        for r in recordings.recordings(ctx.state_dir)
    ]
    roots = [str(root) for root in library(ctx).roots]
    return {"fixtures": rows, "inbox": waiting, "count": len(rows), "roots": roots, "warnings": warnings}


def _row(ctx: Context, entry: Entry) -> dict[str, Any]:
    proof = _proof(entry.path) if entry.fingerprint else {}
    recorded = (proof.get("interactions") or [{}])[-1].get("recorded_at")
    return {
        "name": entry.name,
        "endpoint": entry.folder,
        "origin": proof.get("promotion", {}).get("origin", "unknown"),
        "recorded_at": recorded,
        "age_days": _age_days(ctx, recorded),
        "interactions": proof.get("identity", {}).get("interaction_count"),
        "size_bytes": entry.path.stat().st_size,
        "promoted": entry.fingerprint is not None,
        "fingerprint": entry.fingerprint,
        "root": str(entry.root),
    }


def _proof(path: Path) -> dict[str, Any]:
    """The evidence beside a cassette as far as it can be read; verify is the one that complains."""
    try:
        found = evidence.read_sidecar(path)
    except KeepaCliError:
        return {}
    parts = {k: v for k, v in found.items() if isinstance(v, dict)}
    facts = found.get("interactions")
    return parts | ({"interactions": facts} if isinstance(facts, list) and facts else {})


def _age_days(ctx: Context, recorded: str | None) -> int | None:
    try:
        moment = datetime.fromisoformat(recorded or "")
    except ValueError:
        return None
    return max(0, (ctx.now() - moment).days) if moment.tzinfo else None


def described(ctx: Context, name: str) -> dict[str, Any]:
    from keepa_cli.cassettes.fingerprint import fingerprint

    try:
        found = fixture(ctx, name)
        exchanges, path = list(found.exchanges), found.path
    except KeepaCliError as error:
        if error.kind is Kind.CASSETTE_INVALID:
            raise
        try:
            path = source(ctx, name)
        except KeepaCliError:
            raise error from None
        exchanges = exchanges_of(ctx, name).exchanges
    rows = [
        {
            "ordinal": number,
            "method": e.method,
            "url": redactor(ctx).url(e.url),
            "fingerprint": fingerprint(e.method, e.url, e.request_body),
            "status": e.status,
            "body_bytes": len(e.body),
        }
        for number, e in enumerate(exchanges)
    ]
    return {"name": name, "path": str(path), "size_bytes": path.stat().st_size, "interactions": rows} | {
        "evidence": _proof(path) or None
    }


def sanitized(ctx: Context, file: str, out: str | None, hints: Hints) -> dict[str, Any]:
    """Sanitize an input; `out` gets the cassette after a scan of its final bytes."""
    from keepa_cli.cassettes.codec import dump_cassette
    from keepa_cli.cassettes.scan import scan_bytes

    known = redactor(ctx)
    found = importers.load_input(source(ctx, file), hints)
    pairs = [clean(e, known) for e in found.exchanges]
    counts: dict[str, int] = {}
    for rule, number in (item for _, one in pairs for item in one.items()):
        counts[rule] = counts.get(rule, 0) + number
    data = b"".join(dump_cassette([e for e, _ in pairs]))
    refuse_findings(scan_bytes(data, found.file, known))
    result: dict[str, Any] = {
        "file": found.file,
        "kind": found.kind,
        "interactions": len(pairs),
        "redactions": counts,
        "size_bytes": len(data),
        "warnings": found.warnings,
    }
    if out:
        target = ctx.cwd / Path(out).expanduser()
        refuse_link(target)
        write_atomic(target, data, mode=0o600)
        result["output"] = str(target)
    return result


def scanned(ctx: Context, paths: list[str]) -> dict[str, Any]:
    """Scan files and folders; with none given the libraries, their evidence and the inbox."""
    from keepa_cli.cassettes.scan import scan_paths

    known = redactor(ctx)
    targets = [ctx.cwd / Path(p).expanduser() for p in paths] or list(_all_places(ctx))
    for target in targets:
        if not target.exists():
            raise KeepaCliError(Kind.IO_ERROR, f"There is no file or folder {target}.", details={"path": str(target)})
    findings = scan_paths(targets, known)
    if findings:
        first = findings[0]
        raise KeepaCliError(
            Kind.SECRET_DETECTED,
            f"{len(findings)} findings; the first: {first.file} at {first.location} (rule {first.rule}).",
            details={"findings": [f.as_dict() for f in findings[:200]], "count": len(findings)},
            next_actions=["Sanitize or delete the files named in details.findings; if a key was real, renew it."],
        )
    return {"findings": [], "scanned": [str(t) for t in targets], "files": sum(map(_count, targets))}


def _all_places(ctx: Context) -> Iterator[Path]:
    for root in library(ctx).roots:
        for folder in (root, evidence.evidence_root(root)):
            if folder.is_dir():
                yield folder
    for name in ("inbox", "failed"):
        if (ctx.state_dir / name).is_dir():
            yield ctx.state_dir / name


def _count(target: Path) -> int:
    return 1 if target.is_file() else sum(p.is_file() for p in target.rglob("*"))
