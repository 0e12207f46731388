"""Textbook problems, drawn from their definitions."""

from __future__ import annotations

import itertools
import numbers
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bayleaf.data.random_state import RandomState, random_generator
from bayleaf.data.tables.frames import as_frame as in_library
from bayleaf.datasets.table import Table
from bayleaf.wording import quoted

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from bayleaf.datasets.table import Frame

LICENCE = "none needed: generated from the published definition"

# Number of values of the six attributes of the monks problems.
_MONKS_STATES = (3, 3, 2, 3, 4, 2)
_MONKS_NOISE = 0.05

# Segments that are lit for each digit: top, upper left, upper right, middle, lower
# left, lower right, bottom.
_SEGMENTS = np.array(
    [
        [1, 1, 1, 0, 1, 1, 1],
        [0, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 1, 1, 0, 1],
        [1, 0, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 1, 1],
        [1, 1, 0, 1, 1, 1, 1],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1],
    ]
)


@overload
def make_monks(
    problem: int,
    n_samples: int | None = None,
    *,
    random_state: RandomState = None,
    as_frame: Literal["arrow"] = "arrow",
) -> Table[pa.Table]: ...
@overload
def make_monks(
    problem: int,
    n_samples: int | None = None,
    *,
    random_state: RandomState = None,
    as_frame: Literal["pandas"],
) -> Table[pd.DataFrame]: ...
@overload
def make_monks(
    problem: int,
    n_samples: int | None = None,
    *,
    random_state: RandomState = None,
    as_frame: Literal["polars"],
) -> Table[pl.DataFrame]: ...
def make_monks(
    problem: int,
    n_samples: int | None = None,
    *,
    random_state: RandomState = None,
    as_frame: str = "arrow",
) -> Table[Frame]:
    """Make one of the three monks problems.

    Parameters
    ----------
    problem : {1, 2, 3}
        1: ``a1 = a2 or a5 = 1``; 2: exactly two attributes have their first value;
        3: ``(a5 = 3 and a4 = 1) or (a5 != 4 and a2 != 3)``.
    n_samples : int, optional
        Rows drawn without replacement from the 432 settings, with 5 % of the classes
        turned round in problem 3, as in its training table. By default all settings
        in order, without noise.
    random_state : int or Generator, optional
        Seed of the draw.
    as_frame : {"arrow", "pandas", "polars"}, default="arrow"
        Library of `Table.frame` and of `Table.X`.

    Returns
    -------
    Table
        Features `a1` to `a6` and the target `class` (0 or 1).

    Raises
    ------
    ValueError
        If there is no such problem, more rows are asked for than there are, or
        `random_state` is not one of the kinds above.

    References
    ----------
    Thrun, S. B. et al. (1991). The MONK's problems. CMU-CS-91-197.
    """
    whole = isinstance(problem, numbers.Integral) and not isinstance(problem, bool)
    if not whole or problem not in (1, 2, 3):
        raise ValueError(f"problem must be 1, 2 or 3, got {quoted(problem)}")
    rng = random_generator(random_state)
    settings = np.array(
        list(itertools.product(*(range(1, n + 1) for n in _MONKS_STATES)))
    )
    classes = _monks_class(problem, settings)
    if n_samples is not None:
        _check_n_samples(n_samples, len(settings))
        rows = rng.choice(len(settings), n_samples, replace=False)
        settings, classes = settings[rows], classes[rows]
        if problem == 3:
            wrong = rng.choice(
                n_samples, round(_MONKS_NOISE * n_samples), replace=False
            )
            classes[wrong] = 1 - classes[wrong]
    return _table(
        f"monks-{problem}",
        {f"a{j + 1}": column for j, column in enumerate(settings.T)},
        classes,
        "Robots described by six attributes; the class is a logical rule.",
        "Thrun et al. (1991). The MONK's problems. CMU-CS-91-197.",
        as_frame,
    )


def _monks_class(problem: int, settings: NDArray[np.int_]) -> NDArray[np.int_]:
    """The class that a monks problem's rule gives."""
    a1, a2, _, a4, a5, _ = settings.T
    if problem == 1:
        rule = (a1 == a2) | (a5 == 1)
    elif problem == 2:
        rule = (settings == 1).sum(axis=1) == 2
    else:
        rule = ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3))
    return np.asarray(rule.astype(int))


@overload
def make_corral(
    n_samples: int | None = None,
    *,
    random_state: RandomState = None,
    as_frame: Literal["arrow"] = "arrow",
) -> Table[pa.Table]: ...
@overload
def make_corral(
    n_samples: int | None = None,
    *,
    random_state: RandomState = None,
    as_frame: Literal["pandas"],
) -> Table[pd.DataFrame]: ...
@overload
def make_corral(
    n_samples: int | None = None,
    *,
    random_state: RandomState = None,
    as_frame: Literal["polars"],
) -> Table[pl.DataFrame]: ...
def make_corral(
    n_samples: int | None = None,
    *,
    random_state: RandomState = None,
    as_frame: str = "arrow",
) -> Table[Frame]:
    """Make the corral problem: a rule, one irrelevant and one correlated feature.

    The class is ``(A0 and A1) or (B0 and B1)``; `Irrelevant` is a coin, `Correlated`
    agrees with the class in three of four rows.

    Parameters
    ----------
    n_samples : int, optional
        Rows drawn at random. By default 128 rows: each setting of the first five
        features four times, `Correlated` agreeing with the class in three of them.
    random_state : int or Generator, optional
        Seed of the draw.
    as_frame : {"arrow", "pandas", "polars"}, default="arrow"
        Library of `Table.frame` and of `Table.X`.

    Returns
    -------
    Table
        Six features of 0 and 1 and the target `class` (0 or 1).

    Raises
    ------
    ValueError
        If fewer than one row is asked for, or `random_state` is not one of the kinds
        above.

    References
    ----------
    John, G. H., Kohavi, R., Pfleger, K. (1994). Irrelevant features and the subset
    selection problem. ICML-94, 121-129.
    """
    rng = random_generator(random_state)
    if n_samples is None:
        settings = np.repeat(list(itertools.product((0, 1), repeat=5)), 4, axis=0)
        agrees = np.tile([True, True, True, False], 32)
    else:
        _check_n_samples(n_samples, None)
        settings = rng.integers(0, 2, (n_samples, 5))
        agrees = rng.random(n_samples) < 0.75
    a0, a1, b0, b1, _ = settings.T
    classes = (a0 & a1) | (b0 & b1)
    names = ("A0", "A1", "B0", "B1", "Irrelevant")
    columns = dict(zip(names, settings.T, strict=True))
    columns["Correlated"] = np.where(agrees, classes, 1 - classes)
    return _table(
        "corral",
        columns,
        classes,
        "A logical rule with an irrelevant and a correlated feature.",
        "John, Kohavi & Pfleger (1994). ICML-94, 121-129.",
        as_frame,
    )


@overload
def make_led7(
    n_samples: int = 3200,
    *,
    noise: float = 0.1,
    random_state: RandomState = None,
    as_frame: Literal["arrow"] = "arrow",
) -> Table[pa.Table]: ...
@overload
def make_led7(
    n_samples: int = 3200,
    *,
    noise: float = 0.1,
    random_state: RandomState = None,
    as_frame: Literal["pandas"],
) -> Table[pd.DataFrame]: ...
@overload
def make_led7(
    n_samples: int = 3200,
    *,
    noise: float = 0.1,
    random_state: RandomState = None,
    as_frame: Literal["polars"],
) -> Table[pl.DataFrame]: ...
def make_led7(
    n_samples: int = 3200,
    *,
    noise: float = 0.1,
    random_state: RandomState = None,
    as_frame: str = "arrow",
) -> Table[Frame]:
    """Make digits on a seven-segment display whose segments fail at random.

    Parameters
    ----------
    n_samples : int, default=3200
        Number of rows.
    noise : float, default=0.1
        Probability that a segment shows the wrong state.
    random_state : int or Generator, optional
        Seed of the draw.
    as_frame : {"arrow", "pandas", "polars"}, default="arrow"
        Library of `Table.frame` and of `Table.X`.

    Returns
    -------
    Table
        Features `led1` to `led7` (0 or 1) and the target `class` (0 to 9).

    Raises
    ------
    ValueError
        If fewer than one row is asked for, the noise is no probability, or
        `random_state` is not one of the kinds above.

    References
    ----------
    Breiman, L., Friedman, J. H., Olshen, R. A., Stone, C. J. (1984). Classification
    and regression trees, section 2.6.1.
    """
    _check_n_samples(n_samples, None)
    if not isinstance(noise, numbers.Real) or not 0.0 <= noise <= 1.0:
        raise ValueError(f"noise must be between 0 and 1, got {quoted(noise)}")
    rng = random_generator(random_state)
    digits = rng.integers(0, 10, n_samples)
    wrong = rng.random((n_samples, 7)) < noise
    lit = _SEGMENTS[digits] ^ wrong
    return _table(
        "led7",
        {f"led{j + 1}": column for j, column in enumerate(lit.T)},
        digits,
        "Digits on a seven-segment display, each segment wrong with a small chance.",
        "Breiman, Friedman, Olshen & Stone (1984), section 2.6.1.",
        as_frame,
    )


def _check_n_samples(n_samples: Any, largest: int | None) -> None:
    """Raise unless a number of rows can be drawn."""
    whole = isinstance(n_samples, numbers.Integral) and not isinstance(n_samples, bool)
    if not whole or n_samples < 1 or (largest is not None and n_samples > largest):
        upper = f" and at most {largest}" if largest is not None else ""
        raise ValueError(
            f"n_samples must be an integer of at least 1{upper}, got "
            f"{quoted(n_samples)}"
        )


def _table(
    name: str,
    columns: dict[str, NDArray[np.int_]],
    classes: NDArray[np.int_],
    description: str,
    source: str,
    library: str,
) -> Table[Frame]:
    """Columns and classes as a table."""
    arrays = {key: pa.array(np.ascontiguousarray(c)) for key, c in columns.items()}
    arrays["class"] = pa.array(classes)
    frame = in_library(pa.table(arrays), library)
    return Table(name, frame, description, source, LICENCE)
