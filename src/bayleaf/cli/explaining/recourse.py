"""What changes of a row are asked for: ways, costs, and features that stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayleaf.data.text_parsing import read_numbers
from bayleaf.wording import quoted

if TYPE_CHECKING:
    from bayleaf.models.predictor import Predictor


@dataclass(frozen=True)
class Recourse:
    """Options of counterfactuals, as they are written."""

    n: int  # counterfactuals
    max_changes: int | None  # features changed at once, at most
    immutable: tuple[str, ...]  # features that stay
    direction: tuple[str, ...]  # feature=way
    cost: tuple[str, ...]  # feature=cost
    per_step: tuple[str, ...]  # features paid by steps

    @property
    def options(self) -> dict[str, Any]:
        """What was given of the options beside their number."""
        return {
            "--max-changes": self.max_changes,
            "--immutable": self.immutable,
            "--direction": self.direction,
            "--cost": self.cost,
            "--per-step": self.per_step,
        }

    def check(self, *, robustness: bool) -> None:
        """Raise ValueError if an option was given without what it belongs to."""
        if self.n < 0:
            raise ValueError(f"--counterfactuals must be >= 0, got {self.n}")
        for option, value in self.options.items():
            if self.n or value in (None, ()):
                continue
            if option != "--immutable":
                raise ValueError(f"{option} belongs to --counterfactuals; give both")
            if not robustness:
                raise ValueError(
                    "--immutable belongs to --counterfactuals or --robustness; give "
                    "one of them"
                )

    def settings(self) -> dict[str, Any]:
        """Parameters of `bayleaf.explain.counterfactuals`."""
        costs = {}
        for name, text in _pairs("--cost", "feature=number", self.cost).items():
            numbers = read_numbers([text])
            if numbers is None:
                raise ValueError(
                    f"--cost should have the form feature=number, got "
                    f"{quoted(f'{name}={text}')}"
                )
            costs[name] = float(numbers[0])
        found = {
            "n": self.n,
            "immutable": self.immutable,
            "direction": _pairs("--direction", "feature=up or =down", self.direction),
            "cost": costs,
            "per_step": self.per_step,
        }
        limit = self.max_changes
        return found if limit is None else {**found, "max_changes": limit}


def _pairs(option: str, form: str, texts: Sequence[str]) -> dict[str, str]:
    """What stands behind the last equals sign, by what stands before it."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.rpartition("=")
        name = name.strip()
        if not (sign and name and value.strip()):
            raise ValueError(
                f"{option} should have the form {form}, got {quoted(text)}"
            )
        if name in found:
            raise ValueError(f"{option} names {quoted(name)} twice; give one")
        found[name] = value.strip()
    return found


def check_all_lines(others: Mapping[str, Any], *, robustness: bool) -> None:
    """Raise ValueError if --all-lines is given with options of single lines."""
    if not robustness:
        raise ValueError("--all-lines belongs to --robustness; give both")
    for option, value in others.items():
        if value:
            raise ValueError(
                f"{option} is for single lines; leave out {option} or --all-lines"
            )


def changeable(predictor: Predictor, immutable: Sequence[str]) -> list[str | int]:
    """Names of all features but some."""
    from bayleaf.inference.states import find_variable

    domain = predictor.encoder.domain
    fixed = {find_variable(domain, name) for name in immutable}
    return [name for v, name in enumerate(domain.names) if v not in fixed]
