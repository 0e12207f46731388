"""DSL files as GeNIe 1 wrote them, with all that it put around the tables."""

from __future__ import annotations

from bayleaf.models.bayesian_network import BayesianNetwork

_SCREEN = """   SCREEN =
    {
     POSITION =
      {
       CENTER_X = 250;
       WIDTH = 56;
      };
     COLOR = 16250597;
    };
   USER_PROPERTIES =
    {
    };
"""
_EXTRA = """   EXTRA_DEFINITION =
    {
     DIAGNOSIS_TYPE = AUXILIARY;
     FAULT_STATES = (0, 0);
     FAULT_NAMES = ("", "");
     DOCUMENTATION =
      {
      };
     DOCUMENTATION =
      {
      };
     QUESTION = "is it; { so } \\"here\\"?";
    };
"""


def dsl_text(network: BayesianNetwork) -> str:
    """The text of a network whose names are identifiers."""
    nodes = []
    for variable, cpd in zip(network.domain, network.cpds, strict=True):
        states = ", ".join(map(str, variable.states))
        parents = ", ".join(str(network.domain.names[p]) for p in cpd.parents)
        numbers = ", ".join(map(repr, cpd.probabilities.ravel().tolist()))
        nodes.append(
            f" node {variable.name}\n  {{\n   TYPE = CPT;\n   HEADER =\n    {{\n"
            f'     ID = {variable.name};\n     NAME = "node {{}} of; it";\n    }};\n'
            f"{_SCREEN}   PARENTS = ({parents});\n   DEFINITION =\n    {{\n"
            f"     NAMESTATES = ({states});\n     PROBABILITIES = ({numbers});\n"
            f"    }};\n{_EXTRA}  }};\n"
        )
    costs = "".join(
        f"  node {name}\n  {{\n   PARENTS = ();\n   COSTS = (0);\n  }};\n"
        for name in network.domain.names
    )
    return (
        "net Unnamed\n{\n HEADER =\n  {\n   ID = Unnamed;\n  };\n NUMSAMPLES = 1000;\n"
        f"// a comment\n{''.join(nodes)} OBSERVATION_COST =\n {{\n{costs} }};\n}};\n"
    )
