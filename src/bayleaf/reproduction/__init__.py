"""The papers' tables run again: one protocol file a paper, and what they share.

A protocol is a module of this package, named in `protocols.PAPERS`, that offers what
`protocols.Protocol` says:

`PAPER`
    A `Paper`: key, title, citation, and how its figures are shown.
`cells() -> list[Cell]`
    Every cell of the full run, in the order of the CSV file. A `Cell` has named values
    (``Cell.of(["iris"], quick=seed < 2, set="iris", model="NB", seed=seed)``), the
    tables it reads, and whether `--quick` runs it too. What `--quick` runs is a part of
    the full run, so that the one goes on where the other stopped.
`run(cell, sources) -> dict[str, float]`
    The figures of one cell: plain floats by name, the same on every run. It is called
    in a process of its own, with one thread for linear algebra; tables come from
    `sources.table(name)`, a pyarrow table of text whose last column is ``class`` and in
    which an empty text is a missing value (`sources.numbers` reads a column of them).
    A table that is not there is never asked for: its cells are left to `missing`.
`comparisons(results) -> list[Comparison]`
    One `Comparison` for every printed figure: its labels, the figure and standard
    deviation that the paper prints, ours over seeds, or the reason why there is none.
    Its `verdict` follows. `results.figures("accuracy", set="iris", model="NB")` are the
    finished figures of the cells with these values, in the order of `cells()`.

The papers' printed tables are ``tables/*.csv``, read by `paper_tables.read_printed`;
``tables/sources.csv`` says where each data table comes from.
"""
