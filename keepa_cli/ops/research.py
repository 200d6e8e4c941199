"""Research on this machine: what a text means, what is here already, and a brief of what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from keepa_cli.core.context import Context
from keepa_cli.core.errors import KeepaCliError
from keepa_cli.core.registry import Param, operation
from keepa_cli.ops import _inputs
from keepa_cli.ops import _names as names
from keepa_cli.ops._actions import action
from keepa_cli.ops._params import Domain

Text = Annotated[str, Param("The words, id, code or address.", metavar="TEXT", position=True)]
TargetKind = Literal["product", "code", "seller", "category", "fixture", "evidence", "keyword"]
QueryKind = Literal["product", "search", "category", "seller", "bestsellers", "finder", "deal", "tracking", "docs"]
SHOWN_ITEMS = 5
_WAYS: Mapping[str, tuple[str, str, str, Mapping[str, Any]]] = {
    "product": ("get_product", "product", names.PRODUCTS_GET, {"asin": list, "full": True}),
    "code": ("get_product", "product", names.PRODUCTS_GET, {"code": list, "code_limit": 5}),
    "seller": ("get_seller", "seller", names.SELLERS_GET, {"seller": list}),
    "category": ("get_category", "category", names.CATEGORIES_GET, {"category": list, "parents": True}),
    "keyword": ("search_products", "search", names.PRODUCTS_SEARCH, {"term": None}),
    "fixture": ("show_fixture", "", names.CASSETTES_SHOW, {"name": None}),
    "evidence": ("show_fixture", "", names.CASSETTES_SHOW, {"name": None}),
}
"""How each kind is asked for: action, endpoint, command, parameters. The value stands where None is, or in a list."""


@operation(
    names.RESEARCH_RESOLVE,
    toolset="research",
    tool="resolve_research_target",
    examples=(
        "kc research resolve B0D8W1YVBX",
        "kc research resolve https://www.amazon.de/dp/B0D8W1YVBX",
        "kc research resolve 7792528011 --kind category",
    ),
)
def resolve(
    ctx: Context,
    text: Text,
    domain: Annotated[Domain | None, Param("Marketplace of the ids; US where an address names none.")] = None,
    kind: Annotated[TargetKind | None, Param("Only this meaning counts.")] = None,
) -> dict[str, Any]:
    """Tell what a text means: an ASIN, a barcode, a seller, a category, an address of Amazon, a fixture or words.

    Nothing is guessed: a text that can mean several things is `ambiguous`, and its candidates say what each would be
    and how to go on. Give --kind to decide. Works on this machine only and costs nothing.
    """
    from keepa_cli.keepa import domains
    from keepa_cli.research import targets

    place = domains.resolve(domain) if domain else None
    found = targets.resolve(text, place, kind, _known(ctx, text.strip()))
    shown = [_candidate(ctx, one) for one in found.candidates]
    data = {"view": "research_target", "text": text[: targets.LONGEST], "status": found.status, "candidates": shown}
    if found.problem:
        data["problem"] = found.problem
    return data | {"next_actions": _after_resolve(ctx, found)}


def _known(ctx: Context, word: str) -> Any:
    """The fixture and the evidence that `word` names."""
    from keepa_cli.cassettes.evidence import evidence_root
    from keepa_cli.ops import _cassettes_files
    from keepa_cli.research.targets import Known

    library = _cassettes_files.library(ctx)
    fixtures: set[str] = set()
    proofs: dict[str, str] = {}
    for entry in library.entries():
        full = f"{entry.name}.{entry.fingerprint}"
        if word == entry.name:
            fixtures.add(word)
        elif entry.fingerprint and word in (entry.fingerprint, full, f"{full}.evidence.json", entry.logical):
            proofs.setdefault(word, full if word != full else entry.name)
    stamp, dash, rest = word.removesuffix(".json").partition("-")
    if dash and stamp[:8].isdecimal() and stamp.endswith("Z") and not set(rest) & set("/\\"):
        for root in library.roots:
            if (evidence_root(root) / "promotions" / f"{stamp}-{rest}.json").is_file():
                proofs.setdefault(word, rest)
    return Known(frozenset(fixtures), proofs)


def _candidate(ctx: Context, one: Any) -> dict[str, Any]:
    row = {"kind": one.kind, "value": one.value, "confidence": one.confidence.value, "reason": one.reason}
    if one.domain is not None:
        row |= {"domain": one.domain.code, "domain_origin": one.origin}
    return row | {"next_action": _use_of(ctx, one)}


def _use_of(ctx: Context, one: Any) -> dict[str, Any]:
    """What to do with a candidate; replay unless the user says otherwise, as every command."""
    what, endpoint, command, params = _WAYS[one.kind]
    value = int(one.value) if one.kind == "category" else one.value
    bound = {name: value if more is None else [value] if more is list else more for name, more in params.items()}
    if one.domain is not None and not one.domain.has(endpoint):
        reason = f"Keepa does not serve {one.domain.code} at {endpoint}: look at what is on this machine"
        return {"action": "query_context", "reason": reason} | action(ctx, names.RESEARCH_QUERY, {"text": one.value})
    place = {"domain": one.domain.code} if one.domain is not None else {}
    return {"action": what, "reason": f"if it is a {one.kind}"} | action(ctx, command, bound | place)


def _after_resolve(ctx: Context, found: Any) -> list[dict[str, Any]]:
    """Look at what is here before anything is asked of Keepa."""
    if found.status != "resolved" or found.candidates[0].kind in ("fixture", "evidence"):
        return []
    params = {"text": found.candidates[0].value}
    reason = "what is on this machine already costs nothing"
    return [{"action": "query_context", "reason": reason} | action(ctx, names.RESEARCH_QUERY, params)]


@operation(
    names.RESEARCH_QUERY,
    toolset="research",
    tool="query_research_context",
    examples=("kc research query kettle", "kc research query B0PPJ248DY --kind product --limit 3"),
)
def query(
    ctx: Context,
    text: Text,
    kind: Annotated[QueryKind | None, Param("Only recordings of this kind, or only the documentation.")] = None,
    limit: Annotated[int, Param("Show the best N.", metavar="N", min=1, max=200)] = 10,
) -> dict[str, Any]:
    """Find recordings, fixtures and documentation on this machine that have to do with a text.

    Each match says how to use it without tokens. Names and requests come from the evidence; bodies are opened where
    those do not tell, newest first and within limits that `searched` shows.
    """
    from keepa_cli.core.errors import invalid
    from keepa_cli.ops import _research_query as local
    from keepa_cli.research.matching import words_of

    asked = words_of(text[:500])[:20]
    if not asked:
        raise invalid("There is no word to search for.", field="text", value=text[:80])
    endpoints = frozenset() if kind == local.DOCS else local.ENDPOINTS.get(kind or "")
    searched = local.records(ctx, endpoints)
    rows = [(r.score, _recording(ctx, r)) for r in local.search(ctx, asked, searched, limit)[:limit]]
    found = len([r for r in searched.records if r.score > 0])
    pages = list(_pages(ctx, asked)) if kind in (None, local.DOCS) else []
    ranked = sorted(rows + pages, key=lambda r: -r[0])[:limit]
    data: dict[str, Any] = {
        "view": "research_context",
        "text": text[:500],
        "count": found + len(pages),
        "shown": len(ranked),
    }
    data |= {"kind": kind} if kind else {}
    data["matches"] = [row for _, row in ranked]
    data["searched"] = {
        "recordings": len(searched.records), "bodies_opened": searched.opened, "bodies_not_opened": searched.unopened,
    }  # fmt: skip
    data["notes"] = [*searched.notes, *_note(searched.unopened)]
    return data | {"next_actions": [] if rows else _when_nothing(ctx, text.strip())}


def _note(unopened: int) -> Sequence[str]:
    many = f"{unopened} older recordings were not opened: their titles are unknown. --kind narrows the search."
    return [many] if unopened else []


def _recording(ctx: Context, record: Any) -> dict[str, Any]:
    from keepa_cli.ops._research_query import age_days
    from keepa_cli.ops._research_use import use_of
    from keepa_cli.research.facts import Reason, Section

    row = Section(source="recording", name=record.entry.name, fixture=record.fixture)
    row["endpoint"] = record.entry.folder
    row["score"] = record.score
    row["matched"] = sorted({name for names_ in record.where.values() for name in names_})
    row.put("request", record.request or None, Reason.NOT_COLLECTED)
    unseen = Reason.NONE if record.opened else Reason.NOT_REQUESTED
    items = [Section().put("asin", asin).put("title", title) for asin, title in record.items[:SHOWN_ITEMS]]
    row.put("items", items, unseen).put("item_count", len(record.items) if record.opened else None, unseen)
    row.put("recorded_at", record.recorded_at, Reason.NOT_COLLECTED)
    row.put("age_days", age_days(ctx.now(), record.recorded_at), Reason.NOT_COLLECTED)
    row["origin"] = record.origin
    return dict(row) | {"next_action": use_of(ctx, record.fixture, record.request)}


def _pages(ctx: Context, asked: list[str]) -> Any:
    from keepa_cli.core.files import read_bytes
    from keepa_cli.ops import docs
    from keepa_cli.research.matching import score, words_of

    for name, path in docs.pages().items():
        text = read_bytes(path).decode("utf-8", "replace")
        heads = " ".join(line for line in text.splitlines() if line.startswith("#"))
        fields = {"name": (10.0, words_of(name)), "heading": (5.0, words_of(heads)), "text": (2.0, words_of(text))}
        value, where = score(asked, fields)
        if len(where) == len(asked):
            read = {"action": "read_page", "reason": "read the page"} | action(ctx, names.DOCS_READ, {"page": name})
            matched = sorted({f for found in where.values() for f in found})
            title = docs.title_of(text, name)
            row = {
                "source": "docs",
                "name": name,
                "title": title,
                "score": value,
                "matched": matched,
                "next_action": read,
            }
            yield value, row


def _when_nothing(ctx: Context, text: str) -> list[dict[str, Any]]:
    reason = "nothing here has to do with it: see what it can mean"
    try:
        return [{"action": "resolve_target", "reason": reason} | action(ctx, names.RESEARCH_RESOLVE, {"text": text})]
    except KeepaCliError:
        return []


@operation(
    names.RESEARCH_BRIEF,
    toolset="research",
    effect="write_local",
    tool="research_brief_export",
    examples=(
        "kc research brief research-graph.json --title 'Kettles for spring'",
        "kc research brief compare.json kettle.json --title Kettles --out brief.json",
    ),
)
def brief(
    ctx: Context,
    input: Annotated[_inputs.Inputs, Param(position=True)] = [],  # noqa: A002, B006
    fixture: _inputs.Fixtures = [],  # noqa: B006
    payload: _inputs.Payload | None = None,
    title: Annotated[str, Param("Title of the brief.", metavar="TEXT")] = "Research brief",
    domain: Domain = "US",
    out: Annotated[str | None, Param("Also write the brief to this file.", metavar="FILE")] = None,
    out_dir: Annotated[
        str | None, Param("Also write brief.json and the merged research-graph.json to this folder.", metavar="DIR")
    ] = None,
) -> dict[str, Any]:  # fmt: skip
    """Put into one brief what several results say: decisions, risks, entities, next steps and what is missing.

    Takes graphs, views, comparisons, business analyses and raw products. Every sentence is one of the inputs' own and
    names its evidence: the input and the JSON path in it. What Keepa cannot know stays open as not_requested.
    """
    from keepa_cli.ops import _research_brief

    return _research_brief.brief(ctx, _inputs.read(ctx, input, fixture, payload), title, domain, out, out_dir)
