"""What a brief leaves open for others: signals that Keepa does not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keepa_cli.research.facts import Reason

_EXPECTED = {
    "advertising": "cost per click, share of voice, keywords of competitors",
    "media": "reviews in the press, videos, social posts, with address and date",
    "patents": "patents and designs that could be touched, with number and status",
    "trademarks": "registered marks close to the brand, with number, class and owner",
    "claims_compliance": "rules that the claims of the listing fall under, with source",
    "supply": "quotes of suppliers, minimum order, lead time",
}
EXTERNAL: Mapping[str, Any] = {
    "status": Reason.NOT_REQUESTED.value,
    "note": "Keepa has none of these, and nothing here looks for them: whoever has them adds them.",
    "slots": {
        name: {"status": Reason.NOT_REQUESTED.value, "expects": expects, "signals": []}
        for name, expects in _EXPECTED.items()
    },
}
