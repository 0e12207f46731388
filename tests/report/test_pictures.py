"""Charts of a report."""

from __future__ import annotations

import re

import pytest

from bayleaf.report.pictures import calibration_svg, roc_svg


def test_dots_stand_where_prediction_and_share_say() -> None:
    one = {"n": 4, "mean_probability": 0.5, "share": 1.0, "low": 0, "high": 1}
    empty = {"n": 0, "mean_probability": None, "share": None, "low": 0, "high": 1}
    svg = calibration_svg({"of": "positive", "bins": [one, empty]})
    (x, y), *others = re.findall(r'cx="([\d.]+)" cy="([\d.]+)"', svg)
    assert others == []
    assert (float(x), float(y)) == pytest.approx((46 + 120, 12))


def test_a_curve_goes_from_corner_to_corner() -> None:
    svg = roc_svg([{"class": "<i>", "points": [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]]}])
    assert 'd="M46.0 252.0 46.0 12.0 286.0 12.0"' in svg
    assert "<title>&lt;i&gt;</title>" in svg
