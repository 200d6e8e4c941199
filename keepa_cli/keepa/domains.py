"""The Amazon marketplaces Keepa knows: one table, and one strict way to name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from keepa_cli.core.errors import invalid


@dataclass(frozen=True)
class Domain:
    """One marketplace. `digits` counts the decimals of its currency; `missing` lists endpoints that refuse it."""

    id: int
    code: str
    host: str
    currency: str
    digits: int
    locale: str
    time_zone: str
    missing: frozenset[str] = frozenset()

    def has(self, endpoint: str) -> bool:
        """Whether Keepa serves this marketplace at `endpoint` ("search" or "/search")."""
        return endpoint.strip("/") not in self.missing


BR_MISSING = frozenset(
    {"bestsellers", "topseller", "search", "category", "deal", "seller", "sellerquery", "lightningdeal", "graphimage"}
)

_ROWS = (
    Domain(1, "US", "amazon.com", "USD", 2, "en-US", "America/Los_Angeles"),
    Domain(2, "GB", "amazon.co.uk", "GBP", 2, "en-GB", "Europe/London"),
    Domain(3, "DE", "amazon.de", "EUR", 2, "de-DE", "Europe/Berlin"),
    Domain(4, "FR", "amazon.fr", "EUR", 2, "fr-FR", "Europe/Paris"),
    Domain(5, "JP", "amazon.co.jp", "JPY", 0, "ja-JP", "Asia/Tokyo"),
    Domain(6, "CA", "amazon.ca", "CAD", 2, "en-CA", "America/Toronto"),
    Domain(8, "IT", "amazon.it", "EUR", 2, "it-IT", "Europe/Rome"),
    Domain(9, "ES", "amazon.es", "EUR", 2, "es-ES", "Europe/Madrid"),
    Domain(10, "IN", "amazon.in", "INR", 2, "en-IN", "Asia/Kolkata"),
    Domain(11, "MX", "amazon.com.mx", "MXN", 2, "es-MX", "America/Mexico_City"),
    Domain(12, "BR", "amazon.com.br", "BRL", 2, "pt-BR", "America/Sao_Paulo", BR_MISSING),
)
DOMAINS: Mapping[int, Domain] = {d.id: d for d in _ROWS}
CODES: tuple[str, ...] = tuple(d.code for d in _ROWS)

RETIRED = {
    "0": "id 0 is reserved and was never a marketplace",
    "7": "Keepa retired amazon.cn (id 7) in November 2020",
    "cn": "Keepa retired amazon.cn (id 7) in November 2020",
    "13": "Keepa retired amazon.com.au (id 13) in November 2020",
    "au": "Keepa retired amazon.com.au (id 13) in November 2020",
    "14": "Keepa has no marketplace with id 14",
}


def _names() -> dict[str, Domain]:
    names: dict[str, Domain] = {"uk": DOMAINS[2]}
    for d in _ROWS:
        suffix = d.host.removeprefix("amazon.")
        names |= {str(d.id): d, d.code.lower(): d, suffix: d, d.host: d}
    return names


NAMES: Mapping[str, Domain] = _names()


def resolve(value: Any) -> Domain:
    """The marketplace called `value`: an id, a code or a host, in any case. Never a fallback.

    Raises `invalid_arguments` for everything else, retired and reserved ids included.
    """
    text = str(value).strip().lower() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    bare = text.removeprefix("https://").removeprefix("http://").rstrip("/").removeprefix("www.").removeprefix(".")
    found = NAMES.get(bare)
    if found is None:
        raise _unknown(value, bare)
    return found


def require(value: Any, endpoint: str) -> Domain:
    """`resolve`, and `invalid_arguments` where Keepa does not serve the marketplace at `endpoint`."""
    domain = resolve(value)
    if not domain.has(endpoint):
        allowed = [d.code for d in _ROWS if d.has(endpoint)]
        raise invalid(
            f"Keepa has no {domain.code} ({domain.host}) for {endpoint}. Available: {', '.join(allowed)}.",
            field="domain",
            value=value,
            allowed=allowed,
        )
    return domain


def _unknown(value: Any, text: str) -> Exception:
    import difflib

    key = text.removeprefix("amazon.").removeprefix("com.")
    near = difflib.get_close_matches(text, list(NAMES), n=1, cutoff=0.6) if len(text) > 1 else []
    hint = NAMES[near[0]].code if near and key not in RETIRED else None
    why = f" ({RETIRED[key]})" if key in RETIRED else ""
    asked = f" Did you mean {hint}?" if hint else ""
    shown = repr(value) if value is not None else "nothing"
    return invalid(
        f"There is no Keepa domain {shown[:80]}{why}.{asked} Use one of {', '.join(CODES)}.",
        field="domain",
        value=value if isinstance(value, str | int | float | None) else repr(value)[:80],
        allowed=list(CODES),
        did_you_mean=hint,
    )
