"""
From naive Bayes to many parents
================================

Naive Bayes lets no feature depend on another, a tree lets each depend on one, KDB on up
to ``k``. More parents carry more information, but are estimated worse. This example
measures where the optimum is, and the effect of averaging.

The rows are those of ``adult_sample.csv.gz`` beside this program: every ninth of the
45 222 complete rows of Adult (Becker & Kohavi 1996, UCI Machine Learning Repository,
CC BY 4.0), eleven of its columns.
"""

# %%
# Every model learns from the same two thirds of the rows and is judged on the rest, by
# the share that it gets right and by its log-loss: minus the logarithm of the
# probability that it gave to what was true.

import matplotlib.pyplot as plt
import numpy as np
from pyarrow import csv
from sklearn.metrics import accuracy_score, log_loss

from bayleaf import (
    AveragedKDBClassifier,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
)
from bayleaf.plot import calibration, network

adult = csv.read_csv("adult_sample.csv.gz")
held_out = np.random.default_rng(0).permutation(adult.num_rows) % 3 == 0
X, y = adult.drop_columns(["income"]), np.array(adult["income"].to_pylist())
X_train, y_train = X.filter(~held_out), y[~held_out]
X_test, y_test = X.filter(held_out), y[held_out]


def measure(model):
    """Log-loss and accuracy on the held-out rows."""
    probabilities = model.fit(X_train, y_train).predict_proba(X_test)
    predicted = model.classes_[probabilities.argmax(axis=1)]
    return log_loss(y_test, probabilities), accuracy_score(y_test, predicted)


models = {
    "naive Bayes": NaiveBayesClassifier(),
    "TAN": TANClassifier(),
    **{f"KDB, k = {k}": KDBClassifier(k=k) for k in range(4)},
    "KDB, k chosen, calibrated": KDBClassifier(k="auto", calibration="leave_one_out"),
    "averaged KDB": AveragedKDBClassifier(random_state=0),
}
figures = {name: measure(model) for name, model in models.items()}
for name, (loss, accuracy) in figures.items():
    print(f"{name:28} log-loss {loss:.3f}   accuracy {accuracy:.3f}")

# %%
# With no parents KDB is naive Bayes, to the last bit. With three, tables have more
# cells than these rows can fill: it is right a little more often, and much too sure
# where it is wrong. The average of sampled networks has up to four parents a feature,
# and weights that say how much each of them can be trusted.

figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for panel, axes in enumerate(panels):
    spectrum = [figures[f"KDB, k = {k}"][panel] for k in range(4)]
    axes.plot(range(4), spectrum, marker="o", color="C0", label="KDB")
    for name, colour, style in (
        ("TAN", "C1", ":"),
        ("KDB, k chosen, calibrated", "C2", "-."),
        ("averaged KDB", "C3", "--"),
    ):
        axes.axhline(figures[name][panel], color=colour, linestyle=style, label=name)
    axes.set(xlabel="k, parents of a feature beside the class", xticks=range(4))
    axes.set_title(("log-loss (nats, lower is better)", "accuracy")[panel])
figure.legend(
    *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4
)
plt.show()

# %%
# How sure is too sure? A model whose line lies below the dotted one is right less often
# than it says; the numbers are expected calibration errors.

figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
shown = ["KDB, k = 3", "KDB, k chosen, calibrated", "averaged KDB"]
calibration(
    y_test, {name: models[name].predict_proba(X_test) for name in shown}, ax=axes
)
plt.show()

# %%
# How many parents are worth it was found without the held-out rows: every training row
# was taken out of the counts that it touches and predicted by what is left.

print(models["KDB, k chosen, calibrated"].selection_)

# %%
# The network behind the best single model can be looked at: which columns lean on which
# others, beyond the class.

network(models["TAN"])
