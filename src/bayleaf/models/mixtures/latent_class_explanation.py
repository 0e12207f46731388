"""Why a mixture within each class gave a row its class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.models.explanation import Explanation, base_fields, wrapped
from bayleaf.wording import shown_name

# Components of a class that are written.
_SHOWN = 4


@dataclass(frozen=True, repr=False)
class LatentClassExplanation(Explanation):
    """The log-odds of a class in terms that add up, and the components behind.

    A term takes the features before it as known: what they tell of the components is
    part of it.

    Parameters
    ----------
    components : tuple of float
        P(component | the class explained, row).
    against_components : tuple of float
        The same for the class it is compared with.
    """

    components: tuple[float, ...] = ()
    against_components: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, ready for JSON."""
        return {
            **super().to_dict(),
            "components": list(self.components),
            "against_components": list(self.against_components),
        }

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, limit: int = 10, called: str | None = None) -> str:
        """Write the terms, the largest `limit` in full, and the best components."""
        lines = [super().to_text(limit, called)]
        if len(self.components) > 1:
            lines += _told(self.target, self.components)
            if self.against != self.target:
                lines += _told(self.against, self.against_components)
        return "\n".join(lines)


def _told(label: Any, shares: tuple[float, ...]) -> list[str]:
    """The likeliest components of a class."""
    ranked = sorted(range(len(shares)), key=lambda place: -shares[place])
    parts = [f"{place + 1} with {shares[place]:.3f}" for place in ranked[:_SHOWN]]
    return wrapped(f"component if {shown_name(label)}: {', '.join(parts)}", "  ")


def explain_components(
    shares: NDArray[np.float64],
    explanations: Sequence[Explanation],
    target: NDArray[np.intp],
    against: NDArray[np.intp],
) -> list[LatentClassExplanation]:
    """Add to each row's explanation to which components the row belongs.

    `shares` (n_rows, n_classes, n_components) are P(component | class, row); `target`
    and `against` (n_rows,) are the classes explained.
    """
    return [
        LatentClassExplanation(
            **base_fields(explanation),
            components=tuple(shares[row, target[row]].tolist()),
            against_components=tuple(shares[row, against[row]].tolist()),
        )
        for row, explanation in enumerate(explanations)
    ]
