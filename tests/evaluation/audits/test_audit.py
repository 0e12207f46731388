"""Audits of classifiers: figures on rows, the model's own, and what is withheld."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayleaf import (
    AODEClassifier,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.datasets import load_heart
from bayleaf.evaluation import Audit, audit, cross_validate, figures_by_group
from bayleaf.evaluation.groups.group_rates import RATES
from offenders import check_each

TINY = {
    "sex": ["f", "m"] * 40,
    "town": ["x", "x", "y", "z", "z", "y", "x", "y"] * 10,
    "c": ["no", "yes", "no", "no", "yes", "no", "yes", "yes", "no", "yes"] * 8,
}


@pytest.fixture(scope="module")
def heart():
    return load_heart()


@pytest.fixture(scope="module")
def tan(heart):
    return TANClassifier().fit(heart.X, heart.y)


@pytest.fixture(scope="module")
def found(heart, tan) -> Audit:
    return audit(tan, heart.frame, "disease", by=["sex", "age"])


def tiny_table(**changes) -> pa.Table:
    """A few rows with two features and a class."""
    return pa.table(TINY | changes)


def tiny_model(table: pa.Table, kind=NaiveBayesClassifier, **settings):
    """A classifier of the class of a small table."""
    y = table.column("c").to_pylist()
    return kind(**settings).fit(table.drop_columns(["c"]), y)


def test_figures_are_those_of_the_models_predictions(heart, tan, found) -> None:
    expected = figures_by_group(
        heart.y,
        tan.predict_proba(heart.X),
        tan.predict(heart.X),
        heart.frame.column("sex"),
        classes=tan.classes_,
        name="sex",
    )
    assert found.groupings[0].to_dict() == expected.to_dict()


def test_all_columns_together_make_groups_in_the_order_of_the_table(found) -> None:
    assert [g.columns for g in found.groupings] == [("sex",), ("age",), ("age", "sex")]
    assert sum(group.n_rows for group in found.groupings[2].groups) == 270


def test_numeric_features_are_cut_where_the_model_cuts_them(found) -> None:
    assert [group.name for group in found.groupings[1].groups] == ["<= 54.5", "> 54.5"]


def test_given_bins_cut_columns_of_numbers(heart, tan) -> None:
    own = audit(tan, heart.frame, "disease", by="age", bins={"age": [40, 60]})
    ages = np.asarray(heart.frame.column("age"))
    counts = [(ages <= 40).sum(), ((ages > 40) & (ages <= 60)).sum(), (ages > 60).sum()]
    assert [group.n_rows for group in own.groupings[0].groups] == counts


def test_folds_score_rows_that_were_held_out(heart, tan) -> None:
    own = audit(tan, heart.frame, "disease", by="sex", n_folds=3, random_state=4)
    folds = cross_validate(
        {"tan": TANClassifier()}, heart.X, heart.y, n_folds=3, random_state=4
    )[0]
    held_out = folds.held_out
    hits = (held_out.proba.argmax(axis=1) == held_out.truth).mean()
    assert own.overall.accuracy.value == pytest.approx(hits)
    assert own.basis == "cross_validation"
    assert "fitted without it" in own.basis_told


def test_without_folds_it_is_said_that_rows_may_be_training_rows(found) -> None:
    assert found.basis == "rows"
    assert "cannot be known" in found.basis_told


@pytest.mark.parametrize("kind", [NaiveBayesClassifier, TANClassifier, AODEClassifier])
def test_the_models_own_parity_is_the_mean_prediction_over_its_joint(kind) -> None:
    table = tiny_table()
    model = tiny_model(table, kind)
    own = audit(model, table, "c", by="sex").parity[0]
    cells = pa.table(
        dict(zip(("sex", "town"), zip(*itertools.product("fm", "xyz")), strict=True))
    )
    joint = np.exp(model.predict_joint_log_proba(cells)).reshape(2, 3, 2)
    joint /= joint.sum()
    for place, group in enumerate(own.groups):
        weights = joint[place].sum(axis=1)
        proba = model.predict_proba(cells).reshape(2, 3, 2)[place]
        assert group.probability == pytest.approx(weights.sum())
        expected = (weights @ proba) / weights.sum()
        assert group.classes == pytest.approx(expected)


def test_parity_of_a_network_is_that_of_its_queries(found, tan) -> None:
    network = tan.network_
    for group in found.parity[0].groups:
        expected = network.query({"sex": group.label[0]}, ["class"])["class"]
        assert group.classes == pytest.approx(list(expected.probabilities))


def test_other_values_of_a_cell_are_those_of_changed_rows(heart, tan, found) -> None:
    frame = heart.X
    before = tan.predict_proba(frame)
    changes = np.zeros(len(before), dtype=bool)
    most = np.zeros(len(before))
    at = frame.schema.get_field_index("sex")
    for value in ("female", "male"):
        other = frame.set_column(at, "sex", pa.array([value] * len(before)))
        after = tan.predict_proba(other)
        changes |= after.argmax(axis=1) != before.argmax(axis=1)
        most = np.maximum(most, abs(after - before).max(axis=1))
    (sex, _) = found.changed
    assert sex.predictions.value == pytest.approx(changes.mean())
    assert sex.probabilities.value == pytest.approx(most.mean())


def test_predictions_are_those_of_least_cost_under_a_loss(heart, tan) -> None:
    loss = np.array([[0.0, 9.0], [1.0, 0.0]])
    plain = audit(tan, heart.frame, "disease", by="sex")
    own = audit(tan, heart.frame, "disease", by="sex", loss=loss)
    proba = tan.predict_proba(heart.X)
    selected = (proba @ loss.T).argmin(axis=1).mean()
    assert own.overall.classes[0].selection_rate.value == pytest.approx(selected)
    assert selected > plain.overall.classes[0].selection_rate.value
    assert own.overall.cost.value > 0


def test_the_reference_is_the_group_that_is_named(heart, tan) -> None:
    own = audit(tan, heart.frame, "disease", by="sex", reference={"sex": "female"})
    assert own.groupings[0].reference == ("female",)
    female, male = own.groupings[0].groups
    assert (female.contrasts, len(male.contrasts)) == ((), 9)


def test_of_several_classes_each_is_set_against_the_rest() -> None:
    table = tiny_table(c=["a", "b", "c", "a", "b"] * 16)
    own = audit(tiny_model(table), table, "c", by="sex")
    assert own.positive == ("a", "b", "c")
    rates = own.overall.classes
    assert sum(one.base_rate.value for one in rates) == pytest.approx(1.0)
    one = audit(tiny_model(table), table, "c", by="sex", positive="b")
    assert one.positive == ("b",)
    assert one.overall.classes[0] == rates[1]


def test_missing_cells_are_a_group() -> None:
    sex = ["f", "m", None, "m"] * 20
    table = tiny_table(sex=sex)
    own = audit(tiny_model(table), table, "c", by="sex")
    assert [g.name for g in own.groupings[0].groups] == ["f", "m", "missing"]


def test_a_column_that_the_model_does_not_read_makes_groups() -> None:
    table = tiny_table()
    model = tiny_model(table.drop_columns(["town"]))
    own = audit(model, table, "c", by="town")
    assert [group.name for group in own.groupings[0].groups] == ["x", "y", "z"]
    assert own.routes[0].is_feature is False
    assert own.parity == own.changed == ()


def test_base_rates_that_differ_are_said_to_rule_out_equal_errors(found) -> None:
    assert any("cannot have equal error rates" in note for note in found.notes)
    table = tiny_table(sex=["f", "f", "m", "m"] * 20, c=["no", "yes"] * 40)
    alike = audit(tiny_model(table), table, "c", by="sex")
    assert any("more than chance explains" in note for note in alike.notes)


def test_the_text_fits_a_terminal_and_names_every_group(found) -> None:
    lines = found.to_text(80).splitlines()
    assert max(map(len, lines)) <= 80
    assert {"female", "male"} <= {line.split(" ")[0] for line in lines}
    assert any(line.startswith("With another value of sex") for line in lines)
    assert repr(found) == "<Audit: TANClassifier; by age, sex; 8 groups>"


def test_plain_values_are_json(found) -> None:
    assert json.loads(json.dumps(found.to_dict()))["groupings"][0]["columns"] == ["sex"]


def test_hostile_names_are_inert() -> None:
    names = [
        "<script>alert(1)</script>",
        "a\"b'; DROP TABLE x; --",
        "\x1b[31mred",
        "é\n",
    ]
    table = tiny_table(**{"<b>sex": names * 20})
    own = audit(tiny_model(table), table, "c", by="<b>sex")
    page = own.to_html()
    assert "<script" not in page
    assert "<b>sex" not in page
    for text in (page, own.to_text()):
        assert "\x1b" not in text


def test_a_page_is_written_whole(found, tmp_path) -> None:
    page = found.to_html(tmp_path / "audit.html")
    assert (tmp_path / "audit.html").read_text(encoding="utf-8") == page
    assert not re.search(r"<script|https?://", page)
    assert page.count("<svg") == 3
    assert found._repr_html_().partition("</p>")[2] in page


# ---- small counts


def few_rows() -> tuple[pa.Table, object]:
    """A table in which one group has three rows, and its classifier."""
    rng = np.random.default_rng(3)
    sex = rng.choice(["f", "m"], 300).tolist()
    sex[:3] = ["rare one"] * 3
    columns = {
        "sex": sex,
        "town": rng.choice(["x", "y", "z"], 300).tolist(),
        "c": rng.choice(["no", "yes"], 300).tolist(),
    }
    table = pa.table(columns)
    return table, tiny_model(table)


def every_count(values) -> list[int]:
    """All numbers of rows in plain values."""
    if isinstance(values, dict):
        own = [v for k, v in values.items() if k in ("n", "n_rows")]
        return own + [n for v in values.values() for n in every_count(v)]
    if isinstance(values, list):
        return [n for v in values for n in every_count(v)]
    return []


def test_a_group_of_few_rows_does_not_appear() -> None:
    table, model = few_rows()
    own = audit(model, table, "c", by=["sex", "town"], min_count=5)
    for text in (own.to_text(), own.to_html(), json.dumps(own.to_dict())):
        assert "rare one" not in text
    assert "rare one" in audit(model, table, "c", by="sex").to_text()


def test_every_number_of_rows_is_a_multiple_of_the_base() -> None:
    table, model = few_rows()
    own = audit(model, table, "c", by=["sex", "town"], min_count=7)
    counts = every_count(own.to_dict())
    assert len(counts) > 50
    assert all(n % 7 == 0 for n in counts)
    for grouping in own.groupings:
        for group in grouping.groups:
            rates = group.classes[0]
            for rate in (rates.base_rate, rates.true_positive_rate):
                hits = (rate.value or 0.0) * rate.n
                assert hits / 7 == pytest.approx(round(hits / 7))


def test_numbers_of_the_model_are_withheld_with_small_counts() -> None:
    table, model = few_rows()
    own = audit(model, table, "c", by="sex", min_count=5)
    assert own.parity == own.changed == ()
    (routes,) = own.routes
    assert (routes.information, routes.proxies) == (None, ())
    assert all(told is None for path in routes.paths for told in path.information)
    assert not re.search(r"\d\.\d{4}", own.to_text())


def test_shares_that_rounding_makes_are_left_out_of_an_audit() -> None:
    table, model = few_rows()
    own = audit(model, table, "c", by=["sex", "town"], min_count=5)
    for grouping in own.groupings:
        for group in grouping.groups:
            assert group.n_rows >= 10 * group.rounding >= 50
            for rate in (getattr(group.classes[0], name) for name in RATES):
                assert (rate.value is None) == (rate.n < 10 * group.rounding)
    assert "(more where several groups are added up) are left out" in own.notes[-1]
    assert audit(model, table, "c", by="sex").groupings[0].groups[0].rounding == 0


def test_all_groups_are_sums_of_the_same_rounded_rows() -> None:
    table, model = few_rows()
    own = audit(model, table, "c", by=["town", "sex"], min_count=5)
    towns, sexes, both = own.groupings
    for place, single in ((1, towns), (0, sexes)):
        for group in single.groups:
            parts = [g for g in both.groups if g.label[place] == group.name]
            assert group.n_rows >= sum(part.n_rows for part in parts)
    assert own.overall.n_rows == sum(group.n_rows for group in towns.groups)
    assert own.overall.n_rows >= sum(group.n_rows for group in both.groups)


def test_groups_by_two_columns_have_the_totals_of_the_first_alone() -> None:
    table, model = few_rows()
    both = audit(model, table, "c", by=["town", "sex"], min_count=5)
    other = audit(model, table, "c", by=["sex", "town"], min_count=5)
    alone = audit(model, table, "c", by="sex", min_count=5)
    assert sorted(both.groupings, key=repr) == sorted(other.groupings, key=repr)
    assert [g.n_rows for g in both.groupings[1].groups] == [
        g.n_rows for g in alone.groupings[0].groups
    ]


def test_a_table_of_one_row_more_is_rounded_anew() -> None:
    table, model = few_rows()
    counts = {
        tuple(
            group.n_rows
            for group in audit(model, table.slice(0, n), "c", by="sex", min_count=5)
            .groupings[0]
            .groups
        )
        for n in range(288, 300)
    }
    assert len(counts) > 3


# ---- what is refused


def test_what_cannot_be_audited_is_refused_in_a_sentence(heart) -> None:
    def check(case: Any) -> None:
        change, words = case
        model = KDBClassifier(k=1).fit(heart.X, heart.y)
        given = {"target": "disease", "by": "sex"} | change
        with pytest.raises(ValueError, match=words):
            audit(model, heart.frame, **given)

    check_each(
        [
            ({"by": "sexx"}, "no column 'sexx' to make groups by; .*sex"),
            ({"by": []}, "at least one column"),
            ({"by": ["sex", "sex"]}, "'sex' twice"),
            ({"by": "disease"}, "is the target"),
            ({"bins": {"age": [50]}}, "bins are given for 'age'"),
            ({"bins": {"sex": [50]}}, "holds no numbers"),
            ({"by": "resting_blood_pressure"}, "give bins for it"),
            ({"reference": {"age": "x"}}, "reference is given for 'age'"),
            (
                {"reference": {"sex": "other"}},
                "'other' is no group by sex that is shown",
            ),
            ({"positive": "perhaps"}, "positive must be one of the classes"),
            ({"target": "diseas"}, "no target column 'diseas'"),
            ({"min_count": 60}, "min_count=60 needs 300"),
            ({"level": 2}, "level must be between 0 and 1"),
            ({"n_folds": 1}, "fold"),
        ],
        check,
    )


def test_only_classifiers_are_audited(heart) -> None:
    with pytest.raises(TypeError, match="an audit needs a fitted classifier, got a"):
        audit(object(), heart.frame, "disease", by="sex")


def test_a_date_before_the_group_moves_no_feature() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    days = pd.to_timedelta(rng.integers(0, 900, 400), "D")
    table = pd.DataFrame(
        {
            "when": pd.Timestamp("2020-01-01") + days,
            "sex": np.where(rng.random(400) < 0.3 + 0.4 * y, "f", "m"),
            "size": y + rng.normal(size=400),
            "y": np.where(y, "p", "q"),
        }
    )
    model = TANClassifier().fit(table[["when", "sex", "size"]], table["y"])
    found = audit(model, table, "y", by=["sex", "size"])
    size = model.encoder_.domain.names.index("size")
    other = table.assign(sex=np.where(table["sex"] == "f", "m", "f"))
    differs = model.predict(table[["when", "sex", "size"]]) != model.predict(
        other[["when", "sex", "size"]]
    )
    assert found.changed[0].predictions.value == pytest.approx(differs.mean())
    cut = model.encoder_.domain[size].cut_points
    below = int((table["size"] <= cut[0]).sum())
    assert found.groupings[1].groups[0].n_rows == below
