"""References of a plan (resources, artifacts, outputs of earlier steps) turned into parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from keepa_cli.agent.arguments import Arguments
from keepa_cli.agent.planrefs import CONTAINERS, settle
from keepa_cli.agent.roots import Roots, output_folder
from keepa_cli.agent.tools import FEEDABLE
from keepa_cli.agent.uris import Uri, parse_uri
from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError, Kind, invalid
from keepa_cli.core.files import read_bytes, write_atomic
from keepa_cli.core.registry import Operation

FILE_LISTS = ("input", "files", "graphs")
ACCEPTED = (
    "resource_uri keepa://research/{cache_key} of this session",
    "resource_uri keepa://output/{encoded_path}",
    "artifact with the earlier answer, or with output.path",
    "workflow_context with steps or outputs",
    'references of a plan ({"$from": "step.NAME"}, {"$input": NAME}) with workflow_context.steps by name',
)
LARGEST = 64 << 20
MOST_REFERENCES = 200
MOST_SHOWN, MOST_UNRESOLVED, LONGEST_NAME = 25, 10, 60
"""What the record of a call names one by one, and how much of a step's name."""
Cached = Callable[[str], Mapping[str, Any] | None]


@dataclass
class Found:
    """What the references lead to: data by where it came from, and files that hold more."""

    payloads: list[tuple[str, Any]] = field(default_factory=list)
    files: list[tuple[str, Path]] = field(default_factory=list)
    unresolved: list[dict[str, str]] = field(default_factory=list)


def resolve(ctx: Context, roots: Roots, cached: Cached, op: Operation, asked: Arguments) -> dict[str, Any]:
    """Fill parameters of `asked` from what its runtime arguments name; the record of what came from where.

    What a caller gives as a parameter stays. Raises `missing_inputs` that names the fields and the accepted sources.
    """
    record: dict[str, Any] = {"sources": [], "filled": [], "temporary_files": []}
    record["from_steps"] = settle(op, asked.params, asked.runtime, cached, lambda data: _kept(ctx, data, record))
    found = Found()
    references = list(islice(_references(asked.runtime), MOST_REFERENCES + 1))
    if len(references) > MOST_REFERENCES:
        raise invalid(f"A call takes at most {MOST_REFERENCES} references to earlier answers.", field="artifacts")
    for where, value in references:
        _follow(found, where, value, roots, cached)
    record["sources"] = [where for where, _ in found.payloads]
    if not record["from_steps"]:
        _fill(ctx, op, asked.params, found, record)
    lacking = [a.name for a in op.args if a.required and a.name not in asked.params]
    if lacking or not (record["filled"] or set(asked.params) & FEEDABLE):
        raise _missing(op, lacking, found)
    told = {k: v for k, v in record.items() if v or k in ("sources", "filled")}
    return _shown(told) | {
        "graph_count": sum(_has_graph(p) for _, p in found.payloads),
        "payload_count": len(found.payloads),
        "unresolved": found.unresolved[:MOST_UNRESOLVED],
    }


def _shown(record: dict[str, Any]) -> dict[str, Any]:
    """The record, short: it stands beside an answer that fills its message already."""
    long = {k: len(v) for k, v in record.items() if isinstance(v, list) and len(v) > MOST_SHOWN}
    found = {k: v[:MOST_SHOWN] if isinstance(v, list) else v for k, v in record.items()}
    return found | ({"total": long} if long else {})


def _references(runtime: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every resource address and artifact, whatever container it came in."""
    for name in ("resource_uri", "artifact"):
        if name in runtime:
            yield name, runtime[name]
    for name in ("resource_uris", "artifacts"):
        listed = runtime.get(name)
        if isinstance(listed, list):
            yield from ((f"{name}[{i}]", v) for i, v in enumerate(listed))
        elif listed is not None:
            yield name, listed
    for name in ("workflow_inputs", "workflow_context"):
        held = runtime.get(name)
        if not isinstance(held, Mapping):
            continue
        yield from ((f"{name}.{where}", v) for where, v in _references(held))
        for container in CONTAINERS:
            inside = held.get(container)
            listed = enumerate(inside) if isinstance(inside, list) else ()
            pairs = inside.items() if isinstance(inside, Mapping) else listed
            yield from (
                (f"{name}.{container}[{str(key)[:LONGEST_NAME]}]", v)
                for key, v in pairs
                if isinstance(v, Mapping | str)
            )


def _follow(found: Found, where: str, value: Any, roots: Roots, cached: Cached) -> None:
    if isinstance(value, str):
        _follow_uri(found, where, value, roots, cached)
    elif isinstance(value, Mapping):
        uri = value.get("resource_uri") or value.get("uri")
        path = _output_path(value)
        if isinstance(uri, str) and len(value) <= 3:
            _follow_uri(found, where, uri, roots, cached)
        elif path is not None and not _has_content(value):
            _open(found, where, path, roots)
        else:
            found.payloads.append((where, value.get("structuredContent", value)))
    else:
        found.unresolved.append({"source": where, "reason": "is neither a keepa:// address nor an object"})


def _follow_uri(found: Found, where: str, text: str, roots: Roots, cached: Cached) -> None:
    uri = parse_uri(text)
    if uri is None:
        found.unresolved.append({"source": where, "reason": f"{text[:120]!r} is no keepa:// address"})
    elif uri.collection == "research":
        _follow_answer(found, where, uri, cached)
    elif uri.collection in ("output", "chunk") and uri.decoded is not None:
        _open(found, where, uri.decoded, roots)
    else:
        found.unresolved.append({"source": where, "reason": f"{text[:120]} holds no input of a step"})


def _follow_answer(found: Found, where: str, uri: Uri, cached: Cached) -> None:
    held = cached(uri.name)
    if held is None:
        found.unresolved.append({"source": where, "reason": f"this session holds no answer {uri.name!r}"})
        return
    data = held.get("data")
    if uri.rest == "graph" and isinstance(data, Mapping) and isinstance(data.get("research_graph"), Mapping):
        data = {"research_graph": data["research_graph"]}  # else each of its products has one
    found.payloads.append((where, data if uri.rest else dict(held)))


def _open(found: Found, where: str, text: str, roots: Roots) -> None:
    path = roots.inside(text, where)
    try:
        data = json.loads(read_bytes(path, limit=LARGEST))
    except (ValueError, RecursionError, KeepaCliError):
        found.unresolved.append({"source": where, "reason": f"{path.name} cannot be read as JSON"})
        return
    found.files.append((where, path))
    found.payloads.append((where, data))


def _output_path(value: Mapping[str, Any]) -> str | None:
    for holder in (value, value.get("data")):
        output = holder.get("output") if isinstance(holder, Mapping) else None
        if isinstance(output, Mapping) and isinstance(output.get("path"), str):
            return str(output["path"])
    return None


def _has_content(value: Mapping[str, Any]) -> bool:
    """Whether an artifact holds its data itself, not only the name of the file with it."""
    inner = value.get("data", value)
    return isinstance(inner, Mapping) and any(
        k in inner for k in ("products", "rows", "research_graph", "nodes", "body")
    )


def _fill(ctx: Context, op: Operation, params: dict[str, Any], found: Found, record: dict[str, Any]) -> None:
    """Give the operation what it takes and was not given: files, a payload, ASINs, a category."""
    takes = {a.name: a for a in op.args}
    held = dict(found.files)
    name = next((n for n in FILE_LISTS if n in takes), None)
    if name and found.payloads and name not in params:
        params[name] = [
            str(held[where]) if where in held else _kept(ctx, data, record) for where, data in found.payloads
        ]
        record["filled"].append(name)
    elif "payload" in takes and len(found.payloads) == 1 and "payload" not in params:
        params["payload"] = found.payloads[0][1]
        record["filled"].append("payload")
    for wanted, key in (("asin", "asin"), ("category", "id")):
        if wanted in takes and wanted not in params:
            values = list(dict.fromkeys(v for _, data in found.payloads for v in _named(data, wanted, key)))
            if values and (wanted == "asin" or len(values) == 1):
                params[wanted] = values if takes[wanted].many else values[0]
                record[wanted] = values
                record["filled"].append(wanted)


def _kept(ctx: Context, data: Any, record: dict[str, Any]) -> str:
    """A file of its own for data that came inside the call; the same data has the same file."""
    import hashlib

    text = json.dumps(ctx.redactor.data(data), ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")
    folder = output_folder(ctx)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"artifact-{hashlib.sha256(text).hexdigest()[:20]}.json"
    write_atomic(path, text, mode=0o600)
    record["temporary_files"].append(str(path))
    return str(path)


def _named(data: Any, wanted: str, key: str) -> Iterator[Any]:
    """ASINs of products, rows and candidates; ids of category candidates."""
    inner = data.get("data", data) if isinstance(data, Mapping) else None
    if not isinstance(inner, Mapping):
        return
    body = inner.get("body")
    names = ("category_candidates",) if wanted == "category" else ("products", "rows", "candidates", "items", "asins")
    for holder in (inner, body if isinstance(body, Mapping) else {}):
        for name in names:
            listed = holder.get(name)
            for item in listed if isinstance(listed, list) else []:
                yield from _values(item, wanted, key)


def _values(item: Any, wanted: str, key: str) -> Iterator[Any]:
    if isinstance(item, str) and wanted == "asin":
        yield item
    elif isinstance(item, Mapping):
        identity = item.get("identity")
        several = item.get("asins") if wanted == "asin" else None
        one = item.get(key) or (identity.get(key) if isinstance(identity, Mapping) else None)
        for value in [one, *(several if isinstance(several, list) else [])]:
            if isinstance(value, str | int) and not isinstance(value, bool):
                yield value


def _has_graph(data: Any) -> bool:
    inner = data.get("data", data) if isinstance(data, Mapping) else None
    if not isinstance(inner, Mapping):
        return False
    products = inner.get("products")
    held = [inner, *(products if isinstance(products, list) else [])]
    return {"nodes", "edges"} <= set(inner) or any(isinstance(h, Mapping) and h.get("research_graph") for h in held)


def _missing(op: Operation, lacking: list[str], found: Found) -> KeepaCliError:
    takes = {a.name for a in op.args}
    names = lacking or sorted(takes & FEEDABLE)
    sentence = f"{op.name} lacks {', '.join(names)}: nothing that was referred to gives it."
    return KeepaCliError(
        Kind.MISSING_INPUTS,
        sentence,
        details={
            Kind.MISSING_INPUTS.value: names,
            "accepted_sources": list(ACCEPTED),
            "unresolved": found.unresolved,
        },
        next_actions=["Read keepa://workflow/runtime-contract."],
    )
