"""The tree of largest class-conditional mutual information (TAN)."""

from __future__ import annotations

from bayleaf.counts.information import conditional_mutual_information_matrix
from bayleaf.counts.source import CountSource
from bayleaf.graph.spanning import maximum_spanning_forest, rooted_parents
from bayleaf.search.orders.kdb import TIE_DECIMALS, feature_order


def tree_parents(
    counts: CountSource, theta: float | None = None
) -> list[tuple[int, ...]]:
    """Choose each feature's parent in the maximum-weight spanning tree.

    Parameters
    ----------
    counts : CountSource
        Counts with the class last.
    theta : float, optional
        Edges with I(X;Y|C) (nats) at or below this are left out; what remains is a
        forest.

    Returns
    -------
    list of tuple of int
        The parent of each feature, or none. Every tree is rooted at its feature with
        the largest I(X;C); ties go to the lower index, among edges to the lower pair
        (Friedman, Geiger & Goldszmidt 1997, section 4.1).
    """
    n_features = counts.class_index
    if n_features < 2:
        return [()] * n_features
    weights = conditional_mutual_information_matrix(counts).round(TIE_DECIMALS)
    edges = maximum_spanning_forest(weights, above=theta)
    order = [int(feature) for feature in feature_order(counts)]
    return rooted_parents(n_features, edges, order)
