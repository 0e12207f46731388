"""
Beside scikit-learn's classifiers
=================================

All classifiers here are scikit-learn's in every respect, so that its own tools compare
them: the same folds, the same scores. Each model gets the rows in the form that suits
it; whatever is learned for that form is learned inside the training folds.

The rows are those of ``adult_sample.csv.gz`` beside this program: every ninth of the
45 222 complete rows of Adult (Becker & Kohavi 1996, UCI Machine Learning Repository,
CC BY 4.0), eleven of its columns.
"""

# %%
# Numbers and words go into the classifiers of bayleaf as they are. Those of
# scikit-learn need codes or columns of zeros and ones first; naive Bayes over
# categories needs the numbers cut as well.

import time
import warnings

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)
from threadpoolctl import threadpool_limits

from bayleaf import (
    AODEClassifier,
    AveragedKDBClassifier,
    HNBClassifier,
    KDBClassifier,
    NaiveBayesClassifier,
    TANClassifier,
    UnknownValuesWarning,
)

adult = pd.read_csv("adult_sample.csv.gz")
X, y = adult.drop(columns="income"), adult["income"]
numbers = ["age", "hours_per_week"]
words = [column for column in X.columns if column not in numbers]

zeros_and_ones = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5)
# Counts over categories have no room for a word that training lacked, so that all words
# are named beforehand.
codes = OrdinalEncoder(categories=[sorted(X[column].unique()) for column in words])
bins = KBinsDiscretizer(10, encode="ordinal", strategy="uniform")
models = {
    "NaiveBayes": NaiveBayesClassifier(),
    "TAN": TANClassifier(),
    "KDB, chosen k": KDBClassifier(k="auto", calibration="leave_one_out"),
    "AODE": AODEClassifier(),
    "HNB": HNBClassifier(random_state=0),
    "AveragedKDB": AveragedKDBClassifier(random_state=0),
    "CategoricalNB": make_pipeline(
        make_column_transformer((bins, numbers), (codes, words)),
        CategoricalNB(min_categories=50),
    ),
    "LogisticRegression": make_pipeline(
        make_column_transformer((StandardScaler(), numbers), (zeros_and_ones, words)),
        LogisticRegression(),
    ),
    "RandomForest": make_pipeline(
        make_column_transformer(("passthrough", numbers), (codes, words)),
        RandomForestClassifier(min_samples_leaf=3, random_state=0),
    ),
    "HistGradientBoosting": HistGradientBoostingClassifier(
        categorical_features=words, early_stopping=True, random_state=0
    ),
}

# %%
# Five folds, stratified and shuffled, the same for all, on one core. The spread is that
# of the folds.

# A country of one row is not seen in training where that row is held out; bayleaf takes
# it as missing and warns of it.
warnings.simplefilter("ignore", UnknownValuesWarning)
folds = StratifiedKFold(5, shuffle=True, random_state=0)
scores = {}
for name, model in models.items():
    start = time.perf_counter()
    with threadpool_limits(1):
        scores[name] = cross_validate(
            model, X, y, cv=folds, scoring=["accuracy", "neg_log_loss"]
        )
    loss, right = -scores[name]["test_neg_log_loss"], scores[name]["test_accuracy"]
    print(
        f"{name:22} log-loss {loss.mean():.3f} ± {loss.std():.3f}"
        f"   accuracy {right.mean():.3f} ± {right.std():.3f}"
        f"   {time.perf_counter() - start:5.1f} s"
    )

# %%
# One line a fold: the models that are good on a fold are mostly the same ones on all of
# them, although the folds differ in how hard they are.

order = sorted(models, key=lambda name: scores[name]["test_neg_log_loss"].mean())
figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
for fold in range(5):
    losses = [-scores[name]["test_neg_log_loss"][fold] for name in order]
    axes.plot(losses, order, marker="o", markersize=4, alpha=0.6, label=f"fold {fold}")
axes.set_xlabel("log-loss on the held-out fold (nats, lower is better)")
axes.legend()
plt.show()

# %%
# One table of 5 025 rows says little of others; 46 of them are compared under
# :doc:`/results/accuracy`.
