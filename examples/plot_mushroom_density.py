"""
A density model of mushrooms
============================

A density model has no class: it learns how all columns of a table depend on one
another. The shipped mushrooms have 23 columns, many of which follow from others.
"""

# %%
# Four models of the same rows: conditional tables or trees, over single values or over
# groups of values that are learned for each arc. Every fifth mushroom is held out.

import time

import matplotlib.pyplot as plt
import numpy as np

from bayleaf import BayesianNetworkEstimator
from bayleaf.datasets import load_mushroom
from bayleaf.plot import tree_cpd

mushrooms = load_mushroom().frame
held_out = np.random.default_rng(0).permutation(mushrooms.num_rows) % 5 == 0
train, test = mushrooms.filter(~held_out), mushrooms.filter(held_out)

settings = {
    "tables": {"local_structure": "table"},
    "tables over groups": {"local_structure": "table", "abstraction": "local"},
    "trees": {"local_structure": "tree"},
    "trees over groups": {"local_structure": "tree", "abstraction": "local"},
}
models = {}
print(f"{'':20}{'arcs':>6}{'parameters':>12}{'nats a row':>12}{'seconds':>9}")
for name, setting in settings.items():
    start = time.perf_counter()
    model = models[name] = BayesianNetworkEstimator(**setting, random_state=0).fit(
        train
    )
    seconds = time.perf_counter() - start
    print(
        f"{name:20}{len(model.edges_):6}{model.n_parameters_:12}"
        f"{model.score_samples(test).mean():12.3f}{seconds:9.1f}"
    )

# %%
# Trees need fewer parameters for a better description of mushrooms that they have not
# seen, because they distinguish only what enough rows support.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for name, model in models.items():
    score = model.score_samples(test).mean()
    axes.scatter(model.n_parameters_, score, s=60)
    axes.annotate(
        name, (model.n_parameters_, score), (8, -3), textcoords="offset points"
    )
axes.set(xlabel="parameters", ylabel="log-likelihood of a held-out row (nats)")
axes.margins(x=0.35, y=0.15)
plt.show()

# %%
# A tree reads from the root: which value leads where, and what is to be expected there.

trees = models["trees"]
print(trees.describe("edibility"))

figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
tree_cpd(trees, "edibility", ax=axes)
plt.show()

# %%
# Nothing was singled out, so anything may be asked. What smells foul, and what else is
# then likely?

print(trees.network_.query({"odor": "foul"}, ["edibility", "spore_print_color"]))

# %%
# The mushrooms that the model finds least likely are the odd ones of the table.

scores = trees.score_samples(mushrooms)
print(f"{scores.min():.1f} nats against {np.median(scores):.1f} in the middle")
for name, value in mushrooms.slice(int(scores.argmin()), 1).to_pylist()[0].items():
    print(f"  {name:28}{value}")
