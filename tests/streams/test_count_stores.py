"""Counts add up, are taken out again, and give the models of the rows they count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from bayleaf import (
    A2DEClassifier,
    AODEClassifier,
    AveragedKDBClassifier,
    CountFile,
    HNBClassifier,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.classifiers.shared.from_counts import (
    count_batches,
    reading_of,
)
from bayleaf.classifiers.shared.incremental import families_of
from bayleaf.datasets import load_heart
from bayleaf.io.errors import ModelFileError
from bayleaf.streams.batch_sources import open_source
from offenders import check_each
from oracles.batched_tables import reader, same_file

COUNTED = [
    NaiveBayesClassifier(),
    TANClassifier(),
    KDBClassifier(k=1),
    AODEClassifier(),
]


def nominal(n_rows: int, seed: int, n_values: int = 3) -> pa.Table:
    """A table of nominal columns with missing cells."""
    rng = np.random.default_rng(seed)
    columns = {
        name: pa.array(rng.choice([*"abcde"[:n_values], None], n_rows))
        for name in ("u", "v", "w", "x")
    }
    label = pa.array(rng.choice(["no", "yes"], n_rows))
    return pa.table({**columns, "label": label})


def fitted(estimator: Any, table: pa.Table) -> Any:
    """A copy of the estimator, fitted to a table."""
    label = table.column("label").to_pandas()
    return clone(estimator).fit(table.drop_columns(["label"]), label)


@pytest.mark.parametrize("estimator", COUNTED, ids=repr)
def test_sites_that_send_counts_give_the_pooled_model(
    estimator: Any, tmp_path: Path
) -> None:
    # Each site lacks values that others have.
    sites = [nominal(60, 1, 2), nominal(80, 2, 3), nominal(50, 3, 4)]
    counts = [fitted(NaiveBayesClassifier(), site).counts_ for site in sites]
    pooled = fitted(estimator, pa.concat_tables(sites))
    found = type(estimator).from_counts(counts[0] + counts[1] + counts[2])
    same_file(pooled, _noted_alike(found, pooled), tmp_path)


def _noted_alike(found: Any, other: Any) -> Any:
    """The same model with how the other's columns were met, which counts do not say."""
    object.__setattr__(found.encoder_, "readings", other.encoder_.readings)
    object.__setattr__(found.encoder_, "notes", other.encoder_.notes)
    found.classes_ = other.classes_
    for name in ("feature_names_in_",):
        setattr(found, name, getattr(other, name))
    return found


@pytest.mark.few(3)
@pytest.mark.parametrize("estimator", [*COUNTED, KDBClassifier(k=2), A2DEClassifier()])
def test_own_counts_give_the_model_back(estimator: Any, tmp_path: Path) -> None:
    heart = load_heart()
    # Counts of three columns grow with the cube of their number.
    pairs_of_parents = isinstance(estimator, A2DEClassifier)
    names = heart.X.column_names[: 7 if pairs_of_parents else None]
    model = clone(estimator).fit(heart.X.select(names), heart.y)
    again = type(estimator).from_counts(model.counts_, **estimator.get_params())
    same_file(model, again, tmp_path)
    model.counts_.save(tmp_path / "c.counts")
    read = CountFile.open(tmp_path / "c.counts")
    assert read == model.counts_
    same_file(
        model, type(estimator).from_counts(read, **estimator.get_params()), tmp_path
    )


ROW = st.tuples(*[st.sampled_from(["a", "b", "c", None])] * 2, st.booleans())


ANY_TWO_TABLES = given(
    st.lists(ROW, min_size=2, max_size=20),
    st.lists(ROW, min_size=2, max_size=20),
    st.integers(1, 5),
)


def added_and_taken_out(one: Any, two: Any, size: int) -> None:
    tables = []
    for rows in (one, two):
        columns = [pa.array([r[i] for r in rows], pa.string()) for i in range(2)]
        label = pa.array([str(r[2]) for r in rows])
        tables.append(pa.table({"u": columns[0], "v": columns[1], "label": label}))
    every = pa.concat_tables(tables)
    try:
        like = reading_of(fitted(NaiveBayesClassifier(), every))
    except ValueError:
        return
    a, b = (count_batches(open_source(reader(t, size)), like, []) for t in tables)
    assert (a + b) - b == a
    assert (b + a) - a == b
    assert a + b == b + a == count_batches(open_source(reader(every, 3)), like, [])
    assert (a * 2.0) == a + a
    assert a + b != a


@settings(max_examples=15, deadline=None)
@ANY_TWO_TABLES
def test_what_is_added_can_be_taken_out(one: Any, two: Any, size: int) -> None:
    added_and_taken_out(one, two, size)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@ANY_TWO_TABLES
def test_what_is_added_to_many_tables_can_be_taken_out(
    one: Any, two: Any, size: int
) -> None:
    added_and_taken_out(one, two, size)


@pytest.mark.parametrize(
    "estimator", [NaiveBayesClassifier(), TANClassifier(), KDBClassifier()]
)
def test_forgotten_rows_leave_no_trace(estimator: Any, tmp_path: Path) -> None:
    kept, person = nominal(90, 5, 3), nominal(4, 6, 5)
    model = fitted(estimator, pa.concat_tables([kept, person]))
    like = reading_of(model)
    theirs = count_batches(open_source(person.to_reader()), like, [])
    found = type(estimator).from_counts(model.counts_ - theirs)
    refitted = fitted(estimator, kept)
    assert found.model_.domain == refitted.model_.domain
    same_file(refitted, _noted_alike(found, refitted), tmp_path)


def test_a_forgotten_person_leaves_no_trace_in_larger_families(
    tmp_path: Path,
) -> None:
    heart = load_heart()
    names = ["sex", "chest_pain", "resting_ecg", "st_slope", "thallium_scan"]
    label = pa.array(np.asarray(heart.y).astype(str))
    table = heart.X.select(names).append_column("label", label)
    model = fitted(KDBClassifier(k=2), table)
    for row in (3, 141):
        kept = pa.concat_tables([table.slice(0, row), table.slice(row + 1)])
        theirs = model.count(table.slice(row, 1))
        found = KDBClassifier.from_counts(model.counts_ - theirs, k=2)
        assert found.counts_.tables.families
        refitted = fitted(KDBClassifier(k=2), kept)
        same_file(refitted, _noted_alike(found, refitted), tmp_path)


def test_a_row_too_many_is_noticed_among_a_billion() -> None:
    one = fitted(NaiveBayesClassifier(), nominal(30, 1)).counts_
    many = one * 1e9
    assert many - one != many
    with pytest.raises(ValueError, match="never counted"):
        many - (many + one)


@pytest.mark.parametrize("estimator", [*COUNTED, KDBClassifier(k=2)], ids=repr)
def test_fractional_rows_are_taken_out_to_rounding(estimator: Any) -> None:
    # The person alone has d and e.
    kept, person = nominal(90, 5, 3), nominal(12, 6, 5)
    weights = np.random.default_rng(0).random(102)
    both = pa.concat_tables([kept, person])
    weighted = both.append_column("weight", pa.array(weights))
    model = fitted(estimator, both)
    every = model.count(weighted, sample_weight="weight")
    theirs = model.count(weighted.slice(90), sample_weight="weight")
    rest = every - theirs
    own = model.count(weighted.slice(0, 90), sample_weight="weight")
    # States that only they had are gone, not left with what rounding leaves.
    assert rest.without_empty_states().tables.cards == (3, 3, 3, 3, 2)
    expected = own.without_empty_states().tables
    found = rest.without_empty_states().tables
    np.testing.assert_allclose(found.pairs, expected.pairs, rtol=1e-9, atol=1e-12)
    assert (found.pairs > 0).tolist() == (expected.pairs > 0).tolist()
    if families_of(model.model_) and getattr(estimator, "k", 1) == 1:
        refitted = clone(estimator).fit(
            kept.drop_columns(["label"]),
            kept.column("label").to_pandas(),
            sample_weight=weights[:90],
        )
        features = kept.drop_columns(["label"])
        again = type(estimator).from_counts(rest)
        np.testing.assert_allclose(
            again.predict_proba(features), refitted.predict_proba(features), rtol=1e-9
        )


def test_weights_of_eighths_are_taken_out_exactly() -> None:
    table = nominal(60, 3)
    weighted = table.append_column(
        "weight", pa.array(np.random.default_rng(0).integers(1, 9, 60) / 8)
    )
    model = fitted(TANClassifier(), table)
    a, b = (
        model.count(weighted.slice(*place), sample_weight="weight")
        for place in ((0, 40), (40, 20))
    )
    assert (a + b) - b == a


def test_a_site_with_a_class_that_others_lack_is_added(tmp_path: Path) -> None:
    other = nominal(40, 5, 3)
    label = pa.array(["maybe" if i % 3 else "no" for i in range(40)])
    other = other.set_column(4, "label", label)
    sites = [nominal(60, 1, 2), nominal(80, 2, 3), other]
    counts = [fitted(NaiveBayesClassifier(), site).counts_ for site in sites]
    pooled = fitted(TANClassifier(), pa.concat_tables(sites))
    found = TANClassifier.from_counts(counts[2] + counts[0] + counts[1])
    assert found.classes_.tolist() == ["maybe", "no", "yes"]
    same_file(pooled, _noted_alike(found, pooled), tmp_path)
    # Taken out again, the class goes with its rows.
    left = TANClassifier.from_counts(sum(counts) - counts[2])
    pair = fitted(TANClassifier(), pa.concat_tables(sites[:2]))
    assert left.classes_.tolist() == ["no", "yes"]
    same_file(pair, _noted_alike(left, pair), tmp_path)


def test_labels_of_sums_are_those_of_both_counts() -> None:
    table = pa.table({"a": ["u", "v", "w"] * 9})

    def counts(labels: list[Any] | np.ndarray[Any, Any]) -> CountFile:
        return NaiveBayesClassifier().fit(table, np.tile(labels, 9)).counts_

    def check(case: tuple[Any, Any, list[Any]]) -> None:
        for one, other in (case[:2], case[1::-1]):
            sent = (counts(one) + counts(other)).to_bytes()
            found = NaiveBayesClassifier.from_counts(CountFile.from_bytes(sent))
            assert found.classes_.tolist() == case[2]

    big = np.array([2**63, 2**63 + 1, 2**64 - 1], np.uint64)
    ending_in_zero = np.array(["a\0", "b", "c"], dtype=object)
    check_each(
        [
            (["a", "b", "c"], ["long", "b", "c"], ["a", "b", "c", "long"]),
            (["a", "b", "c"], ending_in_zero, ["a", "a\0", "b", "c"]),
            (np.array([1, 2, 3], np.int8), [1, 2, 999], [1, 2, 3, 999]),
            ([1, 2, 3], big, [1, 2, 3, *big.tolist()]),
        ],
        check,
    )
    with pytest.raises(ValueError, match="text in one of the counts and numbers in"):
        counts(["1", "2", "3"]) + counts([1, 2, 3])


def test_scaled_counts_are_not_too_large_to_be_exact() -> None:
    counts = fitted(TANClassifier(), nominal(60, 1, 2)).counts_
    half = counts * 1e14
    for make in (lambda: counts * 1e308, lambda: sum([half] * 3)):
        with pytest.raises(ValueError, match="too large to count rows exactly"):
            make()


def test_counts_are_sent_as_bytes_and_summed() -> None:
    model = fitted(KDBClassifier(k=2), nominal(200, 4))
    parts = [model.count(nominal(60, seed, 4)) for seed in (1, 2, 3)]
    sent = [CountFile.from_bytes(part.to_bytes()) for part in parts]
    assert sent == parts
    assert sum(sent) == parts[0] + parts[1] + parts[2]
    content = bytearray(parts[0].to_bytes())
    content[-40] ^= 1
    with pytest.raises(ModelFileError, match="not those that were written"):
        CountFile.from_bytes(bytes(content))
    with pytest.raises(ModelFileError, match="limit of 10"):
        CountFile.from_bytes(b"{" * 20, max_bytes=10)
    with pytest.raises(TypeError):
        parts[0] + 3


def test_a_model_counts_other_rows_as_its_own(tmp_path: Path) -> None:
    heart = load_heart()
    frame = heart.X.to_pandas().assign(**{"class": np.asarray(heart.y)})
    model = KDBClassifier(k=2).fit(heart.X, heart.y)
    pa.parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet")
    weighted = frame.assign(w=2.0)
    assert model.count(frame) == model.counts_
    assert model.count(tmp_path / "t.parquet") == model.counts_
    assert model.count(weighted, sample_weight="w") == model.counts_ * 2
    with pytest.raises(ValueError, match="no column 'age'"):
        model.count(frame.drop(columns="age"))


def test_rows_that_were_never_counted_are_not_taken_out() -> None:
    one = fitted(NaiveBayesClassifier(), nominal(30, 1)).counts_
    two = fitted(NaiveBayesClassifier(), nominal(60, 2)).counts_
    with pytest.raises(ValueError, match=r"never counted: .* would have a count of -"):
        one - two


def test_other_cut_points_and_columns_are_refused() -> None:
    heart = load_heart()
    one = NaiveBayesClassifier().fit(heart.X, heart.y).counts_
    two = NaiveBayesClassifier(discretizer="equal_width").fit(heart.X, heart.y).counts_
    with pytest.raises(ValueError, match="column 'age' was cut at other points"):
        one + two
    with pytest.raises(ValueError, match="tables with other columns"):
        one + fitted(NaiveBayesClassifier(), nominal(30, 1)).counts_
    table = nominal(30, 1)
    one = fitted(NaiveBayesClassifier(), table).counts_
    two = fitted(NaiveBayesClassifier(missing="state"), table).counts_
    with pytest.raises(ValueError, match="with missing='marginalize' and with missing"):
        one + two
    with pytest.raises(ValueError, match="by a number above 0"):
        one * -1.0


def test_what_counts_do_not_tell_is_said() -> None:
    counts = fitted(NaiveBayesClassifier(), nominal(90, 5)).counts_
    with pytest.raises(ValueError, match="the counts lack the table of"):
        KDBClassifier.from_counts(counts, k=3)
    for kind in (AveragedKDBClassifier, HNBClassifier):
        with pytest.raises(ValueError, match="needs rows, which counts do not hold"):
            kind.from_counts(counts)
    with pytest.raises(ValueError, match="needs rows"):
        TANClassifier.from_counts(counts, smoothing="auto")
    with pytest.raises(TypeError, match="takes a CountFile"):
        TANClassifier.from_counts({})  # type: ignore[arg-type]


def test_forgetting_is_a_weight(tmp_path: Path) -> None:
    old, new = nominal(60, 1), nominal(40, 2)
    parts = [fitted(TANClassifier(), table).counts_ for table in (old, new)]
    found = TANClassifier.from_counts(parts[0] * 0.5 + parts[1])
    both = pa.concat_tables([old, new])
    weights = np.repeat([0.5, 1.0], [60, 40])
    label = both.column("label").to_pandas()
    features = both.drop_columns(["label"])
    expected = TANClassifier().fit(features, label, sample_weight=weights)
    np.testing.assert_allclose(
        found.predict_proba(features), expected.predict_proba(features), atol=1e-12
    )


@pytest.mark.parametrize("estimator", [TANClassifier(), KDBClassifier(k=1)], ids=repr)
@pytest.mark.parametrize("how", ["batches", "fit", "stream", "counts"])
def test_partial_fit_chooses_the_structure_anew(
    estimator: Any, how: str, tmp_path: Path
) -> None:
    parts = [nominal(40, 7, 2), nominal(50, 8, 4), nominal(60, 9, 3)]
    found = clone(estimator)
    rest = parts
    if how == "fit":
        found, rest = fitted(estimator, parts[0]), parts[1:]
    elif how == "stream":
        found.fit(reader(parts[0], 9), target="label")
        rest = parts[1:]
    elif how == "counts":
        found = type(estimator).from_counts(fitted(estimator, parts[0]).counts_)
        rest = parts[1:]
    for table in rest:
        label = table.column("label").to_pandas()
        classes = ["no", "yes"] if table is parts[0] else None
        found.partial_fit(table.drop_columns(["label"]), label, classes=classes)
    pooled = fitted(estimator, pa.concat_tables(parts))
    assert found.model_.arcs == pooled.model_.arcs
    for one, other in zip(found.network_.cpds, pooled.network_.cpds, strict=True):
        np.testing.assert_array_equal(one.probabilities, other.probabilities)
    assert found.counts_ == pooled.counts_


def test_streams_keep_their_counts() -> None:
    table = nominal(200, 4)
    model = KDBClassifier(k=2).fit(reader(table, 30), target="label")
    assert model.counts_ == fitted(KDBClassifier(k=2), table).counts_
    assert families_of(model.model_)


def test_changed_files_of_counts_are_refused(tmp_path: Path) -> None:
    fitted(TANClassifier(), nominal(200, 4)).counts_.save(tmp_path / "c.counts")
    written = (tmp_path / "c.counts").read_bytes()

    def check(n_flipped: int) -> None:
        content = bytearray(written)
        content[len(content) * n_flipped // 41] ^= 1
        (tmp_path / "c.counts").write_bytes(content)
        try:
            read = CountFile.open(tmp_path / "c.counts")
        except ModelFileError:
            return
        raise AssertionError(f"{read} was read")

    check_each(range(1, 40, 3), check)


def test_changed_columns_of_counts_are_refused() -> None:
    content = fitted(TANClassifier(), nominal(200, 4)).counts_.to_bytes()
    changes = [
        (b'["a", "b", "c"]', b'["c", "b", "a"]'),
        (b'"missing": "marginalize"', b'"missing": "state"'),
        (b'["no", "yes"]', b'["yes", "no"]'),
    ]

    def check(change: tuple[bytes, bytes]) -> None:
        assert change[0] in content
        with pytest.raises(ModelFileError, match="sent counts is damaged: its counts"):
            CountFile.from_bytes(content.replace(*change, 1))

    check_each(changes, check)


@pytest.mark.parametrize("estimator", [TANClassifier(), KDBClassifier(k=2)])
def test_counts_that_contradict_each_other_are_refused(estimator: Any) -> None:
    complete = pa.table({n: c.fill_null("a") for n, c in columns(nominal(200, 4))})
    for table in (complete, nominal(200, 4)):
        counts = fitted(estimator, table).counts_
        assert CountFile.from_bytes((counts * 0.3).to_bytes()) == counts * 0.3
        flat = counts._document().counts
        # Every tenth count, among them of classes, pairs and families.
        for place in [0, *range(3, len(flat), len(flat) // 10), len(flat) - 1]:
            for value in (-5.0, flat[place] + 201, 1e9, 1e308):
                wrong = flat.copy()
                wrong[place] = value
                document = replace(counts._document(), counts=wrong)
                document = replace(document, checksum=document.computed_checksum())
                with pytest.raises(ValueError, match=r"contradict|negative|too large"):
                    document.check_content()


def columns(table: pa.Table) -> Any:
    """Names and columns of a table."""
    return zip(table.column_names, table.columns, strict=True)
