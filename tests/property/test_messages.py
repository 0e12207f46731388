"""Errors name what is wrong in a sentence that can be read, whatever it is called."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bayleaf
from bayleaf import BayesianNetwork, BayesianNetworkEstimator
from bayleaf.classifiers import CLASSIFIERS
from bayleaf.data.value_hierarchy import ValueHierarchy
from bayleaf.evaluation import compare
from bayleaf.explain import counterfactuals
from offenders import check_each

# A sentence, and three names of the longest that is shown.
LONGEST = 200 + 3 * 80
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
NAMES = st.one_of(
    st.text(min_size=1, max_size=40),
    st.text(
        alphabet="ab \n\r\x1b\x07\x9b\u202e\u2066\u061c\u2028\ud800\udfff'\"{}[]%",
        min_size=1,
        max_size=300,
    ),
    st.builds(lambda c, n: c * n, st.text(min_size=1, max_size=3), st.just(3000)),
)
SETTINGS = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def check_message(text: str) -> None:
    """Check that a message is one line of a bearable length."""
    assert len(text) <= LONGEST, text
    assert not UNSEEN.search(text), ascii(text)
    assert text


built: Callable[..., BayesianNetwork] = BayesianNetwork.from_tables


def network(name: str = "a") -> BayesianNetwork:
    """Two variables, the second called as wanted."""
    other = "b" if name != "b" else "c"
    return built(
        {other: ["x", "y"], name: ["x", name + "y"]},
        {other: [0.5, 0.5], name: [[0.5, 0.5], [0.2, 0.8]]},
        {name: [other]},
    )


def table(name: str, cells: Any) -> pa.Table:
    """A table with one column of some cells, and another."""
    other = "b" if name != "b" else "c"
    return pa.table({name: cells, other: ["u", "v"] * (len(cells) // 2)})


def fitted(name: str) -> Any:
    """A classifier of a table with a column of that name."""
    model = CLASSIFIERS["nb"]()
    return model.fit(table(name, [1.0, 2.0, 3.0, 4.0]), ["p", "q"] * 2)


PARAMETERS = {
    **dict.fromkeys(("smoothing", "discretizer", "missing", "unknown"), "nb"),
    **dict.fromkeys(("calibration", "objective", "pull", "n_jobs"), "nb"),
    **dict.fromkeys(("k", "theta", "n_features", "max_k"), "kdb"),
    **dict.fromkeys(("search", "pair_score", "estimation"), "hnb"),
    **dict.fromkeys(("architecture", "learning", "sigma", "expert"), "mixture"),
    **dict.fromkeys(("n_networks", "max_parents", "random_state"), "auto"),
    **dict.fromkeys(("local_score", "tree_search", "abstraction"), "network"),
    **dict.fromkeys(("n_components", "max_iter", "tol"), "latent_class"),
}
DENSITY = ("local_score", "required_edges", "hierarchies", "linkage", "max_states")


def with_parameter(parameter: str) -> Callable[[str], Any]:
    """Fit with a parameter that is a name."""

    def call(name: str) -> Any:
        estimator = CLASSIFIERS[PARAMETERS[parameter]]()
        estimator.set_params(**{parameter: name})
        return estimator.fit(table("a", [1.0, 2.0, 3.0, 4.0]), ["p", "q"] * 2)

    return call


def density_with(parameter: str) -> Callable[[str], Any]:
    """Learn a density model with a parameter that is a name."""

    def call(name: str) -> Any:
        estimator = BayesianNetworkEstimator()
        estimator.set_params(**{parameter: name})
        return estimator.fit(table("a", ["1", "2", "3", "4"]))

    return call


MISTAKES: dict[str, Callable[[str], Any]] = {
    "parent": lambda n: built({"a": ["x"]}, {}, {"a": [n * 2]}),
    "no table": lambda n: built({n: ["x", "y"]}, {}),
    "other table": lambda n: built({"a": ["x", "y"]}, {n * 2: [0.5, 0.5]}),
    "shape": lambda n: built({n: ["x", "y"]}, {n: [1.0]}),
    "sum": lambda n: built({n: ["x", "y"]}, {n: [0.1, 0.1]}),
    "negative": lambda n: built({n: ["x", "y"]}, {n: [-0.1, 1.1]}),
    "states": lambda n: built({n: []}, {}),
    "twice": lambda n: built({n: ["x", "x"]}, {n: [0.5, 0.5]}),
    "mapping": lambda n: built(n, {}),
    "circle": lambda n: built({n: ["x"]}, {n: [1.0]}, {n: [n]}),
    "query": lambda n: network(n).query({n * 2: "x"}),
    "state": lambda n: network(n).query({n: n}),
    "target": lambda n: network(n).query({}, [n * 2]),
    "cpd": lambda n: network(n).cpd(n * 2),
    "likelihood": lambda n: network(n).query({n: {"x": n}}),
    "most probable": lambda n: network(n).most_probable_explanation({n: n}),
    "information": lambda n: network(n).value_of_information(n * 2),
    "rows": lambda n: network().sample(n),  # type: ignore[arg-type]
    "posterior": lambda n: network(n).query({})[n * 2],
    "column of text": lambda n: fitted(n).predict(table(n, [n, n])),
    "infinity": lambda n: CLASSIFIERS["nb"]().fit(table(n, [np.inf, 1.0]), ["p", "q"]),
    "no value": lambda n: CLASSIFIERS["nb"]().fit(table(n, [None, None]), ["p", "q"]),
    "missing": lambda n: CLASSIFIERS["nb"](missing="error").fit(
        table(n, [None, 1.0]), ["p", "q"]
    ),
    "states of a column": lambda n: CLASSIFIERS["nb"](max_states=2).fit(
        table(n, [n + str(i) for i in range(4)]), ["p", "q"] * 2
    ),
    "unknown value": lambda n: (
        CLASSIFIERS["nb"](unknown="error")
        .fit(table("a", ["1", "2"]), ["p", "q"])
        .predict(table("a", [n * 2, n * 2]))
    ),
    "numbers for labels": lambda n: CLASSIFIERS["nb"]().fit(table(n, [1.0, 2.0]), n),
    "class": lambda n: fitted(n).explain(table(n, [1.0, 2.0]), against=n),
    "classes": lambda n: (
        CLASSIFIERS["nb"]()
        .fit(table("a", [1.0, 2.0]), [n, n * 2])
        .explain(table("a", [1.0, 2.0]), against=n * 3)
    ),
    "change": lambda n: counterfactuals(
        CLASSIFIERS["nb"]().fit(table("a", [1.0, 2.0]), [n, n * 2]),
        table("a", [1.0, 2.0])[:1],
        target=n * 3,
    ),
    "feature": lambda n: counterfactuals(
        fitted(n), table(n, [1.0, 2.0])[:1], immutable=[n * 2]
    ),
    "attribute": lambda n: getattr(bayleaf, n * 2),
    "models": lambda n: compare(table("a", [1.0, 2.0] * 20), ["p", "q"] * 20, [n * 2]),
    "node": lambda n: ValueHierarchy.from_nested({n: [n, n]}),
    "hierarchy": lambda n: BayesianNetworkEstimator(hierarchies={n * 2: {}}).fit(
        table("a", ["1", "2"])
    ),
    "edge": lambda n: BayesianNetworkEstimator(required_edges=[(n * 2, "a")]).fit(
        table("a", ["1", "2"])
    ),
    "categorical": lambda n: CLASSIFIERS["nb"](categorical_features=[n * 2]).fit(
        table("a", [1.0, 2.0]), ["p", "q"]
    ),
    "file": lambda n: bayleaf.load(n.replace("\0", "")),
    **{f"parameter {name}": with_parameter(name) for name in PARAMETERS},
    **{f"density {name}": density_with(name) for name in DENSITY},
}


@pytest.mark.parametrize("part", range(10))
@SETTINGS
@given(name=NAMES)
def test_errors_of_the_library_can_be_read(part: int, name: str) -> None:
    def check(mistake: str) -> None:
        try:
            MISTAKES[mistake](name)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            told = error.args[0] if isinstance(error, KeyError) else str(error)
            check_message(told)
        except OSError:
            # The system names files as they are; the command line shows them.
            pass

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_each([*MISTAKES][part::10], check)
