"""Hierarchical naive Bayes: latent variables between the class and its features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from bayleaf.classifiers.shared.conditional import SingleNetworkClassifier
from bayleaf.classifiers.shared.edge_parameters import (
    Name,
    check_edges,
    check_name_lists,
    named_places,
)
from bayleaf.classifiers.shared.leave_one_out import fitted_temperature
from bayleaf.classifiers.shared.parameters import (
    AUTO,
    CONDITIONAL,
    check_choice,
    check_count,
    check_flag,
    check_share,
)
from bayleaf.classifiers.shared.training import Learned
from bayleaf.counts.count_tables import IncrementalCounts
from bayleaf.counts.source import CountSource, Family
from bayleaf.counts.table_counts import RowCounts, rows_by_state
from bayleaf.cpds.latent_tree import LatentTree
from bayleaf.cpds.smoothing import FixedDistribution, Smoothing, resolve_smoothing
from bayleaf.data.codes import Codes
from bayleaf.data.domain import Domain
from bayleaf.data.random_state import RandomState, random_generator
from bayleaf.data.unknown_cells import warn_of
from bayleaf.estimator_bases import TransformerMixin
from bayleaf.latent.free_latents import TreeMove, search_free_latents
from bayleaf.latent.hierarchical_parameters import (
    class_children_codes,
    flat_domain,
    latent_counts,
    learned_by_em,
    tables_log_likelihood,
)
from bayleaf.models.free_latent_model import FreeLatentModel
from bayleaf.models.hierarchical_naive_bayes import HierarchicalNaiveBayesModel
from bayleaf.models.latent_rules import LatentList, rules_text
from bayleaf.models.networks.network_model import NetworkModel
from bayleaf.models.support.support_counts import SupportCounts
from bayleaf.search.latents.latent_search import LatentSearchOptions, search_latents
from bayleaf.search.latents.moves import SearchStep
from bayleaf.search.left_out.left_out_scores import LeaveOneOut
from bayleaf.typing import ColumnLike, NumbersLike, RowsLike
from bayleaf.wording import name_list, quoted

BIC = "bic"
SEARCHES = ("algorithm3", "top_pairs", "hill_climbing", "significance", "given", BIC)
PAIR_SCORES = (AUTO, "mutual_information", "expected_kl")
WRAPPER_SCORES = ("accuracy", "log_loss", "accuracy_then_log_loss")
SELECTIONS = ("forward", "backward", "forward_before", "backward_before")
ESTIMATIONS = (AUTO, "counting", "em")


class _Tables(NamedTuple):
    """Counts of rows for a known tree."""

    flat: IncrementalCounts  # over the children of the class
    cells: tuple[NDArray[np.float64], ...]  # (left card, right card) of each latent
    by_class: tuple[NDArray[np.float64], ...]  # (n_states, n_classes)

    def plus(self, batch: _Tables, children: Domain) -> _Tables:
        """With the counts of further rows."""
        return _Tables(
            self.flat.grown(children, children, batch.flat),
            tuple(map(np.add, self.cells, batch.cells)),
            tuple(map(np.add, self.by_class, batch.by_class)),
        )


def _class_families(flat: CountSource) -> list[Family]:
    """Each feature below the class."""
    return [(flat.class_index, feature) for feature in range(flat.class_index)]


class HNBClassifier(TransformerMixin, SingleNetworkClassifier):
    """Hierarchical naive Bayes with readable latent variables.

    Each latent variable joins two children of the class that depend on one another
    beyond what the class explains; its states are groups of their joint states, printed
    as rules over features. The classifier is naive Bayes over what is left below the
    class. It has nothing to do with hidden naive Bayes, which WEKA calls HNB.

    Parameters
    ----------
    search : str, default="top_pairs"
        "top_pairs" tries the best pairs of the whole table, "algorithm3" those of
        overlapping subsets (the paper's), "hill_climbing" pair after pair until one
        helps; these keep a latent if held-out training rows are predicted better.
        "significance" takes the most dependent pair while a test calls it so (HUGIN's).
        "given" makes those of `latents` and `required_joins` alone. "bic" climbs by
        the BIC of latent variables that have distributions of their own, learned by
        expectation maximisation, instead of rules (Zhang, Nielsen and Jensen).
    pair_score : {"auto", "expected_kl", "mutual_information"}, default="auto"
        How pairs are ranked; "auto" takes the G² test of mutual information for
        "significance", as HUGIN does, and expected_kl for the others.
    wrapper_score : str, default="accuracy"
        What held-out rows are judged by: "accuracy", "log_loss" or
        "accuracy_then_log_loss".
    n_candidates : int, default=10
        Candidates, or subsets, in each round.
    score_folds : int, default=5
        Folds that are held out in turn, dealt once in a fit.
    significance_level : float, default=0.05
        Largest p that "significance" takes for dependence.
    max_cells : int, default=5000
        Pairs with more joint states are skipped with a warning.
    deduplicate_rows : bool, default=True
        Deal equal rows as one to folds and subsets, so that weights are exact and the
        order of rows is of no importance; False is the papers' protocol.
    feature_selection : str, optional
        After the search keep only children of the class that help held-out rows, added
        one by one ("forward"), or without those that do not, left out one by one
        ("backward"). "forward_before" and "backward_before" select before the search,
        features and given latents, so that no latent joins what is left out.
    latents : sequence of sequence of str or int, default=()
        Latent variables that are made before the search, each by the columns below it;
        it joins two columns, or what is above some of them: the latents
        ``[["a", "b"], ["a", "b", "c"]]`` join a and b, then their latent and c.
    required_joins : sequence of (str or int, str or int), default=()
        Pairs of columns that are to be below one latent variable; what is above them
        is joined before the search.
    forbidden_joins : sequence of (str or int, str or int), default=()
        Pairs of columns that no latent variable may be above.
    estimation : {"auto", "counting", "em"}, default="auto"
        Tables by counting, or by expectation maximisation where cells are missing;
        "auto" counts complete tables.
    smoothing : str or Smoothing, default="dirichlet"
        Rule that turns counts into probabilities.
    random_state : int, RandomState, Generator or None, default=None
        Source of folds and subsets, and of the starts of "bic".
    **shared
        The other parameters that the classifiers share, see `SingleNetworkClassifier`
        and `BayesianClassifier`.

    Attributes
    ----------
    search_trace_ : tuple of SearchStep, or of TreeMove
        What was tried in each round, with scores; for "bic" the moves that were made.
    score_ : float
        BIC (nats) of the maximum-likelihood tables, larger is better; only for "bic".

    References
    ----------
    Langseth, H., Nielsen, T. D. (2006). Classification using hierarchical naive Bayes
    models. Machine Learning 63, 135-159.
    Zhang, N. L., Nielsen, T. D., Jensen, F. V. (2004). Latent variable discovery in
    classification models. Artificial Intelligence in Medicine 30, 283-299.
    """

    _is_incremental = True
    _chooses_structure = True
    _bytes_a_pair = 150
    _learns_from_rows = True
    _keeps_states = True

    search: str = "top_pairs"
    pair_score: str = AUTO
    wrapper_score: str = "accuracy"
    n_candidates: int = 10
    score_folds: int = 5
    significance_level: float = 0.05
    max_cells: int = 5000
    deduplicate_rows: bool = True
    feature_selection: str | None = None
    latents: Sequence[Sequence[Name]] = ()
    required_joins: Sequence[tuple[Name, Name]] = ()
    forbidden_joins: Sequence[tuple[Name, Name]] = ()
    estimation: str = AUTO
    smoothing: str | Smoothing = "dirichlet"
    random_state: RandomState = None

    def _check(self) -> None:
        check_choice("search", self.search, SEARCHES)
        check_choice("pair_score", self.pair_score, PAIR_SCORES)
        check_choice("wrapper_score", self.wrapper_score, WRAPPER_SCORES)
        check_choice("estimation", self.estimation, ESTIMATIONS)
        if self.feature_selection is not None:
            check_choice("feature_selection", self.feature_selection, SELECTIONS)
        check_count("n_candidates", self.n_candidates, 1)
        check_count("score_folds", self.score_folds, 2)
        check_count("max_cells", self.max_cells, 1)
        check_flag("deduplicate_rows", self.deduplicate_rows)
        check_share("significance_level", self.significance_level)
        if not given_latents(self) and self.search == "given":
            raise ValueError(
                "search='given' needs latents or required_joins; give one of them, or "
                "take another search"
            )
        if self.search == BIC:
            self._refuse_with_bic()

    def _refuse_with_bic(self) -> None:
        """Raise if a parameter needs latent variables that are rules, or counts."""
        for name in ("latents", "required_joins", "feature_selection"):
            if len(getattr(self, name) or ()):
                raise ValueError(
                    f"{name} is about latent variables that are rules, which search="
                    "'bic' does not make; leave it out, or take another search"
                )
        for name, value in (
            ("estimation", "counting"),
            ("objective", CONDITIONAL),
            ("smoothing", AUTO),
        ):
            if isinstance(getattr(self, name), str) and getattr(self, name) == value:
                raise ValueError(
                    f"{name}={value!r} needs to count the states of latent variables, "
                    "which search='bic' only estimates; take another value or search"
                )

    def _named_columns(self) -> Iterable[tuple[str, Name]]:
        return [
            (parameter, name)
            for parameter in ("latents", "required_joins", "forbidden_joins")
            for names in getattr(self, parameter)
            for name in names
        ]

    def _learn(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        self.__dict__.pop("score_", None)
        if self.search == BIC:
            return self._learn_free(counts, domain, rng)
        return self._filled(self._search(counts, domain, rng), counts, domain)

    def _learn_free(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        """The model of latent variables that BIC finds."""
        pairs = self._apart(domain.names[:-1])
        seed = int(rng.integers(1 << 63))
        result = search_free_latents(counts, domain, pairs, seed)
        self.score_ = result.score
        self.search_trace_: tuple[SearchStep | TreeMove, ...] = result.trace
        model = FreeLatentModel(
            domain,
            self._class_prior(counts, self.smoothing_),
            result.parents,
            tuple(map(self.smoothing_.estimate, result.counts)),
            self.max_table_cells,
        )
        codes = counts.rows()
        log_joint = model.class_log_scores(codes.without_last())
        labels = codes.column(codes.n_variables - 1)
        total = codes.weights @ log_joint[np.arange(len(labels)), labels]
        return Learned(model, float(total))

    def _filled(
        self, used: tuple[int, ...] | None, counts: CountSource, domain: Domain
    ) -> Learned:
        """The model of the tree whose tables are counted; by EM if parameters ask."""
        codes = counts.rows()
        learned = self._counted(domain, used)
        flat = self._tables.flat
        if self._asks_for_em(codes):
            model = cast(HierarchicalNaiveBayesModel, learned.model)
            by_em = learned_by_em(model, codes, self.smoothing_, counts.n_jobs)
            gain = tables_log_likelihood(by_em, flat)
            gain -= tables_log_likelihood(model, flat)
            learned = Learned(by_em, learned.log_likelihood + gain)
        flat.seal()
        return learned

    def _learn_batch(
        self, counts: IncrementalCounts, domain: Domain, rng: np.random.Generator
    ) -> Learned:
        if counts.continues:
            used = self._hierarchical_model.used
            batch = self._tables_of(counts.latest_rows())
            children = flat_domain(self._tree, domain)
            self._tables: _Tables = self._tables.plus(batch, children)
        else:
            used = self._search(counts, domain, rng)
        learned = self._counted(domain, used)
        flat = self._tables.flat
        by_child = flat.family_counts(_class_families(flat))
        self._support = SupportCounts.from_counts(
            [*(t.sum(axis=1) for t in by_child), flat.class_counts().sum()],
            learned.model.table_sizes,
            self.smoothing_,
            prior_is_learned=self._given_prior is None,
            state_rows=rows_by_state(counts),
        )
        flat.seal()
        return learned

    def _search(
        self, counts: CountSource, domain: Domain, rng: np.random.Generator
    ) -> tuple[int, ...] | None:
        """Find the tree and count its tables; class children used, None for all."""
        names = [str(name) for name in domain.names]
        options = self._search_options(domain.names[:-1])
        found = search_latents(counts, options, rng, names)
        self._tree, self.search_trace_ = found.tree, found.steps
        self._tables = self._tables_of(counts.rows())
        return found.used

    def _refuse_leave_one_out(self) -> None:
        super()._refuse_leave_one_out()
        if self.estimation == "em":
            raise ValueError(
                "estimation='em' needs all rows at once, which partial_fit does not "
                "keep; use fit, or estimation='counting'"
            )
        if self.search == BIC:
            raise ValueError(
                "search='bic' needs all rows at once, which partial_fit does not keep; "
                "use fit, or another search"
            )

    def _tables_of(self, codes: Codes) -> _Tables:
        """Count rows, over the children of the class and in the latents' cells."""
        rows = RowCounts(
            class_children_codes(self._tree, codes),
            self.n_jobs,
            max_table_cells=self.max_table_cells,
        )
        cells, by_class = latent_counts(self._tree, codes, rows.n_jobs)
        flat = IncrementalCounts(rows)
        flat.class_counts()
        flat.family_counts(_class_families(flat))
        return _Tables(flat, cells, by_class)

    def _counted(self, domain: Domain, used: tuple[int, ...] | None) -> Learned:
        """The model of the tree, by counting."""
        tables = self._tables
        tree = self._tree
        children = tree.class_children
        selected = children if used is None else used
        parents = [() if node in selected else None for node in children]
        learned = self._network_model(tables.flat, flat_domain(tree, domain), parents)
        network = cast(NetworkModel, learned.model).network
        n_classes = len(self.classes_)
        model = HierarchicalNaiveBayesModel(
            domain,
            tree,
            network.cpds[-1].probabilities,
            tuple(
                np.broadcast_to(cpd.probabilities, (n_classes, cpd.cards[-1]))
                for cpd in network.cpds[:-1]
            ),
            tables.cells,
            used,
            self.max_table_cells,
            class_counts=tables.by_class,
        )
        return Learned(model, learned.log_likelihood)

    def _search_options(self, names: Sequence[Name]) -> LatentSearchOptions:
        """The options of the search, from the parameters."""
        for parameter, name in self._named_columns():
            named_places(parameter, [name], names, self.encoder_)
        latents = [
            [frozenset(map(names.index, side)) for side in pair]
            for pair in given_latents(self)
        ]
        by_default, given = self.smoothing == AUTO, self._given_prior
        pair_score = self.pair_score
        if pair_score == AUTO:
            tests = self.search == "significance"
            pair_score = "mutual_information" if tests else "expected_kl"
        return LatentSearchOptions(
            search=cast(Any, self.search),
            pair_score=cast(Any, pair_score),
            wrapper_score=cast(Any, self.wrapper_score),
            n_candidates=self.n_candidates,
            score_folds=self.score_folds,
            significance_level=self.significance_level,
            max_cells=self.max_cells,
            deduplicate_rows=self.deduplicate_rows,
            smoothing=resolve_smoothing("dirichlet" if by_default else self.smoothing),
            prior=None if given is None else FixedDistribution(given),
            feature_selection=cast(Any, self.feature_selection),
            given=tuple(cast(Any, tuple(pair)) for pair in latents),
            apart=tuple(self._apart(names)),
        )

    def _apart(self, names: Sequence[Name]) -> list[tuple[int, int]]:
        """Pairs of features that no latent variable may be above."""
        return [
            cast(Any, named_places("forbidden_joins", pair, names, self.encoder_))
            for pair in self.forbidden_joins
        ]

    def _asks_for_em(self, codes: Codes) -> bool:
        """Whether cells are missing and to be filled in; complete rows are counted."""
        if self.estimation == "counting" or self.objective == CONDITIONAL:
            return False
        return any(codes.missing(v).any() for v in range(codes.n_variables - 1))

    def _restore(self, saved: Any) -> None:
        super()._restore(saved)
        if isinstance(self.model_, HierarchicalNaiveBayesModel):
            self._tree = self.model_.tree

    def _leave_one_out(
        self, codes: Codes, domain: Domain, rules: Sequence[Smoothing]
    ) -> LeaveOneOut:
        if self.search == BIC:
            return super()._leave_one_out(codes, domain, rules)
        if codes.n_variables == self._tree.n_features + 1 and self._tree.latents:
            domain = flat_domain(self._tree, domain)
            codes = class_children_codes(self._tree, codes)
        return super()._leave_one_out(codes, domain, rules)

    def _left_out_log_scores(self, left_out: LeaveOneOut) -> NDArray[np.float64] | None:
        # Free latent variables depend on all rows, so no row can be subtracted.
        if self.objective == CONDITIONAL or self.search == BIC:
            return None
        if any(left_out.has_missing):
            return None
        return left_out.log_scores(_class_families(left_out.counts))

    def fit_parameters(
        self, X: RowsLike, y: ColumnLike, sample_weight: NumbersLike | None = None
    ) -> Self:
        """Learn the tables of the fitted structure from other rows.

        The latent variables, their states and how columns are read stay as they are;
        what the former rows counted is left out. Values that those did not contain are
        taken as missing, with a warning.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The rows, with the columns of `fit`.
        y : array-like of shape (n_rows,)
            Class labels, among `classes_`.
        sample_weight : array-like of shape (n_rows,), optional
            Weights >= 0.

        Returns
        -------
        HNBClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            If the estimator is not fitted, or the columns or labels are others.
        """
        fitted = self._hierarchical_model
        sample_weight, _ = self._complete_row_weights(X, sample_weight)
        table = self._training_table(X, y, sample_weight, self.classes_, reset=False)
        class_variable = fitted.domain[-1]
        encoded = self.encoder_.transform(table.parts)
        warn_of(encoded.unknown_cells.values())
        codes = encoded.codes.with_column(
            table.class_codes, class_variable.n_states, table.weights
        )
        self._tree = fitted.tree
        self._tables = self._tables_of(codes)
        self._learn_from(
            self._count(codes),
            class_variable,
            random_generator(self.random_state),
            lambda counts, domain, _: self._filled(fitted.used, counts, domain),
        )
        self._training_codes = codes
        self.temperature_ = fitted_temperature(self, X, y, sample_weight)
        return self

    # ---- latent variables as features

    def transform(self, X: RowsLike) -> NDArray[np.float64]:
        """Posteriors of the latent variables' states, given the features of each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_features)
            The rows; missing cells are summed out.

        Returns
        -------
        ndarray of shape (n_rows, n_latent_states)
            A column per state of each latent variable, as `get_feature_names_out`
            names them: 1 and 0 where the state follows from the features below,
            otherwise its probability. Those of one latent variable sum to 1.

        Raises
        ------
        ImpossibleEvidenceError
            If a row with missing cells has probability zero.
        """
        check_is_fitted(self, "model_")
        codes = self._codes_as_fitted(X)
        posteriors = cast(Any, self.model_).latent_posteriors(codes)
        return np.concatenate([np.empty((codes.n_rows, 0)), *posteriors], axis=1)

    def get_feature_names_out(
        self, input_features: ColumnLike | None = None
    ) -> NDArray[np.object_]:
        """Names of the columns that `transform` returns, such as "L1_2".

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns, checked as scikit-learn does.

        Returns
        -------
        ndarray of shape (n_latent_states,)
            The latent variable and the number of its state.
        """
        check_is_fitted(self, "model_")
        _check_feature_names_in(self, input_features)
        names = [
            f"{name}_{number}"
            for name, n_states in cast(Any, self.model_).latent_sizes
            for number in range(1, n_states + 1)
        ]
        return np.array(names, dtype=object)

    # ---- looking at the result

    @property
    def tree_(self) -> LatentTree:
        """The latent variables with their partitions."""
        return self._hierarchical_model.tree

    @property
    def latents_(self) -> LatentList:
        """Each latent variable: its states as rules, with P(class) and lift.

        Printed, and by ``to_arrow`` or ``to_pandas``, a table of name, children,
        states, their meanings and shares of rows.
        """
        return LatentList(self._hierarchical_model.latent_reports)

    def rules(self) -> str:
        """The latent variables' states as rules over features, for a reader."""
        model = self._hierarchical_model
        return rules_text(model.latent_reports, model.domain[-1])

    def __str__(self) -> str:
        if not hasattr(self, "model_"):
            return super().__str__()
        if isinstance(self.model_, FreeLatentModel):
            return "\n".join(self.model_.remarks) or rules_text(
                (), self.model_.domain[-1]
            )
        return self.rules()

    def is_regular(self) -> bool:
        """Whether no latent variable has more states than its neighbours can tell.

        The definition of Langseth and Nielsen (2006), section 3, for the tree view.
        """
        return self._hierarchical_model.is_regular()

    @property
    def edges_(self) -> list[tuple[str | int, str | int]]:
        """Arcs of the expanded network as (parent, child) names, latents included."""
        return self.network_.edges

    @property
    def _hierarchical_model(self) -> HierarchicalNaiveBayesModel:
        """The fitted model; AttributeError if its latent variables are not rules."""
        check_is_fitted(self, "model_")
        if isinstance(self.model_, FreeLatentModel):
            raise AttributeError(
                "latent variables found by search='bic' have distributions, not rules; "
                "see network_ and transform, or fit with another search"
            )
        return cast(HierarchicalNaiveBayesModel, self.model_)


def given_latents(
    estimator: HNBClassifier,
) -> list[tuple[frozenset[Name], frozenset[Name]]]:
    """The columns below the two nodes that each given latent variable joins.

    TypeError if a parameter is not a list of lists of names; ValueError if a latent
    does not join two nodes, or is over columns that are to stay apart.
    """
    check_name_lists("latents", estimator.latents)
    check_edges("required_joins", estimator.required_joins, "pairs")
    check_edges("forbidden_joins", estimator.forbidden_joins, "pairs")
    for parameter in ("required_joins", "forbidden_joins"):
        for first, second in getattr(estimator, parameter):
            if first == second:
                raise ValueError(
                    f"{parameter} pairs {quoted(first)} with itself; name two columns"
                )
    over: dict[Name, frozenset[Name]] = {}
    latents: list[tuple[frozenset[Name], frozenset[Name]]] = []

    def join(parameter: str, nodes: list[frozenset[Name]]) -> None:
        left, right = nodes
        for pair in estimator.forbidden_joins:
            if set(pair) <= left | right:
                raise ValueError(
                    f"{parameter} puts {name_list(pair)} below one latent variable, "
                    "which forbidden_joins excludes; take the pair out of one of them"
                )
        latents.append((left, right))
        over.update(dict.fromkeys(left | right, left | right))

    for columns in estimator.latents:
        nodes = nodes_above(columns, over)
        for node in nodes:
            if others := node - set(columns):
                shared = next(name for name in columns if name in node)
                omitted = name_list(sorted(others, key=str))
                raise ValueError(
                    f"latents puts {quoted(shared)} below two latent variables, the "
                    f"second without {omitted}; name {omitted} in the second too, or "
                    f"{quoted(shared)} in one alone"
                )
        if len(nodes) != 2:
            raise ValueError(
                f"latents contains {quoted(columns)}, but a latent variable joins two "
                "columns or latent variables named before; name each once and the "
                "inner ones first, as in [['a', 'b'], ['a', 'b', 'c']]"
            )
        join("latents", nodes)
    for pair in estimator.required_joins:
        nodes = nodes_above(pair, over)
        if len(nodes) == 2:
            join("required_joins", nodes)
    return latents


def nodes_above(
    columns: Sequence[Name], over: Mapping[Name, frozenset[Name]]
) -> list[frozenset[Name]]:
    """The distinct class children above some columns, each by all columns below it."""
    return list(dict.fromkeys(over.get(name, frozenset([name])) for name in columns))
