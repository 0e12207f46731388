"""
Groups of values on a census table
==================================

Which countries, jobs and schools belong together is something that a person knows, or
that the data can teach. Structured density models see a column through such groups, as
coarse as the rows allow.

The table beside this program, ``adult_sample.csv.gz``, is every ninth of the 45 222
complete rows of Adult (Becker & Kohavi 1996, UCI Machine Learning Repository,
CC BY 4.0), eleven of its columns.
"""

# %%
# A hierarchy is written as nested mappings and lists: names of groups, and below them
# further groups or values. Values that no group names would hang below the root.
# (Ranges of numbers may be grouped too; here the two columns of numbers are left out.)

import warnings

import matplotlib.pyplot as plt
import numpy as np
from pyarrow import csv

from bayleaf import BayesianNetworkEstimator, UnknownValuesWarning, ValueHierarchy

sample = csv.read_csv("adult_sample.csv.gz")
adult = sample.drop_columns(["age", "hours_per_week"])
hierarchies = {
    "education": {
        "any": {
            "no_diploma": {
                "primary": ["Preschool", "1st-4th", "5th-6th", "7th-8th"],
                "some_high_school": ["9th", "10th", "11th", "12th"],
            },
            "diploma": ["HS-grad", "Some-college", "Assoc-voc", "Assoc-acdm"],
            "degree": {
                "Bachelors": None,
                "graduate": ["Masters", "Prof-school", "Doctorate"],
            },
        }
    },
    "marital_status": {
        "any": {
            "married": ["Married-civ-spouse", "Married-AF-spouse"],
            "Never-married": None,
            "apart": ["Divorced", "Separated", "Widowed", "Married-spouse-absent"],
        }
    },
    "occupation": {
        "any": {
            "white_collar": {
                "senior": ["Exec-managerial", "Prof-specialty"],
                "office": ["Adm-clerical", "Sales", "Tech-support"],
            },
            "blue_collar": {
                "skilled": ["Craft-repair", "Protective-serv", "Transport-moving"],
                "manual": ["Handlers-cleaners", "Machine-op-inspct", "Farming-fishing"],
            },
            "service": ["Other-service", "Priv-house-serv"],
        }
    },
}
print(ValueHierarchy.from_nested(hierarchies["education"]))

# %%
# Trees over these groups are held against trees over single values, and against trees
# over groups that were learned for each arc. Every fifth person is held out; one of
# these is from Scotland, where no other is from, and has an unknown country.

warnings.simplefilter("ignore", UnknownValuesWarning)
held_out = np.random.default_rng(0).permutation(adult.num_rows) % 5 == 0
train, test = adult.filter(~held_out), adult.filter(held_out)
models = {
    "single values": BayesianNetworkEstimator(local_structure="tree", random_state=0),
    "given groups": BayesianNetworkEstimator(
        local_structure="tree",
        abstraction="given",
        hierarchies=hierarchies,
        random_state=0,
    ),
    "learned groups": BayesianNetworkEstimator(
        local_structure="tree", abstraction="local", random_state=0
    ),
}
print(f"{'':16}{'arcs':>6}{'parameters':>12}{'nats a row':>12}")
for name, model in models.items():
    score = model.fit(train).score_samples(test).mean()
    print(f"{name:16}{len(model.edges_):6}{model.n_parameters_:12}{score:12.3f}")

# %%
# A tree over groups asks for a group first, and for the values below it only where the
# rows pay for the difference.

print(models["given groups"].describe("relationship"))

# %%
# Groups are words of the model, so that evidence may be given in them.

network = models["given groups"].network_
groups = ["no_diploma", "diploma", "Bachelors", "graduate"]
shares = [
    network.query({"education": group}, ["income"])["income"].probabilities[-1]
    for group in groups
]

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.bar(groups, shares)
axes.set(xlabel="education, by group", ylabel="P(more than 50 000 dollars a year)")
plt.show()

# %%
# The data find groups of their own, which may differ from arc to arc. Here values are
# grouped by what they imply about schooling.

print(models["learned groups"].describe("education"))
