"""``bayleaf drift``: whether a table follows a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayleaf.cli.display import draw, progress, show
from bayleaf.cli.options import USUAL_FORMAT, Flag, FormatOptions, Weight

if TYPE_CHECKING:
    import pyarrow as pa


def drift(
    model: Path,
    data: str,
    *,
    weight: Weight = None,
    picture: Path | None = None,
    seed: int = 0,
    form: FormatOptions = USUAL_FORMAT,
    json: Flag = False,
) -> int:
    """Compare the rows of a table with a model of other rows.

    For each variable, and each given its parents: G², its p-value on the premise that
    rows follow the model, and what the difference takes in bits a row. Only counts of
    the table are taken.

    Example: `bayleaf drift model.json today.parquet`

    Parameters
    ----------
    model
        Model file of one network: naive Bayes, TAN, KDB, HNB or a density model.
    data
        CSV or Parquet file, folder or glob.
    picture
        PNG, SVG or PDF file to draw it into.
    seed
        Of the draws by which p-values of small tables are found.
    json
        Print all figures as JSON.
    """
    from bayleaf.cli.table_reading import UnknownReport, batches_of, encode_batch
    from bayleaf.explain.drift import drift as compared
    from bayleaf.io.atomic import check_writable
    from bayleaf.loading import load_estimator

    if picture is not None:
        check_writable(picture)
    fitted: Any = load_estimator(model)
    report = UnknownReport(data)

    def encode(batch: pa.RecordBatch, n_before: int) -> Any:
        return encode_batch(
            fitted.encoder_, batch, data, n_before=n_before, report=report
        )

    with progress() as work:
        work.say(f"counting {data}")
        found = compared(
            fitted,
            batches_of(data, form, as_texts=True, plan=fitted.encoder_.rules.plan),
            sample_weight=weight,
            random_state=seed,
            encode=encode,
        )
    report.show()
    if picture is not None:
        from bayleaf.plot import drift as drawn

        draw(drawn(found), picture)
    show(found, as_json=json)
    return 0
