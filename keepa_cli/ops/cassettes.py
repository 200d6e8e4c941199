"""Cassettes: record, inspect, promote, verify and refresh what replay answers from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from keepa_cli.cassettes import promote as promotion
from keepa_cli.cassettes.importers import Hints
from keepa_cli.core.context import Context
from keepa_cli.core.errors import invalid
from keepa_cli.core.registry import Param, operation
from keepa_cli.ops import _cassettes_compare as compare
from keepa_cli.ops import _cassettes_files as files
from keepa_cli.ops import _cassettes_verify as verification
from keepa_cli.ops._names import CASSETTES_SHOW, EVALS_RUN, PROMOTE_AND_VERIFY, REQUEST_GET

TOOLSET = "curation"
Call = Callable[..., Mapping[str, Any]]

Source = Annotated[
    str,
    Param(
        "A vcrpy cassette (YAML or JSON), a raw Keepa body, a HAR file, or the name of a recording in the inbox.",
        metavar="FILE",
        position=True,
    ),
]
Fixture = Annotated[str, Param("Name of a fixture, or the path of a cassette file.", metavar="NAME", position=True)]
Name = Annotated[str, Param("Name of the fixture: letters, digits, dot, dash and underscore.", metavar="NAME")]
Replace = Annotated[bool, Param("Replace a fixture of this name; the structural difference is shown.")]
AllowError = Annotated[bool, Param("Accept a recording whose last answer is an error of Keepa.")]
RequestText = Annotated[
    str | None,
    Param("The request that a raw body answers, as path and query.", metavar="/PATH?QUERY",
          examples=("/product?domain=1&asin=B001GZ6QEC&stats=180",)),
]  # fmt: skip
Status = Annotated[int, Param("The HTTP status of a raw body.", min=100, max=599)]
Hosts = Annotated[list[str], Param("More hosts whose answers count in a HAR file.", metavar="HOST", whole=True)]
Whole = Annotated[bool, Param("Look at every item of long lists, not at the first and last hundred.")]
FailOnDrift = Annotated[
    bool, Param("End with `contract_error` (exit code 7) where a field is gone or has another type.")
]
DryRun = Annotated[bool, Param("List targets and sizes; write nothing.")]


@operation("cassettes.list", toolset=TOOLSET, examples=("kc cassettes list", "kc cassettes list --endpoint product"))
def list_cassettes(
    ctx: Context, endpoint: Annotated[str | None, Param("Only fixtures of this endpoint.", metavar="ENDPOINT")] = None
) -> dict[str, Any]:
    """List promoted fixtures and the recordings that wait in the inbox.

    `origin` says what answered while recording: live is Keepa, sandbox is invented data, import came from a file.
    """
    return files.listing(ctx, endpoint)


@operation(CASSETTES_SHOW, toolset=TOOLSET, examples=("kc cassettes show product-kettle",))
def show(ctx: Context, name: Fixture) -> dict[str, Any]:
    """Show one cassette: its requests, answers, size and evidence, without the bodies."""
    return files.described(ctx, name)


@operation(
    "cassettes.sanitize",
    toolset=TOOLSET,
    effect="write_local",
    examples=("kc cassettes sanitize live.yaml --out clean.yaml", "kc cassettes sanitize live.har"),
)
def sanitize(
    ctx: Context,
    file: Source,
    out: Annotated[str | None, Param("Write the sanitized cassette here; without it only counts are shown.",
                                     metavar="FILE")] = None,
    request: RequestText = None,
    status: Status = 200,
    host: Hosts = [],  # noqa: B006 - read only
) -> dict[str, Any]:  # fmt: skip
    """Take secrets and personal data out of a recording.

    The input is never changed. What remains is scanned before it is written; a finding writes nothing.
    """
    return files.sanitized(ctx, file, out, Hints(request, status, tuple(host)))


@operation("cassettes.scan", toolset=TOOLSET, examples=("kc cassettes scan", "kc cassettes scan live.yaml reports"))
def scan(
    ctx: Context,
    paths: Annotated[list[str], Param("Files and folders; all cassettes and evidence when left out.",
                                      metavar="PATH", position=True, whole=True)] = [],  # noqa: B006 - read only
) -> dict[str, Any]:  # fmt: skip
    """Look for secrets and personal data in files: keys in any encoding, cookies, addresses, webhook URLs.

    Ends with `secret_detected` on a finding. Findings name file, place and rule, never the value.
    """
    return files.scanned(ctx, paths)


@operation(
    "cassettes.promote",
    toolset=TOOLSET,
    effect="write_local",
    examples=(
        "kc cassettes promote product-kettle --name product-kettle",
        "kc cassettes promote body.json --name full --request '/product?domain=1&asin=B001GZ6QEC&stats=180'",
        "kc cassettes promote live.yaml --name product-kettle --replace --dry-run",
    ),
)
def promote(
    ctx: Context,
    file: Source,
    name: Name,
    replace: Replace = False,
    allow_error: AllowError = False,
    request: RequestText = None,
    status: Status = 200,
    host: Hosts = [],  # noqa: B006 - read only
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Make a recording a fixture: sanitize, check against the contract, scan, write with evidence.

    Everything appears at once or nothing does. Several distinct requests become name, name-2 and so on.
    """
    hints = Hints(request, status, tuple(host))
    return _promoted(ctx, promotion.Promotion(files.source(ctx, file), name, replace, dry_run, allow_error, hints))


@operation(
    PROMOTE_AND_VERIFY,
    toolset=TOOLSET,
    effect="write_local",
    examples=(
        "kc cassettes promote-and-verify product-kettle --name product-kettle",
        "kc cassettes promote-and-verify live.yaml --name product-kettle --run-eval",
    ),
)
def promote_and_verify(
    ctx: Context,
    call: Call,
    file: Source,
    name: Name,
    replace: Replace = False,
    run_eval: Annotated[bool, Param("Also run all evals with the new fixture in place.")] = False,
    allow_error: AllowError = False,
    request: RequestText = None,
    status: Status = 200,
    host: Hosts = [],  # noqa: B006 - read only
    dry_run: DryRun = False,
) -> dict[str, Any]:
    """Promote, and prove the result before it counts: hashes, replay through keepa-cli and plain vcrpy, scan, parity.

    The proof runs on a staged copy. When any part of it fails, nothing has changed.
    """
    evals = (lambda: call(EVALS_RUN, {})) if run_eval else None
    checker = verification.checker(ctx, evals)
    hints = Hints(request, status, tuple(host))
    asked = promotion.Promotion(files.source(ctx, file), name, replace, dry_run, allow_error, hints, checker)
    return _promoted(ctx, asked)


def _promoted(ctx: Context, asked: promotion.Promotion) -> dict[str, Any]:
    return promotion.promote(asked, files.home(ctx))


@operation(
    "cassettes.verify",
    toolset=TOOLSET,
    examples=("kc cassettes verify", "kc cassettes verify product-kettle"),
)
def verify(
    ctx: Context,
    names: Annotated[list[str], Param("Fixtures to verify; everything in every library when left out.",
                                      metavar="NAME", position=True, whole=True)] = [],  # noqa: B006 - read only
) -> dict[str, Any]:  # fmt: skip
    """Prove every fixture: recompute hashes, scan, check the contract, replay through keepa-cli and plain vcrpy.

    Ends with `cassette_invalid` on any mismatch between file, name, evidence and manifest.
    """
    return verification.verified(ctx, names)


@operation(
    "cassettes.diff",
    toolset=TOOLSET,
    examples=(
        "kc cassettes diff product-kettle new.yaml",
        "kc cassettes diff old.json new.json --whole --fail-on-drift",
    ),
)
def diff(
    ctx: Context,
    old: Annotated[str, Param("Fixture, recording or file: what was.", metavar="OLD", position=True)],
    new: Annotated[str, Param("Fixture, recording or file: what is.", metavar="NEW", position=True)],
    whole: Whole = False,
    fail_on_drift: FailOnDrift = False,
) -> dict[str, Any]:
    """Compare two recordings: values that moved (expected) apart from structure that moved (contract drift).

    Token bucket and timing fields are left out of the comparison. `contract` is the verdict on the structure: error
    where a field is gone or has another type, warning where one is new, may be null or is longer, else fine.
    """
    return compare.difference(ctx, old, new, whole=whole, fail=fail_on_drift)


@operation(
    "cassettes.refresh",
    toolset=TOOLSET,
    effect="write_local",
    examples=("kc cassettes refresh product-kettle", "kc cassettes refresh product-kettle --live --yes"),
)
def refresh(
    ctx: Context,
    call: Call,
    name: Annotated[str, Param("Name of the fixture.", metavar="NAME", position=True)],
    live: Annotated[bool, Param("Ask Keepa again now and keep the answer in the inbox: spends tokens.")] = False,
    dry_run: Annotated[bool, Param("Show the request and its cost; send and write nothing.")] = False,
    whole: Whole = False,
    fail_on_drift: FailOnDrift = False,
) -> dict[str, Any]:
    """Compare a fixture with a newer recording of the same request and report drift.

    Without --live the newest recording in the inbox is used. The report is kept as evidence, also when --fail-on-drift
    ends the command; the fixture is never replaced: promote the recording with --replace for that.
    """

    def record(query: list[str], path: str, flags: dict[str, Any]) -> Mapping[str, Any]:
        return call(REQUEST_GET, {"endpoint": path, "param": query}, flags=flags)

    return compare.refreshed(ctx, name, record, compare.Wish(live, dry_run, whole, fail_on_drift))


@operation(
    "cassettes.record",
    toolset=TOOLSET,
    effect="write_local",
    examples=("kc cassettes record products.get asin=B001GZ6QEC domain=US --name product-kettle --yes",),
)
def record(
    call: Call,
    command: Annotated[str, Param("The command to record, as its dotted name.", metavar="COMMAND", position=True)],
    params: Annotated[list[str], Param("Its parameters.", metavar="NAME=VALUE", position=True, whole=True)] = [],  # noqa: B006
    name: Annotated[str, Param("Name of the recording.", metavar="NAME")] = "",
    dry_run: Annotated[bool, Param("Show the request and its cost; send and write nothing.")] = False,
) -> dict[str, Any]:
    """Ask Keepa and keep the sanitized answer in the inbox.

    The same as the command itself with --record=NAME: spends tokens, and asks for --yes where the command does.
    """
    if not name:
        raise invalid("--name is missing: a recording needs a name.", field="name")
    flags = {"dry_run": True} if dry_run else {"record": name}
    return compare.unwrapped(call(command, compare.named_values(params), flags=flags, text=True))
