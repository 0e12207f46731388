"""
Gates and experts on parity
===========================

Whether an odd number of switches is on cannot be predicted from any one of them: given
the class, each is on half of the time. Naive Bayes learns nothing from that. Gates that
send rows to several naive Bayes experts can predict it, if there are enough of them.
"""

# %%
# Two switches first: exclusive or. One gate over two experts is enough.

import itertools

import matplotlib.pyplot as plt
import numpy as np

from bayleaf import HierarchicalMixtureNBClassifier, KDBClassifier, NaiveBayesClassifier


def parity(n_switches):
    """All settings of the switches, and whether an odd number of them is on."""
    X = np.array(list(itertools.product([0, 1], repeat=n_switches)))
    return X, X.sum(axis=1) % 2


X, y = parity(2)
print("naive Bayes", NaiveBayesClassifier().fit(X, y).predict_proba(X)[:, 1])
mixture = HierarchicalMixtureNBClassifier(architecture=(2,), random_state=0).fit(X, y)
print("mixture    ", mixture.predict_proba(X)[:, 1].round(3))
print(mixture)

# %%
# The explanation names the expert that decided, and what made the gates send the row
# there.

print(mixture.explain(X[1:2])[0])

# %%
# Four switches are harder. Learning row by row ends where its random start leads, so
# ten starts are tried for every depth of the tree; all gates have two children.

X, y = parity(4)
depths, starts = range(1, 8), range(10)
accuracies = np.array(
    [
        [
            HierarchicalMixtureNBClassifier(
                architecture=(2,) * depth, n_passes=500, random_state=start
            )
            .fit(X, y)
            .score(X, y)
            for start in starts
        ]
        for depth in depths
    ]
)
for depth, row in zip(depths, accuracies):
    print(f"{depth} levels: {(row == 1).sum():2} of 10 starts solve it")

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
spread = np.linspace(-0.15, 0.15, len(starts))
for depth, row in zip(depths, accuracies):
    axes.scatter(depth + spread, row, s=14, color="C0", alpha=0.6)
axes.plot(depths, accuracies.mean(axis=1), color="C1", marker="_", label="mean")
axes.axhline(0.5, color="grey", linestyle=":", label="naive Bayes")
axes.set(xlabel="levels of gates", ylabel="accuracy on four-bit parity", xticks=depths)
axes.legend()
plt.show()

# %%
# Sixteen rows are all that there is to know, and the task is no test of how a model
# does on rows that it has not seen. KDB shows the other way to the same end: with ``k =
# 3`` a table knows all four switches, while with ``k = 1`` it is as lost as naive
# Bayes.

for k in (1, 2, 3):
    print(f"KDB, k = {k}: accuracy {KDBClassifier(k=k).fit(X, y).score(X, y)}")
