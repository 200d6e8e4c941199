"""Write the generated pages and schemas and the command output in hand-written pages; --check compares instead.

Runs in an environment that holds the checkout: python scripts/dev.py docs [--check]
"""

from __future__ import annotations

import argparse
import difflib
import sys
import tempfile
from pathlib import Path

import build_client_stub
from docgen import blocks, reference
from docgen.scratch import REPO, Scratch

from keepa_cli.ops import _schemas

DOCS = REPO / "docs"


def wanted() -> dict[Path, str]:
    """Every page that is generated in whole or in part, as it should be."""
    with tempfile.TemporaryDirectory(prefix="keepa-docs-") as home:
        scratch = Scratch(Path(home))
        found = {DOCS / name: text for name, text in reference.pages(scratch, sorted(DOCS.glob("*.md"))).items()}
        for path in blocks.pages(REPO):
            found[path] = blocks.refresh(path.read_text(encoding="utf-8"), scratch, name=path.name)
    found[build_client_stub.STUB] = build_client_stub.stub()
    return found | {DOCS / "schema" / name: text for name, text in _schemas.texts().items()}


def difference(path: Path, new: str) -> str:
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    name = path.relative_to(REPO).as_posix()
    return "".join(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, f"{name} (generated)", n=1))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 where a page is not current")
    check = parser.parse_args().check
    try:
        pages = wanted()
    except blocks.BrokenExample as broken:
        print(broken, file=sys.stderr)
        return 1
    generated = [*(DOCS / "reference").glob("*.md"), *(DOCS / "schema").rglob("*.json")]
    gone = {p for p in generated if p not in pages}
    changed = {path: text for path, text in pages.items() if difference(path, text)}
    if check:
        for path, text in changed.items():
            print(difference(path, text))
        for path in gone:
            print(f"{path.relative_to(REPO)} belongs to nothing any more")
        if changed or gone:
            print(
                f"{len(changed) + len(gone)} pages are not current. Next: python scripts/dev.py docs", file=sys.stderr
            )
        return int(bool(changed or gone))
    for path, text in changed.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"wrote {path.relative_to(REPO)}")
    for path in gone:
        path.unlink()
        print(f"removed {path.relative_to(REPO)}")
    print(f"{len(pages)} pages, {len(changed)} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
