"""``bayleaf query``: what a network says, given what is known."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from cyclopts import Parameter

from bayleaf.cli.options import Strings
from bayleaf.cli.showing.found import print_json, tell
from bayleaf.wording import format_number, shown_name, visible

if TYPE_CHECKING:
    from bayleaf.inference.posteriors import Posteriors
    from bayleaf.models.bayesian_network import BayesianNetwork


def query(
    model: Path,
    *,
    given: Strings = (),
    likelihood: Strings = (),
    target: Strings = (),
    most_probable: Annotated[bool, Parameter(negative="")] = False,
    information: Annotated[bool, Parameter(negative="")] = False,
    probability: str | None = None,
    joint: Strings = (),
    partial: Annotated[Strings, Parameter(name="--map")] = (),
    do: Strings = (),
    effect: str | None = None,
    latent: Strings = (),
    method: Literal["exact", "auto", "approximate"] = "exact",
    tolerance: float = 0.005,
    seed: int = 0,
    json: Annotated[bool, Parameter(negative="")] = False,
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
    json
        Print JSON.
    """
    from bayleaf.cli.networks import (
        conditions_from,
        interventions_from,
        names_from,
        open_network,
    )
    from bayleaf.inference.interventions.identification import ASSUMPTION

    several = {
        "--most-probable": most_probable,
        "--probability": probability is not None,
        "--joint": bool(joint),
        "--map": bool(partial),
        "--effect": effect is not None,
    }
    asked = [name for name, is_asked in several.items() if is_asked]
    _check_alone(asked, with_targets=bool(target), information=information)
    if information and len(target) != 1:
        raise ValueError("--information needs exactly one --target")
    if latent and effect is None:
        raise ValueError("--latent is about an effect; give --effect as well")
    if method != "exact" and (asked or information):
        raise ValueError("--method is about single posteriors; leave it out here")
    sampling = {"method": method, "tolerance": tolerance, "random_state": seed}
    network = open_network(model)
    with _remarks_in_a_line():
        settings = interventions_from(network, do)
        if settings:
            network = network.do(settings)
            warnings.warn(ASSUMPTION, stacklevel=1)
        evidence, expressions = conditions_from(network, given, likelihood)
        known: Any = [evidence, *expressions] if expressions else evidence
        if most_probable:
            return _show_most_probable(network, known, as_json=json)
        if information:
            return _show_information(network, target[0], known, as_json=json)
        if probability is not None:
            return _show_probability(network, probability, known, as_json=json)
        if joint:
            names = names_from(network, joint)
            return _show_joint(network, names, known, as_json=json)
        if partial:
            names = names_from(network, partial)
            return _show_partial(network, names, known, as_json=json)
        if effect is not None:
            return _show_effect(network, effect, known, latent, as_json=json)
        asking = _Asking(tuple(target), settings, sampling)
        return _show_posteriors(network, known, asking, as_json=json)


def _check_alone(
    asked: Sequence[str], *, with_targets: bool, information: bool
) -> None:
    """Raise if more than one kind of question is asked."""
    if "--most-probable" in asked and (with_targets or information or len(asked) > 1):
        raise ValueError("--most-probable is about all variables; give it alone")
    kinds = [*asked, "--information"] if information else list(asked)
    if len(kinds) > 1:
        raise ValueError(f"{kinds[0]} and {kinds[1]} are two questions; ask one")
    if asked and with_targets:
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


def _show_effect(
    network: BayesianNetwork, effect: str, known: Any, latent: Strings, *, as_json: bool
) -> int:
    """Print what setting a treatment does to an outcome."""
    from bayleaf.cli.networks import two_variables

    treatment, outcome = two_variables(network, effect)
    found = network.causal_effect(
        treatment, outcome, given=known, latent=list(latent), random_state=0
    )
    tell(found, as_json)
    return 0


class _Asking(NamedTuple):
    """Whose posteriors are asked for, what was set, and how to find them."""

    targets: tuple[str, ...]
    settings: Mapping[str | int, Any]
    sampling: Mapping[str, Any]


def _show_posteriors(
    network: BayesianNetwork, known: Any, asking: _Asking, *, as_json: bool
) -> int:
    """Print the posterior of each target, or of what is open."""
    from bayleaf.inference.events.events import read_single

    evidence, *expressions = known if isinstance(known, list) else [known]
    items = read_single(network.domain, expressions).items
    closed = {*evidence, *asking.settings, *(item.about.name for item in items)}
    open_variables = [name for name in network.domain.names if name not in closed]
    posteriors = network.query(
        known, asking.targets or open_variables, **asking.sampling
    )
    if as_json:
        print_json(_as_json(posteriors))
    else:
        print(posteriors)
    return 0


def _as_json(posteriors: Posteriors) -> dict[str, Any]:
    """Probabilities, and how sure estimates are."""
    found: dict[str, Any] = {
        "log_probability_of_evidence": posteriors.log_evidence,
        "posteriors": posteriors.to_dict(),
    }
    if not posteriors.is_exact:
        found["log_probability_of_evidence_error"] = posteriors.log_evidence_error
        errors = posteriors.standard_errors.values()
        found["standard_errors"] = {
            name: dict(zip(states, each.tolist(), strict=True))
            for (name, states), each in zip(
                posteriors.to_dict().items(), errors, strict=True
            )
        }
    return found


def _show_probability(
    network: BayesianNetwork, event: str, known: Any, *, as_json: bool
) -> int:
    """Print the probability of an event."""
    log_probability = network.log_probability(event, known)
    probability = network.probability(event, known)
    if as_json:
        is_possible = math.isfinite(log_probability)
        print_json(
            {
                "probability": probability,
                # JSON has no infinity.
                "log_probability": log_probability if is_possible else None,
            }
        )
        return 0
    tiny = f" (ln {format_number(log_probability)})" if probability < 1e-6 else ""
    print(f"{probability:.6g}{tiny}")
    return 0


def _show_joint(
    network: BayesianNetwork, names: list[str], known: Any, *, as_json: bool
) -> int:
    """Print the joint distribution of some variables."""
    found = network.joint(names, known)
    if not as_json:
        print(found)
        return 0
    shown = [str(name) for name in found.names]
    cells = [
        {"states": dict(zip(shown, states, strict=True)), "probability": probability}
        for states, probability in found.to_dict().items()
    ]
    print_json({"log_probability_of_evidence": found.log_evidence, "joint": cells})
    return 0


def _show_partial(
    network: BayesianNetwork, names: list[str], known: Any, *, as_json: bool
) -> int:
    """Print the most probable states of some variables together."""
    states, probability = network.most_probable(names, known)
    if as_json:
        shown = {str(name): state for name, state in states.items()}
        print_json({"probability": probability, "states": shown})
        return 0
    _print_states(states)
    print(f"probability of these together: {probability:.6g}")
    return 0


def _print_states(states: Mapping[Any, Any]) -> None:
    """A line a variable."""
    names = [shown_name(name) for name in states]
    width = max(map(len, names))
    for name, state in zip(names, states.values(), strict=True):
        print(f"{name:<{width}}  {shown_name(state)}")


def _show_most_probable(
    network: BayesianNetwork, evidence: dict[str | int, Any], *, as_json: bool
) -> int:
    """Print the most probable state of all variables together."""
    states, log_probability = network.most_probable_explanation(evidence)
    if as_json:
        print_json(
            {
                "log_joint_probability": log_probability,
                "states": {str(name): state for name, state in states.items()},
            }
        )
        return 0
    _print_states(states)
    print(f"log probability of all this together: {log_probability:.6g}")
    return 0


def _show_information(
    network: BayesianNetwork,
    target: str,
    evidence: dict[str | int, Any],
    *,
    as_json: bool,
) -> int:
    """Print the variables by the information that observing them would add."""
    found = network.value_of_information(target, evidence)
    if as_json:
        print_json({str(name): value for name, value in found.items()})
        return 0
    names = [shown_name(name) for name in found]
    width = max(map(len, names), default=0)
    for name, value in zip(names, found.values(), strict=True):
        print(f"{name:<{width}}  {value:.4f} nats")
    return 0
