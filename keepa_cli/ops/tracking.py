"""Price alerts: trackings, their named lists, notifications and the webhook."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from keepa_cli.core.errors import KeepaCliError, invalid
from keepa_cli.core.registry import Cost, CostPart, Param, Request, operation
from keepa_cli.keepa import costs, domains
from keepa_cli.keepa import tracking as rules
from keepa_cli.keepa.clock import LATEST, from_iso
from keepa_cli.keepa.trackview import notification_row, tracking_row
from keepa_cli.ops._listing import rows, texts
from keepa_cli.ops._names import TRACKING_GET, TRACKING_LIST, TRACKING_NOTIFICATIONS
from keepa_cli.ops._params import Asin, Domain

READING, WRITING = "tracking-readonly", "tracking"
PATH = "/tracking"


def _list_name(value: Any) -> str:
    if not 0 < len(value.strip()) <= rules.MAX_LIST_NAME or not value.isprintable():
        raise ValueError(f"a list is named with 1 to {rules.MAX_LIST_NAME} printable characters")
    return str(value.strip())


def _since(value: Any) -> int:
    text = str(value).strip()
    try:
        minute = int(text) if re.fullmatch(r"\d{1,15}", text) else from_iso(text)
    except ValueError:
        raise ValueError(f"since is a Keepa minute or a date such as 2026-09-21T13:00Z, not {text[:40]!r}") from None
    if not 0 <= minute <= LATEST:
        raise ValueError(f"since {text[:40]} is no Keepa minute: those count from 2011-01-01")
    return minute


def _json(value: Any) -> list[Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError("tracking is not valid JSON") from None
    items = value if isinstance(value, list) else [value]
    if not items or not isinstance(value, list | dict):
        raise ValueError("tracking is an object or a list of objects, and not empty")
    if len(items) > rules.MAX_ITEMS:
        raise ValueError(f"tracking holds {len(items)} trackings; one call takes {rules.MAX_ITEMS}")
    return items


def _url(value: str) -> str:
    """The address of a webhook; no message repeats it."""
    url = value.strip()
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("url is malformed") from None
    if parts.scheme.lower() != "https" or not host or port == 0:
        raise ValueError("url must be an https:// address with a host")
    if not url.isascii() or re.search(r"[\s\x00-\x1f\x7f]", url) or len(url) > 2000 or "." not in host:
        raise ValueError("url must be an ASCII address of a public host without blanks, at most 2000 characters")
    return url


ListName = Annotated[str, Param("The named list; left out, the default list.", metavar="NAME", parse=_list_name)]
ListFlag = Annotated[ListName | None, Param(flag="--list")]
Since = Annotated[
    int,
    Param("Only newer ones: a Keepa minute, or a date (UTC).", metavar="TIME", parse=_since,
          accepts=("string", "integer")),
]  # fmt: skip
Trackings = Annotated[
    dict[str, Any],
    Param(
        "A tracking or a list of up to 1000.",
        metavar="JSON",
        flag="--tracking-json",
        parse=_json,
        accepts=("object", "array", "string"),
        from_file=True,
    ),
]


def _get(kind: str, list_name: str | None, query: Mapping[str, Any] | None = None, **more: Any) -> Request:
    return Request("GET", PATH, {"type": kind, "list": list_name, **(query or {})}, **more)


def _trackings(body: dict[str, Any], _: dict[str, Any]) -> dict[str, Any]:
    found = rows(body.get("trackings"))
    asins = texts(body.get("asinList"))
    return {"count": len(found) or len(asins), "items": [tracking_row(t) for t in found], "body": body}


def _names(body: dict[str, Any], _: dict[str, Any]) -> dict[str, Any]:
    names = texts(body.get("trackingListNames"))
    return {"count": len(names), "names": names, "body": body}


def _notifications(body: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    found = [notification_row(n) for n in rows(body.get("notifications"))]
    return {"count": len(found), "marked_read": params["mark_read"], "items": found, "body": body}


@operation(
    TRACKING_LIST,
    toolset=READING,
    cacheable=False,
    returns="tracking",
    view=_trackings,
    examples=("kc tracking list --asins-only --dry-run", "kc tracking list --list mine --per-page 100 --live"),
)
def list_(
    list_name: ListFlag = None,
    asins_only: Annotated[bool, Param("The ASINs only; always the whole list.")] = False,
    page: Annotated[int | None, Param("Page number from 0, with --per-page.", min=0, max=1_000_000)] = None,
    per_page: Annotated[int | None, Param("Trackings on a page.", min=1, max=100_000)] = None,
) -> Request:
    """List the trackings of a list.

    Costs nothing. Without pages Keepa sends the whole list. Read pages until one is empty.
    """
    if page is not None and per_page is None:
        raise invalid("--page goes with --per-page.", field="page", value=page)
    if asins_only and per_page is not None:
        raise invalid("--asins-only always lists all; it has no pages.", field="per_page", value=per_page)
    more = {"asins-only": asins_only or None, "page": page, "perPage": per_page}
    return _get("list", list_name, more)


@operation(
    "tracking.list-names",
    toolset=READING,
    cacheable=False,
    returns="tracking",
    view=_names,
    examples=("kc tracking list-names",),
)
def list_names() -> Request:
    """List the names of the tracking lists.

    Costs nothing.
    """
    return _get("listNames", None)


@operation(
    TRACKING_GET,
    toolset=READING,
    cacheable=False,
    returns="tracking",
    view=_trackings,
    examples=("kc tracking get B09YNQCQKR", "kc tracking get B09YNQCQKR --list mine --live"),
)
def get(asin: Annotated[Asin, Param("The tracked product.", position=True)], list_name: ListFlag = None) -> Request:
    """Show the tracking of a product.

    Costs nothing. A product that is not tracked is an error of Keepa.
    """
    return _get("get", list_name, {"asin": asin}, asked=(asin,))


@operation(
    TRACKING_NOTIFICATIONS,
    toolset=READING,
    cacheable=False,
    cost=lambda params: Cost(confirm=bool(params["mark_read"])),
    returns="tracking",
    view=_notifications,
    examples=(
        "kc tracking notifications",
        "kc tracking notifications --since 2026-09-21 --revise --live",
        "kc tracking notifications --mark-read --live --yes",
    ),
)
def notifications(
    since: Since = 0,
    revise: Annotated[bool, Param("Also those that were read before.")] = False,
    all: Annotated[bool, Param("More than the newest 2000.")] = False,  # noqa: A002
    mark_read: Annotated[bool, Param("Mark them as read: they will not come again. Asks first.")] = False,
    list_name: ListFlag = None,
) -> Request:
    """List notifications of the last 24 hours, newest first, and leave them unread.

    Costs nothing. With --mark-read Keepa forgets them, so that call asks first and is never repeated by itself.
    """
    query = {"since": since, "revise": revise, "all": all or None, "readOnly": None if mark_read else True}
    return _get("notification", list_name, query, writes=mark_read)


def _checked(params: dict[str, Any]) -> list[rules.Checked]:
    domain = params.get("domain")
    return rules.check_all(params["tracking"], domains.resolve(domain).id if domain else None)


def _add_cost(params: dict[str, Any]) -> Cost:
    good = [one.item for one in _checked(params) if one.item is not None]
    base = costs.tracking("add", len(good))
    dear = sum(rules.is_marketplace(item) for item in good)
    per_minute = sum(rules.flow(item) for item in good)
    note = (
        f"{len(good) - dear} regular and {dear} marketplace trackings take about {per_minute:.2f} tokens per minute "
        "off the refill for as long as they exist; Keepa rounds the sum of all."
    )
    return Cost(tuple(CostPart(p.name, p.tokens, p.worst, p.note) for p in base.parts), True, (note,))


def _added(body: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    made = {t.get("asin"): tracking_row(t) for t in rows(body.get("trackings"))}
    items = []
    for one in _checked(params):
        status = "invalid" if one.item is None else "tracked" if one.asin in made else "failed"
        items.append({"asked": one.asin or f"[{one.index}]", "status": status} | made.get(one.asin, {}))
    return {"count": len(made), "failed": [i["asked"] for i in items if i["status"] == "failed"], "items": items,
            "body": body}  # fmt: skip


@operation(
    "tracking.add",
    toolset=WRITING,
    effect="write_remote",
    cost=_add_cost,
    returns="tracking",
    view=_added,
    examples=(
        """kc tracking add --tracking-json '{"asin": "B09YNQCQKR", "mainDomainId": 1, "thresholdValues": """
        """[{"domain": 1, "csvType": 0, "isDrop": true, "thresholdValue": 1999}]}' --dry-run""",
        "kc tracking add --tracking-file trackings.json --domain US --list mine --live --yes",
    ),
)
def add(
    tracking: Trackings,
    domain: Annotated[Domain | None, Param("Main marketplace of the trackings that name none.")] = None,
    list_name: ListFlag = None,
    skip_invalid: Annotated[bool, Param("Send the good ones and leave out the others.")] = False,
) -> Request:
    """Track products, or change how they are tracked.

    Costs 1 token per tracking, and takes tokens off the refill as long as it exists. A product that the list tracks
    already is overwritten; a named list is made by its first tracking. Thresholds are amounts in the smallest unit of
    the main currency. Unless --skip-invalid is given, nothing is sent when one of the trackings is invalid.
    """
    checked = _checked({"tracking": tracking, "domain": domain})
    good, bad = [c for c in checked if c.item is not None], [c for c in checked if c.item is None]
    if bad and not (skip_invalid and good):
        raise _refused(good, bad)
    notes = [f"Tracking {c.index} ({c.asin}): {text}." for c in good for text in c.warnings]
    notes += [f"Tracking {c.index} is left out: {c.problems[0]['message']}." for c in bad]
    asked = tuple(c.asin for c in good if c.asin)
    query = {"type": "add", "list": list_name}
    return Request("POST", PATH, query, [c.item for c in good], asked=asked, notes=tuple(notes), writes=True)


def _refused(good: list[rules.Checked], bad: list[rules.Checked]) -> KeepaCliError:
    total, first = len(good) + len(bad), bad[0]
    problem = first.problems[0]
    errors = [{"index": c.index, "asin": c.asin} | p for c in bad for p in c.problems]
    error = invalid(
        f"{len(bad)} of {total} trackings cannot be sent. Tracking {first.index}: {problem['message']}.",
        field=problem["field"] or "tracking",
        value=problem["value"],
        errors=errors[:100],
        good=[{"index": c.index, "asin": c.asin} for c in good],
        bad=[{"index": c.index, "asin": c.asin, "problem": c.problems[0]["message"]} for c in bad],
    )
    if good:
        error.next_actions = ["Add --skip-invalid to send the good ones.", *error.next_actions]
    return error


def _done(body: dict[str, Any], params: dict[str, Any]) -> dict[str, Any]:
    return {"done": True, "list": params.get("list_name"), "body": body}


@operation(
    "tracking.remove",
    toolset=WRITING,
    effect="write_remote",
    cost=lambda _: costs.tracking("remove"),
    returns="tracking",
    view=_done,
    examples=("kc tracking remove B09YNQCQKR --dry-run", "kc tracking remove B09YNQCQKR --list mine --live --yes"),
)
def remove(asin: Annotated[Asin, Param("The tracked product.", position=True)], list_name: ListFlag = None) -> Request:
    """Stop tracking a product.

    Costs nothing. A product that is not tracked is an error of Keepa.
    """
    return _get("remove", list_name, {"asin": asin}, writes=True)


@operation(
    "tracking.remove-all",
    toolset=WRITING,
    effect="write_remote",
    cost=lambda _: costs.tracking("removeAll"),
    returns="tracking",
    view=_done,
    examples=("kc tracking remove-all --dry-run", "kc tracking remove-all --list mine --live --yes"),
)
def remove_all(list_name: ListFlag = None) -> Request:
    """Remove every tracking of a list; a named list is deleted with them.

    Costs nothing and cannot be undone.
    """
    return _get("removeAll", list_name, writes=True)


@operation(
    "tracking.webhook",
    toolset=WRITING,
    effect="write_remote",
    cost=lambda _: costs.tracking("webhook"),
    returns="tracking",
    view=lambda body, _: {"done": True, "body": body},
    examples=(
        "kc tracking webhook https://example.com/keepa --dry-run",
        "kc tracking webhook --url-file webhook.txt --live --yes",
    ),
)
def webhook(
    url: Annotated[
        str,
        Param(
            "The https address that Keepa shall call. Better read from a file: arguments stay in the shell's history.",
            metavar="URL",
            position=True,
            hidden=True,
            from_file=True,
            parse=_url,
        ),
    ],
) -> Request:
    """Set the address that gets every notification.

    Costs nothing. The address is treated as a secret: it is shown nowhere and stored in no recording. What it gets is
    marked as read.
    """
    return _get("webhook", None, {"url": url}, secret=("url",), writes=True)
