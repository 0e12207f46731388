"""The choice of a form for each family that keeps a network's cliques small."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bayleaf.cpds.distribution import CPD
from bayleaf.graph.triangulation import married, plain_forest
from bayleaf.inference.junction_tree.decomposition import (
    Form,
    Product,
    ProductBuilder,
    decomposable,
)

Forms = Mapping[int, Form]

# Up to so many cells of all cliques, no family is taken apart.
FEW_CELLS = 100_000
# Cells that are propagated in the time of one more triangulation.
_TRIAL_CELLS = 500_000
# Triangulations that are tried while a clique is too large, and otherwise at most.
_MOST_TRIALS = 60
# Cliques that exceed the limit by this factor are not bettered enough by searching.
HOPELESS = 1000


def small_product(
    cards: Sequence[int], cpds: Sequence[CPD], max_table_cells: int
) -> Product:
    """Choose forms for the families of a network that link its variables sparsely.

    Full tables are kept where few cells do. Otherwise the best of a few uniform choices
    is bettered family by family until no other form of one makes fewer cells in all, or
    the search takes longer than the tables that it may save; it goes on for longer
    while a clique exceeds `max_table_cells`.

    Diez & Galan 2003, "Efficient computation for the noisy MAX", section 4. Savicky &
    Vomlel 2007, "Exploiting tensor rank-one decomposition in probabilistic inference".
    """
    builder = ProductBuilder(cards, cpds)
    options = {node: decomposable(cpd) for node, cpd in enumerate(cpds)}
    options = {node: forms for node, forms in options.items() if forms}
    if not options:
        return builder.product({})
    search = _Search(builder, options, max_table_cells)
    best, shared = search.descended() if search.is_large else ({}, True)
    return builder.product(best, shared=shared)


class _Search:
    """Forms of families, compared by a quick triangulation."""

    def __init__(
        self,
        builder: ProductBuilder,
        options: Mapping[int, tuple[Form, ...]],
        max_table_cells: int,
    ) -> None:
        self._builder = builder
        self._options = options
        self._limit = max_table_cells
        self._n_trials = 0
        self._best: tuple[dict[int, Form], bool] = {}, True
        self._least = self._cells(*self._best)

    @property
    def is_large(self) -> bool:
        """Whether full tables make many cells."""
        return self._least[1] > FEW_CELLS

    def descended(self) -> tuple[dict[int, Form], bool]:
        """Forms that no change of one betters, or the best ones found in time.

        The second value tells whether children share auxiliary variables.
        """
        uniform = list(self._uniform())
        distinct = [f for i, f in enumerate(uniform) if f not in uniform[:i]]
        for forms in distinct:
            for shared in (True, False):
                self._try(forms, shared)
        last: tuple[dict[int, Form], bool] | None = None
        while last != self._best:
            last = self._best
            for node, other in self._neighbours():
                if self._is_over():
                    return self._best
                forms, shared = self._best
                self._try({**forms, node: other}, shared)
        return self._best

    def _uniform(self) -> Iterator[dict[int, Form]]:
        """Groups everywhere, and contexts where these are fewer by some factor."""
        grouped = {n: Form.GROUPS for n, f in self._options.items() if Form.GROUPS in f}
        numbered = [n for n, f in self._options.items() if Form.CONTEXTS in f]
        yield grouped
        for factor in (256, 16, 1):
            found = dict(grouped)
            for node in numbered:
                whole, apart = self._builder.sizes(node)
                if whole > factor * apart:
                    found[node] = Form.CONTEXTS
            yield found

    def _neighbours(self) -> Iterator[tuple[int, Form]]:
        """Families and the forms that they do not have now, the widest first."""
        widest = sorted(
            self._options, key=lambda node: (-self._builder.sizes(node)[0], node)
        )
        for node in widest:
            for form in (Form.WHOLE, *self._options[node]):
                if form is not self._best[0].get(node, Form.WHOLE):
                    yield node, form

    def _is_over(self) -> bool:
        """Whether the tables left are done sooner than another trial."""
        largest, cells = self._least
        hopeless = largest > HOPELESS * self._limit
        if hopeless or self._n_trials >= _MOST_TRIALS:
            return True
        return largest <= self._limit and cells <= self._n_trials * _TRIAL_CELLS

    def _try(self, forms: dict[int, Form], shared: bool) -> None:
        """Keep some forms if they make fewer cells."""
        found = self._cells(forms, shared)
        if found[1] < self._least[1]:
            self._best, self._least = (forms, shared), found

    def _cells(self, forms: Forms, shared: bool) -> tuple[int, int]:
        """Cells of the largest clique, and of all."""
        self._n_trials += 1
        product = self._builder.product(forms, shared=shared)
        neighbours = married(product.families, len(product.cards))
        cells = plain_forest(neighbours, product.cards).table_cells(product.cards)
        return max(cells), sum(cells)
