"""Held-out figures of naive Bayes hierarchies whose latent variables are free.

    python benchmarks/free_latents.py heart cleve crx breast

Latent variables below the class are found by BIC instead of held-out rows, and have
distributions of their own instead of rules: Zhang, Nielsen and Jensen (2004), "Latent
variable discovery in classification models", Artificial Intelligence in Medicine 30.
Five stratified folds, shuffled by seed 0; cut points and structure are learned in the
training fold. The folder with the tables is named by the environment variable
BAYLEAF_DATA. Prints accuracy and log-loss (nats), and those of HNBClassifier.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyarrow.csv import read_csv
from sklearn.model_selection import StratifiedKFold

from bayleaf import HNBClassifier, NaiveBayesClassifier

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
# A feature, or a latent variable as its number of states and its children.
Tree = Any
SEARCHES = {
    "top_pairs": HNBClassifier(random_state=0),
    "top_pairs, log_loss": HNBClassifier(wrapper_score="log_loss", random_state=0),
    "significance": HNBClassifier(search="significance", random_state=0),
}
# Starts of expectation maximisation, steps of each, and further ones of the best.
_STARTS, _TRIAL_STEPS, _STEPS = 3, 10, 60
_LEAST_RISE, _LEAST_GAIN = 1e-2, 1e-3
_SMALLEST = 1e-300


class Node(NamedTuple):
    """A variable of a tree; children come first in lists of nodes."""

    tree: Tree
    parent_card: int
    children: list[int]


class Rows(NamedTuple):
    """Distinct rows, and the nodes that they are learned by."""

    nodes: list[Node]
    cells: dict[int, Whole]
    classes: Whole
    weights: Floats


class Fitted(NamedTuple):
    """The nodes of a tree, their tables, and the tree's part of BIC (nats)."""

    score: float
    nodes: list[Node]
    tables: list[Floats]


def latent(card: int, children: list[Tree]) -> Tree:
    """A latent variable over children, in one order for equal trees."""
    return (card, tuple(sorted(children, key=repr)))


def features(tree: Tree) -> list[int]:
    """The features of a tree."""
    if isinstance(tree, int):
        return [tree]
    return [feature for child in tree[1] for feature in features(child)]


class Training:
    """Codes (n_rows, n_features) and classes of a training fold."""

    def __init__(self, codes: Whole, cards: list[int], classes: Whole) -> None:
        self.codes, self.cards, self.classes = codes, cards, classes
        self.n_classes = int(classes.max()) + 1
        self.rng = np.random.default_rng(0)
        self.known: dict[Tree, Fitted] = {}

    def card(self, tree: Tree) -> int:
        """Number of states of the top of a tree."""
        return self.cards[tree] if isinstance(tree, int) else int(tree[0])

    def nodes(self, tree: Tree, parent_card: int, into: list[Node]) -> int:
        """List a tree's nodes; the place of its top."""
        children = []
        if not isinstance(tree, int):
            children = [self.nodes(child, tree[0], into) for child in tree[1]]
        into.append(Node(tree, parent_card, children))
        return len(into) - 1

    def fit(self, tree: Tree) -> Fitted:
        """Tables of a tree by expectation maximisation, since the class is known."""
        if tree not in self.known:
            nodes: list[Node] = []
            self.nodes(tree, self.n_classes, nodes)
            columns = [self.classes, *(self.codes[:, f] for f in features(tree))]
            rows, counts = np.unique(
                np.column_stack(columns), axis=0, return_counts=True
            )
            cells = dict(zip(features(tree), rows.T[1:], strict=True))
            data = Rows(nodes, cells, rows[:, 0], counts.astype(float))
            if isinstance(tree, int):
                best = self.climb(data, self.start(nodes), 1)
            else:
                starts = [self.start(nodes) for _ in range(_STARTS)]
                tried = [self.climb(data, start, _TRIAL_STEPS) for start in starts]
                best = max(tried, key=lambda each: each[0])
                best = self.climb(data, best[1], _STEPS)
            free = sum(n.parent_card * (self.card(n.tree) - 1) for n in nodes)
            score = best[0] - free / 2 * np.log(len(self.classes))
            self.known[tree] = Fitted(score, nodes, best[1])
        return self.known[tree]

    def start(self, nodes: list[Node]) -> list[Floats]:
        """Random tables."""
        return [
            self.rng.dirichlet(np.ones(self.card(n.tree)), size=n.parent_card)
            for n in nodes
        ]

    def climb(
        self, data: Rows, tables: list[Floats], n_steps: int
    ) -> tuple[float, list[Floats]]:
        """Steps of expectation maximisation; the log-likelihood before the last."""
        nodes, cells, classes, weights = data
        before = -np.inf
        for _ in range(n_steps):
            messages, inside = passed_up(nodes, tables, cells, len(classes))
            of_class = messages[-1][np.arange(len(classes)), classes]
            reached = float(weights @ np.log(np.maximum(of_class, _SMALLEST)))
            if reached - before < _LEAST_RISE:
                break
            before = reached
            counts = self.counts(data, tables, messages, inside)
            tables = [
                np.where(total > 0, count / np.maximum(total, _SMALLEST), table)
                for count, table in zip(counts, tables, strict=True)
                for total in [count.sum(axis=1, keepdims=True)]
            ]
        return reached, tables

    def counts(
        self,
        data: Rows,
        tables: list[Floats],
        messages: list[Floats],
        inside: list[Floats],
    ) -> list[Floats]:
        """Expected counts of each node below its parent."""
        nodes, cells, classes, weights = data
        counts = [np.zeros_like(table) for table in tables]
        parents = {len(nodes) - 1: np.eye(self.n_classes)[classes]}
        for i in range(len(nodes) - 1, -1, -1):
            tree, parent_card, children = nodes[i]
            shares = parents[i] * weights[:, None]
            if isinstance(tree, int):
                n_codes = self.cards[tree] + 1
                for state in range(parent_card):
                    row = np.bincount(cells[tree], shares[:, state], n_codes)
                    counts[i][state] = row[:-1]
                continue
            joint = parents[i][:, :, None] * tables[i] * inside[i][:, None, :]
            joint /= np.maximum(messages[i], _SMALLEST)[:, :, None]
            counts[i] = np.einsum("n,npq->pq", weights, joint)
            parents |= dict.fromkeys(children, joint.sum(axis=1))
        return counts

    def smoothed(self, tree: Tree) -> Fitted:
        """Tables in which each distribution has one row more, spread evenly."""
        fitted = self.fit(tree)
        cells = {f: self.codes[:, f] for f in features(tree)}
        weights = np.ones(len(self.classes))
        passed = passed_up(fitted.nodes, fitted.tables, cells, len(weights))
        data = Rows(fitted.nodes, cells, self.classes, weights)
        counts = self.counts(data, fitted.tables, *passed)
        tables = [count + 1 / count.shape[1] for count in counts]
        return fitted._replace(
            tables=[t / t.sum(axis=1, keepdims=True) for t in tables]
        )

    def search(self) -> list[Tree]:
        """The trees below the class that BIC prefers, by greedy steps."""
        trees: list[Tree] = list(range(len(self.cards)))
        while True:
            best, gain = trees, _LEAST_GAIN
            for old, new in moves(trees):
                rise = sum(self.fit(tree).score for tree in new)
                rise -= sum(self.fit(trees[i]).score for i in old)
                if rise > gain:
                    rest = [t for i, t in enumerate(trees) if i not in old]
                    best, gain = [*rest, *new], rise
            if best is trees:
                return trees
            trees = best


def passed_up(
    nodes: list[Node], tables: list[Floats], cells: dict[int, Whole], n_rows: int
) -> tuple[list[Floats], list[Floats]]:
    """Likelihoods (n_rows, states) of each node's parent, and of the node."""
    messages: list[Floats] = []
    inside: list[Floats] = []
    for (tree, parent_card, children), table in zip(nodes, tables, strict=True):
        likelihood = np.ones((n_rows, table.shape[1]))
        if isinstance(tree, int):
            # The last code is that of a missing cell.
            padded = np.column_stack([table, np.ones(parent_card)])
            messages.append(padded[:, cells[tree]].T)
        else:
            for child in children:
                likelihood = likelihood * messages[child]
            messages.append(likelihood @ table.T)
        inside.append(likelihood)
    return messages, inside


def moves(trees: list[Tree]) -> Iterator[tuple[tuple[int, ...], list[Tree]]]:
    """Trees to take away, by place, and what takes their place."""
    for i, tree in enumerate(trees):
        for j in range(i):
            yield (i, j), [latent(2, [tree, trees[j]])]
            for over, below in ((tree, trees[j]), (trees[j], tree)):
                if not isinstance(over, int):
                    yield (i, j), [latent(over[0], [*over[1], below])]
        if isinstance(tree, int):
            continue
        for changed in other_cards(tree):
            yield (i,), [changed]
        for child in tree[1]:
            left = [other for other in tree[1] if other is not child]
            top = latent(tree[0], left) if len(left) > 1 else left[0]
            yield (i,), [top, child]


def other_cards(tree: Tree) -> Iterator[Tree]:
    """A tree with a state more or less of one latent variable."""
    if isinstance(tree, int):
        return
    card, children = tree
    for other in (card + 1, card - 1):
        if other >= 2:
            yield latent(other, list(children))
    for i, child in enumerate(children):
        for changed in other_cards(child):
            yield latent(card, [*children[:i], changed, *children[i + 1 :]])


def log_proba(training: Training, trees: list[Tree], codes: Whole) -> Floats:
    """Log-probabilities of the classes, (n_rows, n_classes)."""
    totals = np.bincount(training.classes) + 1 / training.n_classes
    logs = np.tile(np.log(totals / totals.sum()), (len(codes), 1))
    for tree in trees:
        fitted = training.smoothed(tree)
        cells = {f: codes[:, f] for f in features(tree)}
        messages, _ = passed_up(fitted.nodes, fitted.tables, cells, len(codes))
        logs += np.log(np.maximum(messages[-1], _SMALLEST))
    return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)


def figures(path: Path) -> dict[str, tuple[float, float]]:
    """Accuracy and log-loss (nats) of each search on a table, its class last."""
    table = read_csv(path)
    *names, target = table.column_names
    X, y = table.select(names), np.array(list(map(str, table[target].to_pylist())))
    parts: dict[str, list[tuple[bool, float]]] = {}
    dealt = StratifiedKFold(5, shuffle=True, random_state=0).split(y, y)
    for train, test in dealt:
        encoder = NaiveBayesClassifier().fit(X.take(train), y[train])
        own = encoder.classes_.searchsorted(y)
        codes = [encoder._encode(X.take(rows)).codes for rows in (train, test)]
        fold, held_out = (
            np.column_stack([c.column(v) for v in range(c.n_variables)]).astype(int)
            for c in codes
        )
        training = Training(fold, list(codes[0].cards), own[train])
        logs = {"free latents": log_proba(training, training.search(), held_out)}
        for name, model in SEARCHES.items():
            fitted = model.fit(X.take(train), y[train])
            logs[name] = fitted.predict_log_proba(X.take(test))
        for name, each in logs.items():
            is_right = each.argmax(axis=1) == own[test]
            losses = -np.maximum(each[np.arange(len(test)), own[test]], np.log(1e-15))
            parts.setdefault(name, []).extend(zip(is_right, losses, strict=True))
    means = {name: np.mean(rows, axis=0) for name, rows in parts.items()}
    return {name: (float(a), float(b)) for name, (a, b) in means.items()}


def main() -> None:
    """Print a row a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="+")
    folder = Path(os.environ["BAYLEAF_DATA"]) / "small"
    warnings.simplefilter("ignore")
    for name in parser.parse_args().tables:
        found = figures(folder / f"{name}.csv")
        texts = [f"{k} {100 * a:.1f} % {b:.3f}" for k, (a, b) in found.items()]
        print(name, *texts, sep="; ", flush=True)


if __name__ == "__main__":
    main()
