"""Press Ctrl-C at random times of fits, predictions and queries, and look what happens.

    python interrupt_program.py LEAST_SECONDS TIMES N_JOBS SEED CASE...

Each case grows its table until it takes so many seconds, is interrupted so many times,
and then runs to its end. Prints one line of JSON a case, see `Report`.
"""

from __future__ import annotations

import _thread
import json
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bayleaf import BayesianNetworkEstimator, Inference, learn_parameters
from bayleaf.classifiers import CLASSIFIERS, KDBClassifier

Action = Callable[[], NDArray[Any]]

N_FEATURES = 8
# Rows that a model is compared on.
N_COMPARED = 50
MOST_ROWS = 4_000_000


@dataclass
class Report:
    """What interruptions of one case led to.

    Parameters
    ----------
    case : str
        Its name.
    seconds : float
        What it takes undisturbed.
    n_interrupted, n_finished : int
        How often KeyboardInterrupt came, and how often the end came first.
    longest : float
        Most seconds from a signal to the end of what it met.
    longest_work : float
        Most seconds that processors worked in between: what `longest` would be, or
        more, were nobody else at work on the machine.
    wrong : list of str
        Other exceptions, and results that were not as before.
    """

    case: str
    seconds: float
    n_interrupted: int = 0
    n_finished: int = 0
    longest: float = 0.0
    longest_work: float = 0.0
    wrong: list[str] = field(default_factory=list)


def made_up(n_rows: int) -> tuple[pd.DataFrame, NDArray[Any]]:
    """Numbers, words and missing cells that tell something of three classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n_rows)
    columns: dict[str, Any] = {}
    for j in range(N_FEATURES // 2):
        columns[f"x{j}"] = (rng.normal(size=n_rows) + y * (j % 2)).round(3)
        words = (rng.integers(4, size=n_rows) + y * (j % 2)) % 5
        words[rng.random(n_rows) < 0.02] = -1
        columns[f"w{j}"] = pd.Categorical.from_codes(words, list("abcde"))
    return pd.DataFrame(columns), y


# ---- what is interrupted: from a number of rows to an action


def fit_classifier(kind: Any, options: dict[str, Any], n_rows: int) -> Action:
    """A fit, and what it predicts."""
    X, y = made_up(n_rows)
    # The same object each time: a fit that was cut short must not be in the way.
    model = kind(**options)
    return lambda: np.asarray(model.fit(X, y).predict_proba(X[:N_COMPARED]))


def fit_density(options: dict[str, Any], n_rows: int) -> Action:
    """A fit of a network over all columns, and how likely it finds rows."""
    X, y = made_up(n_rows)
    X["y"] = pd.Categorical(y)
    model = BayesianNetworkEstimator(**options, random_state=0)
    return lambda: np.asarray(model.fit(X).score_samples(X[:N_COMPARED]))


def predict(kind: Any, n_jobs: int, n_rows: int) -> Action:
    """Probabilities of the classes of many rows."""
    X, y = made_up(n_rows)
    model = kind(n_jobs=n_jobs).fit(X[:1000], y[:1000])
    return lambda: np.asarray(model.predict_proba(X))


def explain(kind: Any, n_rows: int) -> Action:
    """What each feature adds to the odds of many rows."""
    X, y = made_up(1000)
    model = kind().fit(X, y)
    rows = pd.concat([X] * (n_rows // len(X) + 1))[:n_rows]
    return lambda: np.array([each.log_odds for each in model.explain(rows)])


def query_rows(n_jobs: int, n_rows: int) -> Action:
    """Posterior of a variable in many rows with missing cells."""
    X, _ = made_up(n_rows)
    X = X[[name for name in X if name.startswith("w")]]
    network = BayesianNetworkEstimator(random_state=0).fit(X[:1000]).network_
    questions = Inference(network)
    return lambda: questions.posterior_table(X, "w1", n_jobs=n_jobs)


def query(n_times: int) -> Action:
    """One posterior after another, each after other evidence."""
    X, _ = made_up(2000)
    questions = Inference(BayesianNetworkEstimator(random_state=0).fit(X).network_)

    def ask() -> NDArray[Any]:
        found = [questions.query({"w3": "abcde"[k % 5]}) for k in range(n_times)]
        return np.array([each["w1"]["a"] for each in found[:N_COMPARED]])

    return ask


def learn_tables(n_jobs: int, n_rows: int) -> Action:
    """Expectation maximisation with missing cells."""
    X, _ = made_up(n_rows)
    X = X[[name for name in X if name.startswith("w")]]
    network = BayesianNetworkEstimator(random_state=0).fit(X[:1000]).network_

    def learn() -> NDArray[Any]:
        found = learn_parameters(network, X, n_jobs=n_jobs).network
        return Inference(found).log_likelihood_rows(X[:N_COMPARED])

    return learn


def cases(n_jobs: int) -> dict[str, Callable[[int], Action]]:
    """From a case's name to what makes it with a number of rows."""
    found: dict[str, Callable[[int], Action]] = {
        f"fit {name}": partial(
            fit_classifier, kind, {"n_jobs": n_jobs, "random_state": 0}
        )
        for name, kind in CLASSIFIERS.items()
    }
    auto = {"k": "auto", "n_jobs": n_jobs, "random_state": 0}
    found["fit kdb auto"] = partial(fit_classifier, KDBClassifier, auto)
    for local, abstraction in (("table", None), ("tree", None), ("tree", "local")):
        options = {"local_structure": local, "abstraction": abstraction}
        place = f"fit density {local} {abstraction or 'flat'}"
        found[place] = partial(fit_density, options | {"n_jobs": n_jobs})
    for name in ("nb", "auto", "hnb", "network"):
        found[f"predict {name}"] = partial(predict, CLASSIFIERS[name], n_jobs)
    for name in ("tan", "hnb"):
        found[f"explain {name}"] = partial(explain, CLASSIFIERS[name])
    found["query rows"] = partial(query_rows, n_jobs)
    found["query"] = query
    found["learn tables"] = partial(learn_tables, n_jobs)
    return found


# ---- interrupting


def timed(action: Action) -> tuple[NDArray[Any], float]:
    """What an action gives, and how many seconds it takes."""
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def grown(
    make: Callable[[int], Action], least: float
) -> tuple[Action, NDArray[Any], float]:
    """An action that takes so long, what it gives, and how long it takes."""
    n_rows = 250
    while True:
        action = make(n_rows)
        # Twice, because the first may load what the second finds.
        action()
        result, seconds = timed(action)
        if seconds >= least or n_rows >= MOST_ROWS:
            return action, result, seconds
        # No more than is needed: sizes differ by the thousandfold.
        n_rows = int(n_rows * min(8.0, 1.3 * least / seconds + 1))


def press(delay: float, pressed: list[float]) -> None:
    """Press Ctrl-C in this process after a while, and note both clocks."""
    time.sleep(delay)
    pressed += [time.perf_counter(), time.process_time()]
    # On Windows os.kill would end the process.
    _thread.interrupt_main()


def interrupt(action: Action, delay: float, expected: NDArray[Any], to: Report) -> None:
    """Run an action and press Ctrl-C on the way."""
    pressed: list[float] = []
    presser = threading.Thread(target=press, args=(delay, pressed))
    result: NDArray[Any] | None = None
    try:
        presser.start()
        result = action()
        # What comes after the end must find somebody who takes it.
        presser.join()
        time.sleep(1)
        to.wrong.append("Ctrl-C led to nothing")
    except KeyboardInterrupt:
        if result is None:
            to.n_interrupted += 1
            to.longest = max(to.longest, time.perf_counter() - pressed[0])
            to.longest_work = max(to.longest_work, time.process_time() - pressed[1])
        else:
            to.n_finished += 1
    except BaseException as error:
        to.wrong.append(f"{type(error).__name__}: {error}")
    presser.join()
    if result is not None and not np.array_equal(result, expected):
        to.wrong.append("a run that was not interrupted gave something else")


def report(name: str, least: float, n_times: int, n_jobs: int, seed: int) -> Report:
    """Interrupt a case a number of times."""
    action, expected, seconds = grown(cases(n_jobs)[name], least)
    found = Report(name, seconds)
    rng = np.random.default_rng(seed)
    for delay in rng.uniform(0.0, seconds, size=n_times):
        interrupt(action, delay, expected, found)
    if not np.array_equal(action(), expected):
        found.wrong.append("a run after interrupted ones gave something else")
    return found


def main() -> None:
    """Print what became of each case."""
    # It is ignored in what nohup or a shell starts in the background.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    least, n_times, n_jobs, seed = sys.argv[1:5]
    for name in sys.argv[5:]:
        found = report(name, float(least), int(n_times), int(n_jobs), int(seed))
        print(json.dumps(asdict(found)), flush=True)


if __name__ == "__main__":
    main()
