"""
Rules for heart disease
=======================

Hierarchical naive Bayes looks for features that are more informative together than
apart and joins them into latent variables whose states are rules. Here it learns from
the 270 patients of the shipped heart table.
"""

# %%
# A test at level 0.001 decides which pairs are joined; there is nothing else to choose.
# What was learned reads as a list of rules.

import matplotlib.pyplot as plt

from bayleaf import HNBClassifier
from bayleaf.datasets import load_heart
from bayleaf.plot import contributions, latent_partition

X, y = load_heart(return_X_y=True)
model = HNBClassifier(
    search="significance", significance_level=0.001, random_state=0
).fit(X, y)
print(model.rules())

# %%
# A latent variable parts the cells of its two children into states: those of one colour
# say the same about the disease. A child may be a latent variable itself.

figure, grid = plt.subplots(2, 2, figsize=(9, 5), layout="constrained")
for axes, latent in zip(grid.flat, model.latents_):
    latent_partition(model, latent.name, ax=axes)
plt.show()

# %%
# Every state of a latent variable holds for some of the patients. A bar is as wide as
# their number and as high as the share of them who are ill; the dashed line is the
# share among all patients. The further a bar is from the line, the more informative
# are its rules.

present = list(model.classes_).index("present")
figure, grid = plt.subplots(
    2, 2, figsize=(9, 6), sharex=True, sharey=True, layout="constrained"
)
for axes, latent in zip(grid.flat, model.latents_):
    left = 0.0
    for number, state in enumerate(latent.states, 1):
        share = state.class_probabilities[present]
        axes.bar(left, share, state.n, align="edge", color="C0", edgecolor="white")
        middle = left + state.n / 2
        axes.text(middle, share + 0.02, f"{share:.2f}", ha="center")
        axes.text(middle, 0.03, f"state {number}", ha="center", color="white")
        left += state.n
    axes.axhline((y == "present").mean(), color="C1", linestyle="--")
    first, second = latent.children
    axes.set_title(f"{latent.name}: {first}\nand {second}", fontsize=10)
    axes.set_ylim(0, 1)
figure.supxlabel("patients")
figure.supylabel("share with heart disease")
plt.show()

# %%
# A prediction names the rules that fired and what each part of them adds to the
# log-odds.

explanation = model.explain(X.slice(0, 1))[0]
print(explanation)

figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
contributions(explanation, ax=axes)
plt.show()
