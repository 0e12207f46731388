"""Options that several commands share, and estimators built from them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from bayleaf.wording import near_names, quoted, visible_json

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
# Tables of the others grow with the cube of the number of features.
EVALUATED = tuple(model for model in MODELS if model != "a2de")


@Parameter(name="*")
@dataclass(frozen=True)
class ModelOptions:
    """Settings of a model.

    Parameters
    ----------
    k
        Most feature parents of a feature, or auto (kdb).
    max_k
        Largest k that auto tries (kdb).
    n_features
        How many features of the order to use, or auto (kdb).
    theta
        Leave out arcs with at most this information, in nats (kdb, tan), or auto (kdb).
    n_networks
        Number of networks (auto).
    max_parents
        Most feature parents of a feature (auto), or parents of a variable (network,
        --density).
    calibration
        leave_one_out: one temperature for all probabilities.
    objective
        conditional: tables that make the classes probable, not the rows (nb, tan, kdb,
        hnb).
    pull
        How strongly conditional tables are pulled to the generative ones.
    search
        top_pairs, algorithm3, hill_climbing or significance (hnb).
    pair_score
        expected_kl or mutual_information: how pairs are ranked (hnb).
    wrapper_score
        accuracy, log_loss or accuracy_then_log_loss of held-out rows (hnb).
    n_candidates
        Candidates in each round of the search (hnb).
    score_folds
        Folds held out in turn by the search (hnb), or to choose n_components and to
        calibrate (latent_class).
    significance_level
        Largest p that counts as dependence (hnb with --search significance).
    max_cells
        Pairs with more joint states are not joined (hnb).
    merge_rows
        Deal equal rows as one to the search's folds (hnb), or learn them as one
        (mixture).
    feature_selection
        forward: keep only children of the class that help (hnb).
    estimation
        auto, counting or em: tables from rows with missing cells (hnb).
    n_components
        Components of each class, or auto (latent_class).
    max_components
        Most components that auto tries (latent_class).
    n_mixtures
        Mixtures that are averaged (mixture).
    max_iter
        Most steps from each start (latent_class).
    tol
        Relative change of the objective that ends a climb (latent_class).
    architecture
        Children of the gates of each level, such as 4 or 2-2 (mixture).
    learning
        online or batch (mixture).
    n_passes
        Passes over the rows in online learning (mixture).
    sigma
        How fast experts part in online learning (mixture).
    gamma
        Where counters start in online learning (mixture).
    noise
        How far apart counters start in online learning (mixture).
    missing_denominator
        rows_with_value or all_rows: what shares are of, where cells are missing
        (mixture).
    local_structure
        table or tree: form of the distributions (network, --density).
    abstraction
        given, global, local or local_refreshed: where value hierarchies come from
        (network, --density).
    local_score
        mdl, bic, aic, bdeu or k2: what the search makes large (network, --density).
    hierarchies
        File of value hierarchies (network, --density).
    linkage
        information or hamming: how values are joined (network, --density).
    linkage_arity
        binary or multiway: how many values are joined at a time (network, --density).
    n_restarts
        Searches or starts, the best of which counts (latent_class, network, --density).
    tree_search
        regrowing, incremental or batch (network, --density).
    merge_leaves
        Join leaves of trees that were found (network, --density).
    penalty_weight
        Weight of the model's bits in mdl (network, --density).
    required_edges
        Arc that must be there, such as age->income; may be repeated (network,
        --density).
    forbidden_edges
        Arc that must not be there; may be repeated (network, --density).
    time_limit
        Seconds after which the search stops (network, --density).
    min_count
        Rows a super-parent's value needs (aode).
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
    max_states
        Most distinct values of a nominal column.
    n_jobs
        Threads; -1 means all cores.
    seed
        Seed of everything random.
    """

    k: int | Literal["auto"] | None = None
    max_k: int | None = None
    n_features: int | Literal["auto"] | None = None
    theta: float | Literal["auto"] | None = None
    n_networks: int | None = None
    max_parents: int | None = None
    calibration: str | None = None
    objective: str | None = None
    pull: float | None = None
    search: str | None = None
    pair_score: str | None = None
    wrapper_score: str | None = None
    n_candidates: int | None = None
    score_folds: int | None = None
    significance_level: float | None = None
    max_cells: int | None = None
    merge_rows: bool | None = None
    feature_selection: str | None = None
    estimation: str | None = None
    n_components: int | Literal["auto"] | None = None
    max_components: int | None = None
    n_mixtures: int | None = None
    max_iter: int | None = None
    tol: float | None = None
    architecture: str | None = None
    learning: str | None = None
    n_passes: int | None = None
    sigma: float | None = None
    gamma: float | None = None
    noise: float | None = None
    missing_denominator: str | None = None
    local_structure: str | None = None
    abstraction: str | None = None
    local_score: str | None = None
    hierarchies: str | None = None
    linkage: str | None = None
    linkage_arity: str | None = None
    n_restarts: int | None = None
    tree_search: str | None = None
    merge_leaves: bool | None = None
    penalty_weight: float | None = None
    required_edges: Annotated[tuple[str, ...] | None, Parameter(negative="")] = None
    forbidden_edges: Annotated[tuple[str, ...] | None, Parameter(negative="")] = None
    time_limit: float | None = None
    min_count: int | None = None
    alpha: float | None = None
    smoothing: str | None = None
    discretizer: str | None = None
    missing: str | None = None
    unknown: str | None = None
    categorical: Annotated[tuple[str, ...] | None, Parameter(negative="")] = None
    max_states: int | None = None
    n_jobs: int | None = None
    seed: int = 0

    def build(self, model: str, *, shared_only: bool = False) -> Any:
        """The estimator of a model name with these settings.

        Parameters
        ----------
        model : str
            One of the names that `MODELS` lists.
        shared_only : bool, default=False
            Leave out settings that this model lacks instead of refusing them, as
            when several models are compared.
        """
        from bayleaf.classifiers import CLASSIFIERS

        if model not in CLASSIFIERS:
            hint = near_names(model, CLASSIFIERS)
            raise ValueError(
                f"--model must be one of {', '.join(CLASSIFIERS)}, got "
                f"{quoted(model)}; {hint}"
            )
        return self._built(CLASSIFIERS[model], f"the {model} model", shared_only)

    def build_all(self, models: Sequence[str]) -> dict[str, Any]:
        """The estimators of model names, each with the settings that it has.

        Raises
        ------
        ValueError
            If a name is unknown, or none of the models has a setting that was given.
        """
        built = {name: self.build(name, shared_only=len(models) > 1) for name in models}
        for setting, value in self._values().items():
            having = _having(setting)
            if value is not None and not set(having) & set(models):
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

        values = {f.name: getattr(self, f.name) for f in fields(self)}
        if values.pop("alpha") is not None:
            if self.smoothing is not None:
                raise ValueError("give --alpha or --smoothing, not both")
            values["smoothing"] = Lidstone(float(self.alpha or 0.0))
        if self.architecture is not None:
            values["architecture"] = _architecture(self.architecture)
        for name in ("required_edges", "forbidden_edges"):
            texts = values[name]
            values[name] = [_edge(name, text) for text in texts] if texts else None
        declared = values.pop("categorical")
        values["categorical_features"] = list(declared) if declared else None
        values["random_state"] = values.pop("seed")
        return values


def _having(name: str) -> list[str]:
    """What has a setting, by the names that the command line uses."""
    from bayleaf.classifiers import CLASSIFIERS
    from bayleaf.density.bayesian_network_estimator import BayesianNetworkEstimator

    kinds: dict[str, Any] = {**CLASSIFIERS, "--density": BayesianNetworkEstimator}
    return [
        known
        for known, kind in kinds.items()
        if name in inspect.signature(kind).parameters
    ]


def _edge(option: str, text: str) -> tuple[str, str]:
    """An arc from text such as age->income."""
    parent, arrow, child = text.partition("->")
    if not (arrow and parent.strip() and child.strip()):
        raise ValueError(
            f"--{option.replace('_', '-')} should have the form parent->child, got "
            f"{quoted(text)}"
        )
    return parent.strip(), child.strip()


def _architecture(text: str) -> tuple[int, ...] | str:
    """An architecture from text such as 2-2; a lone word is left to the estimator."""
    widths = text.split("-")
    if not any(character.isdigit() for character in text):
        return text
    if not all(width.isascii() and width.isdigit() for width in widths):
        raise ValueError(
            "--architecture must be numbers of children joined by hyphens, such as "
            f"2-2, got {quoted(text)}"
        )
    return tuple(map(int, widths))


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    import json

    text = json.dumps(value, indent=2, ensure_ascii=False, default=_plain)
    print(visible_json(text))


def _plain(value: Any) -> Any:
    """A NumPy scalar as a plain value; anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)
