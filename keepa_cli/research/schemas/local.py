"""Schemas of what is told without any answer of Keepa: meanings, recordings, policy, templates, pages."""

from __future__ import annotations

from keepa_cli.research.product.profiles import Profile
from keepa_cli.research.schemas.build import (
    ANY,
    COUNT,
    FLAG,
    NUMBER,
    OPEN,
    TEXT,
    TIME,
    Schema,
    closed,
    const,
    listed,
    maybe,
    one_of,
    ref,
    table,
)
from keepa_cli.research.schemas.lists import FIELD_NOTES
from keepa_cli.research.schemas.shared import COMMANDS, CONFIDENCE, OUTPUT
from keepa_cli.research.templates.model import DEALS, FINDER

NAMES = listed(TEXT)
KIND = one_of((FINDER, DEALS))


def target() -> Schema:
    """`data` of research resolve."""
    candidate = closed(
        {"kind": TEXT, "value": TEXT, "confidence": CONFIDENCE, "reason": TEXT, "next_action": ref("command")},
        {"domain": TEXT, "domain_origin": TEXT},
    )
    needed = {
        "view": const("research_target"), "text": TEXT, "status": one_of(("resolved", "ambiguous", "unresolved")),
        "candidates": listed(candidate), "next_actions": COMMANDS,
    }  # fmt: skip
    return closed(needed, {"problem": TEXT})


def found() -> Schema:
    """`data` of research query."""
    item = closed({"asin": maybe(TEXT), "title": maybe(TEXT)})
    match = closed(
        {"source": one_of(("recording", "docs")), "name": TEXT, "score": NUMBER, "matched": NAMES,
         "next_action": ref("command")},
        {"fixture": TEXT, "endpoint": TEXT, "request": TEXT, "items": listed(item), "item_count": COUNT,
         "recorded_at": maybe(TIME), "age_days": maybe(COUNT), "origin": TEXT, "title": TEXT},
    )  # fmt: skip
    searched = closed({"recordings": COUNT, "bodies_opened": COUNT, "bodies_not_opened": COUNT})
    needed = {
        "view": const("research_context"), "text": TEXT, "count": COUNT, "shown": COUNT, "matches": listed(match),
        "searched": searched, "notes": NAMES, "next_actions": COMMANDS,
    }  # fmt: skip
    return closed(needed, {"kind": TEXT})


def policy() -> Schema:
    """`data` of context policy."""
    live = closed(
        {"by_default": FLAG, "possible": FLAG, "blocked_by": NAMES, "switched_on_by": TEXT,
         "auth": closed({"configured": FLAG, "origin": TEXT}), "server": TEXT}
    )  # fmt: skip
    library = listed(closed({"path": TEXT, "exists": FLAG, "writable": FLAG}))
    written = closed({"outputs": TEXT, "state": TEXT, "response_cache": TEXT}, {"fixtures": TEXT, "evidence": TEXT})
    limits = ("max_tokens", "max_tokens_per_session", "max_tokens_per_day")
    operations = ("this_machine_only", "may_ask_keepa", "write_this_machine", "change_something_at_keepa")
    return closed(
        {
            "view": const("context_policy"), "mode": closed({"value": TEXT, "origin": TEXT}),
            "answers_come_from": TEXT, "modes": table(TEXT), "live": live,
            "consent": closed({"confirm_above_tokens": COUNT, "how": TEXT, "always_asked": TEXT}),
            "limits": closed(dict.fromkeys(limits, maybe(COUNT))),
            "folders": closed({"library": library, "written": written, "outputs_note": TEXT}),
            "operations": closed(dict.fromkeys(operations, NAMES)), "toolsets": table(NAMES),
            "view_profiles": listed(closed({"profile": one_of(Profile)}, {"limit_bytes": COUNT})),
            "first_steps": listed(closed({"command": TEXT, "why": TEXT})), "rules": NAMES, "next_actions": COMMANDS,
        }
    )  # fmt: skip


def templates() -> Schema:
    """`data` of templates list."""
    row = {"name": TEXT, "kind": KIND, "title": TEXT, "params": OPEN, "also": NAMES, "show": TEXT}
    return closed({"view": const("templates"), "count": COUNT, "templates": listed(closed(row))})


def template() -> Schema:
    """`data` of templates show."""
    slot = closed({"name": TEXT, "field": TEXT, "about": TEXT, "given": FLAG}, {"value": ANY})
    needed = {
        "view": const("template"), "name": TEXT, "kind": KIND, "title": TEXT, "about": TEXT, "caution": TEXT,
        "domain": TEXT, "params": listed(slot), "selection": OPEN, "field_notes": FIELD_NOTES,
        "next_actions": COMMANDS,
    }  # fmt: skip
    return closed(needed, {"output": OUTPUT})


def docs_index() -> Schema:
    page = closed({"page": TEXT, "title": TEXT, "uri": TEXT, "size_bytes": COUNT})
    schema = closed({"schema": TEXT, "uri": TEXT, "size_bytes": COUNT})
    manifest = closed({"manifest": TEXT}, {"rows": COUNT, "problem": TEXT})
    return closed(
        {"view": const("docs_index"), "pages": listed(page), "recommended_read_order": NAMES,
         "schemas": listed(schema), "fixtures": closed({"count": COUNT, "list_with": TEXT}),
         "evidence": listed(manifest)}
    )  # fmt: skip


def docs_page() -> Schema:
    needed = {"view": const("docs_page"), "page": TEXT, "uri": TEXT, "title": TEXT, "text": TEXT}
    return closed(needed, {"next_page": TEXT})


def docs_schema() -> Schema:
    return closed({"view": const("docs_schema"), "schema": TEXT, "uri": TEXT, "content": OPEN})


def views() -> dict[str, tuple[str, Schema]]:
    return {
        "research_target": ("What a text means", target()),
        "research_context": ("What is on this machine about some words", found()),
        "context_policy": ("What may be done here", policy()),
        "templates": ("Templates of selections", templates()),
        "template": ("A selection from a template", template()),
        "docs_index": ("The documentation", docs_index()),
        "docs_page": ("A page of the documentation", docs_page()),
        "docs_schema": ("A schema", docs_schema()),
    }
