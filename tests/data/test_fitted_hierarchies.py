"""Value hierarchies read from files and fitted to variables."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from bayleaf.data.column_reading import EncoderRules
from bayleaf.data.domain import Domain, Variable, numeric_variable
from bayleaf.data.encoder_learning import (
    Target,
    learn_encoder,
    with_value_hierarchies,
)
from bayleaf.data.fitted_hierarchies import (
    fit_hierarchy,
    has_range_leaves,
    hierarchies_text,
    range_cut_points,
    read_hierarchies,
    read_hierarchy,
    read_range,
    resolve_hierarchies,
    with_hierarchies,
)
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.frames import to_columns
from bayleaf.data.value_hierarchy import ValueHierarchy
from offenders import check_each

NESTED: dict[str, Any] = {
    "any": {"warm": ["red", {"yellowish": ["orange", "lemon"]}], "blue": None}
}
COLOURS = Variable("colour", ("blue", "lemon", "orange", "red"))


def nested_ranges(*leaves: str) -> ValueHierarchy:
    return ValueHierarchy.from_nested({"any": list(leaves)})


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write a hierarchy file."""

    def written(text: str) -> Path:
        path = tmp_path / "hierarchies.json"
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_published_hierarchies_fit_the_published_tables(
    data_folder: Path, load_table: Callable[[str], pa.Table]
) -> None:
    def check(case: tuple[str, int]) -> None:
        table, n_columns = case
        path = data_folder / "avh" / f"{table}.json"
        trees = read_hierarchies(path)
        assert len(trees) == n_columns
        columns = load_table(table)
        for name, tree in trees.items():
            if has_range_leaves(tree) and pa.types.is_integer(columns[name].type):
                variable = numeric_variable(name, range_cut_points(tree))
            else:
                values = (
                    columns[name].cast(pa.string()).unique().drop_null().to_pylist()
                )
                variable = Variable(name, tuple(sorted(set(values) - {"?"})))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                fitted = fit_hierarchy(tree, variable)
            assert set(fitted.states) == set(variable.states)
            assert all(len(fitted.children_of(node)) > 1 for node in fitted.inner_nodes)
        again = json.loads(hierarchies_text(trees))
        assert {
            name: ValueHierarchy.from_nested(v) for name, v in again.items()
        } == trees

    check_each([("adult", 9), ("mushroom", 17), ("nursery", 6)], check)


def test_null_and_lists_mark_the_same_leaves(write: Callable[[str], Path]) -> None:
    path = write('{"colour": {"any": {"warm": {"red": null}, "blue": null}}}')
    assert read_hierarchies(path)["colour"].states == ("red", "blue")


def test_a_file_may_hold_one_hierarchy_alone(write: Callable[[str], Path]) -> None:
    path = write(json.dumps(NESTED))
    assert read_hierarchy(path, "colour") == ValueHierarchy.from_nested(NESTED)


def test_what_is_given_for_columns_becomes_trees(write: Callable[[str], Path]) -> None:
    tree = ValueHierarchy.from_nested(NESTED)
    path = write(json.dumps({"colour": NESTED, "7": {"any": ["a", "b"]}}))
    for given in (
        {"colour": tree},
        {"colour": NESTED},
        {"colour": path},
        {"colour": str(path)},
    ):
        assert resolve_hierarchies(given, ["x", "colour"]) == {"colour": tree}
    assert list(resolve_hierarchies(path, [7, "colour"])) == [7, "colour"]
    assert resolve_hierarchies(None, ["x"]) == {}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"color": NESTED}, "'color', which the table lacks; did you mean colour"),
        ({"colour": {"any": {"warm": []}}}, "column 'colour': node 'warm'"),
    ],
)
def test_what_cannot_be_a_hierarchy_is_refused(given: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        resolve_hierarchies(given, ["colour", "shape"])


def test_what_is_no_mapping_is_refused() -> None:
    def check(given: Any) -> None:
        with pytest.raises(TypeError, match="mapping"):
            resolve_hierarchies(given, ["colour"])

    check_each([3, {"colour": 3}, ["colour"]], check)


DEEP = '{"a": {"r": ' + '{"n": ' * 3000 + "null" + "}" * 3000 + "}}"
DEEPER_THAN_ALLOWED = (
    '{"a": ' + "".join(f'{{"n{i}": ' for i in range(150)) + '["x"]' + "}" * 151
)


def test_malformed_files_are_refused_in_one_sentence_that_names_the_node(
    write: Callable[[str], Path],
) -> None:
    def check(case: tuple[str, str]) -> None:
        text, sentence = case
        path = write(text)
        with pytest.raises(ValueError, match=sentence) as caught:
            read_hierarchies(path)
        assert "hierarchies.json" in str(caught.value)
        assert "\n" not in str(caught.value)

    check_each(
        [
            ('{"a": {"r": ["x", "y"}}', r"no JSON: line 1, column 22"),
            ("", "no JSON: line 1, column 1"),
            ('[{"a": {"r": ["x"]}}]', "holds no value hierarchies"),
            ("{}", "holds no value hierarchies"),
            ('{"a": ["x", "y"]}', "'a'.*starts at one root"),
            ('{"a": {"r": ["x"], "s": ["y"]}}', "'a'.*starts at one root"),
            ('{"a": {}}', "'a'.*starts at one root"),
            ('{"a": {"r": {"g": [], "h": ["x"]}}}', "'a'.*node 'g'.*needs a list"),
            ('{"a": {"r": {"g": {}, "h": ["x"]}}}', "'a'.*node 'g'.*needs a list"),
            ('{"a": {"r": {"g": "x", "h": ["y"]}}}', "node 'g'.*got 'x'"),
            ('{"a": {"r": {"g": 3, "h": ["y"]}}}', "node 'g'.*got 3"),
            (
                '{"a": {"r": {"g": ["x"], "h": ["x"]}}}',
                "'x' twice, below 'g' and below",
            ),
            ('{"a": {"r": {"g": ["x", "x"]}}}', "'x' twice, below 'g' and below 'g'"),
            (
                '{"a": {"r": {"g": ["r"], "h": ["x"]}}}',
                "'r' twice, as the root and below",
            ),
            (
                '{"a": {"r": {"g": ["x"], "g": ["y"]}}}',
                "'g' stands twice in one object",
            ),
            ('{"a": {"r": ["x", null]}}', "list below node 'r'.*holds null"),
            ('{"a": {"r": ["x", ["y", "z"]]}}', r"list below node 'r'.*holds \['y'"),
            ('{"a": {"r": ["x", NaN]}}', "state nan"),
            (DEEP, "deep"),
            (DEEPER_THAN_ALLOWED, "'a'.*deeper than 100"),
        ],
        check,
    )


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "h.json"
    path.write_bytes(b'{"a": {"r": ["\xe4", "\xf6"]}}')
    with pytest.raises(ValueError, match="save it as UTF-8"):
        read_hierarchies(path)


def test_a_file_of_other_columns_is_refused(write: Callable[[str], Path]) -> None:
    path = write('{"a": {"r": ["x"]}, "shape": {"r": ["x"]}}')
    with pytest.raises(ValueError, match="no value hierarchy of column 'shap'"):
        read_hierarchy(path, "shap")


def test_states_that_the_data_lack_vanish_with_the_nodes_they_leave() -> None:
    variable = Variable("colour", ("blue", "lemon", "red"))
    fitted = fit_hierarchy(ValueHierarchy.from_nested(NESTED), variable)
    assert fitted == ValueHierarchy.from_nested(
        {"any": {"warm": ["red", "lemon"], "blue": None}}
    )


def test_a_root_with_one_child_is_replaced_by_it() -> None:
    tree = ValueHierarchy.from_nested(NESTED)
    assert fit_hierarchy(tree, Variable("colour", ("lemon", "red"))).root == "warm"
    assert fit_hierarchy(tree, Variable("colour", ("red",))).nodes == ("red",)


def test_states_left_out_hang_below_the_root_with_a_warning() -> None:
    variable = Variable("colour", ("blue", "green", "lemon", "orange", "red", None))
    with pytest.warns(UserWarning, match="'colour' leaves out green, which"):
        fitted = fit_hierarchy(ValueHierarchy.from_nested(NESTED), variable)
    assert fitted.children_of("any") == ("warm", "blue", "green", None)


def test_leaves_are_found_by_their_text() -> None:
    tree = ValueHierarchy.from_nested({"any": {"few": ["1", "2"], "many": ["3"]}})
    assert fit_hierarchy(tree, Variable("n", (1, 2, 3))).states == (1, 2, 3)


def test_hierarchies_that_do_not_fit_are_refused() -> None:
    def check(case: tuple[Any, tuple[Any, ...], str]) -> None:
        nested, states, sentence = case
        with pytest.raises(ValueError, match=sentence):
            fit_hierarchy(
                ValueHierarchy.from_nested(nested), Variable("colour", states)
            )

    check_each(
        [
            ({"any": ["x", "y"]}, ("blue", "red"), "no leaf.*'any' is a state"),
            (
                {"any": {"red": ["x"], "g": ["blue"]}},
                ("blue", "red"),
                "node 'red'.*group",
            ),
            ({"any": {"g": [1], "h": ["1"]}}, (1, 2), "1 below 'g' and '1' below 'h'"),
        ],
        check,
    )


def test_ranges_are_read_as_a_person_means_them() -> None:
    def check(case: tuple[object, float, float]) -> None:
        leaf, low, high = case
        found = read_range(leaf)
        assert found is not None
        assert (found.low, found.high) == (low, high)

    check_each(
        [
            ("<= 9", float("-inf"), 9),
            ("(9, 20.5]", 9, 20.5),
            ("(-1e3,-2]", -1000, -2),
            ("> -3", -3, float("inf")),
            ("17-19", 16, 19),
            ("-5--3", -6, -3),
            ("40", 39, 40),
            (40, 39, 40),
            ("75+", 74, float("inf")),
        ],
        check,
    )


def test_other_texts_are_no_ranges() -> None:
    def check(leaf: object) -> None:
        assert read_range(leaf) is None

    check_each(["red", "1-", "a-b", "1.5-2", "< 5", "[1, 2)", None], check)


def test_range_leaves_cut_and_then_name_the_intervals() -> None:
    tree = ValueHierarchy.from_nested(
        {"any": {"late": ["50-59", "60+"], "early": ["1-39", "40", "41-49"]}}
    )
    assert has_range_leaves(tree)
    assert range_cut_points(tree) == (39.0, 40.0, 49.0, 59.0)
    fitted = fit_hierarchy(tree, numeric_variable("hours", range_cut_points(tree)))
    assert fitted.states_under("early") == ("<= 39", "(39, 40]", "(40, 49]")
    assert fitted.states_under("late") == ("(49, 59]", "> 59")


def test_whole_numbers_alone_are_states_and_no_ranges() -> None:
    assert not has_range_leaves(nested_ranges("1", "2", "3"))


def test_ranges_that_do_not_adjoin_are_refused() -> None:
    def check(case: tuple[tuple[str, ...], str]) -> None:
        leaves, sentence = case
        with pytest.raises(ValueError, match=sentence):
            range_cut_points(nested_ranges(*leaves))

    check_each(
        [
            (("1-9", "11-20"), "'1-9' and '11-20'.*gap"),
            (("1-9", "9-20"), "'1-9' and '9-20'.*overlap"),
            (("9-1", "10-20"), "'9-1'.*without numbers"),
            (("1-9", "ten"), "'ten'.*no range"),
        ],
        check,
    )


def test_ranges_of_other_cut_points_and_names_are_refused() -> None:
    hours = numeric_variable("hours", [30.0])
    with pytest.raises(ValueError, match=r"'hours' cuts at 39, but.*cut at 30"):
        fit_hierarchy(nested_ranges("1-39", "40+"), hours)
    with pytest.raises(ValueError, match=r"leaf 'few'.*'hours'"):
        fit_hierarchy(nested_ranges("few", "many"), hours)


def test_a_domain_takes_hierarchies_by_name() -> None:
    domain = Domain((COLOURS, Variable("size", ("s", "m", None))))
    tree = ValueHierarchy.from_nested(NESTED)
    fitted = with_hierarchies(domain, {"colour": tree})
    assert fitted[0].hierarchy is not None
    assert fitted[1] is domain[1]


def test_a_missing_state_hangs_below_the_root() -> None:
    states = ("blue", "lemon", "orange", "red", None)
    fitted = fit_hierarchy(ValueHierarchy.from_nested(NESTED), Variable("c", states))
    assert fitted.children_of("any") == ("warm", "blue", None)
    assert Variable("c", states, hierarchy=fitted).hierarchy is fitted
    assert str(fitted).splitlines()[-1] == "  missing"
    alone = fit_hierarchy(
        ValueHierarchy.from_nested(NESTED), Variable("c", ("red", None))
    )
    assert alone.nodes == ("any", "red", None)


HOURS = ValueHierarchy.from_nested(
    {"any": {"part_time": ["1-19", "20-34"], "full_time": ["35-40", "41+"]}}
)
COLOUR_TREE = ValueHierarchy.from_nested(
    {"any": {"warm": ["red", "orange"], "cold": ["blue", "green"], "none": ["black"]}}
)


class AtTheMean:
    """Cuts at the mean."""

    def cut_points(
        self,
        values: NDArray[np.float64],
        class_codes: NDArray[np.intp],
        n_classes: int,
        weights: NDArray[np.float64],
    ) -> tuple[float, ...]:
        return (float(np.nanmean(values)),)


def learn(table: Any, **rules: Any) -> TableEncoder:
    parts = to_columns(table)
    n_rows = len(table)
    target = Target(Variable("class", (0,)), np.zeros(n_rows, dtype=np.intp))
    rows = np.ones(n_rows)
    return learn_encoder(parts, target, rows, AtTheMean(), EncoderRules(**rules))[0]


def test_numbers_are_cut_where_ranges_end() -> None:
    def check(hours: Any) -> None:
        table = pd.DataFrame({"size": [0.5, 1.5, 2.5, 3.5], "hours": hours})
        encoder = with_value_hierarchies(learn(table), {"hours": HOURS})
        variable = encoder.domain[1]
        assert variable.cut_points == (19.0, 34.0, 40.0)
        assert variable.hierarchy is not None
        assert variable.hierarchy.states_under("full_time") == ("(34, 40]", "> 40")
        assert encoder.transform(to_columns(table)).codes.column(1).tolist() == [
            0,
            1,
            2,
            3,
        ]
        assert encoder.domain[0].cut_points == (2.0,)
        assert "hours" not in encoder.notes

    check_each(
        [
            [3, 25, 38, 60],
            [3.5, 25.0, 38.0, 60.0],
            np.array([3, 25, 38, 60], dtype=object),
        ],
        check,
    )


def test_whole_matrices_are_cut_as_well() -> None:
    values = np.array([[3, 1], [25, 2], [38, 1]])
    encoder = with_value_hierarchies(learn(values), {"x0": HOURS})
    assert encoder.transform(to_columns(values)).codes.column(0).tolist() == [0, 1, 2]


def test_a_missing_state_stays() -> None:
    table = pd.DataFrame({"hours": [3, None, 38]})
    encoder = with_value_hierarchies(learn(table, missing="state"), {"hours": HOURS})
    assert encoder.domain.cards == (5,)
    assert encoder.transform(to_columns(table)).codes.column(0).tolist() == [0, 4, 2]


def test_states_keep_their_order_and_take_the_fitted_tree() -> None:
    table = pd.DataFrame({"colour": ["red", "blue", "orange", "green"]})
    encoder = with_value_hierarchies(learn(table), {"colour": COLOUR_TREE})
    (variable,) = encoder.domain
    assert variable.states == ("blue", "green", "orange", "red")
    assert variable.hierarchy is not None
    assert variable.hierarchy.inner_nodes == ("any", "warm", "cold")


def test_declared_nominal_columns_and_text_are_not_cut() -> None:
    bands = ValueHierarchy.from_nested({"any": ["1-19", "20-34"]})
    table = pd.DataFrame({"hours": ["1-19", "20-34"]})
    encoder = with_value_hierarchies(learn(table), {"hours": bands})
    assert encoder.domain[0].kind == "nominal"
    few = ValueHierarchy.from_nested({"any": {"few": ["1", "2-3"], "more": ["4"]}})
    numbers = pd.DataFrame({"n": [1, 4, 1]})
    encoder = learn(numbers, categorical_features=("n",))
    assert with_value_hierarchies(encoder, {"n": few}).domain[0].states == (1, 4)
    assert with_value_hierarchies(learn(numbers), {"n": few}).domain[0].cut_points == (
        1.0,
        3.0,
    )


def test_a_numeric_column_needs_ranges() -> None:
    table = pd.DataFrame({"size": [0.5, 1.5, 2.5]})
    with pytest.raises(ValueError, match=r"leaf 'red'.*numeric variable 'size'"):
        with_value_hierarchies(learn(table), {"size": COLOUR_TREE})
