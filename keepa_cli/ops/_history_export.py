"""The answer of `history export`: what there is of every series, and its rows, here or in a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from keepa_cli.core.context import Context
from keepa_cli.keepa.clock import DAY, from_iso, iso
from keepa_cli.keepa.domains import resolve
from keepa_cli.ops import _outputs
from keepa_cli.ops._batches import product_items
from keepa_cli.ops.history import LARGEST_INLINE, format_of
from keepa_cli.research.facts import ABSENT, Reason, Section
from keepa_cli.research.history.choose import Span, chosen, lacking
from keepa_cli.research.history.rows import Piece, csv_text, json_text, jsonl_text, objects
from keepa_cli.research.history.tracks import Track, tracks
from keepa_cli.research.needs import Need, Planner
from keepa_cli.research.subject import Subject, subjects

TEXTS = {"csv": csv_text, "jsonl": jsonl_text, "json": json_text}


def exported(ctx: Context, plan: Planner, body: Any, params: dict[str, Any]) -> dict[str, Any]:
    """`{view, count, items, products, rows | output, next_actions}`."""
    found = list(subjects(body, resolve(params["domain"]), params))
    data: dict[str, Any] = {"view": "history_export", "count": len(found)}
    data["items"] = product_items(body, params)["items"]
    pieces: list[Piece] = []
    data["products"] = [_product(subject, params, pieces) for subject in found]
    total = sum(len(piece.times) for piece in pieces)
    data["row_count"] = total
    if params.get("out"):
        data["output"] = _write(ctx, params, pieces, total)
    else:
        rows = (row for piece in pieces for row in objects(piece, reasons=True))
        data["rows"] = list(islice(rows, LARGEST_INLINE))
    data["warnings"] = [*_without_rows(data["products"], params), *_too_many(total, params)]
    return data | {"next_actions": list(_actions(plan, found, params, total))}


def _product(subject: Subject, params: dict[str, Any], pieces: list[Piece]) -> Section:
    """What is known of one product's series; its pieces are added to `pieces`."""
    known = tracks(subject)
    asked = params.get("series") or []
    full, empty = chosen(known, asked)
    span = _span(subject, params)
    series = Section()
    for track in full:
        times, raws = span.of(track)
        pieces.append(Piece(subject.asin or "", track, times, raws))
        series[track.name] = _described(track, len(times))
    for track in empty:
        series.lack(track.name, track.reason)
    for name in lacking(known, asked):
        series.lack(name, _why_lacking(subject, name))
    shown = Section().put("asin", subject.asin, Reason.UNREADABLE)
    shown["domain"] = subject.domain.code
    shown["now_at"] = iso(subject.now)
    if span.since is not None:
        shown["from_at"] = iso(span.since)
    return Section(shown, series=series)


def _span(subject: Subject, params: dict[str, Any]) -> Span:
    since, until, days = params.get("since"), params.get("until"), params.get("days")
    start = from_iso(since) if since else subject.now - days * DAY if days else None
    return Span(start, from_iso(until) if until else None, params.get("max_points"))


def _described(track: Track, count: int) -> Section:
    """`points` are those that Keepa sent, `rows` those that are exported. From `basis_changed_at` on prices include
    shipping; with `time_of` end the time of a row is when its value ended, else when it began."""
    shown = Section(points=len(track), rows=count, first_at=iso(track.times[0]), last_at=iso(track.times[-1]))
    if track.until:
        shown["time_of"] = "end"
    if track.basis_changed_at:
        shown["basis_changed_at"] = track.basis_changed_at
    return Section(shown, unit=track.unit.name, evidence_path=track.path)


def _why_lacking(subject: Subject, name: str) -> Reason:
    if name.startswith("offer:") and not subject.asked.offers:
        return Reason.NOT_REQUESTED
    return Reason.NONE if subject.asked.history else Reason.NOT_REQUESTED


def _write(ctx: Context, params: dict[str, Any], pieces: Sequence[Piece], total: int) -> dict[str, Any]:
    chosen_format = format_of(params.get("format"), params["out"])
    if chosen_format == "parquet":
        from keepa_cli.research.history.parquet import parquet_bytes

        content = parquet_bytes(pieces)
    else:
        content = "".join(TEXTS[chosen_format](pieces)).encode("utf-8", "backslashreplace")
    return _outputs.write(ctx, params["out"], content, format=chosen_format, count=total)


def _without_rows(products: Sequence[Section], params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Series that were asked for by name and are empty: nobody should take a short file for a whole one."""
    for product in products if params.get("series") else ():
        for name, reason in product["series"].get(ABSENT, {}).items():
            message = f"{product['asin']} has no rows of {name}: {reason.replace('_', ' ')}."
            yield {"code": "series_empty", "message": message, "series": name, "reason": reason}


def _too_many(total: int, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if total > LARGEST_INLINE and not params.get("out"):
        message = (
            f"{LARGEST_INLINE:,} of {total:,} rows are shown; --out FILE writes all of them, "
            "--series, --days and --max-points narrow them."
        )
        yield {"code": "rows_cut", "message": message, "rows": total, "shown": LARGEST_INLINE}


def _actions(plan: Planner, found: Sequence[Subject], params: dict[str, Any], total: int) -> Iterator[dict[str, Any]]:
    """All rows in a file where they were cut, and the data that an option would open."""
    usable = [s for s in found if s.usable and s.asin]
    if not usable:
        yield plan(Need.CHECK_TOKENS, {}, "No product with data was found: see what is left before the next try.")
        return
    asked = {k: v for k, v in params.items() if v not in (None, [], False)} | {"asin": params["asin"]}
    if total > LARGEST_INLINE and not params.get("out"):
        yield plan(Need.EXPORT_HISTORY, asked | {"out": "history.csv"}, "The answer shows only the first rows.")
    wanted = params.get("series") or ["buy_box_shipping", "rating"]
    if not usable[0].asked.buybox and any(name.startswith("buy_box") for name in wanted):
        yield plan(Need.EXPORT_HISTORY, asked | {"buybox": True}, "The buy box histories were not requested.")
    if not usable[0].asked.rating and any(name in {"rating", "review_count"} for name in wanted):
        yield plan(Need.EXPORT_HISTORY, asked | {"rating": True}, "The rating histories were not requested.")
