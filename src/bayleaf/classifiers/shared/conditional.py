"""Tables of a classifier fitted to the classes in place of the rows."""

from __future__ import annotations

from bayleaf.classifiers.shared.classifier_parts import ClassifierParts
from bayleaf.counts.source import CountSource
from bayleaf.models.bayesian_network import BayesianNetwork


def fitted_network(
    classifier: ClassifierParts, network: BayesianNetwork, counts: CountSource
) -> tuple[BayesianNetwork, float]:
    """The network with conditionally fitted tables, and the rows' log-likelihood.

    A class prior that is given or uniform stays as it is.
    """
    from bayleaf.latent.conditional_likelihood import fit_conditionally

    learned = classifier.class_prior is None and classifier.fit_prior
    fit = fit_conditionally(
        network,
        counts.rows(),
        pull=classifier.pull,
        fixed=() if learned else (counts.class_index,),
        n_jobs=counts.n_jobs,
        max_table_cells=classifier.max_table_cells,
    )
    classifier.conditional_fit_ = fit
    tables = counts.family_counts(network.dag.families)
    log_likelihood = sum(
        cpd.log_likelihood(table)  # type: ignore[attr-defined]
        for cpd, table in zip(fit.network.cpds, tables, strict=True)
    )
    return fit.network, float(log_likelihood)
