"""Real answers with odd things put into them, through every view function: nothing raises, nothing odd is told.

    KEEPA_TEST_FUZZ=10000 pytest tests/research/test_fuzz_views.py

KEEPA_TEST_FUZZ_FROM is the number of the first run: a failure names its run, which is the same on every machine.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.allviews import Shown, list_views, other_views, product_views, specifications
from tests.support.gallery import bodies_of_lists
from tests.support.mutations import mutated, shortened
from tests.support.products import made, real
from tests.support.view_schemas import faults
from tests.support.views import problems

RUNS = int(os.environ.get("KEEPA_TEST_FUZZ", "24"))
FIRST = int(os.environ.get("KEEPA_TEST_FUZZ_FROM", "0"))
NUMBERS = range(FIRST, FIRST + RUNS)
LARGE = {"history": "1", "stats": "90", "offers": "20", "videos": "1", "aplus": "1"}


@pytest.fixture(scope="module", autouse=True)
def numbers_of_runs() -> Iterator[None]:
    yield
    print(f"\n{RUNS} answers of products and {RUNS} of lists, from run {FIRST} on")


def test_answers_of_products(shared_data: Path) -> None:
    """Most with short histories, one in twenty whole."""
    whole = [real(shared_data, n) for n in (0, 1)] + [made("B0LARGES01", **LARGE)]
    short = [json.dumps(b | {"products": [shortened(b["products"][0], 12)]}) for b in whole]
    long = [json.dumps(body) for body in whole]
    for number in NUMBERS:
        rng = random.Random(f"product-{number}")
        body = json.loads((long if number % 20 == 7 else short)[number % 3])
        mutated(body["products"][0] if rng.random() < 0.9 else body, rng, rng.randrange(1, 12))
        domain = rng.choice((1, 1, 5))
        judge(number, body, lambda b, d=domain: product_views(b, d), valid=number % 4 == 0)
        if isinstance(body.get("products"), list):
            judge(number, body, lambda b, d=domain: other_views(b, d), valid=number % 4 == 0)
            specifications(body, domain)


def test_answers_of_lists() -> None:
    answers = [json.dumps(body) for body in bodies_of_lists()]
    for number in NUMBERS:
        rng = random.Random(f"list-{number}")
        body = json.loads(answers[number % len(answers)])
        mutated(body, rng, rng.randrange(1, 12))
        judge(number, body, list_views, valid=number % 4 == 0)


def judge(number: int, body: Any, views: Callable[[Any], Iterator[Shown]], *, valid: bool) -> None:
    for view, holds_evidence in views(body):
        named = f"run {number}: {view['view']} {view.get('profile') or view.get('analysis') or ''}"
        assert problems(view, body if holds_evidence else None) == [], named
        assert not valid or faults(view) == [], named
