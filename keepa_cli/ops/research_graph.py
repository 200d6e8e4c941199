"""Research graphs: what products, brands, categories and sellers have to do with each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.registry import Param, operation
from keepa_cli.keepa.strictjson import dump_json
from keepa_cli.ops import _inputs, _outputs
from keepa_cli.ops._actions import planner
from keepa_cli.ops._names import RESEARCH_GRAPH_MERGE
from keepa_cli.ops._params import Domain
from keepa_cli.research.needs import Need

Files = Annotated[_inputs.Inputs, Param(position=True)]
Out = Annotated[str | None, Param("Also write the result to this file.", metavar="FILE")]


@operation(
    RESEARCH_GRAPH_MERGE,
    toolset="research",
    effect="write_local",
    tool="research_graph_merge",
    examples=(
        "kc research-graph merge category.json compare.json seller.json --root kettles --out graph.json",
        "kc research-graph merge compare.json kettle.json --prefer-source compare.json",
    ),
)
def merge(
    ctx: Context,
    input: Files = [],  # noqa: A002, B006
    fixture: _inputs.Fixtures = [],  # noqa: B006
    payload: _inputs.Payload | None = None,
    root: Annotated[str, Param("Name of the merged graph.", metavar="NAME")] = "research",
    prefer_source: Annotated[
        str | None,
        Param("Where sources disagree, this one is right: its name, its root, or its index in `sources`.",
              metavar="SOURCE", accepts=("string", "integer"), parse=str),
    ] = None,
    domain: Domain = "US",
    out: Out = None,
) -> dict[str, Any]:  # fmt: skip
    """Merge the research graphs of several results into one. Works on this machine only and costs nothing.

    Every `research_graph` in the inputs counts, wherever it stands; products as Keepa sent them get one made. The
    result is the same in whatever order the inputs are given: where sources disagree on a label or a type, the
    preferred one decides, else what most say, else what sorts first. `diff` lists each decision.
    """
    from keepa_cli.research.graph.merge import merge_graphs

    if not root.strip():
        raise invalid("--root is empty: a merged graph needs a name.", field="root", value=root)
    if out:
        _outputs.target(ctx, out)
    given = _inputs.read(ctx, input, fixture, payload)
    sources, warnings = _sources(given, domain)
    merged = merge_graphs(sources, root.strip(), prefer_source)
    if prefer_source is not None and not merged["diff"]["preferred_sources"]:
        raise _unknown_source(prefer_source, merged["sources"])
    data = merged | _profile(ctx, given, merged, {"input": input, "fixture": fixture, "root": root}, out)
    if out:
        text = dump_json(data) + "\n"
        count = len(merged["research_graph"]["nodes"])
        data["output"] = _outputs.write(ctx, out, text.encode(), format="json", count=count)
    return data | {"warnings": warnings}


def _sources(given: Sequence[_inputs.Given], domain: str) -> tuple[list[Any], list[dict[str, Any]]]:
    from keepa_cli.keepa.domains import resolve
    from keepa_cli.research.graph.inputs import sources_of

    found = [(one.name, sources_of(one.name, one.data, resolve(domain))) for one in given]
    empty = [name for name, sources in found if not sources]
    if len(empty) == len(found):
        raise KeepaCliError(
            Kind.MISSING_INPUTS,
            f"There is no research graph and no product in {', '.join(empty)}.",
            details={Kind.MISSING_INPUTS.value: ["research_graph"], "searched": empty},
            next_actions=["kc products get --help"],
        )
    warnings = [{"code": "no_graph", "message": f"{name} holds no research graph and no product."} for name in empty]
    return [s for _, sources in found for s in sources], warnings


def _unknown_source(wish: str, sources: Sequence[dict[str, Any]]) -> KeepaCliError:
    allowed = list(dict.fromkeys(word for s in sources for word in (s["name"], s["root"]) if word))
    return invalid(f"No source is called {wish!r}.", field="prefer_source", value=wish, allowed=allowed[:50])


def _profile(
    ctx: Context, given: Sequence[_inputs.Given], merged: dict[str, Any], params: dict[str, Any], out: str | None
) -> dict[str, Any]:
    return {
        "inputs": [one.described for one in given],
        "data_quality": _quality(merged),
        "evidence_index": [
            {"fact": f"sources[{s['index']}]", "source": s["name"], "path": s["path"]} for s in merged["sources"]
        ],
        "next_actions": _next(ctx, {k: v for k, v in params.items() if v}, out),
    }


def _quality(merged: dict[str, Any]) -> dict[str, Any]:
    found, notes = merged["diagnostics"], []
    conflicts = merged["summary"]["conflict_count"]
    unread = sum(found["unreadable"].values())
    for count, text in (
        (unread, "things in the sources are no nodes or edges, or are of an unknown kind"),
        (found["dangling_edges"]["count"], "edges lead to nodes that no source holds; they are left out"),
        (conflicts, "disagreements between sources were decided; see diff.conflicts"),
        (found["orphans"]["count"], "nodes are connected to nothing"),
        (found["include_cycles"]["count"], "graphs include each other in a circle"),
    ):
        if count:
            notes.append(f"{count} {text}.")
    level = "partial" if unread or found["dangling_edges"]["count"] else "contested" if conflicts else "complete"
    return {"level": level, "conflicts": conflicts, "unreadable": unread, "notes": notes}


def _next(ctx: Context, params: dict[str, Any], out: str | None) -> list[dict[str, Any]]:
    plan = planner(ctx)
    if not out:
        kept = params | {"out": "research-graph.json"}
        repeatable = "input" in params or "fixture" in params
        return [plan(Need.MERGE_GRAPH, kept, "keep the merged graph as a file")] if repeatable else []
    return [plan(Need.EXPORT_BRIEF, {"input": [out]}, "what the merged graph says, in brief")]
