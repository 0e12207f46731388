"""Tables of kinds and with names that few people have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bayleaf import BayesianNetworkEstimator, load
from bayleaf.io import read_network, write_network
from contract.kinds import each_kind

# Half a character, as names have that come from bytes which are no text.
HALF = "a\ud800"
ROWS = [[1.0, 2.0], [2.0, 3.0], [3.0, 1.0], [4.0, 4.0]] * 5
LABELS = ["p", "q"] * 10


def named_by_halves() -> tuple[pd.DataFrame, list[str]]:
    """A table whose columns, cells and labels hold half a character."""
    cells = np.array([["u", HALF], ["v", "w"]] * 10, dtype=object)
    columns = pd.Index([HALF, "b"], dtype=object)
    return pd.DataFrame(cells, columns=columns, dtype=object), [HALF, "q"] * 10


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@each_kind()
def test_a_matrix_is_taken_as_the_array_it_is(kind: Any) -> None:
    matrix = np.matrix(ROWS)
    fitted = kind(random_state=0).fit(matrix, LABELS)
    expected = kind(random_state=0).fit(np.array(ROWS), LABELS)
    found = fitted.predict_proba(matrix)
    np.testing.assert_array_equal(found, expected.predict_proba(np.array(ROWS)))
    assert type(found) is np.ndarray


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_is_a_table_of_density_models() -> None:
    fitted = BayesianNetworkEstimator().fit(np.matrix(ROWS))
    expected = BayesianNetworkEstimator().fit(np.array(ROWS))
    assert str(fitted.network_) == str(expected.network_)


@each_kind()
def test_half_a_character_is_learned_saved_and_shown(kind: Any, tmp_path: Path) -> None:
    table, labels = named_by_halves()
    fitted = kind(random_state=0).fit(table, labels)
    path = tmp_path / "model.json"
    fitted.save(path)
    again = load(path)
    assert again.predict(table).tolist() == fitted.predict(table).tolist()
    assert set(again.classes_) == {HALF, "q"}
    for text in (str(fitted.summary()), str(fitted.explain(table[:1])[0])):
        assert "a\\ud800" in text
        text.encode()


@pytest.mark.parametrize("suffix", ["json", "bif", "net", "xdsl", "xml"])
def test_half_a_character_comes_back_from_files_of_networks(
    suffix: str, tmp_path: Path
) -> None:
    table, _ = named_by_halves()
    network = BayesianNetworkEstimator().fit(table).network_
    path = tmp_path / f"network.{suffix}"
    write_network(network, path)
    read = read_network(path)
    assert read.domain.names == network.domain.names
    assert [v.states for v in read.domain] == [v.states for v in network.domain]


def test_rows_with_half_a_character_are_refused_in_a_sentence() -> None:
    table, _ = named_by_halves()
    network = BayesianNetworkEstimator().fit(table).network_
    with pytest.raises(ValueError, match=r"'a\\ud800' .* no Unicode text; rename"):
        network.sample(3, random_state=0)
