"""The names of series in views and on the command line, by the slot of `csv` that holds them."""

from __future__ import annotations

from collections.abc import Mapping

from keepa_cli.core.errors import invalid
from keepa_cli.keepa.csvtypes import BY_NAME, CSV_TYPES, CsvType

NAMES: tuple[str, ...] = (
    "amazon", "new", "used", "sales_rank", "list_price", "collectible", "refurbished", "new_fbm_shipping",
    "lightning_deal", "warehouse", "new_fba", "new_offer_count", "used_offer_count", "refurbished_offer_count",
    "collectible_offer_count", "offer_refreshes", "rating", "review_count", "buy_box_shipping",
    "used_like_new_shipping", "used_very_good_shipping", "used_good_shipping", "used_acceptable_shipping",
    "collectible_like_new_shipping", "collectible_very_good_shipping", "collectible_good_shipping",
    "collectible_acceptable_shipping", "refurbished_shipping", "ebay_new_shipping", "ebay_used_shipping", "trade_in",
    "rental", "buy_box_used_shipping", "prime_exclusive", "new_fba_offer_count", "new_fbm_offer_count",
)  # fmt: skip
BY_VIEW_NAME: Mapping[str, CsvType] = dict(zip(NAMES, CSV_TYPES, strict=True))
SHORT: Mapping[str, str] = {"buy_box": "buy_box_shipping", "buybox": "buy_box_shipping", "rank": "sales_rank"}


def name_of(t: CsvType) -> str:
    """The name of a type in views; a slot beyond the table is called csv_N."""
    return NAMES[t.index] if t.index < len(NAMES) else t.name.lower()


def series_named(text: str) -> CsvType:
    """The type that `text` names: our name, Keepa's name or the number of the slot. Raises `invalid_arguments`."""
    word = text.strip().lower().replace("-", "_")
    word = SHORT.get(word, word)
    if word in BY_VIEW_NAME:
        return BY_VIEW_NAME[word]
    if word.upper() in BY_NAME:
        return BY_NAME[word.upper()]
    if word.isascii() and word.isdecimal() and len(word) < 4 and int(word) < len(CSV_TYPES):
        return CSV_TYPES[int(word)]
    import difflib

    close = difflib.get_close_matches(word, NAMES, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    raise invalid(f"There is no series {text[:60]!r}.{hint}", field="series", value=text[:60], allowed=list(NAMES))
