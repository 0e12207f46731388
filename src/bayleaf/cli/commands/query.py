"""``bayleaf query``: what a network says, given what is known."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from bayleaf.cli.options import Strings, print_json
from bayleaf.wording import shown_name

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
    method: Literal["exact", "auto", "approximate"] = "exact",
    tolerance: float = 0.005,
    seed: int = 0,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Show how probable each state is, given evidence.

    Example: `bayleaf query model.json --given age=50-60 --given smoker=yes --target
    disease`

    Parameters
    ----------
    model
        Network file (json, bif, net, xdsl, xml) or model file of a classifier.
    given
        Evidence: name=state, name=a|b for one of several, name=!a for a state ruled
        out, name=30..50, name<=50 or name>30 for bounds; may be repeated.
    likelihood
        Uncertain evidence: name=a:0.8,b:0.2; may be repeated.
    target
        Variable to show; may be repeated. By default all that are not given.
    most_probable
        Show the most probable state of all variables together instead.
    information
        Show the most informative variables to observe for the one target instead.
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
    from bayleaf.cli.networks import evidence_from, open_network

    if most_probable and (target or information):
        raise ValueError("--most-probable is about all variables; give it alone")
    if information and len(target) != 1:
        raise ValueError("--information needs exactly one --target")
    if method != "exact" and (most_probable or information):
        raise ValueError("--method is about posteriors; the rest is always exact")
    network = open_network(model)
    evidence = evidence_from(network, given, likelihood)
    if most_probable:
        return _show_most_probable(network, evidence, as_json=json)
    if information:
        return _show_information(network, target[0], evidence, as_json=json)
    open_variables = [name for name in network.domain.names if name not in evidence]
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        posteriors = network.query(
            evidence,
            list(target) or open_variables,
            method=method,
            tolerance=tolerance,
            random_state=seed,
        )
    for warning in raised:
        print(f"bayleaf: {warning.message}", file=sys.stderr)
    if json:
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
    names = [shown_name(name) for name in states]
    width = max(map(len, names))
    for name, state in zip(names, states.values(), strict=True):
        print(f"{name:<{width}}  {shown_name(state)}")
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
