"""What a fitted regressor is, in a few lines for a reader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bayleaf.data.column_table import ColumnTable
from bayleaf.data.table_encoder import TableEncoder
from bayleaf.describe.fitted_summary import MAX_ITEMS, FittedSummary, Name
from bayleaf.models.fit_stamp import FitStamp
from bayleaf.models.interval_target import IntervalTargetModel
from bayleaf.results.document import Items, Part
from bayleaf.wording import brief, counted, shown_name


@dataclass(frozen=True)
class RegressionSummary(FittedSummary):
    """Facts on a fitted regressor."""

    model: str  # name of the estimator
    target: Name
    mean: float  # of the target in training
    lowest: float  # of the target in training
    highest: float  # of the target in training
    n_features: int
    intervals: tuple[str, ...]  # names of the target's intervals
    n_networks: int
    n_trees: int  # for mean and scale
    interval_weight: float  # of intervals in addition to trees
    left_out_crps: float  # mean, in the target's unit
    left_out_coverage: float  # share of rows in their 90 % interval
    notes: tuple[tuple[Name, str], ...]  # columns and how they were read
    unknown: tuple[tuple[Name, int], ...]  # cells of the last table predicted
    columns: ColumnTable | None = None
    fitted: FitStamp | None = None

    @classmethod
    def of(
        cls,
        name: str,
        encoder: TableEncoder,
        model: IntervalTargetModel,
        left_out: tuple[float, float],
        unknown: Mapping[Name, int],
        fitted: FitStamp | None = None,
    ) -> RegressionSummary:
        """Gather the facts on a fitted regressor."""
        *features, target = model.intervals.domain.variables
        lower, upper = model.ends
        trees = () if model.trees is None else (model.trees.mean, model.trees.spread)
        return cls(
            name,
            target.name,
            model.centre,
            float(lower[0]),
            float(upper[-1]),
            len(features),
            tuple(map(str, target.states)),
            len(model.intervals.networks),
            sum(len(tree.roots) for tree in trees),
            model.head.interval_weight,
            *left_out,
            tuple(encoder.notes.items()),
            tuple(unknown.items()),
            ColumnTable(encoder),
            fitted,
        )

    def facts(self) -> list[tuple[str, str]]:
        """Target, sizes and left-out scores."""
        spread = f"{self.lowest:.6g} to {self.highest:.6g}, mean {self.mean:.6g}"
        parts = f"{self.n_networks} networks, {self.n_trees} trees"
        inside = f"{self.left_out_coverage:.1%} inside the 90 % interval"
        facts = [
            ("target", f"{shown_name(self.target)}, {spread}"),
            ("intervals", f"{len(self.intervals)}, weight {self.interval_weight:.3g}"),
            ("features", str(self.n_features)),
            ("parts", parts),
            ("left-out rows", f"CRPS {self.left_out_crps:.6g}, {inside}"),
        ]
        if self.fitted is not None:
            facts.append(("fitted", str(self.fitted)))
        return facts

    def lists(self) -> list[Part]:
        """The intervals of the target."""
        return [Items(self.intervals, "intervals", MAX_ITEMS)]

    def __repr__(self) -> str:
        return brief(
            self,
            f"{self.model} of {shown_name(self.target)}",
            counted(self.n_features, "feature"),
            counted(len(self.intervals), "interval"),
            f"left-out CRPS {self.left_out_crps:.5g}",
        )
