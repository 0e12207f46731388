"""Options that several commands share, and estimators built from them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token

from bayleaf.cli.settings import (
    NETWORK,
    architecture_from,
    beliefs_from,
    directions_from,
    edge_from,
    orders_from,
    settings_of,
    tiers_from,
)
from bayleaf.wording import near_names, quoted

# A file's name, or a lone hyphen for a standard stream.
Source = Annotated[str, Parameter(allow_leading_hyphen=True)]
Strings = Annotated[tuple[str, ...], Parameter(negative="")]

MODELS = (
    "nb",
    "tan",
    "kdb",
    "hnb",
    "aode",
    "a2de",
    "auto",
    "mixture",
    "latent_class",
    "network",
)
# Models in which features are parents of features.
WITH_ARCS = ("tan", "kdb", "auto", "aode", "a2de", NETWORK)
# The model of a numeric target.
REGRESSOR = "regressor"
# Tables of the others grow with the cube of the number of features.
EVALUATED = tuple(model for model in MODELS if model != "a2de")


def whole_number(kind: type, tokens: Sequence[Token]) -> int:
    """A whole number; without this, what follows a decimal point is dropped."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{quoted(text)} is no whole number") from None


@Parameter(name="*")
@dataclass(frozen=True)
class ModelOptions:
    """Settings of a model.

    Parameters
    ----------
    k
        Most feature parents of a feature, or auto.
    max_k
        Largest k that auto tries.
    n_features
        How many features of the order to use, or auto.
    theta
        Leave out arcs with at most this information, in nats, or auto (kdb).
    n_intervals
        Most intervals of a numeric target (regressor).
    n_networks
        Number of networks.
    max_model_size
        Memory that all networks may take, such as 50MB; 134 MB by default.
    max_parents
        Most feature parents of a feature (auto), or parents of a variable (network,
        --density).
    calibration
        leave_one_out: one temperature for all probabilities.
    objective
        conditional: tables that make the classes probable, not the rows.
    pull
        How strongly conditional tables are pulled to the generative ones.
    numeric
        discretize or gaussian: whether numbers are cut, or follow regressions.
    numeric_weights
        leave_one_out: weigh what numbers say, with --numeric gaussian.
    search
        top_pairs, algorithm3, hill_climbing or significance.
    pair_score
        expected_kl or mutual_information: how pairs are ranked.
    wrapper_score
        accuracy, log_loss or accuracy_then_log_loss of held-out rows.
    n_candidates
        Candidates in each round of the search.
    score_folds
        Folds held out in turn by the search (hnb), or to choose n_components and to
        calibrate (latent_class).
    significance_level
        Largest p that counts as dependence (hnb with --search significance).
    max_cells
        Pairs with more joint states are not joined.
    merge_rows
        Deal equal rows as one to the search's folds (hnb), or learn them as one
        (mixture).
    feature_selection
        forward: keep only children of the class that help.
    estimation
        auto, counting or em: tables from rows with missing cells.
    n_components
        Components of each class, or auto.
    max_components
        Most components that auto tries.
    n_mixtures
        Mixtures that are averaged.
    max_iter
        Most steps from each start.
    tol
        Gain in nats per row, and squared change of a probability, that ends the steps.
    architecture
        Children of the gates of each level, such as 4 or 2-2.
    learning
        online or batch.
    n_passes
        Passes over the rows in online learning.
    sigma
        How fast experts part in online learning.
    gamma
        Where counters start in online learning.
    noise
        How far apart counters start in online learning.
    missing_denominator
        rows_with_value or all_rows: what shares are of, where cells are missing.
    local_structure
        table or tree: form of the distributions.
    abstraction
        given, global, local or local_refreshed: where value hierarchies come from.
    local_score
        mdl, bic, aic, bdeu or k2: what the search makes large.
    hierarchies
        File of value hierarchies.
    linkage
        information or hamming: how values are joined.
    linkage_arity
        binary or multiway: how many values are joined at a time.
    n_restarts
        Searches or starts, the best of which counts.
    tree_search
        regrowing, incremental or batch.
    merge_leaves
        Join leaves of trees that were found.
    penalty_weight
        Weight of the model's bits in mdl.
    required_edges
        Arc that must be there, such as age->income; may be repeated.
    forbidden_edges
        Arc that must not be there; may be repeated.
    tiers
        Columns from the earliest to the latest, such as age,sex;smoking, or a file with
        a line for each tier, or a JSON list of lists. No arc leads to an earlier tier.
    arc_prior
        How probable an arc is thought to be, such as age->income=0.9; may be repeated.
    monotone
        Columns along which the second class gains or loses, such as age=+,income=-.
    time_limit
        Seconds after which the search stops.
    min_count
        Rows a super-parent's value needs.
    alpha
        Pseudo-count added to each cell, in place of --smoothing.
    smoothing
        laplace, dirichlet, m_estimate, backoff, maximum_likelihood or auto.
    discretizer
        mdlp, standard_deviation, equal_frequency or equal_width.
    missing
        marginalize, state or error.
    unknown
        missing or error: what becomes of values not seen in training.
    categorical
        Columns of numbers that are nominal; others are then numeric.
    ordered
        Column of ordered categories, such as size or size=S<M<L; may be repeated.
    weight_scale
        counts or mean_one: whether weights count rows, or are brought to a mean of one.
    max_states
        Most distinct values of a nominal column.
    rare
        group or error: what becomes of the rarest values beyond --max-states.
    identifiers
        drop, keep or error: what becomes of columns of which nearly every value is
        another one.
    dates
        expand or error: what becomes of dates and durations.
    n_jobs
        Threads; -1 means all cores.
    seed
        Seed of everything random.
    """

    k: Annotated[int | Literal["auto"] | None, settings_of("kdb")] = None
    max_k: Annotated[int | None, settings_of("kdb")] = None
    n_features: Annotated[int | Literal["auto"] | None, settings_of("kdb")] = None
    theta: Annotated[float | Literal["auto"] | None, settings_of("tan", "kdb")] = None
    n_intervals: Annotated[int | None, settings_of(REGRESSOR)] = None
    n_networks: Annotated[int | None, settings_of("auto", REGRESSOR)] = None
    max_model_size: Annotated[str | None, settings_of("auto")] = None
    max_parents: Annotated[int | None, settings_of("auto", REGRESSOR, NETWORK)] = None
    calibration: Annotated[str | None, settings_of()] = None
    objective: Annotated[str | None, settings_of("nb", "tan", "kdb", "hnb")] = None
    pull: Annotated[float | None, settings_of("nb", "tan", "kdb", "hnb")] = None
    numeric: Annotated[str | None, settings_of("nb", "tan", "kdb")] = None
    numeric_weights: Annotated[str | None, settings_of("nb", "tan", "kdb")] = None
    search: Annotated[str | None, settings_of("hnb")] = None
    pair_score: Annotated[str | None, settings_of("hnb")] = None
    wrapper_score: Annotated[str | None, settings_of("hnb")] = None
    n_candidates: Annotated[int | None, settings_of("hnb")] = None
    score_folds: Annotated[int | None, settings_of("hnb", "latent_class")] = None
    significance_level: Annotated[float | None, settings_of("hnb")] = None
    max_cells: Annotated[int | None, settings_of("hnb")] = None
    merge_rows: Annotated[bool | None, settings_of("hnb", "mixture")] = None
    feature_selection: Annotated[str | None, settings_of("hnb")] = None
    estimation: Annotated[str | None, settings_of("hnb")] = None
    n_components: Annotated[
        int | Literal["auto"] | None, settings_of("latent_class")
    ] = None
    max_components: Annotated[int | None, settings_of("latent_class")] = None
    n_mixtures: Annotated[int | None, settings_of("mixture")] = None
    max_iter: Annotated[int | None, settings_of("latent_class")] = None
    tol: Annotated[float | None, settings_of("latent_class")] = None
    architecture: Annotated[str | None, settings_of("mixture")] = None
    learning: Annotated[str | None, settings_of("mixture")] = None
    n_passes: Annotated[int | None, settings_of("mixture")] = None
    sigma: Annotated[float | None, settings_of("mixture")] = None
    gamma: Annotated[float | None, settings_of("mixture")] = None
    noise: Annotated[float | None, settings_of("mixture")] = None
    missing_denominator: Annotated[str | None, settings_of("mixture")] = None
    local_structure: Annotated[str | None, settings_of(NETWORK)] = None
    abstraction: Annotated[str | None, settings_of(NETWORK)] = None
    local_score: Annotated[str | None, settings_of(NETWORK)] = None
    hierarchies: Annotated[str | None, settings_of(NETWORK)] = None
    linkage: Annotated[str | None, settings_of(NETWORK)] = None
    linkage_arity: Annotated[str | None, settings_of(NETWORK)] = None
    n_restarts: Annotated[int | None, settings_of("latent_class", NETWORK)] = None
    tree_search: Annotated[str | None, settings_of(NETWORK)] = None
    merge_leaves: Annotated[bool | None, settings_of(NETWORK)] = None
    penalty_weight: Annotated[float | None, settings_of(NETWORK)] = None
    required_edges: Annotated[
        tuple[str, ...] | None,
        settings_of("tan", "kdb", "auto", NETWORK),
        Parameter(negative=""),
    ] = None
    forbidden_edges: Annotated[
        tuple[str, ...] | None, settings_of(*WITH_ARCS), Parameter(negative="")
    ] = None
    tiers: Annotated[str | None, settings_of(*WITH_ARCS)] = None
    arc_prior: Annotated[
        tuple[str, ...] | None, settings_of(NETWORK), Parameter(negative="")
    ] = None
    monotone: Annotated[str | None, settings_of("nb", *WITH_ARCS[:-1])] = None
    time_limit: Annotated[float | None, settings_of(NETWORK)] = None
    min_count: Annotated[int | None, settings_of("aode")] = None
    alpha: Annotated[float | None, settings_of()] = None
    smoothing: Annotated[str | None, settings_of()] = None
    discretizer: Annotated[str | None, settings_of()] = None
    missing: Annotated[str | None, settings_of()] = None
    unknown: Annotated[str | None, settings_of()] = None
    categorical: Annotated[
        tuple[str, ...] | None, settings_of(), Parameter(negative="")
    ] = None
    ordered: Annotated[
        tuple[str, ...] | None, settings_of(), Parameter(negative="")
    ] = None
    weight_scale: Annotated[str | None, settings_of()] = None
    max_states: Annotated[int | None, settings_of()] = None
    rare: Annotated[str | None, settings_of()] = None
    identifiers: Annotated[str | None, settings_of()] = None
    dates: Annotated[str | None, settings_of()] = None
    n_jobs: Annotated[int | None, settings_of()] = None
    seed: Annotated[int, settings_of()] = 0

    def build(self, model: str, *, shared_only: bool = False) -> Any:
        """The estimator of a name in `MODELS` with these settings.

        `shared_only` leaves out settings that this model lacks instead of refusing
        them, as when several models are compared.
        """
        from bayleaf.classifiers import CLASSIFIERS

        if model == REGRESSOR:
            return self.build_regressor()
        if model not in CLASSIFIERS:
            known = [*CLASSIFIERS, REGRESSOR]
            raise ValueError(
                f"--model must be one of {', '.join(known)}, got "
                f"{quoted(model)}; {near_names(model, known)}"
            )
        return self._built(CLASSIFIERS[model], f"the {model} model", shared_only)

    def build_regressor(self) -> Any:
        """The estimator of a numeric target with these settings."""
        from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor

        return self._built(AveragedKDBRegressor, "the regressor", shared_only=False)

    def build_all(self, models: Sequence[str]) -> dict[str, Any]:
        """The estimators of model names, each with the settings that it has.

        ValueError if a name is unknown, or none of the models has a given setting.
        """
        built = {name: self.build(name, shared_only=len(models) > 1) for name in models}
        for setting, value in self._values().items():
            if value is None:
                continue
            having = _having(setting)
            if not set(having) & set(models):
                raise ValueError(
                    f"--{setting.replace('_', '-')} is no setting of "
                    f"{', '.join(models)}; it belongs to {', '.join(having)}"
                )
        return built

    def build_density(self) -> Any:
        """The density estimator with these settings."""
        from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator

        return self._built(BayesianNetworkEstimator, "--density", shared_only=False)

    def _built(self, kind: Any, what: str, shared_only: bool) -> Any:
        """An estimator of a kind, once all settings are its own."""
        known = inspect.signature(kind).parameters
        chosen = {}
        for name, value in self._values().items():
            if value is None:
                continue
            if name in known:
                chosen[name] = value
            elif not shared_only:
                raise ValueError(
                    f"--{name.replace('_', '-')} is no setting of {what}; "
                    f"it belongs to {', '.join(_having(name))}"
                )
        return kind(**chosen)

    def _values(self) -> dict[str, Any]:
        """Settings by the names of estimators' parameters; None where not given."""
        from bayleaf.cpds.smoothing import Lidstone
        from bayleaf.data.memory import size_in_bytes

        values = {f.name: getattr(self, f.name) for f in fields(self)}
        if self.max_model_size is not None:
            size = size_in_bytes(self.max_model_size, "--max-model-size")
            values["max_model_size"] = size
        if values.pop("alpha") is not None:
            if self.smoothing is not None:
                raise ValueError("give --alpha or --smoothing, not both")
            values["smoothing"] = Lidstone(float(self.alpha or 0.0))
        if self.architecture is not None:
            values["architecture"] = architecture_from(self.architecture)
        for name in ("required_edges", "forbidden_edges"):
            texts = values[name]
            values[name] = [edge_from(name, text) for text in texts] if texts else None
        values["tiers"] = tiers_from(self.tiers)
        values["arc_prior"] = beliefs_from(self.arc_prior)
        values["monotone"] = directions_from(self.monotone)
        declared = values.pop("categorical")
        values["categorical_features"] = list(declared) if declared else None
        values["ordered_features"] = orders_from(values.pop("ordered"))
        values["random_state"] = values.pop("seed")
        return values


def _having(name: str) -> list[str]:
    """What has a setting, by the names that the command line uses."""
    from bayleaf.classifiers import CLASSIFIERS
    from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator
    from bayleaf.regression.averaged_kdb_regressor import AveragedKDBRegressor

    kinds: dict[str, Any] = {**CLASSIFIERS, REGRESSOR: AveragedKDBRegressor}
    kinds["--density"] = BayesianNetworkEstimator
    return [
        known
        for known, kind in kinds.items()
        if name in inspect.signature(kind).parameters
    ]
