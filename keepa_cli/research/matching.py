"""How well a text fits the words that are searched for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[^\W_]+")
PREFIX, PART = 0.6, 0.3
SHORTEST_PREFIX, SHORTEST_PART = 3, 4


def words_of(text: str) -> list[str]:
    """The words of a text, each once, in their order, without case."""
    return list(dict.fromkeys(_WORD.findall(text.casefold())))


def fit(word: str, words: Iterable[str]) -> float:
    """1 for the word itself, less where it begins a word or stands in one, 0 for neither."""
    best = 0.0
    for other in words:
        if other == word:
            return 1.0
        if len(word) >= SHORTEST_PREFIX and other.startswith(word):
            best = max(best, PREFIX)
        elif len(word) >= SHORTEST_PART and word in other:
            best = max(best, PART)
    return best


def score(asked: list[str], fields: Mapping[str, tuple[float, Iterable[str]]]) -> tuple[float, dict[str, list[str]]]:
    """(0 to 100, the fields that each word was found in). A field is its weight and its words; each word counts by the
    best field, and words that are found nowhere lower the whole."""
    if not asked or not fields:
        return 0.0, {}
    top = max(weight for weight, _ in fields.values())
    total, where = 0.0, {}
    for word in asked:
        fits = {name: weight * fit(word, words) for name, (weight, words) in fields.items()}
        if best := max(fits.values()):
            total += best / top
            where[word] = [name for name, value in fits.items() if value]
    return round(100 * total / len(asked) * (len(where) / len(asked)), 1), where
