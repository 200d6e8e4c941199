from __future__ import annotations

import pytest

from keepa_cli.core.errors import KeepaCliError
from keepa_cli.keepa.csvtypes import CSV_TYPES
from keepa_cli.research.names import NAMES, name_of, series_named


def test_every_type_has_a_name_of_its_own_that_leads_back_to_it() -> None:
    assert len(set(NAMES)) == len(CSV_TYPES)
    assert all(series_named(name_of(t)) is t and series_named(t.name) is t for t in CSV_TYPES)
    assert series_named("Buy-Box").index == 18
    assert series_named("3").index == 3


@pytest.mark.parametrize("text", ["", "36", "-1", "sales_ranks", "٣"])
def test_an_unknown_series_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(KeepaCliError) as caught:
        series_named(text)
    assert "new_offer_count" in caught.value.details["allowed"]
