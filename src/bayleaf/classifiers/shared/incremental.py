"""Learn batch by batch, where the counts that a classifier asks for add up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.classifiers.shared.parameters import encoder_rules
from bayleaf.classifiers.shared.training import TrainingTable, class_variable
from bayleaf.counts.count_tables import IncrementalCounts
from bayleaf.counts.source import CountSource, Family
from bayleaf.data.domain import Domain, Variable
from bayleaf.data.encoder_learning import Target, learn_rows
from bayleaf.data.partial_values import available_codes
from bayleaf.data.random_state import random_generator
from bayleaf.data.tables.columns import iterate_names


def learn_batch(
    classifier: Any, X: Any, y: Any, classes: Any, sample_weight: Any
) -> None:
    """Learn from one more batch; `classes` are those that the user announces."""
    _remember_fit(classifier)
    first_call = not hasattr(classifier, "_stored_counts")
    if first_call and hasattr(classifier, "model_"):
        raise ValueError(
            "a model read from a file, or under another class prior, holds no counts "
            "to add to; fit it again"
        )
    # Batches whose rows all have weight 0 may come before the first with a row.
    before = getattr(classifier, "_announced_classes", None)
    known = before if first_call else classifier.classes_
    classifier._announced_classes = _announced(classes, known)
    batch = classifier._training_table(
        X,
        y,
        sample_weight,
        classifier._announced_classes,
        reset=known is None,
        allow_empty=True,
    )
    if not batch.weights.size:
        return
    if first_call:
        _learn_first(classifier, batch, class_variable(X, y, batch.classes))
    else:
        _learn_next(classifier, batch)


def remembered_counts(classifier: Any, counts: CountSource) -> CountSource:
    """Counts for a fit, which are kept where batches may follow."""
    if not classifier._is_incremental:
        return counts
    if classifier._chooses_structure or classifier._learns_from_rows:
        # Pairs are many, and kept only where batches follow.
        classifier.__dict__.pop("_stored_counts", None)
        return counts
    return _stored(classifier, counts)


def seal_counts(classifier: Any, counts: CountSource) -> None:
    """Let stored counts remember what is asked of them later, and drop the rows."""
    if counts is getattr(classifier, "_stored_counts", None):
        last = counts.class_index
        counts.family_counts([(last, feature) for feature in range(last)])
        classifier._stored_counts.seal()


def _stored(classifier: Any, counts: CountSource) -> IncrementalCounts:
    """Counts that remember what they were asked."""
    classifier._stored_counts = IncrementalCounts(counts)
    if classifier._chooses_structure:
        classifier._stored_counts.keep_pairs()
    stored: IncrementalCounts = classifier._stored_counts
    return stored


def _remember_fit(classifier: Any) -> None:
    """Keep the counts of what `fit` learned from, as long as they are known."""
    if hasattr(classifier, "_stored_counts") or not hasattr(classifier, "model_"):
        return
    known = getattr(classifier, "_counts", None)
    if classifier._training_codes is not None:
        counts: CountSource = classifier._count(classifier._training_codes)
    elif known is not None and not classifier._learns_from_rows:
        counts = known.tables
    else:
        return
    stored = _stored(classifier, counts)
    if classifier._chooses_structure:
        larger = [f for f in families_of(classifier.model_) if len(f) > 3]
        stored.family_counts(larger)
    seal_counts(classifier, stored)


def families_of(model: Any) -> list[Family]:
    """Families of a model's structure, where it is one over the table's variables."""
    networks = getattr(model, "networks", None) or [model]
    found: dict[Family, None] = {}
    for own in networks:
        network = getattr(own, "network", None)
        if network is not None and network.domain.names == model.domain.names:
            found.update(dict.fromkeys(network.dag.families))
    return list(found)


def _announced(classes: Any, known: NDArray[Any] | None) -> NDArray[Any]:
    """The classes of all batches; ValueError if a later call changes those known."""
    if classes is not None:
        given = np.unique(np.asarray(classes))
    elif known is not None:
        given = known
    else:
        raise ValueError(
            "classes must be passed on the first call to partial_fit: "
            "all labels that will ever occur"
        )
    if known is not None and not np.array_equal(given, known):
        raise ValueError(
            f"classes={given.tolist()} differs from the classes of the first call "
            f"to partial_fit, {known.tolist()}; pass the same or none"
        )
    return given


def _learn_first(
    classifier: Any, batch: TrainingTable, class_variable: Variable
) -> None:
    """Learn domain and counts from the first rows."""
    classifier.classes_ = batch.classes
    target = Target(class_variable, batch.class_codes)
    rng = random_generator(classifier.random_state)
    classifier.encoder_, codes, classifier._sets = learn_rows(
        batch.parts,
        target,
        batch.weights,
        classifier._chosen_discretizer(rng),
        encoder_rules(classifier),
        classifier._given_hierarchies(iterate_names(batch.parts)),
        allow_empty=True,
    )
    classifier._learn_from(
        _stored(classifier, classifier._count(codes)),
        class_variable,
        rng,
        classifier._learn_batch,
    )


def _learn_next(classifier: Any, batch: TrainingTable) -> None:
    """Add the counts of further rows, over a domain that may grow."""
    class_variable = classifier.model_.domain[-1]
    encoder = classifier.encoder_
    if not classifier._keeps_states:
        encoder = encoder.extended(batch.parts)
    codes = available_codes(encoder.transform(batch.parts).rows).with_column(
        batch.class_codes, class_variable.n_states, batch.weights
    )
    before = Domain((*classifier.encoder_.domain.variables, class_variable))
    after = Domain((*encoder.domain.variables, class_variable))
    classifier._stored_counts = classifier._stored_counts.grown(
        before, after, classifier._count(codes)
    )
    if classifier._chooses_structure:
        classifier._stored_counts.keep_pairs()
    classifier.encoder_ = encoder
    rng = random_generator(classifier.random_state)
    classifier._learn_from(
        classifier._stored_counts, class_variable, rng, classifier._learn_batch
    )
