"""What a text can mean: an ASIN, a barcode, a seller, a category, an address, a fixture, evidence, or search words.

Nothing is guessed. A text that can mean several things is `ambiguous`, with every meaning as a candidate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa.asin import classify_code, isbn10_valid, parse_asin, parse_code
from keepa_cli.keepa.domains import DOMAINS, Domain
from keepa_cli.research.addresses import Address, read_address
from keepa_cli.research.facts import Confidence

KINDS = ("product", "code", "seller", "category", "fixture", "evidence", "keyword")
RESOLVED, AMBIGUOUS, UNKNOWN = "resolved", "ambiguous", "unknown"
DEFAULT = DOMAINS[1]
LONGEST = 2000
LONGEST_WORDS = 200
_SELLER = re.compile(r"A[0-9A-Z]{9,20}")
_LONG_CATEGORY = ("011", "031", "051")
"""How the long category ids of Amazon end: America, Europe and Asia."""


@dataclass(frozen=True)
class Candidate:
    """One meaning of a text. `origin` says where the marketplace comes from: `address`, `given` or `default`."""

    kind: str
    value: str
    confidence: Confidence
    reason: str
    domain: Domain | None = None
    origin: str | None = None


@dataclass(frozen=True)
class Known:
    """The names on this machine."""

    fixtures: frozenset[str] = frozenset()
    evidence: Mapping[str, str] = field(default_factory=dict)
    """What names a piece of evidence, with the fixture that it is about."""


@dataclass(frozen=True)
class Target:
    """The outcome: what the text can mean, and why nothing where it means nothing."""

    status: str
    candidates: tuple[Candidate, ...]
    problem: str | None = None


def resolve(text: str, domain: Domain | None, kind: str | None, known: Known) -> Target:
    """Every meaning of `text`; with `kind` only those of that kind count."""
    word = text.strip()
    address = read_address(word) if len(word) <= LONGEST else None
    problem = _unusable(word)
    if problem is None and address:
        found, problem = _of_address(address, domain)
    else:
        found = [] if problem else list(_of_text(word, domain or DEFAULT, "given" if domain else "default", known))
    if kind == "keyword" and not address and not problem:
        found = [_keyword(word, domain or DEFAULT, "given" if domain else "default")]
    fitting = tuple(dict.fromkeys(c for c in found if kind in (None, c.kind)))
    if found and not fitting:
        problem = f"it can be a {' or a '.join(dict.fromkeys(c.kind for c in found))}, not a {kind}"
    if not fitting:
        return Target(UNKNOWN, (), problem or _why_nothing(word))
    return Target(RESOLVED if len(fitting) == 1 else AMBIGUOUS, fitting)


def _unusable(word: str) -> str | None:
    if not word:
        return "it is empty"
    if len(word) > LONGEST:
        return f"it is longer than {LONGEST} characters"
    return "it holds control characters" if any(ord(c) < 32 or ord(c) == 127 for c in word) else None


def _of_address(address: Address, wanted: Domain | None) -> tuple[list[Candidate], str | None]:
    """The meanings of an address; one for each marketplace where it contradicts the one that was asked for."""
    if address.domain is None:
        return [], address.problem
    places = [(address.domain, "address")]
    if wanted is not None and wanted is not address.domain:
        places.append((wanted, "given"))
    found = []
    for pointer in address.pointers:
        for place, origin in places:
            note = f"{pointer.where} of an address at {address.domain.host}"
            sure = Confidence.EXACT if pointer.kind != "keyword" and len(places) == 1 else Confidence.MEDIUM
            found.append(Candidate(pointer.kind, pointer.value, sure, note, place, origin))
    return found, address.problem


def _of_text(word: str, domain: Domain, origin: str, known: Known) -> Iterator[Candidate]:
    local = list(_names(word, known))
    ids = [Candidate(*found, domain, origin) for reader in _READERS for found in reader(word)]
    yield from local
    yield from ids
    plain = all(c.isalpha() or c.isspace() for c in word)
    sure = any(c.confidence in (Confidence.EXACT, Confidence.HIGH) for c in ids) or (local and not plain)
    if _words(word) and not sure:
        yield _keyword(word, domain, origin)


def _names(word: str, known: Known) -> Iterator[Candidate]:
    if word in known.fixtures:
        yield Candidate("fixture", word, Confidence.EXACT, "a promoted fixture has this name")
    if word in known.evidence:
        yield Candidate("evidence", known.evidence[word], Confidence.EXACT, "it names the evidence of this fixture")


def _products(word: str) -> Iterator[tuple[str, str, Confidence, str]]:
    bare = re.sub(r"[\s-]", "", word).upper()
    if isbn10_valid(bare):
        separated = bare != word.upper()
        certain = separated or bare.endswith("X") or bare.startswith("0")
        sure = Confidence.HIGH if certain else Confidence.MEDIUM
        yield "product", bare, sure, "an ISBN-10 with a right check digit, which is the ASIN of the book"
        return
    try:
        asin = parse_asin(word)
    except KeepaCliError:
        return
    if word.isdecimal() and len(word) == 9:
        yield "product", asin, Confidence.LOW, "an ISBN-10 that lost its leading zero: with it the check digit is right"
    elif asin.startswith("B0"):
        yield "product", asin, Confidence.HIGH, "10 letters and digits that begin with B0, as ASINs do"
    elif re.search("[0-9]", asin) and not asin.isdecimal():
        yield "product", asin, Confidence.MEDIUM, "10 letters and digits, the form of an ASIN"


def _codes(word: str) -> Iterator[tuple[str, str, Confidence, str]]:
    found = classify_code(word)
    if not found["valid"] or found["kind"] in ("asin", "isbn10"):
        return
    code = parse_code(word)
    lost = " that lost its leading zero" if len(code) > len(re.sub(r"[\s-]", "", word)) else ""
    sure = Confidence.LOW if lost else Confidence.MEDIUM if len(code) == 8 else Confidence.HIGH
    yield "code", code, sure, f"{found['kind'].upper()}{lost} with a right check digit"


def _sellers(word: str) -> Iterator[tuple[str, str, Confidence, str]]:
    seller = word.upper() if word.isascii() else ""
    if _SELLER.fullmatch(seller) and re.search("[0-9]", seller):
        sure = Confidence.HIGH if 12 <= len(seller) <= 15 and seller == word else Confidence.MEDIUM
        yield "seller", seller, sure, f"{len(seller)} letters and digits that begin with A, as seller ids do"


def _categories(word: str) -> Iterator[tuple[str, str, Confidence, str]]:
    if not (word.isascii() and word.isdecimal()) or word.startswith("0") or len(word) > 12:
        return
    usual = word.endswith(_LONG_CATEGORY)
    if len(word) == 12 and not usual:
        return
    sure = Confidence.HIGH if usual or 5 <= len(word) <= 8 else Confidence.MEDIUM
    yield "category", word, sure, f"a number of {len(word)} digits, the form of a category id"


_READERS = (_products, _codes, _sellers, _categories)


def _words(word: str) -> bool:
    return len(word) <= LONGEST_WORDS and any(c.isalpha() for c in word)


def _keyword(word: str, domain: Domain, origin: str) -> Candidate:
    return Candidate("keyword", word, Confidence.MEDIUM, "words to search for", domain, origin)


def _why_nothing(word: str) -> str:
    found: dict[str, Any] = classify_code(word)
    if re.fullmatch(r"[0-9\s-]{8,}", word) and found["reason"]:
        return str(found["reason"]).rstrip(".")
    if len(word) > LONGEST_WORDS:
        return f"it has the form of no id and is too long to search for ({len(word)} characters)"
    return "it has the form of no id and holds no words to search for"
