"""``bayleaf query``: what a network says, given what is known."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bayleaf.cli.display import print_json
from bayleaf.cli.options import Flag, Json, Strings
from bayleaf.wording import (
    counted,
    format_number,
    in_bits,
    shown_name,
    split_names,
    visible,
)

if TYPE_CHECKING:
    from bayleaf.models.bayesian_network import BayesianNetwork

# What a question is answered with: values for JSON, and text.
Answer = tuple[Any, str]


def query(
    model: Path,
    *,
    given: Strings = (),
    likelihood: Strings = (),
    target: Strings = (),
    most_probable: Flag = False,
    information: Flag = False,
    probability: str | None = None,
    joint: Strings = (),
    partial: Annotated[Strings, Parameter(name="--map")] = (),
    do: Strings = (),
    effect: str | None = None,
    latent: Strings = (),
    method: Literal["exact", "auto", "approximate"] = "exact",
    tolerance: float = 0.005,
    seed: int = 0,
    json: Json = False,
) -> int:
    """Show how probable each state is, given evidence.

    Example: `bayleaf query model.json --given age=50-60 --given smoker=yes --target
    disease`

    Example: `bayleaf query model.json --probability "disease = present and age > 50"
    --given "sex = male or not smoker = yes"`

    Parameters
    ----------
    model
        Network file (json, bif, net, xdsl, xml) or model file of a classifier.
    given
        Evidence: name=state, name=a|b for one of several, name=!a for a state ruled
        out, name=30..50, name<=50 or name>30 for bounds; or an expression with and,
        or, not, in {a, b}, between a and b; may be repeated.
    likelihood
        Uncertain evidence: name=a:0.8,b:0.2; may be repeated.
    target
        Variable to show; may be repeated. By default all that are not given.
    most_probable
        Show the most probable state of all variables together instead.
    information
        Show the most informative variables to observe for the one target instead.
    probability
        Show the probability of an event instead, such as "age > 50 and sex = male".
    joint
        Show the joint distribution of variables instead, names with commas between.
    partial
        Show the most probable states of some variables together instead, the others
        summed out; names with commas between.
    do
        Intervention: name=state, or name=a:0.3,b:0.7 to draw the state; arcs into the
        variable are cut. May be repeated.
    effect
        Treatment and outcome, as treatment,outcome: show what setting the one does to
        the other, by adjustment where variables are latent.
    latent
        Variable that is not observed, for --effect; may be repeated.
    method
        Whether posteriors are computed exactly or estimated from weighted samples; auto
        estimates them where exact answers need too large a table.
    tolerance
        Largest standard error of an estimated probability.
    seed
        Seed of the samples.
    """
    from bayleaf.cli.network_options import (
        conditions_from,
        interventions_from,
        two_variables,
    )
    from bayleaf.inference.causal_graph import ASSUMPTION
    from bayleaf.io import read_network

    questions = {
        "--most-probable": most_probable,
        "--probability": probability is not None,
        "--joint": bool(joint),
        "--map": bool(partial),
        "--effect": effect is not None,
        "--information": information,
    }
    asked = [name for name, is_asked in questions.items() if is_asked]
    _check_alone(asked, target)
    if latent and effect is None:
        raise ValueError("--latent is about an effect; give --effect as well")
    if method != "exact" and asked:
        raise ValueError("--method is about single posteriors; leave it out here")
    network = read_network(model)
    names = {str(name) for name in network.domain.names}
    with _remarks_in_a_line():
        settings = interventions_from(network, do)
        if settings:
            network = network.do(settings)
            warnings.warn(ASSUMPTION, stacklevel=1)
        evidence, expressions = conditions_from(network, given, likelihood)
        known: Any = [evidence, *expressions] if expressions else evidence
        if most_probable:
            answer = _probable_states(network, None, known)
        elif information:
            nats = network.value_of_information(target[0], known)
            bits = {name: f"{in_bits(value):.4f}" for name, value in nats.items()}
            some = {name: f"{text} bits" for name, text in bits.items() if float(text)}
            lines = _lines(some)
            if n_others := len(bits) - len(some):
                lines.append(f"0 bits for {counted(n_others, 'other')}")
            answer = (
                {str(name): value for name, value in nats.items()},
                "\n".join(lines),
            )
        elif probability is not None:
            answer = _probability(network, probability, known)
        elif joint:
            answer = _joint(network, split_names(joint, names), known)
        elif partial:
            answer = _probable_states(network, split_names(partial, names), known)
        elif effect is not None:
            treatment, outcome = two_variables(network, effect)
            result = network.causal_effect(
                treatment, outcome, given=known, latent=list(latent), random_state=0
            )
            answer = result.to_dict(), str(result)
        else:
            sampling = {"method": method, "tolerance": tolerance, "random_state": seed}
            variables = target or _open_variables(network, known, settings)
            answer = _posteriors(network, variables, known, sampling)
        value, text = answer
        if json:
            print_json(value)
        elif text:
            print(text)
    return 0


def _check_alone(asked: Sequence[str], target: Sequence[str]) -> None:
    """Raise if more than one kind of question is asked, or it does not fit a target."""
    if "--most-probable" in asked and (target or len(asked) > 1):
        raise ValueError("--most-probable is about all variables; give it alone")
    if len(asked) > 1:
        raise ValueError(f"{asked[0]} and {asked[1]} are two questions; ask one")
    if asked == ["--information"]:
        if len(target) != 1:
            raise ValueError("--information needs exactly one --target")
    elif asked and target:
        raise ValueError(
            f"--target names what to show one by one; leave it out beside {asked[0]}"
        )


@contextmanager
def _remarks_in_a_line() -> Iterator[None]:
    """Warnings as lines of the error stream, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print(visible(f"bayleaf: {text}"), file=sys.stderr)


def _open_variables(
    network: BayesianNetwork, known: Any, settings: Mapping[str | int, Any]
) -> list[str | int]:
    """Variables that are neither known nor set."""
    from bayleaf.inference.events.events import read_single

    evidence, *expressions = known if isinstance(known, list) else [known]
    items = read_single(network.domain, expressions).items
    closed = {*evidence, *settings, *(item.about.name for item in items)}
    return [name for name in network.domain.names if name not in closed]


def _posteriors(
    network: BayesianNetwork,
    variables: Sequence[str | int],
    known: Any,
    sampling: Mapping[str, Any],
) -> Answer:
    """The posterior of each variable, with standard errors if it is estimated."""
    posteriors = network.query(known, variables, **sampling)
    values: dict[str, Any] = {
        "log_probability_of_evidence": posteriors.log_evidence,
        "posteriors": posteriors.to_dict(),
    }
    if not posteriors.is_exact:
        values["log_probability_of_evidence_error"] = posteriors.log_evidence_error
        errors = posteriors.standard_errors.values()
        values["standard_errors"] = {
            name: dict(zip(states, each.tolist(), strict=True))
            for (name, states), each in zip(
                posteriors.to_dict().items(), errors, strict=True
            )
        }
    return values, str(posteriors)


def _probability(network: BayesianNetwork, event: str, known: Any) -> Answer:
    """The probability of an event."""
    log_probability = network.log_probability(event, known)
    probability = network.probability(event, known)
    # JSON has no infinity.
    finite = log_probability if math.isfinite(log_probability) else None
    tiny = f" (ln {format_number(log_probability)})" if probability < 1e-6 else ""
    values = {"probability": probability, "log_probability": finite}
    return values, f"{probability:.6g}{tiny}"


def _joint(network: BayesianNetwork, names: list[str], known: Any) -> Answer:
    """The joint distribution of some variables."""
    joint = network.joint(names, known)
    shown = [str(name) for name in joint.names]
    cells = [
        {"states": dict(zip(shown, states, strict=True)), "probability": probability}
        for states, probability in joint.to_dict().items()
    ]
    values = {"log_probability_of_evidence": joint.log_evidence, "joint": cells}
    return values, str(joint)


def _probable_states(
    network: BayesianNetwork, names: list[str] | None, known: Any
) -> Answer:
    """The most probable states of some variables together, or of all of them."""
    if names is None:
        best = network.most_probable_explanation(known)
        score = best.log_probability + best.log_evidence
        key, text = "log_joint_probability", "log probability of all this together"
    else:
        best = network.most_probable(names, known)
        score = best.probability
        key, text = "probability", "probability of these together"
    lines = _lines({name: shown_name(state) for name, state in best.states.items()})
    values = {key: score, "states": {str(k): s for k, s in best.states.items()}}
    return values, "\n".join([*lines, f"{text}: {score:.6g}"])


def _lines(texts: Mapping[Any, str]) -> list[str]:
    """A line per variable, the texts below one another."""
    names = [shown_name(name) for name in texts]
    width = max(map(len, names), default=0)
    return [f"{name:<{width}}  {text}" for name, text in zip(names, texts.values())]
