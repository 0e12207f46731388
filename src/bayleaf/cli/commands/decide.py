"""``bayleaf decide``: the best policies of an influence diagram."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayleaf.cli.display import print_json, show
from bayleaf.cli.options import Flag, Json, Strings
from bayleaf.wording import format_number, shown_name


def decide(
    diagram: Path,
    *,
    given: Strings = (),
    likelihood: Strings = (),
    limited_memory: Flag = False,
    information: Flag = False,
    before: str | None = None,
    json: Json = False,
) -> int:
    """Show the policies of highest expected utility, and what each choice gains.

    Example: `bayleaf decide oil.xdsl --given test=yes`

    Example: `bayleaf decide oil.xdsl --information --before drill`

    Parameters
    ----------
    diagram
        Influence diagram of GeNIe (xdsl), HUGIN (net) or pyAgrum (bifxml).
    given
        What is known before all decisions: name=state, name=a|b for one of several,
        name=!a for a state ruled out; decision=option fixes a decision; may be
        repeated.
    likelihood
        Uncertain evidence: name=a:0.8,b:0.2; may be repeated.
    limited_memory
        Let each decision rest on its parents alone, not on all that was known before.
    information
        Show the utility gained by observing each variable before a decision instead.
    before
        That decision; by default the first one.
    """
    from bayleaf.cli.network_options import evidence_from
    from bayleaf.io import read_influence_diagram

    if before is not None and not information:
        raise ValueError("--before is about --information; give that as well")
    problem: Any = read_influence_diagram(diagram)
    evidence = evidence_from(problem, given, likelihood)
    if not information:
        show(problem.solve(evidence, limited_memory=limited_memory), as_json=json)
        return 0
    options = {"before": before, "given": evidence, "limited_memory": limited_memory}
    values = problem.value_of_information(**options)
    perfect = problem.value_of_observing(**options)
    decision = problem.decisions[0] if before is None else before
    if json:
        shown = {str(name): value for name, value in values.items()}
        print_json({"before": str(decision), "values": shown, "all": perfect})
        return 0
    rows = [*((shown_name(n), v) for n, v in values.items()), ("all of them", perfect)]
    width = max(len(name) for name, _ in rows)
    print(f"utility gained by observing before {shown_name(decision)}")
    for name, value in rows:
        print(f"{name:<{width}} {format_number(value)}")
    return 0
