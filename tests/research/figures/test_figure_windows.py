"""The heat map prints the changes that the views have, and marks what is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from keepa_cli.research.figures.windows import STRONG
from keepa_cli.research.product.view import product_view
from tests.research.figures.support import A, made, marks, rows, skipped, texts, title_of
from tests.research.product.made import body, days, plan, product, subjects_of

REAL = "product-B0D8W1YVBX-US-20260510.json"


def cells(figure: Any) -> dict[tuple[str, int], Any]:
    return {(c["series"], c["days"]): c["change_percent"] for c in figure.data["cells"]}


def view(whole: Any, profile: str = "research") -> dict[str, Any]:
    return {"view": "product", "products": [product_view(s, plan(), profile) for s in subjects_of(whole)]}


def test_changes_of_a_real_product_are_those_of_the_documentation(shared_data: Path) -> None:
    whole = json.loads((shared_data / REAL).read_text(encoding="utf-8"))
    figure = made(whole, figure_set="history")["windows-B0D8W1YVBX"]
    found = cells(figure)
    assert found["new", 7] == 0
    assert found["buy_box_shipping", 90] == -16.68
    assert found["rating", 30] == -2.27
    assert found["new_offer_count", 30] == 25
    assert {"0 %", "−16.68 %", "−2.27 %", "+25.00 %", "+3,194.89 %"} <= set(texts(figure))


def test_a_view_gives_the_same_changes_as_the_answer_it_was_made_from(shared_data: Path) -> None:
    whole = json.loads((shared_data / REAL).read_text(encoding="utf-8"))
    raw, seen = (made(d, figure_set="history")["windows-B0D8W1YVBX"] for d in (whole, view(whole)))
    mine, theirs = cells(raw), cells(seen)
    both = [k for k in theirs if k in mine]
    assert len(both) >= 25
    assert {k: theirs[k] for k in both} == {k: mine[k] for k in both}
    assert (raw.data_basis, seen.data_basis) == ("keepa_answer", "product_view")


def test_what_is_not_known_is_marked_and_never_zero() -> None:
    figure = made(body(product({"new": days((20, 1000), (5, 1500))})))[f"windows-{A}"]
    found = cells(figure)
    assert (found["new", 7], found["new", 30]) == (50, None)
    told = next(c for c in figure.data["cells"] if (c["series"], c["days"]) == ("new", 30))
    assert told["absent"] == {"change_percent": "too_little_history"}
    empty = rows(figure, "rect", "empty")
    assert {r["window"] for r in empty if r["series"] == "New price"} == {"30 days", "90 days", "180 days", "365 days"}
    assert {r["text"] for r in empty} == {"too new"}
    assert "no figures: Amazon price" in title_of(figure)


def test_text_on_deep_colours_is_turned_round() -> None:
    figure = made(body(product({"new": days((400, 1000), (5, 2000)), "sales_rank": days((400, 100), (5, 110))})))
    drawn = figure[f"windows-{A}"]
    strong, weak = rows(drawn, "text", "on-strong"), rows(drawn, "text", "value")
    assert strong and all(abs(r["percent"]) >= STRONG for r in strong)
    assert weak and all(abs(r["percent"]) < STRONG for r in weak)
    (colour,) = [m["encoding"]["color"] for m in marks(drawn, "rect") if "color" in m["encoding"]]
    assert colour["scale"]["domain"][0] == -colour["scale"]["domain"][-1] and colour["scale"]["clamp"]


def test_a_view_without_windows_says_what_to_ask_for() -> None:
    whole = body(product())
    assert "--view research" in skipped(view(whole, "summary"), figure_set="history")[f"windows-{A}"]
