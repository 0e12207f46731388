"""What a network offers to whoever has tables with missing cells."""

from __future__ import annotations

from typing import Any

from bayleaf.inference.completion.tables import (
    Filling,
    How,
    Impossible,
    filled_tables,
    read_table,
)
from bayleaf.inference.parts import NetworkTrees
from bayleaf.inference.rows import Unknown


class Imputation:
    """Fills in missing cells; see `impute`."""

    _trees: NetworkTrees

    def impute(
        self,
        table: Any,
        how: How = "most_probable",
        *,
        n_imputations: int | None = None,
        random_state: Any = None,
        unknown: Unknown = "error",
        impossible: Impossible = "error",
        add_columns: bool = False,
        n_jobs: int | None = None,
    ) -> Any:
        """Fill in the missing cells of a table, given what each row holds.

        The table comes back as the kind of table that it is, with its columns in their
        order, its types and its names of rows. Cells that hold something are not
        touched, nor are columns that are no variables.

        Parameters
        ----------
        table : data frame, mapping from name to column, array or list of rows
            Of pandas, polars, Arrow or NumPy. Columns are found by name, in any order;
            arrays and lists of rows have all variables in order.
        how : {"most_probable", "marginal", "mean", "sample"}, default="most_probable"
            The most probable completion of the row as a whole; each cell's own most
            probable state; the same, but for numbers their expected value; or a
            draw from the joint posterior of the row's missing cells.
        n_imputations : int, optional
            With ``how="sample"``: draw so many tables, independently, for multiple
            imputation.
        random_state : None, int, Generator or RandomState
            Seed; the same one gives the same cells, whatever `n_jobs`. A generator
            moves on, so that a table imputed part by part is the same, too.
        unknown : {"error", "missing"}, default="error"
            Whether a value that is no state is refused, or says nothing about its row;
            it is kept.
        impossible : {"error", "missing"}, default="error"
            Whether a row of probability zero is refused, or left as it is.
        add_columns : bool, default=False
            Whether variables that the table lacks are added as columns at the end.
        n_jobs : int, optional
            Number of threads, in scikit-learn's meaning.

        Returns
        -------
        table, or list of tables if `n_imputations` is given
            Copies.

        Raises
        ------
        ImpossibleEvidenceError
            If a row with missing cells has probability zero, naming the first.
        ValueError
            If no column is a variable, a value is no state, the numbers inside
            intervals are not known, or missing is a state of its own.
        TypeError
            If a column's type has no place for what is filled in.

        Notes
        -----
        An interval becomes a number: the mean of the training numbers in it, or one
        drawn from their quantiles. With ``how="most_probable"``, variables that the
        table lacks are summed out if none of its columns descends from them; others
        take their most probable states together with the row's cells.
        References: Dawid (1992), "Applications of a general propagation algorithm for
        probabilistic expert systems"; Rubin (1987), "Multiple imputation for
        nonresponse in surveys".

        Examples
        --------
        >>> from bayleaf import BayesianNetwork
        >>> network = BayesianNetwork.from_tables(
        ...     states={"rain": ["no", "yes"], "wet": ["no", "yes"]},
        ...     parents={"wet": ["rain"]},
        ...     tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.05, 0.95]]},
        ... )
        >>> network.impute({"rain": [None, "no"], "wet": ["yes", None]})
        {'rain': ['yes', 'no'], 'wet': ['yes', 'no']}
        """
        filling = Filling(how, n_imputations, random_state, impossible, n_jobs)
        read = read_table(self._trees, table, unknown, add_columns=add_columns)
        tables = filled_tables(self._trees, table, read, filling)
        return tables[0] if n_imputations is None else tables
