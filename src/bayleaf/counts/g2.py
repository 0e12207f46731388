"""The G² test of conditional independence."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import gammaln
from scipy.stats import chi2

from bayleaf.counts.information import conditional_mutual_information
from bayleaf.counts.source import Counts

# Below this logarithm of a probability the library's own one fails, and the fraction
# converges fast.
_UNDERFLOW = -600.0


@dataclass(frozen=True)
class G2Test:
    """Result of a likelihood-ratio test of independence.

    Parameters
    ----------
    statistic : float
        G².
    degrees_of_freedom : int
        Of the chi-squared distribution that it follows without dependence.
    negative_log_p : float
        -ln of the probability of a statistic at least as large; stays finite where the
        probability itself underflows.
    """

    statistic: float
    degrees_of_freedom: int
    negative_log_p: float


def g2(counts: Counts) -> G2Test:
    """Test whether X and Y are independent once Z is known.

    Parameters
    ----------
    counts : ndarray of shape (n_x, n_y, n_z)
        Joint counts. Every state counts towards the degrees of freedom,
        ``n_z (n_x - 1) (n_y - 1)``, whether it occurs or not.

    Returns
    -------
    G2Test

    Examples
    --------
    >>> import numpy as np
    >>> test = g2(np.array([[[8.0], [0.0]], [[0.0], [8.0]]]))
    >>> round(test.statistic, 4), test.degrees_of_freedom
    (22.1807, 1)
    """
    n_x, n_y, n_z = counts.shape
    statistic = 2.0 * counts.sum() * conditional_mutual_information(counts)
    freedom = n_z * (n_x - 1) * (n_y - 1)
    return G2Test(float(statistic), freedom, _negative_log_p(float(statistic), freedom))


def _negative_log_p(statistic: float, freedom: int) -> float:
    """Compute -ln P(chi-squared >= statistic), also where the latter underflows."""
    if freedom == 0 or statistic <= 0.0:
        return 0.0
    log_p = float(chi2.logsf(statistic, freedom))
    if log_p > _UNDERFLOW:
        return -log_p
    return -_log_upper_gamma(freedom / 2.0, statistic / 2.0)


def _log_upper_gamma(shape: float, x: float) -> float:
    """Compute ln Q(shape, x) for x far beyond the shape by a continued fraction.

    Legendre's fraction, evaluated forwards by Lentz's method; x - shape is positive
    here, so that no denominator vanishes (DLMF 8.9.2).
    """
    denominator = x + 1.0 - shape
    inverse = fraction = 1.0 / denominator
    ratio = math.inf
    for k in range(1, 1000):
        factor = -k * (k - shape)
        denominator += 2.0
        inverse = 1.0 / (factor * inverse + denominator)
        ratio = denominator + factor / ratio
        fraction *= ratio * inverse
        if abs(ratio * inverse - 1.0) < 1e-15:
            break
    return shape * math.log(x) - x - float(gammaln(shape)) + math.log(fraction)
