"""Documents of schema version 2 in the form of today.

Version 2 had a layout of its own for every kind of model, and no shapes: these follow
from the domain. Arrays come out as such, whether they stood in the document or in a
second file beside it. Only what is needed to find them is looked at here; whoever reads
the result checks the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import accumulate
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bayleaf.counts.occupied import MAX_CELLS, padded
from bayleaf.io.errors import ModelFileError
from bayleaf.io.native.archive import ArrayReader, opened

Values = dict[str, Any]
# Families of more variables with two states would have more than `MAX_CELLS` cells.
_MOST_PLACES = MAX_CELLS.bit_length()
_STRENGTHS = {
    "lidstone": "alpha",
    "dirichlet": "equivalent_sample_size",
    "m_estimate": "m",
}


def upgraded(document: Values, arrays: ArrayReader) -> Values:
    """A document in the form of version 3.

    If it is not of version 2: ModelFileError, or any error that looking into it raises.
    """
    cards = [len(variable["states"]) for variable in document["domain"]]
    upgrade = _Upgrade(cards, arrays)
    changed = upgrade.shaped(document, loss=(cards[-1], cards[-1]))
    if "model" in document:
        changed["model"] = upgrade.model(document["model"])
    if "network" in document:
        changed["network"] = upgrade.network(document["network"])
    if document.get("evidence") is not None:
        changed["support"] = upgrade.support(document["evidence"])
    return {**document, **changed}


def arrays_beside(path: Path, document: Values, max_bytes: int) -> ArrayReader:
    """A reader for the arrays of a document, which may be in a second file.

    ModelFileError if the second file is missing, too large, or another model's.
    """
    expected = document.get("arrays_sha256")
    if expected is None:
        return ArrayReader()
    second = path.with_name(path.name + ".npz")
    if not second.is_file():
        raise ModelFileError(
            f"model file {path.name} lacks its second file {second.name}; keep both "
            "together"
        )
    if second.stat().st_size > max_bytes:
        raise ModelFileError(
            f"{second.name} is larger than {max_bytes} bytes; raise max_bytes if you "
            "trust it"
        )
    content = second.read_bytes()
    if sha256(content).hexdigest() != expected:
        raise ModelFileError(
            f"{second.name} does not belong to model file {path.name}, or was changed"
        )
    return ArrayReader(opened(content, second.name, max_bytes))


class _Upgrade:
    """Upgrades parts of a document over variables with some numbers of states."""

    def __init__(self, cards: Sequence[int], arrays: ArrayReader) -> None:
        self.arrays, self.cards = arrays, list(cards)

    def floats(self, value: Any, *shape: int) -> Any:
        """An array of floats of a shape."""
        return self.arrays.get(value, shape, "an array", whole=False)

    def codes(self, value: Any, *shape: int) -> Any:
        """An array of whole numbers of a shape."""
        return self.arrays.get(value, shape, "an array", whole=True)

    def shaped(self, values: Values, **shapes: Sequence[int]) -> Values:
        """Those fields that are arrays of floats, with their shapes."""
        return {
            name: self.floats(values[name], *shape)
            for name, shape in shapes.items()
            if values.get(name) is not None
        }

    def model(self, model: Values) -> Values:
        """A class model."""
        kinds = {
            "network": self._network_model,
            "network_posterior": self._network_model,
            "averaged_one_dependence": self._one_dependence,
            "averaged_kdb": self._averaged_kdb,
            "hierarchical_naive_bayes": self._hierarchical,
            "hierarchical_mixture": self._mixture,
            "latent_class": self._latent_class,
        }
        # Kinds that were registered had today's form.
        if model["type"] not in kinds:
            return model
        prior = self.shaped(model, prior=self.cards[-1:])
        return {**model, **kinds[model["type"]](model), **prior}

    def support(self, evidence: Values) -> Values:
        """The rows behind the tables, flat."""
        rows = [
            self.arrays.get(value, None, "the evidence", whole=False).ravel()
            for value in evidence["rows"]
        ]
        return {**evidence, "rows": rows}

    def network(self, network: Values) -> Values:
        """Graph and distributions."""
        families = [[*own, node] for node, own in enumerate(network["parents"])]
        counts = network.get("experience", [None] * len(families))
        triples = zip(families, network["tables"], counts, strict=True)
        return {
            "dag": {"parents": network["parents"]},
            "cpds": [self._cpd(*triple) for triple in triples],
        }

    def _cpd(self, family: list[int], table: Any, experience: Any) -> Values:
        """One distribution."""
        shape = [self.cards[member] for member in family]
        kind = table.get("kind") if isinstance(table, dict) else None
        if kind is None:
            content = {"type": "table", "probabilities": self.floats(table, *shape)}
            if experience is not None:
                content["experience"] = self.floats(experience, *shape[:-1])
        elif kind == "deterministic":
            values = self.codes(table["values"], *shape[:-1])
            content = {"type": kind, "n_states": shape[-1], "values": values}
        elif kind == "grouped_table":
            n_groups = map(len, table["groups"])
            rows = self.floats(table["table"], *n_groups, shape[-1])
            content = {**table, "type": kind, "cards": shape, "table": rows}
        else:
            content = {**_flat_tree(table), "type": kind, "cards": shape}
        return {**content, "family": family}

    def _network_model(self, model: Values) -> Values:
        prior = self.shaped(model, given_prior=self.cards[-1:])
        return {"network": self.network(model), **prior}

    def _one_dependence(self, model: Values) -> Values:
        *cards, n_classes = self.cards
        width = sum(cards) + len(cards)
        return self.shaped(
            model,
            parent_probabilities=(n_classes, width),
            child_probabilities=(n_classes, width, width),
        )

    def _averaged_kdb(self, model: Values) -> Values:
        *cards, n_classes = self.cards
        rule, strength = (model["smoothing"][key] for key in ("rule", "strength"))
        counts = zip(model["state_counts"], cards, strict=True)
        depths = model["max_parents"] + 1
        return {
            **self.shaped(model, base=[n_classes], weights=[len(cards), depths]),
            "smoothing": {"type": rule, _STRENGTHS[rule]: strength},
            "state_counts": [self.floats(value, card) for value, card in counts],
            "networks": [self._random_network(one) for one in model["networks"]],
        }

    def _random_network(self, network: Values) -> Values:
        """Counts of each family, whose states stood one family after the other."""
        families = [[node, *own] for node, own in enumerate(network["parents"])]
        starts = [0, *accumulate(network["n_cells"])]
        sizes = [n * len(f) for n, f in zip(network["n_cells"], families, strict=True)]
        states = self.codes(network["states"], sum(sizes))
        places = padded(families)
        if places.shape[1] > _MOST_PLACES:
            raise ModelFileError("a family has too many joint states")
        laid_out = np.zeros((places.shape[1], starts[-1]), dtype=np.int64)
        ends = list(accumulate(sizes))
        for row, (family, size, end) in enumerate(
            zip(families, sizes, ends, strict=True)
        ):
            cells = states[end - size : end].reshape(len(family), -1)
            laid_out[: len(family), starts[row] : starts[row + 1]] = cells
        maps = zip(network["maps"], self.cards[:-1], strict=True)
        return {
            "maps": [self.codes(value, card + 1) for value, card in maps],
            "counts": {
                "families": places,
                "states": laid_out,
                "classes": self.codes(network["classes"], starts[-1]),
                "weights": self.floats(network["cell_weights"], starts[-1]),
                "starts": np.array(starts, dtype=np.int64),
            },
        }

    def _hierarchical(self, model: Values) -> Values:
        nodes = self.cards[:-1]
        latents, cell_counts, children = [], [], set(range(len(nodes)))
        for latent in model["latents"]:
            shape = nodes[latent["left"]], nodes[latent["right"]]
            states = self.codes(latent["states"], *shape)
            latents.append({**latent, "states": states})
            cell_counts.append(self.floats(latent["cell_counts"], *shape))
            children -= {latent["left"], latent["right"]}
            children.add(len(nodes))
            nodes.append(int(states.max()) + 1)
        tables = zip(model["tables"], sorted(children), strict=True)
        n_classes = self.cards[-1]
        return {
            "tree": {"feature_cards": self.cards[:-1], "latents": latents},
            "cell_counts": cell_counts,
            "tables": [self.floats(t, n_classes, nodes[node]) for t, node in tables],
        }

    def _mixture(self, model: Values) -> Values:
        *cards, n_classes = self.cards
        outputs = [*model["architecture"], n_classes]
        offsets = [0, *accumulate(cards)]
        return {
            "starts": [
                [
                    {
                        **self.shaped(
                            bank, log_prior=shape, log_table=(sum(cards), *shape)
                        ),
                        "offsets": offsets,
                    }
                    for level, bank in enumerate(banks)
                    for shape in [(prod(outputs[:level]), outputs[level])]
                ]
                for banks in model["starts"]
            ]
        }

    def _latent_class(self, model: Values) -> Values:
        *cards, n_classes = self.cards
        shape = n_classes, model["n_components"]
        tables = zip(model["tables"], cards, strict=True)
        return {
            "weights": self.floats(model["weights"], *shape),
            "tables": [self.floats(table, *shape, card) for table, card in tables],
        }


def _flat_tree(tree: Values) -> Values:
    """The leaves and splits of a tree whose splits stood inside each other.

    A branch was a split, the list of a leaf's probabilities, or the number of a leaf
    that several shared; no tree had leaves of both kinds.
    """
    leaves = [*tree.get("leaves", [])]
    splits: list[Values] = []

    def number(node: Any) -> int:
        """The leaf's number from 0 on, or the split's from -1 downwards."""
        if isinstance(node, dict):
            below = [number(branch) for branch in node["branches"]]
            splits.append({**node, "branches": below})
            return -len(splits)
        if isinstance(node, list):
            leaves.append(node)
            node = len(leaves) - 1
        return int(node)

    number(tree["root"])
    for split in splits:
        own = split["branches"]
        split["branches"] = [b if b >= 0 else len(leaves) - 1 - b for b in own]
    return {"leaves": leaves, "splits": splits}
