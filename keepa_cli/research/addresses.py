"""What an address of Amazon or Keepa points at: a product, a seller, a category, a search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from keepa_cli.keepa.domains import DOMAINS, NAMES, RETIRED, Domain

_SCHEME = re.compile(r"(?i)https?://")
_BARE = re.compile(r"(?i)(?:[a-z0-9-]+\.)*(?:amazon\.[a-z.]{2,6}|keepa\.com|amzn\.[a-z]{2,4}|a\.co)(?:[/?#:]|$)")
_SHORT = frozenset({"amzn.to", "amzn.eu", "amzn.asia", "amzn.com", "a.co"})
_ASIN = re.compile(r"(?i)/(?:dp|gp/product|gp/aw/d|gp/offer-listing|product|product-reviews|exec/obidos/asin|o/asin|"
                   r"d|asin)/(?:glance/)?([0-9a-z]{10})(?![0-9a-z])")  # fmt: skip
_CATEGORY = re.compile(r"(?i)/(?:zgbs|bestsellers|new-releases|movers-and-shakers|most-wished-for|most-gifted)"
                       r"/(?:[^/]+/)?([1-9][0-9]{0,14})(?![0-9])")  # fmt: skip
_REFINED = re.compile(r"(?:^|,)n:([1-9][0-9]{0,14})")
_KEEPA = re.compile(r"(?i)!product/([0-9]{1,2})-([0-9a-z]{10})(?![0-9a-z])")
_SELLER = re.compile(r"(?i)A[0-9A-Z]{9,20}")
SELLER_FIELDS = ("seller", "me", "merchant", "m", "smid")
WORD_FIELDS = ("k", "field-keywords", "keywords")


@dataclass(frozen=True)
class Pointer:
    """One thing that an address names; `where` says which part of the address."""

    kind: str
    value: str
    where: str


@dataclass(frozen=True)
class Address:
    """A read address. `domain` is None where it names no marketplace that Keepa serves; `problem` says why nothing
    can be made of it."""

    domain: Domain | None
    pointers: tuple[Pointer, ...] = ()
    problem: str | None = None


def read_address(text: str) -> Address | None:
    """The address in `text`; None where it is none."""
    word = text.strip()
    if any(c.isspace() for c in word) or not (_SCHEME.match(word) or _BARE.match(word)):
        return None
    try:
        parts = urlsplit(word if _SCHEME.match(word) else "https://" + word)
        host = (parts.hostname or "").lower().rstrip(".")
    except ValueError:
        return Address(None, problem="the address cannot be read")
    if host == "keepa.com" or host.endswith(".keepa.com"):
        return _keepa(parts)
    if host in _SHORT:
        return Address(
            None, problem="a short link tells nothing by itself: open it and give the address that it leads to"
        )
    return _amazon(parts, host)


def _amazon(parts: SplitResult, host: str) -> Address:
    at = host.find("amazon.")
    suffix = host[at + len("amazon.") :]
    if at < 0 or (at > 0 and host[at - 1] != "."):
        return Address(None, problem=f"{host[:60]} is no address of Amazon or Keepa")
    domain = NAMES.get("amazon." + suffix)
    if domain is None:
        why = RETIRED.get(suffix.removeprefix("com."), f"Keepa does not serve amazon.{suffix[:20]}")
        return Address(None, problem=why)
    found = tuple(dict.fromkeys(_pointers(parts)))
    return Address(domain, found, None if found else "the address names no product, seller, category or search")


def _pointers(parts: SplitResult) -> Iterator[Pointer]:
    """What the address names. A product page is about its product, whoever else is named in it."""
    path, query = unquote(parts.path), parse_qs(parts.query, max_num_fields=200) if len(parts.query) < 10_000 else {}
    product = _ASIN.search(path) or re.fullmatch("(?i)([0-9a-z]{10})", query.get("asin", [""])[0])
    if product:
        yield Pointer("product", product[1].upper(), "the product page")
        return
    for name in SELLER_FIELDS:
        if (found := _SELLER.fullmatch(query.get(name, [""])[0])) is not None:
            yield Pointer("seller", found[0].upper(), f"the parameter {name}")
    yield from _categories(path, query)
    for name in WORD_FIELDS:
        if words := " ".join("".join(c if c.isprintable() else " " for c in query.get(name, [""])[0]).split()):
            yield Pointer("keyword", words, f"the parameter {name}")


def _categories(path: str, query: dict[str, list[str]]) -> Iterator[Pointer]:
    node = query.get("node", [""])[0].split(",")[-1]
    if re.fullmatch("[1-9][0-9]{0,14}", node):
        yield Pointer("category", node, "the parameter node")
    elif refined := _REFINED.findall(query.get("rh", [""])[0]):
        yield Pointer("category", refined[-1], "the parameter rh")
    elif found := _CATEGORY.search(path):
        yield Pointer("category", found[1], "the list of a category")


def _keepa(parts: SplitResult) -> Address:
    found = _KEEPA.search(unquote(parts.fragment))
    domain = DOMAINS.get(int(found[1])) if found else None
    if not found or domain is None:
        return Address(None, problem="the address names no product of a marketplace that Keepa serves")
    return Address(domain, (Pointer("product", found[2].upper(), "the product page"),))
