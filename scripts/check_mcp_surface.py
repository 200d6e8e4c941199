"""Compare what MCP clients see with the snapshot: tools, resources, templates, prompts, error kinds.

    python scripts/check_mcp_surface.py             tell what changed; exit 1 when something did
    python scripts/check_mcp_surface.py --update    take what is there now as the snapshot

Names, required arguments and error kinds are a contract: a removal breaks whoever calls them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(REPO))
SNAPSHOTS = REPO / "tests" / "protocol_snapshots"


def surface() -> dict[str, dict[str, Any]]:
    """What a client of any toolset finds, by collection and name, without what differs from run to run."""
    from keepa_cli.agent.profiles import PROFILES, TOOLSETS
    from keepa_cli.agent.surface import Surface
    from keepa_cli.core.errors import KeepaCliError, Kind

    shown = Surface("all")
    return {
        "tools": {tool["name"]: _tool(tool) for tool in _every(shown.tools_list, "tools")},
        "resources": {r["uri"]: _without(r, "uri") for r in _every(shown.resources_list, "resources")},
        "templates": {
            t["uriTemplate"]: _without(t, "uriTemplate") for t in _every(shown.templates_list, "resourceTemplates")
        },
        "prompts": {p["name"]: _prompt(p) for p in _every(shown.prompts_list, "prompts")},
        "profiles": {name: {"groups": sorted(p.groups), "safe": p.safe} for name, p in PROFILES.items()},
        "toolsets": {name: [t["name"] for t in _every(Surface(name).tools_list, "tools")] for name in TOOLSETS},
        "error_kinds": {kind.value: {"exit_code": int(KeepaCliError(kind, "").exit_code)} for kind in Kind},
    }


def _every(pages: Callable[[Mapping[str, Any]], dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """All entries of a list, page by page as a client follows them."""
    page = pages({})
    found: list[dict[str, Any]] = list(page[name])
    while cursor := page.get("nextCursor"):
        page = pages({"cursor": cursor})
        found += page[name]
    return found


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    schema, extra = tool["inputSchema"], tool["x-keepa"]
    arguments = schema.get("properties", {})
    return {
        "title": tool["title"],
        "command": extra["service_command"],
        "groups": sorted(extra["groups"]),
        "required": sorted(schema.get("required", [])),
        "arguments": {name: _without(arguments[name], "description") for name in sorted(arguments)},
        "closed": schema.get("additionalProperties") is False,
        "annotations": tool["annotations"],
        "task_support": tool["execution"]["taskSupport"],
        "output": tool["outputSchema"],
    }


def _prompt(prompt: Mapping[str, Any]) -> dict[str, Any]:
    rows = prompt.get("arguments", [])
    return {"title": prompt.get("title"), "arguments": {r["name"]: {"required": r["required"]} for r in rows}}


def _without(row: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {k: v for k, v in row.items() if k != name}


def differences(old: Any, new: Any, where: tuple[str, ...] = ()) -> Iterator[str]:
    """One line for each thing that was added, removed or changed, with its place."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in [*old, *(n for n in new if n not in old)]:
            if name not in new:
                yield _line(where, f"{name} removed")
            elif name not in old:
                yield _line(where, f"{name} added")
            else:
                yield from differences(old[name], new[name], (*where, str(name)))
    elif isinstance(old, list) and isinstance(new, list):
        yield from (_line(where, f"{_short(item)} removed") for item in old if item not in new)
        yield from (_line(where, f"{_short(item)} added") for item in new if item not in old)
        if old != new and not [i for i in old if i not in new] and not [i for i in new if i not in old]:
            yield _line(where, f"order changed: {_short(old)} -> {_short(new)}")
    elif old != new or type(old) is not type(new):
        yield _line(where, f"{_short(old)} -> {_short(new)}")


def _line(where: tuple[str, ...], what: str) -> str:
    return ": ".join((*where, what))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:117] + "..."


def stored(folder: Path = SNAPSHOTS) -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def update(found: Mapping[str, Any], folder: Path = SNAPSHOTS) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.json"):
        if path.stem not in found:
            path.unlink()
    for name, content in found.items():
        text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8", newline="\n")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--update", action="store_true", help="take what is there now as the snapshot")
    parser.add_argument("--snapshots", type=Path, default=SNAPSHOTS, metavar="FOLDER", help="where the snapshot lies")
    chosen = parser.parse_args(argv)
    found = surface()
    changed = list(differences(stored(chosen.snapshots), found))
    for line in changed:
        print(line)
    counts = ", ".join(f"{len(rows)} {name.replace('_', ' ')}" for name, rows in found.items())
    if chosen.update:
        update(found, chosen.snapshots)
        print(f"snapshot written: {counts}")
        return 0
    if changed:
        print(f"{len(changed)} differences. If they are meant: python scripts/check_mcp_surface.py --update")
        return 1
    print(f"as in the snapshot: {counts}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
