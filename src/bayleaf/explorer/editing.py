"""Rows of tables that a page holds: to pick cases from, or to edit its model with."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from bayleaf.cpds.distribution import TableCPD
from bayleaf.cpds.random_network import pseudo_weights
from bayleaf.cpds.smoothing import Dirichlet, Lidstone, Smoothing, resolve_smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.partial_values import single_states
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.data.tables.frames import to_columns
from bayleaf.inference.encoded_rows import read_rows
from bayleaf.io.exports.packing import packed, packed_codes
from bayleaf.io.native.model_file import SavedModel, write_model
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.left_out_answers import MOST_ROWS, class_cases, number_cases
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.models.page_model import REGRESSOR, PageModel
from bayleaf.wording import quoted

Content = dict[str, Any]
Floats = NDArray[np.float64]

# Cut points that a number may be given, beside those that it has.
_CUTS = 40
# What a missing cell is written as.
_MISSING = 0xFFFF
# Rows that a page can hold and score at once.
_MAX_EDITED = 100_000
_SINGLE = "rows that a page shows need single states"


def editing_content(saved: SavedModel, table: Any, smoothing: Smoothing) -> Content:
    """Training rows as codes of fine intervals, and the model file to be changed.

    For naive Bayes, TAN, KDB and HNB whose tables are counts smoothed by `smoothing`;
    `table` includes the class. ``each`` and ``together`` are what smoothing adds,
    ``cuts`` the possible cut points per feature, none unless it is a number, ``codes``
    the intervals between them, or states, per variable, ``weights`` the numbers of
    equal rows. ValueError if the model cannot be edited, or is not of this table.
    """
    _check_kind(saved)
    document = _document(saved)
    _check_editable(document, smoothing)
    domain = saved.predictor.model.domain
    frame = _frame(table)
    if len(frame) > _MAX_EDITED:
        raise ValueError(
            f"a page can edit over {_MAX_EDITED} rows, but the table has {len(frame)}; "
            "give a sample of them"
        )
    named = {str(name): name for name in frame.columns}
    target = domain[-1]
    if str(target.name) not in named:
        raise ValueError(
            f"to edit the model, the table needs its class, the column "
            f"{quoted(target.name)}"
        )
    encoder = saved.predictor.encoder
    codes = encoder.transform(_feature_columns(frame, named, encoder)).codes
    cuts, columns = [], []
    for place, variable in enumerate(domain.variables[:-1]):
        own = codes.column(place).astype(np.int64)
        own = np.where(own >= variable.n_states, _MISSING, own)
        possible, fine = _fine(variable, frame, named, own)
        cuts.append(possible)
        columns.append(fine)
    classes = _state_codes(frame, named, target)
    if (classes < 0).any():
        raise ValueError(
            f"to edit the model, column {quoted(target.name)} must hold one of its "
            "classes in every row"
        )
    columns.append(classes)
    plain = [codes.column(v).astype(np.int64) for v in range(codes.n_variables)]
    plain.append(columns[-1])
    if document["model"]["type"] != "network":
        _check_complete(plain, domain)
        columns, cuts = plain, []
    _check_rows(saved.predictor.model, plain, smoothing)
    rows, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    # What is added to each cell, and what all cells of a distribution share.
    each, together, _ = pseudo_weights(smoothing)
    return {
        "document": document,
        "each": each,
        "together": together,
        "cuts": [packed(own) for own in cuts],
        "codes": [
            packed_codes(rows[:, k].astype(np.uint16)) for k in range(len(domain))
        ],
        "weights": packed(counts.astype(np.float64)),
    }


def _document(saved: SavedModel) -> Content:
    """The model file as plain values."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        write_model(saved, path)
        try:
            found: Content = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            raise ValueError(
                "a model of more than a million numbers cannot be edited in a page"
            ) from None
    return found


def _check_kind(saved: SavedModel) -> None:
    """Refuse models that are neither one network of tables nor HNB."""
    model = saved.model
    is_network = isinstance(model, NetworkModel) and all(
        isinstance(cpd, TableCPD) for cpd in model.network.cpds
    )
    if not is_network and not isinstance(model, HierarchicalNaiveBayesModel):
        raise ValueError(
            "a page can edit naive Bayes, TAN and KDB models over tables, and HNB, but "
            f"this is a {saved.estimator}; fit one of these (--model tan) to edit it"
        )


def _check_editable(document: Content, smoothing: Smoothing) -> None:
    """Refuse models whose tables are not plain counts."""
    parameters = document["parameters"]
    if parameters.get("objective", "generative") != "generative":
        raise ValueError(
            "the tables of this model were learned for the classes, not counted; train "
            "with objective='generative' to edit it"
        )
    if document.get("prior_shift") is not None:
        raise ValueError("a model whose class prior was changed cannot be edited")
    if not isinstance(smoothing, Lidstone | Dirichlet):
        raise ValueError(
            "a page can edit models with smoothing 'laplace' or 'dirichlet', but this "
            f"one has {type(smoothing).__name__}"
        )


def _check_rows(
    model: Any, columns: list[NDArray[np.int64]], smoothing: Smoothing
) -> None:
    """Refuse rows, the class last, from which the model's tables do not come."""
    place = len(columns) - 1
    if hasattr(model, "tree"):
        nodes = columns[:-1]
        for latent in model.tree.latents:
            nodes.append(latent.states[nodes[latent.left], nodes[latent.right]])
        children = model.tree.class_children
        tables = [
            ([columns[-1], nodes[node]], table)
            for node, table in zip(children, model.tables, strict=True)
        ]
    else:
        tables = [
            ([columns[member] for member in cpd.family], cpd.probabilities)
            for cpd in model.network.cpds[:place]
        ]
    for members, table in tables:
        known = np.ones(len(members[0]), dtype=bool)
        for codes, card in zip(members, table.shape, strict=True):
            known &= codes < card
        counts = np.zeros(table.shape)
        np.add.at(counts, tuple(codes[known] for codes in members), 1.0)
        if not np.allclose(smoothing.estimate(counts), table, atol=1e-9):
            raise ValueError(
                "the tables of the model do not come from these rows; give the rows "
                "that it was trained on, which can have no weights"
            )


def _check_complete(columns: list[NDArray[np.int64]], domain: Domain) -> None:
    """Refuse rows in which something is missing."""
    for own, variable in zip(columns, domain, strict=True):
        if (own >= variable.n_states).any():
            raise ValueError(
                "latent variables can be edited over complete rows, but column "
                f"{quoted(variable.name)} has missing cells; train with missing='state'"
            )


def rule_of(model: Any, document_rule: Any) -> Smoothing:
    """The smoothing of a fitted classifier, or what a file contains of it."""
    found = getattr(model, "smoothing_", None)
    if found is not None:
        rule: Smoothing = found
        return rule
    if not isinstance(document_rule, str) or document_rule == "auto":
        raise ValueError(
            "the file does not tell by which smoothing its tables were estimated; "
            "edit the fitted classifier, or train with smoothing='laplace'"
        )
    return resolve_smoothing(document_rule)


def _fine(
    variable: Variable, frame: Any, named: dict[str, Any], own: NDArray[np.int64]
) -> tuple[Floats, NDArray[np.int64]]:
    """Possible cut points of a number and its rows' intervals; else its states."""
    none = np.array([])
    is_number = variable.kind == "numeric" and variable.categories is None
    if not is_number or str(variable.name) not in named:
        return none, own
    values = _numbers(frame[named[str(variable.name)]])
    if values is None:
        return none, own
    known = np.unique(values[np.isfinite(values)])
    if len(known) < 2:
        return none, own
    between = (known[:-1] + known[1:]) / 2
    places = np.unique(np.linspace(0, len(between) - 1, _CUTS).round().astype(int))
    possible = np.unique([*between[places], *variable.cut_points])
    fine = np.searchsorted(possible, values, side="left")
    # States beyond the intervals, such as that of missing cells, stay as they are.
    if variable.has_missing_state:
        return none, own
    return possible, np.where(np.isfinite(values), fine, _MISSING)


def _numbers(column: Any) -> Floats | None:
    """A column's numbers, NaN for missing ones; None if it has other cells."""
    cells = column.to_list()
    try:
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    except (TypeError, ValueError):
        return None


def rows_content(table: Any, explored: PageModel) -> dict[str, Any]:
    """The first rows of a table as codes of the variables that it has, the class last.

    ``n`` rows, ``variables`` with codes, and packed ``codes``, 65535 for missing cells;
    ``recorded`` numbers of a target that is one, ``suggested`` cases to open. Without a
    target states are the values. ValueError if a column of training is missing, or the
    table is not a data frame.
    """
    domain, encoder = explored.model.domain, explored.encoder
    frame = _frame(table)
    named = {str(name): name for name in frame.columns}
    if encoder is None or not explored.has_target:
        known = [v for v in range(len(domain)) if str(domain[v].name) in named]
        if not known:
            raise ValueError(
                "the rows have no column of the model, such as "
                f"{quoted(domain[0].name)}; give other rows"
            )
        frame = frame.head(MOST_ROWS)
        return _packed(known, [_state_codes(frame, named, domain[v]) for v in known])
    parts = _feature_columns(frame, named, encoder)
    codes = single_states(encoder.transform(parts).rows, _SINGLE)
    columns: list[Any] = [codes.column(v) for v in range(codes.n_variables)]
    target, recorded = domain[-1], {}
    outcomes, is_known = None, np.zeros(codes.n_rows, dtype=bool)
    if str(target.name) in named:
        cells = frame[named[str(target.name)]]
        if explored.task == REGRESSOR:
            outcomes = _numbers(cells)
            if outcomes is None:
                raise _wrong_target(target, "numbers alone")
            is_known = np.isfinite(outcomes)
            pairs = zip(outcomes[:MOST_ROWS].tolist(), is_known.tolist())
            recorded = {"recorded": [n if known else None for n, known in pairs]}
        else:
            outcomes = _state_codes(frame, named, target)
            is_known = outcomes >= 0
            if not is_known.any() and len(cells.drop_nulls()):
                some = f"classes such as {quoted(target.label(0))}"
                raise _wrong_target(target, some)
    suggested = _suggested(columns, outcomes, is_known, explored)
    if outcomes is not None and explored.task != REGRESSOR:
        columns.append(outcomes)
    shown = [
        np.where(codes >= n_states, -1, codes)[:MOST_ROWS]
        for codes, n_states in zip(columns, domain.cards, strict=False)
    ]
    content = _packed(range(len(columns)), shown)
    return content | recorded | {"suggested": suggested}


def _frame(table: Any) -> Any:
    """A table as narwhals takes it; ValueError unless it is a data frame with rows."""
    try:
        frame = nw.from_native(table, eager_only=True)
    except TypeError:
        raise ValueError(
            f"rows must be a data frame, got a {type(table).__name__}"
        ) from None
    if not len(frame):
        raise ValueError("rows must have at least one row, got none")
    return frame


def _feature_columns(frame: Any, named: dict[str, Any], encoder: TableEncoder) -> Any:
    """The columns of training; ValueError if one is missing."""
    wanted = [str(name) for name in encoder.column_names]
    missing = [name for name in wanted if name not in named]
    if missing:
        raise ValueError(
            f"the rows have no column {quoted(missing[0])}, which the model was "
            "trained on; add it"
        )
    return to_columns(frame.select([named[name] for name in wanted]).to_native())


def _wrong_target(target: Variable, values: str) -> ValueError:
    """What to raise for a target whose cells are not those that a model predicts."""
    return ValueError(
        f"column {quoted(target.name)} of the rows must hold {values}, as in training; "
        "correct it, or leave it out"
    )


def _suggested(
    features: Sequence[Any], outcomes: Any, is_known: Any, explored: PageModel
) -> list[dict[str, Any]]:
    """A clear, an undecided and, if outcomes are recorded, a wrong case.

    Of a number a low, a high and a badly expected one. Chosen by answers learned
    without the row where these are known; otherwise by the model's own, which has
    learned from the row (`seen`) or may have (None). Where the outcome of a row is
    known (`is_known`), those of others, which fits leave out, are not looked at.
    """
    cards, is_number = explored.model.domain.cards, explored.task == REGRESSOR
    rows, answers, seen = np.arange(len(is_known)), None, None
    has_outcome = is_known[:MOST_ROWS].any()
    if has_outcome:
        rows = np.flatnonzero(is_known)
        outcomes, parts = outcomes[rows], [column[rows] for column in features]
        if is_number:
            answers = explored.left_out(Codes.from_columns(parts, cards[:-1]), outcomes)
        else:
            answers = explored.left_out(Codes.from_columns([*parts, outcomes], cards))
    first = rows[rows < MOST_ROWS]
    if answers is not None:
        answers = answers[: len(first)]
        seen = bool(np.isnan(answers).all())
    if answers is None or seen:
        parts = [column[first] for column in features]
        answers = _own_answers(explored, Codes.from_columns(parts, cards[:-1]))
    shown = outcomes[: len(first)] if has_outcome else None
    if is_number:
        by_kind = number_cases(answers[:, 0], shown)
    else:
        is_right = explored.scorer.choose(answers) == shown if has_outcome else None
        by_kind = class_cases(answers, is_right)
    cases = []
    for kind, row in by_kind.items():
        mean, *interval = posterior = answers[row].tolist()
        figures = {"mean": mean, "interval": interval}
        figures = figures if is_number else {"posterior": posterior}
        cases.append({"kind": kind, "row": int(first[row]), **figures, "seen": seen})
    return cases


def _own_answers(explored: PageModel, codes: Codes) -> Floats:
    """What a model itself answers to rows, as `PageModel.left_out` gives it."""
    scorer = explored.scorer
    if explored.task != REGRESSOR:
        return np.asarray(scorer.proba(codes))
    given = scorer.distributions(codes)
    return np.column_stack([given.mean, given.interval(0.9)])


def _state_codes(frame: Any, named: dict[str, Any], variable: Variable) -> Any:
    """Codes of a column's values, -1 for what is missing or no state."""
    column = {variable.name: frame[named[str(variable.name)]].to_list()}
    rows = read_rows(Domain((variable,)), column, unknown="missing")
    codes = single_states(rows, _SINGLE).column(0)
    return np.where(codes >= variable.n_states, -1, codes.astype(np.int64))


def _packed(variables: Sequence[int], columns: Sequence[Any]) -> dict[str, Any]:
    """Codes as the page unpacks them."""
    codes = [np.where(own < 0, _MISSING, own).astype(np.uint16) for own in columns]
    return {
        "n": len(codes[0]) if codes else 0,
        "variables": list(variables),
        "codes": [packed_codes(own) for own in codes],
    }
