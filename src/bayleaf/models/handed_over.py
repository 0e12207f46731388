"""What can be done with a network by packages that stand after models."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Self, cast

from bayleaf.hand_over import hand_over, hand_over_structure

Name = str | int


class HandedOver:
    """Methods of a network whose work is done elsewhere; see `bayleaf.hand_over`."""

    def save(self, path: str | Path) -> None:
        """Write the network to a file, in the format that the suffix names.

        Parameters
        ----------
        path : path
            ``.json`` for the library's own format, which keeps everything; ``.bif``,
            ``.net``, ``.xdsl`` and others as `bayleaf.write_network` lists them.

        Raises
        ------
        ValueError
            If no format has that suffix, or the format cannot hold the network.
        OSError
            If the file cannot be written; an older file is then left as it was.
        """
        hand_over("save", self, path)

    @classmethod
    def from_pgmpy(cls, model: Any) -> Self:
        """Make a network from a ``pgmpy.models.DiscreteBayesianNetwork``.

        Raises
        ------
        ImportError
            If pgmpy is not installed.
        TypeError
            If it is no such model.
        ValueError
            If a node has no table, or tables do not fit each other; the node is named.
        """
        return cast("Self", hand_over("from_pgmpy", model))

    @classmethod
    def from_pyagrum(cls, model: Any) -> Self:
        """Make a network from a ``pyagrum.BayesNet``.

        Raises
        ------
        ImportError
            If pyAgrum is not installed.
        TypeError
            If it is no such network.
        ValueError
            If a table holds no distributions; the variable is named.
        """
        return cast("Self", hand_over("from_pyagrum", model))

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """Make a network from a ``networkx.DiGraph``.

        Its nodes have the attributes that `to_networkx` gives.

        Raises
        ------
        ImportError
            If networkx is not installed.
        TypeError, ValueError
            If it is no such graph, or a node lacks what is needed; the node is named.
        """
        return cast("Self", hand_over("from_networkx", graph))

    def to_pgmpy(self) -> Any:
        """Make a ``pgmpy.models.DiscreteBayesianNetwork`` of the same names and states.

        Raises
        ------
        ImportError
            If pgmpy is not installed.
        ValueError
            If a full table would be too large; the variable is named.
        """
        return hand_over("to_pgmpy", self)

    def to_pyagrum(self) -> Any:
        """Make a ``pyagrum.BayesNet``, with names and states as text.

        Raises
        ------
        ImportError
            If pyAgrum is not installed.
        ValueError
            If a full table would be too large, or two names are the same text.
        """
        return hand_over("to_pyagrum", self)

    def to_networkx(self) -> Any:
        """Make a ``networkx.DiGraph`` whose nodes hold states, parents and tables.

        Raises
        ------
        ImportError
            If networkx is not installed.
        ValueError
            If a full table would be too large; the variable is named.
        """
        return hand_over("to_networkx", self)

    def fit(
        self,
        table: Any,
        *,
        learn: Name | Collection[Name] | None = None,
        keep: Name | Collection[Name] = (),
        smoothing: Any = "laplace",
        missing: str = "marginalize",
        unknown: str = "error",
        sample_weight: Any = None,
        prior: Self | None = None,
        strength: float | Mapping[Name, float] | None = None,
        latent: Name | Collection[Name] | Mapping[Name, Any] = (),
        n_restarts: int = 1,
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> Self:
        """Learn the tables anew from rows; graph, states and cut points stay.

        Parameters
        ----------
        table : data frame, mapping of name to column, array, list of rows, or Codes
            The rows.
        learn : name or collection of names, optional
            The variables whose tables are learned; all by default.
        keep : name or collection of names, optional
            The variables whose tables stay, where `learn` is not given.
        smoothing, missing, unknown, sample_weight, prior, strength, latent
            As for `NetworkStructure.fit`.
        n_restarts, tol, max_iter, random_state, n_jobs
            As for `NetworkStructure.fit`. Expectation maximisation starts from the
            network's own tables.

        Returns
        -------
        BayesianNetwork
            Its learned tables carry their experience, and `notes` say what a reader
            should know of the fit.

        Raises
        ------
        ValueError, TypeError
            If a parameter, a column or a value cannot be used; the sentence names it.

        Notes
        -----
        Trees and grouped tables keep their form, and their distributions are learned;
        value maps stay as they are.
        """
        network: Self = hand_over(
            "fit",
            self,
            table,
            learn=learn,
            keep=keep,
            smoothing=smoothing,
            missing=missing,
            unknown=unknown,
            sample_weight=sample_weight,
            prior=prior,
            strength=strength,
            latent=latent,
            n_restarts=n_restarts,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        return network


class HandedOverStructure:
    """Methods of a structure without tables whose work is done elsewhere."""

    def fit(
        self,
        table: Any,
        *,
        states: Mapping[Name, Any] | None = None,
        discretizer: Any = "equal_frequency",
        categorical_features: Collection[Name] | None = None,
        smoothing: Any = "laplace",
        missing: str = "marginalize",
        unknown: str = "error",
        sample_weight: Any = None,
        prior: Any = None,
        strength: float | Mapping[Name, float] | None = None,
        latent: Name | Collection[Name] | Mapping[Name, Any] = (),
        n_restarts: int = 1,
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> Any:
        """Learn states and tables from rows.

        Parameters
        ----------
        table : data frame, mapping of name to column, array, list of rows, or Codes
            Columns are found by name; others are ignored, with a note. Columns of
            arrays and lists of rows are the variables in order.
        states : mapping of name to states or Variable, or Domain, optional
            States and cut points that are given; all others are found out.
        discretizer : str or discretiser, default="equal_frequency"
            Finds the cut points of numeric columns.
        categorical_features : collection of names, optional
            Columns of numbers that are nominal; all others are then numeric. By
            default whole numbers of at most ten distinct values are nominal.
        smoothing : str or Smoothing, default="laplace"
            From counts to probabilities. Expectation maximisation takes "laplace",
            `Lidstone`, "dirichlet", `Dirichlet` and "maximum_likelihood".
        missing : {"marginalize", "em", "state", "error"}, default="marginalize"
            Each family is counted in the rows that hold all of it; missing cells are
            summed out by expectation maximisation; they are a state of their own; or
            they are refused.
        unknown : {"error", "missing"}, default="error"
            Whether a value that is none of a variable's given states is refused, or
            taken as missing.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row.
        prior : BayesianNetwork, optional
            An expert's network over the same parents. Its states are kept, and its
            tables count as rows seen before; its variables are not smoothed.
        strength : float, or mapping of name to float, optional
            How many rows each distribution of `prior` is worth: cells get
            ``strength * P`` rows. By default its experience counts.
        latent : mapping of name to states or to their number, or names, optional
            Variables without a column, with ``missing="em"`` only. Names alone serve
            where the states are given. Their tables start from random ones.
        n_restarts : int, default=1
            Starts of expectation maximisation, of which the best end is kept.
        tol, max_iter : float and int, default=1e-4 and 200
            When expectation maximisation ends, see `learn_parameters`.
        random_state : int, RandomState, Generator or None, default=None
            Source of random starts.
        n_jobs : int, optional
            Threads; the result does not depend on it.

        Returns
        -------
        BayesianNetwork
            Its tables carry their experience, and `notes` say what a reader should
            know of the fit.

        Raises
        ------
        ValueError, TypeError
            If a parameter, a column or a value cannot be used, or a variable has no
            column; the sentence names it.

        Examples
        --------
        >>> from bayleaf import BayesianNetwork
        >>> table = {"rain": ["yes", "no", "no"], "wet": ["yes", "yes", "no"]}
        >>> network = BayesianNetwork.from_edges([("rain", "wet")]).fit(table)
        >>> print(network.describe("wet"))
        P(wet | rain)
          rain |     no     yes
          no   |   0.50    0.50
          yes  | 0.3333  0.6667
        """
        return hand_over_structure(
            "fit",
            self,
            table,
            states=states,
            discretizer=discretizer,
            categorical_features=categorical_features,
            smoothing=smoothing,
            missing=missing,
            unknown=unknown,
            sample_weight=sample_weight,
            prior=prior,
            strength=strength,
            latent=latent,
            n_restarts=n_restarts,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def to_networkx(self) -> Any:
        """Make a networkx.DiGraph of names and arcs.

        Raises
        ------
        ImportError
            If networkx is not installed.
        """
        return hand_over_structure("to_networkx", self)
