"""``bayleaf sample``: made-up rows from a network."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from bayleaf.cli.options import Flag, Strings, TableOutput, WholeNumber, whole_number


def sample(
    model: Path,
    *,
    rows: Annotated[
        int, Parameter(name=["--rows", "-n"], converter=whole_number)
    ] = 1000,
    given: Strings = (),
    likelihood: Strings = (),
    numbers: Flag = False,
    seed: WholeNumber = 0,
    output: TableOutput = "-",
    safe_csv: bool = True,
) -> int:
    """Draw rows from a network, all of them in keeping with the evidence.

    Example: `bayleaf sample model.json -n 1000 --given smoker=yes -o rows.csv`

    Parameters
    ----------
    model
        Network file (json, bif, net, xdsl, xml) or model file of a classifier.
    rows
        How many.
    given
        Evidence: name=state, name=a|b for one of several, name=!a for a state ruled
        out, name=30..50, name<=50 or name>30 for bounds; may be repeated.
    likelihood
        Uncertain evidence: name=a:0.8,b:0.2; may be repeated.
    numbers
        Draw numbers, as training rows had them, in the place of intervals.
    seed
        Seed of the draws.
    output
        CSV or Parquet file to write; - for CSV on standard output.
    safe_csv
        Whether CSV has an apostrophe before a name or state that a spreadsheet would
        take for a formula, such as =1+1.
    """
    from bayleaf.cli.network_options import evidence_from
    from bayleaf.cli.table_writing import writing
    from bayleaf.io import read_network

    network = read_network(model)
    evidence = evidence_from(network, given, likelihood)
    names = [str(name) for name in network.domain.names]
    with writing(output, names if safe_csv else []) as write:
        table = network.sample(rows, evidence, random_state=seed, numbers=numbers)
        for batch in table.to_batches():
            write(batch)
    return 0
