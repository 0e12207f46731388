"""Parts of dates."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from bayleaf.data.dates import DAY, part_values


@pytest.mark.parametrize("span", [50, 300_000])
def test_years_and_months_are_those_of_the_calendar(span: int) -> None:
    days = np.random.default_rng(0).integers(-span // 5, span // 2, 300)
    dates = [
        datetime.date(1970, 1, 1) + datetime.timedelta(int(n)) for n in days % 9999
    ]
    micros = (days % 9999) * DAY + 5
    assert part_values(micros, "year", 0).tolist() == [day.year for day in dates]
    assert part_values(micros, "month", 0).tolist() == [day.month - 1 for day in dates]
    far = part_values(days * DAY, "year", 0)
    expected = days.astype("datetime64[D]").astype("datetime64[Y]").astype(int) + 1970
    assert far.tolist() == expected.tolist()


def test_no_dates_have_no_parts() -> None:
    assert part_values(np.zeros(0, np.int64), "month", 0).tolist() == []
