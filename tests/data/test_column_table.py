"""How a person sees what each column was taken for."""

from __future__ import annotations

import numpy as np
import pandas as pd

from bayleaf import AveragedKDBClassifier, NaiveBayesClassifier
from bayleaf.data.discretizers import EqualWidthDiscretizer
from offenders import check_each


def test_many_cut_points_are_counted_and_few_are_listed() -> None:
    def check(case: tuple[int, bool]) -> None:
        n_bins, is_short = case
        size = np.random.default_rng(0).normal(size=500)
        table = pd.DataFrame({"size": size})
        model = NaiveBayesClassifier(discretizer=EqualWidthDiscretizer(n_bins=n_bins))
        text = str(model.fit(table, size > 0).columns_)
        cuts = model.encoder_.domain[0].cut_points
        listed = all(f"{cut:.6g}" in text for cut in cuts)
        assert listed is not is_short
        assert (f"cut at {len(cuts)} points from" in text) is is_short

    check_each([(5, False), (24, False), (40, True)], check)


def test_a_fine_coding_takes_a_line_a_column() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(400, 6)), columns=list("abcdef"))
    model = AveragedKDBClassifier(n_networks=16, random_state=0)
    lines = str(model.fit(table, table["a"] > 0).columns_).splitlines()
    assert len(lines) <= 1 + 2 * 6
    assert all(len(line) <= 80 for line in lines)


def test_all_distinct_values_count_whatever_their_type() -> None:
    rng = np.random.default_rng(0)
    n = 300
    keys = 2**62 + rng.permutation(n)
    table = pd.DataFrame(
        {
            "keys": keys,
            "large": keys.astype(np.uint64) * np.uint64(2),
            "lacking": pd.array([None, *keys[1:]], "Int64"),
            "floats": np.where(rng.random(n) < 0.5, np.nan, rng.normal(size=n)),
            "zeros": np.where(np.arange(n) % 2, -0.0, np.arange(n)),
            "late": np.r_[np.arange(n - 7) % 2, np.arange(7)],
            "words": rng.integers(0, 20, n).astype(str) + "x",
            "time": pd.to_timedelta(rng.integers(0, 10**7, n), unit="us"),
            "when": pd.Timestamp(2020, 1, 1)
            + pd.to_timedelta(rng.integers(0, 500, n), unit="h"),
        }
    )
    model = NaiveBayesClassifier(identifiers="keep").fit(table, rng.random(n) < 0.5)
    found = {facts.name: facts.n_distinct for facts in model.columns_}
    expected = {str(name): column.nunique() for name, column in table.items()}
    assert {name: found[name] for name in expected} == expected


def test_texts_that_differ_in_blanks_alone_are_noted() -> None:
    table = pd.DataFrame({"a": ["red", " red", "blue"] * 4, "b": ["x", "y", "z z"] * 4})
    facts = NaiveBayesClassifier().fit(table, [0, 1] * 6).columns_
    assert "'red' and ' red' differ in blanks around them alone" in facts["a"].note
    assert facts["b"].note == ""


def test_names_stand_whole_and_above_their_line_where_they_are_long() -> None:
    name = "a_long_name_of_a_column_of_a_table"
    columns = NaiveBayesClassifier().fit(pd.DataFrame({name: ["a", "b"]}), [0, 1])
    narrow, wide = (columns.columns_.lines(width=width) for width in (80, 100))
    assert narrow[1] == name
    assert wide[1].startswith(f"{name} nominal")
    for head, *_, line in (narrow, wide):
        assert head.index("read as") == line.index("nominal")


def test_tables_fit_narrow_terminals() -> None:
    table = pd.DataFrame({"a": ["red", "blue"] * 6, "twelve_signs": ["yes", "no"] * 6})
    columns = NaiveBayesClassifier().fit(table, [0, 1] * 6).columns_
    for width in (44, 60, 61):
        head, *lines = columns.lines(width=width)
        assert max(map(len, (head, *lines))) <= width
        assert head.index("read as") == lines[0].index("nominal")


def test_a_name_longer_than_a_line_is_wrapped() -> None:
    name = "name" * 25
    columns = NaiveBayesClassifier().fit(pd.DataFrame({name: ["a", "b"]}), [0, 1])
    _, *lines = columns.columns_.lines()
    assert max(map(len, lines)) <= 80
    assert "".join(lines).replace(" ", "").startswith(name)
