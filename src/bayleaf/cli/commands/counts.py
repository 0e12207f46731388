"""``bayleaf counts``: counts of a table in a file, added up and taken out again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayleaf.cli.display import print_json, progress, report_written
from bayleaf.cli.options import (
    USUAL_FORMAT,
    Flag,
    FormatOptions,
    Output,
    Strings,
    Weight,
)

COUNTS = ".counts"


def counts(
    *data: str,
    like: Path | None = None,
    minus: Strings = (),
    scale: float | None = None,
    weight: Weight = None,
    output: Output,
    form: FormatOptions = USUAL_FORMAT,
    json: Flag = False,
) -> int:
    """Count tables as a model reads them, or add up what was counted.

    A file of counts holds no rows. Models of the counted rows are fitted to it, as by
    `bayleaf fit all.counts --model tan -o model.json`.

    Example: `bayleaf counts day.parquet --like model.json -o day.counts`

    Parameters
    ----------
    data
        Tables (CSV or Parquet files, folders, globs), and files that end in .counts;
        all are added up.
    like
        Model file whose columns, cut points and families are counted; needed for
        tables.
    minus
        Table or file of counts that is taken out again; may be repeated.
    scale
        What the sum is multiplied by in the end, such as 0.99, so that later rows
        weigh more.
    output
        File to write; its name ends in .counts.
    json
        Print what was counted as JSON.
    """
    from bayleaf.io.atomic import check_writable
    from bayleaf.io.native.count_store import CountFile

    check_writable(output)
    if output.suffix.lower() != COUNTS:
        raise ValueError(f"the name of a file of counts ends in {COUNTS}, got {output}")
    if not data:
        raise ValueError("name a table or a file of counts")

    def read(name: str) -> CountFile:
        """Counts of a table, or from a file of them."""
        if name.lower().endswith(COUNTS):
            return CountFile.open(name)
        if like is None:
            raise ValueError(f"--like must name a model by which {name} is counted")
        from bayleaf.classifiers.shared import from_counts
        from bayleaf.classifiers.shared.incremental import families_of
        from bayleaf.cli.table_reading import (
            EmptyTargets,
            UnknownReport,
            batches_of,
            with_line,
        )
        from bayleaf.data.column_reading import CellError
        from bayleaf.loading import load_estimator

        classifier: Any = load_estimator(like, "classifier")
        reading = from_counts.reading_of(classifier)
        report, plan = UnknownReport(name), reading.encoder.rules.plan
        empty = EmptyTargets(str(classifier.model_.domain[-1].name))
        try:
            counted = from_counts.count_batches(
                batches_of(name, form, as_texts=True, plan=plan, empty=empty),
                reading,
                families_of(classifier.model_),
                weight,
                report.add,
            )
        except CellError as error:
            raise with_line(error, error.row + 1) from error
        report.show()
        empty.report()
        return counted

    with progress() as work:
        total: Any = None
        for name in data:
            work.say(f"counting {name}")
            part = read(name)
            total = part if total is None else total + part
        for name in minus:
            work.say(f"taking out {name}")
            total = total - read(name)
        if scale is not None:
            total = total * scale
        total.save(output)
    if json:
        print_json({"weight": total.weight, "cards": list(total.tables.cards)})
    else:
        print(repr(total))
        report_written(output)
    return 0
