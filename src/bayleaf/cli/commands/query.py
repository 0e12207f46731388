"""``bayleaf query``: what a network says, given what is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from bayleaf.cli.options import Strings, print_json
from bayleaf.wording import shown_name

if TYPE_CHECKING:
    from bayleaf.models.bayesian_network import BayesianNetwork


def query(
    model: Path,
    *,
    given: Strings = (),
    likelihood: Strings = (),
    target: Strings = (),
    most_probable: Annotated[bool, Parameter(negative="")] = False,
    information: Annotated[bool, Parameter(negative="")] = False,
    do: Strings = (),
    effect: str | None = None,
    latent: Strings = (),
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
    do
        Intervention: name=state, or name=a:0.3,b:0.7 to draw the state; arcs into the
        variable are cut. May be repeated.
    effect
        Treatment and outcome, as treatment,outcome: show what setting the one does to
        the other, by adjustment where variables are latent.
    latent
        Variable that is not observed, for --effect; may be repeated.
    json
        Print JSON.
    """
    from bayleaf.cli.networks import evidence_from, interventions_from, open_network
    from bayleaf.inference.interventions.adjustment_sets import ASSUMPTION

    if most_probable and (target or information):
        raise ValueError("--most-probable is about all variables; give it alone")
    if information and len(target) != 1:
        raise ValueError("--information needs exactly one --target")
    if effect is not None and (most_probable or target):
        raise ValueError(
            "--effect names its outcome itself; give it without --target, "
            "--most-probable and --information"
        )
    if latent and effect is None:
        raise ValueError("--latent is about an effect; give --effect as well")
    network = open_network(model)
    evidence = evidence_from(network, given, likelihood)
    settings = interventions_from(network, do)
    show = _Answer(json, {"assumption": ASSUMPTION} if settings else {})
    network = network.do(settings)
    if effect is not None:
        return _show_effect(network, effect, evidence, latent, as_json=json)
    if most_probable:
        return _show_most_probable(network, evidence, show)
    if information:
        return _show_information(network, target[0], evidence, show)
    closed = {*evidence, *settings}
    open_variables = [name for name in network.domain.names if name not in closed]
    posteriors = network.query(evidence, list(target) or open_variables)
    document = {
        "log_probability_of_evidence": posteriors.log_evidence,
        "posteriors": posteriors.to_dict(),
    }
    return show(document, str(posteriors))


class _Answer(NamedTuple):
    """How an answer is shown, and what is said with it."""

    as_json: bool
    remarks: dict[str, str]

    def __call__(self, document: dict[str, Any], text: str) -> int:
        """Print a document, or a text."""
        if self.as_json:
            print_json(document | self.remarks)
        else:
            print("\n".join([text, *self.remarks.values()]))
        return 0


def _show_effect(
    network: BayesianNetwork,
    effect: str,
    evidence: dict[str | int, Any],
    latent: Strings,
    *,
    as_json: bool,
) -> int:
    """Print what setting a treatment does to an outcome."""
    from bayleaf.cli.networks import two_variables

    treatment, outcome = two_variables(network, effect)
    found = network.causal_effect(
        treatment, outcome, given=evidence, latent=list(latent), random_state=0
    )
    if as_json:
        print_json(found.to_dict())
    else:
        print(found)
    return 0


def _show_most_probable(
    network: BayesianNetwork, evidence: dict[str | int, Any], show: _Answer
) -> int:
    """Print the most probable state of all variables together."""
    states, log_probability = network.most_probable_explanation(evidence)
    names = [shown_name(name) for name in states]
    width = max(map(len, names))
    lines = [
        f"{name:<{width}}  {shown_name(state)}"
        for name, state in zip(names, states.values(), strict=True)
    ]
    lines.append(f"log probability of all this together: {log_probability:.6g}")
    document = {
        "log_joint_probability": log_probability,
        "states": {str(name): state for name, state in states.items()},
    }
    return show(document, "\n".join(lines))


def _show_information(
    network: BayesianNetwork,
    target: str,
    evidence: dict[str | int, Any],
    show: _Answer,
) -> int:
    """Print the variables by the information that observing them would add."""
    found = network.value_of_information(target, evidence)
    names = [shown_name(name) for name in found]
    width = max(map(len, names), default=0)
    lines = [
        f"{name:<{width}}  {value:.4f} nats"
        for name, value in zip(names, found.values(), strict=True)
    ]
    document = {str(name): value for name, value in found.items()}
    return show(document, "\n".join(lines))
