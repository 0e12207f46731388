"""Linear-Gaussian families against SciPy's densities and against refits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from bayleaf.cpds.linear_gaussian import LinearGaussianFamilies, columns_of
from bayleaf.cpds.random_network import OwnShares
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Variable, numeric_variable
from bayleaf.search.left_out.linear_families import (
    GaussianParentRanking,
    Numbers,
    choose_families,
    gaussian_tree,
    last_pieces,
    linear_families,
    normal_positions,
    number_rows,
    numeric_log_likelihoods,
)
from offenders import check_each

Floats = NDArray[np.float64]
N_STATES, N_COLUMNS = 40, 5


def _variable(name: str, *, missing: bool = False) -> Variable:
    return numeric_variable(name, tuple(range(N_STATES - 1)), missing_state=missing)


def _table(
    seed: int, n_rows: int = 200, *, holes: float = 0.0, n_classes: int = 3
) -> tuple[Codes, list[Variable]]:
    """Correlated numbers in intervals, whose means and slopes depend on the class."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(n_classes, size=n_rows)
    mixing = rng.normal(size=(n_classes, N_COLUMNS, N_COLUMNS))
    numbers = np.einsum(
        "nij,nj->ni", mixing[classes], rng.normal(size=(n_rows, N_COLUMNS))
    )
    numbers += classes[:, None] * rng.normal(size=N_COLUMNS)
    codes = np.clip(np.round(numbers * 4 + N_STATES / 2), 0, N_STATES - 1).astype(int)
    codes[rng.random(codes.shape) < holes] = N_STATES
    missing = holes > 0
    variables = [_variable(f"x{i}", missing=missing) for i in range(N_COLUMNS)]
    cards = [variable.n_states for variable in variables]
    weights = rng.choice([0.25, 0.5, 1.0, 2.0], n_rows) if seed % 2 else None
    columns = [*codes.T, classes]
    return Codes.from_columns(columns, [*cards, n_classes], weights), variables


def _counts(codes: Codes) -> list[Floats]:
    return [
        np.bincount(codes.column(i), codes.weights, minlength=codes.cards[i])
        for i in range(codes.n_variables - 1)
    ]


def _fitted(
    codes: Codes, variables: list[Variable], seed: int = 0
) -> LinearGaussianFamilies:
    rng = np.random.default_rng(seed)
    found = linear_families(codes, variables, _counts(codes), rng)
    assert found is not None
    return found


def _written(
    families: LinearGaussianFamilies, codes: Codes, left_out: OwnShares | None = None
) -> Floats:
    shape = codes.n_rows, codes.cards[-1], families.n_columns_of_pieces
    values = np.full(shape, np.nan)
    families.write_log_densities(codes, values, 0, left_out)
    return values


def _by_hand(
    families: LinearGaussianFamilies, codes: Codes, row: int, label: int, share: float
) -> Floats:
    """What all pieces say of a row, of which a share is not counted."""
    columns = columns_of(codes, families.features, families.positions)
    means, variances = families.means[label], families.variances[label]
    deviations = np.where(np.isnan(columns), 0.0, columns - means[:, None])
    classes = codes.column(codes.n_variables - 1)
    found = np.zeros(families.n_columns_of_pieces)
    for family, child in enumerate(families.children.tolist()):
        if np.isnan(columns[child, row]):
            continue
        parents = families.parents[families.starts[family] :][
            : families.starts[family + 1] - families.starts[family]
        ]
        rows = (classes == label) & ~np.isnan(columns[child])
        weights = np.where(rows, codes.weights, 0.0)
        weights[row] -= share
        given = np.vstack([np.ones(codes.n_rows), deviations[parents]])
        prior = np.diag([0.01, *[1.0] * len(parents)])
        inverse = np.linalg.inv((given * weights) @ given.T + prior)
        target = deviations[child]
        slopes = inverse @ (given * weights) @ target
        squares = weights @ target**2 - slopes @ (given * weights) @ target
        n = weights.sum()
        scale = (squares + 2 * variances[child]) / (n + 2)
        spread = scale * (1 + given[:, row] @ inverse @ given[:, row])
        absent = np.isnan(columns[parents, row])
        spread += (slopes[1:] ** 2 * variances[parents] * absent).sum()
        centre = given[:, row] @ slopes
        log = stats.t.logpdf(target[row], n + 2, centre, np.sqrt(spread))
        found[families.pieces[family]] += families.shares[family] * np.clip(
            log, -50, 50
        )
    return found


@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_pieces_are_the_densities_of_a_regression(holes: float) -> None:
    def check(seed: int) -> None:
        codes, variables = _table(seed, 100, holes=holes)
        families = _fitted(codes, variables)
        found = _written(families, codes)
        for row in range(0, codes.n_rows, 17):
            for label in range(3):
                expected = _by_hand(families, codes, row, label, 0.0)
                np.testing.assert_allclose(found[row, label], expected, atol=1e-9)

    check_each(range(4), check)


@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_left_out_pieces_are_those_of_a_refit(holes: float) -> None:
    def check(seed: int) -> None:
        codes, variables = _table(seed, 100, holes=holes)
        families = _fitted(codes, variables)
        own = codes.column(codes.n_variables - 1).astype(np.int64)
        shares = np.minimum(codes.weights, 1.0)
        found = _written(families, codes, OwnShares(own, shares))
        kept = _written(families, codes)
        for row in range(0, codes.n_rows, 13):
            for label in range(3):
                if label == own[row]:
                    expected = _by_hand(families, codes, row, label, shares[row])
                else:
                    expected = kept[row, label]
                np.testing.assert_allclose(found[row, label], expected, atol=1e-9)

    check_each(range(4), check)


def test_missing_children_say_nothing() -> None:
    codes, variables = _table(2, holes=0.3)
    families = _fitted(codes, variables)
    found = _written(families, codes)
    missing = np.isnan(
        columns_of(codes, families.features, families.positions)
    ).T.repeat(families.n_pieces, axis=1)
    assert missing.any()
    assert not found.transpose(1, 0, 2)[:, missing].any()
    assert np.isfinite(found).all()


def test_weights_are_repeated_rows() -> None:
    codes, variables = _table(4, 120)
    weights = np.random.default_rng(0).integers(1, 4, 120).astype(float)
    weighted = replace(codes, weights=weights, unit_weights=False)
    repeated = codes.rows(np.repeat(np.arange(120), weights.astype(int)))
    one, two = _fitted(weighted, variables), _fitted(repeated, variables)
    assert _written(one, codes).tobytes() == _written(two, codes).tobytes()


def test_the_order_of_rows_changes_no_bit() -> None:
    codes, variables = _table(4, 300, holes=0.1)
    shuffled = codes.rows(np.random.default_rng(1).permutation(300))
    one, two = _fitted(codes, variables), _fitted(shuffled, variables)
    assert _written(one, codes).tobytes() == _written(two, codes).tobytes()


def test_rows_in_any_blocks_give_the_same_bits() -> None:
    codes, variables = _table(1, 700)
    families = _fitted(codes, variables)
    whole = _written(families, codes)
    parts = [
        _written(families, codes.rows(slice(first, last)))
        for first, last in [(0, 1), (1, 130), (130, 257), (257, 700)]
    ]
    assert whole.tobytes() == np.concatenate(parts).tobytes()
    single = np.empty(whole.shape, dtype=np.float32)
    families.write_log_densities(codes, single, 0)
    np.testing.assert_array_equal(single, whole.astype(np.float32))


def test_positions_are_the_normal_quantiles_of_middle_ranks() -> None:
    counts = np.array([1.0, 0.0, 2.0, 1.0, 5.0])
    variable = numeric_variable("x", (0.0, 1.0, 2.0), missing_state=True)
    positions = normal_positions(variable, counts)
    assert positions is not None
    ranks = np.array([0.5, 1.0, 2.0, 3.5]) / 4
    np.testing.assert_allclose(positions, stats.norm.ppf(ranks), atol=1e-3)
    assert (positions * 4096 == np.round(positions * 4096)).all()


def test_few_values_and_names_are_no_numbers() -> None:
    two = numeric_variable("x", (0.0, 1.0))
    assert normal_positions(two, np.array([3.0, 2.0, 0.0])) is None
    assert normal_positions(Variable("y", ("a", "b", "c")), np.ones(3)) is None


@pytest.mark.parametrize("n_classes", [2, 30])
def test_classes_of_one_row_or_none_are_finite(n_classes: int) -> None:
    codes, variables = _table(3, 40, n_classes=n_classes)
    families = _fitted(codes, variables)
    own = codes.column(N_COLUMNS).astype(np.int64)
    shares = np.minimum(codes.weights, 1.0)
    assert np.isfinite(_written(families, codes, OwnShares(own, shares))).all()
    families.check_content()
    families.check_fit(codes.cards)


def test_broken_families_are_refused() -> None:
    def check(case: tuple[str, float, str]) -> None:
        field, change, sentence = case
        codes, variables = _table(0)
        families = _fitted(codes, variables)
        array = getattr(families, field).copy()
        array.flat[1 if array.ndim == 1 else 0] = change
        with pytest.raises(ValueError, match=sentence):
            replace(families, **{field: array}).check_content()

    check_each(
        [
            ("children", 9, "child that does not exist"),
            ("parents", -1, "parent that does not exist"),
            ("pieces", 99, "belongs to no piece"),
            ("starts", 7, "places do not fit"),
            ("facts", np.nan, "none or huge"),
            ("facts", -1.0, "negative sum"),
            ("means", np.inf, "none or huge"),
            ("features", 0, "in no order"),
        ],
        check,
    )


Table = tuple[Codes, Numbers]


def _numbers(columns: list[NDArray[np.float64]], own: NDArray[np.intp]) -> Table:
    """Numbers as codes, each value an interval of its own."""
    coded, variables, counts = [], [], []
    for place, column in enumerate(columns):
        distinct, codes = np.unique(column, return_inverse=True)
        middle = tuple(((distinct[1:] + distinct[:-1]) / 2).tolist())
        variable = Variable(f"x{place}", tuple(distinct), "numeric", middle)
        coded.append(codes)
        variables.append(variable)
        counts.append(np.bincount(codes, minlength=len(distinct)).astype(float))
    cards = [len(own_counts) for own_counts in counts]
    codes = Codes.from_columns([*coded, own], [*cards, int(own.max()) + 1])
    found = number_rows(codes, variables, counts, 11)
    assert found is not None
    return codes, found


@pytest.fixture
def chained() -> Table:
    """A number that tells the class, one that leans on it, one on its own."""
    rng = np.random.default_rng(0)
    own = rng.integers(2, size=300)
    first = rng.normal(size=300) + 2.0 * own
    second = np.where(own, first, -first) + 0.3 * rng.normal(size=300)
    third = rng.normal(size=300)
    return _numbers([third, second, first], own)


def test_the_best_parent_is_the_one_of_largest_correlation_within_classes() -> None:
    rng = np.random.default_rng(1)
    own = rng.integers(2, size=400)
    a = rng.normal(size=400) + 3.0 * own
    b = rng.normal(size=400) + 2.0 * own
    c = b + 0.5 * rng.normal(size=400)
    ranking = GaussianParentRanking.from_rows(_numbers([a, b, c], own)[1])
    assert ranking.ranked[0].tolist() == []
    assert ranking.ranked[2][0] == 1


def test_weak_parents_are_left_out(chained: Table) -> None:
    _, numbers = chained
    every = GaussianParentRanking.from_rows(numbers)
    none = GaussianParentRanking.from_rows(numbers, 10.0)
    assert sorted(map(len, every.ranked)) == [0, 1, 2]
    assert list(map(len, none.ranked)) == [0, 0, 0]
    some = GaussianParentRanking.from_rows(numbers, "auto")
    assert sum(map(len, some.ranked)) < 3


def test_k_zero_has_alone_pieces_only(chained: Table) -> None:
    families = GaussianParentRanking.from_rows(chained[1]).families(0)
    assert len(families.parents) == 0
    assert last_pieces(families).tolist() == [0, 2, 4]


def test_what_counts_is_the_piece_given_parents_where_there_are_any(
    chained: Table,
) -> None:
    ranking = GaussianParentRanking.from_rows(chained[1])
    families = ranking.families(1)
    expected = [2 * i + (len(own) > 0) for i, own in enumerate(ranking.ranked)]
    assert last_pieces(families).tolist() == expected


def test_left_out_rows_take_the_parent_that_separates_the_classes(
    chained: Table,
) -> None:
    codes, numbers = chained
    prior = np.full((2, codes.n_rows), np.log(0.5))
    k, families = choose_families(
        GaussianParentRanking.from_rows(numbers), codes, prior
    )
    assert k >= 1
    assert len(families.parents) >= 2


def test_leaving_out_lowers_what_a_row_says_of_its_own_class(chained: Table) -> None:
    codes, numbers = chained
    families = GaussianParentRanking.from_rows(numbers).families(2)
    own, rows = codes.column(3), np.arange(codes.n_rows)
    less = (
        numeric_log_likelihoods(families, codes)
        - numeric_log_likelihoods(families, codes, is_left_out=True)
    ).T
    assert (less[rows, own] > 0).all()
    np.testing.assert_array_equal(less[rows, 1 - own], 0.0)


def test_a_tree_gives_each_number_one_parent_at_most(chained: Table) -> None:
    families = gaussian_tree(chained[1], None)
    assert np.diff(families.starts).max() == 1
    assert len(families.parents) == 2
    assert len(gaussian_tree(chained[1], 10.0).parents) == 0
