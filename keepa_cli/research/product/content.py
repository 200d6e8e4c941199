"""What the listing says, shortened to fit; `truncated` names what was cut. The whole text is in the raw body."""

from __future__ import annotations

from keepa_cli.research.facts import Reason, Section
from keepa_cli.research.product.look import Look
from keepa_cli.research.product.values import listed, shortened, text
from keepa_cli.research.subject import Subject

TEXTS = {"description": "description", "ingredients": "ingredients", "safety_warning": "safetyWarning"}
WHOLE = 4000
FEATURES, CHARACTERS = 3, 100
"""How much is shown where it is not whole."""
FEATURES_WHOLE = 50


def section(look: Look) -> Section:
    s = look.subject
    most, limit = (FEATURES_WHOLE, WHOLE) if look.whole else (FEATURES, CHARACTERS)
    features = [f for f in listed(s.product.get("features")) if isinstance(f, str) and f.strip()]
    known = isinstance(s.product.get("features"), list)
    found = Section().put("feature_count", len(features) if known else None, Reason.NOT_COLLECTED)
    cut = [shortened(f, limit) for f in features[:most]]
    found.put("features", [value for value, _ in cut], Reason.NONE if known else Reason.NOT_COLLECTED)
    truncated = len(features) > most or any(was_cut for _, was_cut in cut)
    for name, field in TEXTS.items():
        value = text(s.product, field)
        if value is None:
            if name != "safety_warning":
                found.lack(name, Reason.NOT_COLLECTED)
            continue
        found[name], was_cut = shortened(value, limit)
        truncated = truncated or was_cut
    found["truncated"] = truncated
    found["evidence_path"] = _evidence(s)
    return found


def _evidence(s: Subject) -> list[str] | str:
    return [s.at(name) for name in ("features", *TEXTS.values()) if name in s.product] or s.path
