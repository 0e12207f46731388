"""What is told of rows beside their contributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from bayleaf.cli.explaining.recourse import Recourse, changeable

if TYPE_CHECKING:
    from bayleaf.data.codes import Codes
    from bayleaf.models.predictor import Predictor


class Answer(NamedTuple):
    """What is told of one row beside its contributions."""

    key: str
    value: Any
    text: str


class Asked:
    """Answers on rows in addition to their contributions, row by row."""

    def __init__(self, predictor: Predictor, codes: Codes) -> None:
        self._predictor = predictor
        self._codes = codes

    def contexts(self) -> list[Answer]:
        """Context-specific independences, groups and rules used."""
        from bayleaf.explain import contexts
        from bayleaf.models.explanation import wrapped

        answers = []
        for sentences in contexts(self._predictor, self._codes):
            lines = [line for one in sentences for line in wrapped(one, "  - ")]
            text = "\n".join(["in this row", *lines]) if lines else ""
            answers.append(Answer("contexts", sentences, text))
        return answers

    def conflicts(self) -> list[Answer]:
        """Whether the values contradict one another."""
        from bayleaf.explain import conflicts
        from bayleaf.models.explanation import wrapped

        found = conflicts(self._predictor, self._codes)
        if found is None:
            return [Answer("conflict", None, "")] * self._codes.n_rows
        return [
            Answer(
                "conflict",
                one.to_dict(),
                "\n".join(wrapped(str(one), "")) if one.worth_telling else "",
            )
            for one in found
        ]

    def intervals(self) -> list[Answer]:
        """Credible intervals of the class probabilities."""
        from bayleaf.explain import credible_intervals

        return [
            Answer("intervals", one.to_dict(), one.to_text())
            for one in credible_intervals(self._predictor, self._codes, random_state=0)
        ]

    def robustness(self, immutable: tuple[str, ...]) -> list[Answer]:
        """How many wrong, and how many missing, cells would change the class."""
        from bayleaf.explain import robustness_of_rows

        features = changeable(self._predictor, immutable)
        return [
            Answer("robustness", one.to_dict(), one.to_text())
            for one in robustness_of_rows(
                self._predictor, self._codes, features=features
            )
        ]

    def counterfactuals(self, wishes: Recourse) -> list[Answer]:
        """What would make the prediction another class."""
        from bayleaf.cli.showing.progress import progress
        from bayleaf.explain import counterfactuals

        settings = wishes.settings()
        answers = []
        with progress():
            for row in range(self._codes.n_rows):
                single = self._codes.rows(slice(row, row + 1))
                found = counterfactuals(self._predictor, single, **settings)
                text = found.to_text()
                answers.append(Answer("counterfactuals", found.to_dict(), text))
        return answers
