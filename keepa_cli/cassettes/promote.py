"""Promotion: sanitize, check, stage, scan, verify the staged copy, then commit everything at once."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from keepa_cli.cassettes import commit, evidence, importers
from keepa_cli.cassettes.contracts import check_exchange
from keepa_cli.cassettes.fingerprint import fingerprint
from keepa_cli.cassettes.fixture import Fixture, endpoint_of, library_file
from keepa_cli.cassettes.importers import Hints, Imported
from keepa_cli.cassettes.model import Exchange, Finding
from keepa_cli.cassettes.names import check_name, is_cassette_name, split_file_name
from keepa_cli.cassettes.recordings import private_folder
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.files import check_writable, io_error, lock, read_bytes, recover, refuse_link, write_atomic
from keepa_cli.core.redact import Redactor

_STALE_SECONDS = 3600


@dataclass(frozen=True)
class Home:
    """Where a promotion works: the library it writes to, the private state, the clock and the secrets."""

    root: Path
    state_dir: Path
    now: Callable[[], datetime]
    redactor: Redactor


@dataclass(frozen=True)
class Promotion:
    """What is asked. `verify` gets the staged library root and the fixtures before anything is committed; what it
    returns is kept as evidence, what it raises leaves everything as it was."""

    source: Path
    name: str
    replace: bool = False
    dry_run: bool = False
    allow_error: bool = False
    hints: Hints = field(default_factory=Hints)
    verify: Callable[[Path, Sequence[Fixture]], dict[str, Any]] | None = None


def promote(ask: Promotion, home: Home) -> dict[str, Any]:
    """Make fixtures of a recording. All files appear together or none does; a crash leaves the previous state."""
    ask = replace(ask, name=check_name(ask.name))
    found = importers.load_input(ask.source, ask.hints)
    importers.apply_meta(found, importers.read_meta(ask.source))
    if ask.dry_run:
        return preview(prepare(found, ask, home), found, ask, home)
    check_targets(home.root)
    fixtures = prepare(found, ask, home)
    with writing(home.root):
        return _promote(fixtures, found, ask, home)


@contextmanager
def writing(root: Path) -> Iterator[None]:
    """Hold the writer locks of a library and its evidence; what a crash left unfinished is settled first."""
    proof = evidence.evidence_root(root)
    with ExitStack() as held:
        for folder in (root, proof):
            held.enter_context(lock(folder, what="the cassette library"))
        recover(root)
        recover(proof)
        yield


def check_targets(root: Path) -> None:
    """Find out before any work that the library and the evidence can be written and are no links."""
    proof = evidence.evidence_root(root)
    for folder in (root, proof, proof / "promotions"):
        refuse_link(folder)
        check_writable(folder)
    refuse_link(evidence.manifest_path(root))


def prepare(found: Imported, ask: Promotion, home: Home) -> list[Fixture]:
    """The sanitized, checked fixtures of an input: one per distinct request, named name, name-2, ... in order.

    The exchanges of `found` are used up, so that a big body is held once.
    """
    from keepa_cli.cassettes.sanitize import sanitize

    by_request: dict[str, Fixture] = {}
    for number in range(len(found.exchanges)):
        exchange, counts = sanitize(found.exchanges[number], home.redactor)
        found.exchanges[number] = exchange
        identity = fingerprint(exchange.method, exchange.url, exchange.request_body)
        if identity not in by_request:
            name = ask.name if not by_request else f"{ask.name}-{len(by_request) + 1}"
            by_request[identity] = Fixture(name, endpoint_of(exchange), identity)
        fixture = by_request[identity]
        try:
            verdict = check_exchange(exchange, f"{found.file}, interaction {number}")
        except KeepaCliError as error:
            raise _kept(error, exchange, ask, home) from None
        fixture.add(exchange, verdict, found.moments[number], found.durations_ms[number])
        for rule, count in counts.items():
            fixture.counts[rule] = fixture.counts.get(rule, 0) + count
    found.exchanges.clear()
    fixtures = list(by_request.values())
    _refuse_errors(fixtures, ask)
    return fixtures


def _refuse_errors(fixtures: Sequence[Fixture], ask: Promotion) -> None:
    for fixture in fixtures:
        if fixture.ends_in_error and not ask.allow_error:
            status = fixture.facts[-1]["status"]
            raise KeepaCliError(
                Kind.CONTRACT_ERROR,
                f"The last answer to {fixture.request_line()} is an error (HTTP {status}): replay would keep failing.",
                details={"path": "$.error", "http_status": status, "name": fixture.name},
                next_actions=["Repeat the command with --allow-error when an error is what the fixture should hold"],
            )


def _kept(error: KeepaCliError, exchange: Exchange, ask: Promotion, home: Home) -> KeepaCliError:
    """The error with the sanitized body kept: it may have been paid for."""
    if not ask.dry_run and exchange.body:
        path = private_folder(home.state_dir, "failed") / f"{evidence.stamp(home.now())}-{ask.name}.json"
        write_atomic(path, home.redactor.body(exchange.body), mode=0o600)
        error.details["kept_at"] = str(path)
        error.next_actions = [f"Read the kept body: {path}"]
    return error


def preview(fixtures: Sequence[Fixture], found: Imported, ask: Promotion, home: Home) -> dict[str, Any]:
    """What a promotion would write, with sizes; nothing is touched."""
    from keepa_cli.cassettes.codec import dump_cassette
    from keepa_cli.cassettes.scan import scan_exchange

    rows = []
    for fixture in fixtures:
        refuse_findings([f for e in fixture.exchanges for f in scan_exchange(e, found.file, home.redactor)])
        fixture.size = sum(map(len, dump_cassette(fixture.exchanges)))
        old = existing(home.root, fixture.name)
        rows.append(_described(fixture, home.root) | {"exists": bool(old), "replaces": [p.name for p in old]})
    blocked = any(r["exists"] for r in rows) and not ask.replace
    proof = evidence.evidence_root(home.root)
    return {
        "dry_run": True,
        "name": ask.name,
        "would": "be refused without --replace" if blocked else "be written",
        "fixtures": rows,
        "targets": [
            *(str(library_file(home.root, f)) for f in fixtures),
            *(str(evidence.sidecar_path(library_file(home.root, f))) for f in fixtures),
            str(evidence.manifest_path(home.root)),
            str(proof / "promotions" / f"{evidence.stamp(home.now())}-{ask.name}.json"),
        ],
        "size_bytes": sum(f.size for f in fixtures),
        "origin": found.origin,
        "warnings": _warnings(found, fixtures),
    }


def existing(root: Path, name: str) -> list[Path]:
    """The promoted files of the fixture `name`, whatever its endpoint and fingerprint."""
    folders = sorted(f for f in root.iterdir() if f.is_dir()) if root.is_dir() else []
    found = (p for folder in folders for p in folder.iterdir() if is_cassette_name(p.name))
    return sorted(p for p in found if split_file_name(p.name)[0] == name)


def _promote(fixtures: list[Fixture], found: Imported, ask: Promotion, home: Home) -> dict[str, Any]:
    old = {f.name: existing(home.root, f.name) for f in fixtures}
    taken = [name for name, paths in old.items() if paths]
    if taken and not ask.replace:
        raise _exists(taken[0], old[taken[0]], ask)
    for path in (p for f in fixtures for p in _targets(home.root, f)):
        refuse_link(path)
    differences = {f.name: commit.difference(old[f.name], f.exchanges) for f in fixtures if old[f.name]}
    with staging(home.state_dir) as folder:
        staged = folder / home.root.name
        stage(fixtures, staged, home)
        moment = home.now()
        batch = commit.Batch(fixtures, found, ask.name, home.root, staged, moment, old, differences)
        commit.write_evidence(batch)
        scan_staged(folder, home.redactor)
        if ask.verify is not None:
            batch.verification = ask.verify(staged, fixtures)
            commit.write_evidence(batch)
        record = commit.commit(batch)
    return {
        "dry_run": False,
        "name": ask.name,
        "fixtures": [
            _described(f, home.root) | ({"difference": differences[f.name]} if f.name in differences else {})
            for f in fixtures
        ],
        "evidence": {"manifest": str(evidence.manifest_path(home.root)), "record": str(record)},
        "origin": found.origin,
        "verification": batch.verification,
        "warnings": _warnings(found, fixtures) + commit.shadows(batch),
    }


def _targets(root: Path, fixture: Fixture) -> tuple[Path, ...]:
    path = library_file(root, fixture)
    return path.parent, path, evidence.sidecar_path(path)


def _exists(name: str, paths: Sequence[Path], ask: Promotion) -> KeepaCliError:
    error = invalid(f"The fixture {name!r} exists; --replace replaces it.", field="name", value=name)
    error.details["existing"] = [p.name for p in paths]
    error.next_actions = [
        f"kc cassettes diff {name} {ask.source}",
        f"kc cassettes promote {ask.source} --name {ask.name} --replace",
    ]
    return error


@contextmanager
def staging(state_dir: Path) -> Iterator[Path]:
    """A private folder that is gone afterwards; leftovers of killed runs go after an hour."""
    parent = private_folder(state_dir, "staging")
    for left in parent.iterdir():
        if left.is_dir() and time.time() - left.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
    try:
        folder = Path(tempfile.mkdtemp(dir=parent))
    except OSError as error:
        raise io_error("make a folder in", parent, error) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stage(fixtures: Sequence[Fixture], staged: Path, home: Home) -> None:
    """Write the cassettes below `staged`, hashing as they go; each body is let go once it is written."""
    from keepa_cli.cassettes.codec import dump_cassette

    for fixture in fixtures:
        digest = hashlib.sha256()
        size = 0

        def hashed(exchanges: Sequence[Exchange]) -> Iterator[bytes]:
            nonlocal size
            for chunk in dump_cassette(exchanges):
                digest.update(chunk)  # noqa: B023 - used up within this turn
                size += len(chunk)
                yield chunk

        write_atomic(library_file(staged, fixture), hashed(fixture.exchanges), mode=0o600)
        fixture.sha256, fixture.size = digest.hexdigest(), size
        fixture.exchanges.clear()


def scan_staged(folder: Path, redactor: Redactor) -> None:
    """Scan the final bytes of everything that is about to be committed. Raises `secret_detected`."""
    from keepa_cli.cassettes.scan import scan_bytes

    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        refuse_findings(scan_bytes(read_bytes(path), path.relative_to(folder).as_posix(), redactor))


def refuse_findings(findings: Sequence[Finding]) -> None:
    """Raise `secret_detected` for the findings, naming file, place and rule, never the value."""
    if not findings:
        return
    first = findings[0]
    more = f", and {len(findings) - 1} more" if len(findings) > 1 else ""
    raise KeepaCliError(
        Kind.SECRET_DETECTED,
        f"{first.file} holds what looks like a secret at {first.location} (rule {first.rule}{more}); "
        "nothing was written.",
        details={"findings": [f.as_dict() for f in findings[:100]], "count": len(findings)},
    )


def _described(fixture: Fixture, root: Path) -> dict[str, Any]:
    path = library_file(root, fixture)
    return {
        "name": fixture.name,
        "path": str(path),
        "logical_path": evidence.logical_path(path, root),
        "endpoint": fixture.endpoint,
        "fingerprint": fixture.fingerprint,
        "request": fixture.request_line(),
        "interactions": len(fixture.facts),
        "size_bytes": fixture.size,
        "sha256": fixture.sha256,
        "contract": fixture.verdict,
        "redactions": dict(sorted(fixture.counts.items())),
    }


def _warnings(found: Imported, fixtures: Sequence[Fixture]) -> list[dict[str, Any]]:
    return [*found.warnings, *(w for f in fixtures for w in f.warnings)]
