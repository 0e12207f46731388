"""Date and version of a fit, for files and summaries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import bayleaf
from bayleaf.io import read_model
from bayleaf.models.fit_stamp import EPOCH, FitStamp

X, Y = [["u", "v"], ["w", "v"], ["u", "x"]] * 5, ["p", "q", "p"] * 5


def test_a_stamp_is_the_time_in_utc_to_the_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(EPOCH, raising=False)
    stamp = FitStamp.now()
    stamp.check_content()
    assert stamp.version == bayleaf.__version__
    written = datetime.fromisoformat(stamp.date)
    assert timedelta(0) <= datetime.now(UTC) - written < timedelta(minutes=1)
    assert written.microsecond == 0


def test_builds_that_are_to_be_reproducible_set_the_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(EPOCH, "86400")
    stamp = FitStamp("1970-01-02T00:00:00Z", bayleaf.__version__)
    assert FitStamp.now() == stamp
    assert str(stamp) == f"1970-01-02T00:00:00Z by bayleaf {bayleaf.__version__}"
    monkeypatch.setenv(EPOCH, "soon")
    with pytest.raises(ValueError, match="SOURCE_DATE_EPOCH should be a number of"):
        FitStamp.now()


@pytest.mark.parametrize(
    "stamp",
    [
        FitStamp("yesterday", "0.1.0"),
        FitStamp("2026-02-30T00:00:00Z", "0.1.0"),
        FitStamp("2026-01-01T00:00:00Z", "<b>1</b>"),
        FitStamp("2026-01-01T00:00:00Z", ""),
    ],
    ids=str,
)
def test_a_stamp_of_another_form_is_refused(stamp: FitStamp) -> None:
    with pytest.raises(ValueError, match=r"does not match|out of range|not a version"):
        stamp.check_content()


def test_a_file_keeps_the_stamp_of_the_fit_when_it_is_saved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.json"
    for model in (
        bayleaf.TANClassifier().fit(X, Y),
        bayleaf.BayesianNetworkEstimator(random_state=0).fit(X),
        bayleaf.AveragedKDBRegressor(n_networks=1, trees=False, n_intervals=2).fit(
            X, range(15)
        ),
    ):
        model.save(path)
        fitted = read_model(path).fitted
        assert f"  fitted           {fitted}\n" in str(model.summary())
        assert str(fitted) in model.summary()._repr_html_()
        assert model.summary().to_dict()["fitted"] == vars(fitted)
        monkeypatch.setenv(EPOCH, "86400")
        bayleaf.load(path).save(path)
        monkeypatch.undo()
        assert read_model(path).fitted == fitted


def test_equal_fits_give_equal_files_but_for_the_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = []
    for day in ("86400", "172800"):
        monkeypatch.setenv(EPOCH, day)
        bayleaf.TANClassifier().fit(X, Y).save(tmp_path / "model.json")
        contents.append((tmp_path / "model.json").read_text(encoding="utf-8"))
    one, other = contents
    assert one != other
    assert one.replace("1970-01-02T", "1970-01-03T") == other
