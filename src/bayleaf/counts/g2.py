"""The G² test of conditional independence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainc, gammaincc, gammaln

from bayleaf.counts.information import conditional_mutual_information
from bayleaf.counts.source import Counts

# Below this probability the library's own one fails, and the fraction converges fast.
_UNDERFLOW = 1e-260


@dataclass(frozen=True)
class G2Test:
    """Result of a likelihood-ratio test of independence."""

    statistic: float  # G²
    degrees_of_freedom: int  # of its chi-squared law without dependence
    negative_log_p: float  # -ln P(at least `statistic`), finite where P underflows


def g2(counts: Counts) -> G2Test:
    """Test whether X and Y are independent once Z is known.

    `counts` (n_x, n_y, n_z) are joint. Every state counts towards the degrees of
    freedom, ``n_z (n_x - 1) (n_y - 1)``, whether it occurs or not.

    >>> import numpy as np
    >>> test = g2(np.array([[[8.0], [0.0]], [[0.0], [8.0]]]))
    >>> round(test.statistic, 4), test.degrees_of_freedom
    (22.1807, 1)
    """
    n_x, n_y, n_z = counts.shape
    statistic = 2.0 * counts.sum() * conditional_mutual_information(counts)
    freedom = n_z * (n_x - 1) * (n_y - 1)
    return G2Test(float(statistic), freedom, float(negative_log_p(statistic, freedom)))


def negative_log_p(statistic: ArrayLike, freedom: ArrayLike) -> NDArray[np.float64]:
    """Compute -ln P(chi-squared >= statistic), also where P underflows.

    Arguments broadcast, degrees of freedom need not be integers; without any, it is
    zero.
    """
    shape, x = np.broadcast_arrays(
        np.asarray(freedom, dtype=np.float64) / 2.0,
        np.asarray(statistic, dtype=np.float64) / 2.0,
    )
    tested = (shape > 0.0) & (x > 0.0)
    shape, x = shape[tested], x[tested]
    below = gammainc(shape, x)
    above = gammaincc(shape, x)
    log_p = np.log1p(-below, where=below < 0.5, out=np.zeros_like(below))
    np.log(above, where=(below >= 0.5) & (above > _UNDERFLOW), out=log_p)
    far = above <= _UNDERFLOW
    log_p[far] = _log_upper_gamma(shape[far], x[far])
    found = np.zeros(tested.shape)
    found[tested] = -log_p
    return found


def _log_upper_gamma(
    shape: NDArray[np.float64], x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute ln Q(shape, x) for x far beyond the shape by a continued fraction.

    Legendre's fraction, evaluated forwards by Lentz's method; x - shape is positive
    here, so that no denominator vanishes (DLMF 8.9.2).
    """
    denominator = x + 1.0 - shape
    fraction = 1.0 / denominator
    inverse = fraction.copy()
    ratio = np.full_like(fraction, np.inf)
    for k in range(1, 1000):
        factor = -k * (k - shape)
        denominator += 2.0
        inverse = 1.0 / (factor * inverse + denominator)
        ratio = denominator + factor / ratio
        fraction *= ratio * inverse
        if (np.abs(ratio * inverse - 1.0) < 1e-15).all():
            break
    log_q: NDArray[np.float64]
    log_q = shape * np.log(x) - x - gammaln(shape) + np.log(fraction)
    return log_q
