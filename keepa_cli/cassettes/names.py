"""Names that become file names: made safe from any text, or checked when a user chose them."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePath

from keepa_cli.cassettes.fingerprint import LENGTH
from keepa_cli.core.errors import KeepaCliError, invalid

LONGEST = 120
SUFFIXES = (".yaml", ".yml", ".json")
SIDECAR = ".evidence.json"
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)")
_REFUSED = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')
_NAMED = re.compile(rf"(?P<name>.+)\.(?P<fingerprint>[0-9a-f]{{{LENGTH}}})\.(?:yaml|yml|json)")


def check_name(name: str, *, field: str = "name") -> str:
    """A name a user chose, without a cassette suffix. Raises `invalid_arguments` unless it is a plain file name."""
    bare = without_suffix(name)
    problem = _problem(bare)
    if problem:
        raise _refusal(name, field, problem)
    return bare


def safe_name(text: str) -> str:
    """A plain file name for any text. Two texts get two names; a text that is a plain name already keeps it."""
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", text)
    if slug == text == without_suffix(text) and not _problem(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{slug[:80].strip('.-') or 'unnamed'}-{digest}" if not _RESERVED.match(slug) else f"name-{digest}"


def file_name(name: str, fingerprint: str) -> str:
    """The name of the library file that answers `fingerprint`."""
    return f"{name}.{fingerprint}.yaml"


def split_file_name(file: str) -> tuple[str, str | None]:
    """Name and fingerprint of a library file; the fingerprint is None for a cassette of other origin."""
    match = _NAMED.fullmatch(file)
    return (match["name"], match["fingerprint"]) if match else (without_suffix(file), None)


def is_cassette_name(file: str) -> bool:
    """Whether a file of this name can be a cassette: not hidden, a known suffix, no evidence sidecar."""
    low = file.lower()
    return low.endswith(SUFFIXES) and not low.startswith(".") and not low.endswith((SIDECAR, ".meta.json"))


def without_suffix(file: str) -> str:
    suffix = PurePath(file).suffix
    return file[: -len(suffix)] if suffix.lower() in SUFFIXES else file


def _problem(name: str) -> str:
    checks = (
        (not name.strip(), "it is empty"),
        ("/" in name or "\\" in name, "it holds a path separator"),
        (name.startswith("."), "it starts with a dot"),
        (name.startswith("-"), "it starts with a dash"),
        (bool(_REFUSED.search(name)), "it holds a character that file names cannot have"),
        (name != name.strip() or name.endswith("."), "it starts or ends with a space, or ends with a dot"),
        (bool(_RESERVED.match(name)), "it is reserved on Windows"),
    )
    found = [text for failed, text in checks if failed]
    if not found and len(name.encode()) > LONGEST:
        found = [f"it is longer than {LONGEST} bytes"]
    return found[0] if found else ""


def _refusal(name: str, field: str, problem: str) -> KeepaCliError:
    return invalid(
        f"{name[:80]!r} is not a usable name: {problem}.",
        field=field,
        value=name[:200].encode("utf-8", "replace").decode(),
        allowed=f"a plain file name of at most {LONGEST} bytes",
    )
