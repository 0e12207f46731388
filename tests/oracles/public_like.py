"""Network files as other programs write them, in several of their manners."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

Network = Any


def states_of(network: Network, index: int) -> list[str]:
    """Names of states in files."""
    return [f"s{code}" for code in range(network.domain.cards[index])]


def joined(values: Any, sign: str) -> str:
    """Numbers in full, with a sign between."""
    return sign.join(map(repr, np.ravel(values).tolist()))


def families(network: Network) -> list[tuple[str, list[str], Any, list[int]]]:
    """Child, parents, rows of the table and the parents' numbers of states."""
    names, cards = network.domain.names, network.domain.cards
    return [
        (
            names[cpd.child],
            [names[parent] for parent in cpd.parents],
            cpd.probabilities.reshape(-1, cards[cpd.child]),
            [cards[parent] for parent in cpd.parents],
        )
        for cpd in network.cpds
    ]


def nested(rows: list[str], cards: list[int]) -> str:
    """Rows in as many parentheses as there are parents."""
    for card in reversed(cards):
        rows = [f"({', '.join(rows[i : i + card])})" for i in range(0, len(rows), card)]
    (whole,) = rows
    return whole


def dne(network: Network, rng: np.random.Generator) -> str:
    """As Netica writes a net, with drawing, comments and cases."""
    text = "// ~->[DNET-1]->~\n\nbnet Some_Net {\nautoupdate = TRUE;\n"
    text += "whenchanged = 1053711439;\nvisual V1 {\n\tdefdispform = BELIEFBARS;\n"
    text += '\tnodefont = font {shape= "Arial"; size= 10;};\n\t};\n'
    for i, (child, parents, rows, cards) in enumerate(families(network)):
        states = states_of(network, i)
        text += f"\nnode {child} {{\n\tkind = NATURE;\n"
        form = rng.integers(3)
        if form == 0:
            levels = ", ".join(map(str, range(len(states) + 1)))
            text += f"\tdiscrete = FALSE;\n\tlevels = ({levels});\n"
        else:
            text += "\tdiscrete = TRUE;\n"
        text += f"\tchance = CHANCE;\n\tstates = ({', '.join(states)});\n"
        text += f"\tparents = ({', '.join(parents)});\n"
        lines = [f"({joined(row, ', ')})" for row in rows]
        is_fixed = np.isin(rows, [0.0, 1.0]).all()
        if is_fixed and form == 1:
            results = [states[int(row.argmax())] for row in rows]
            text += f"\tfunctable = {nested(results, cards)};\n"
            text += f'\tequation = "{child} (x) = x";\n'
        else:
            text += f"\tprobs = // {', '.join(states)}\n\t\t{nested(lines, cards)};\n"
        if form == 2:
            text += f"\tnumcases = {nested(['10'] * len(rows), cards)};\n"
        text += f'\ttitle = "The {child}; its \\"title\\" {{";\n'
        text += (
            "\tvisual V1 {\n\t\tcenter = (216, 54);\n\t\theight = 0;\n\t\t};\n\t};\n"
        )
    return text + "};\n"


def elv(network: Network, rng: np.random.Generator) -> str:
    """As Elvira writes a network."""
    text = '// Bayesian Network\n//   Elvira format \n\nbnet  "Some net" { \n\n'
    text += '// Network Properties\n\nkindofgraph = "directed";\nversion = 1.0;\n'
    text += "default node states = (s0 , s1);\n\n// Variables \n"
    for i, name in enumerate(network.domain.names):
        states = states_of(network, i)
        text += f'\nnode {name}(finite-states) {{\ntitle = "{name} (a) = {{";\n'
        text += "kind-of-node = chance;\ntype-of-variable = finite-states;\n"
        text += "pos_x =252;\npos_y =322;\nrelevance = 7.0;\n"
        if len(states) != 2 or rng.random() < 0.5:
            listed = " ".join(f'"{state}"' for state in states)
            text += f"num-states = {len(states)};\nstates = ({listed});\n"
        text += "}\n"
    text += "\n// Links of the associated graph:\n\n"
    for child, parents, _, _ in families(network):
        text += "".join(f"link {parent} {child};\n\n" for parent in parents)
    for child, parents, rows, _ in families(network):
        text += f'relation {" ".join((child, *parents))} {{ \ncomment = "new";\n'
        text += "kind-of-relation = potential;\ndeterministic=false;\n"
        sign = rng.choice([" ", ", ", "\n   "])
        text += f"values= table ({joined(rows.T, sign)} );\n}}\n\n"
    return text + "}\n"


def dsc(network: Network, rng: np.random.Generator) -> str:
    """As MSBN or bnlearn write a network."""
    text = 'belief network "unknown"\n'
    is_msbn = rng.random() < 0.5
    if is_msbn:
        text += "properties\n{\n  type MS_label = choice of [fixed, other];\n}\n"
    for i, name in enumerate(network.domain.names):
        listed = ", ".join(f'"{state}"' for state in states_of(network, i))
        n = network.domain.cards[i]
        text += f"node {name}\n{{\n"
        if is_msbn:
            text += (
                f'  name: "The {name}";\n  type: discrete[{n}]\n  {{\n  {listed}\n  }};'
            )
            text += "\n  position: (12, 34);\n}\n"
        else:
            text += f"  type : discrete [ {n} ] = {{ {listed} }};\n}}\n"
    for child, parents, rows, cards in families(network):
        given = f" | {', '.join(parents)}" if parents else ""
        text += f"probability({child}{given})\n{{\n"
        if not parents:
            text += f"   {joined(rows, ', ')};\n}}\n"
            continue
        keys = list(itertools.product(*map(range, cards)))
        first = 1 if is_msbn else 0
        if first:
            text += f"   default: {joined(rows[0], ', ')};\n"
        for key, row in list(zip(keys, rows, strict=True))[first:]:
            text += f"   ({', '.join(map(str, key))}) : {joined(row, ', ')};\n"
        text += "}\n"
    return text


def xbn(network: Network, rng: np.random.Generator) -> str:
    """As MSBNx writes a network."""
    text = '<?xml version="1.0"?>\n'
    if rng.random() < 0.5:
        text += '<!DOCTYPE ANALYSISNOTEBOOK SYSTEM "xbn.dtd">\n'
    text += '<ANALYSISNOTEBOOK NAME="Notebook" ROOT="net">\n<BNMODEL NAME="net">\n'
    text += '<STATICPROPERTIES><FORMAT VALUE="MSR DTAS XML"/></STATICPROPERTIES>\n'
    text += "<VARIABLES>\n"
    for i, name in enumerate(network.domain.names):
        states = "".join(f"<STATENAME>{s}</STATENAME>" for s in states_of(network, i))
        text += f'<VAR NAME="{name}" TYPE="discrete" XPOS="1" YPOS="2">\n'
        text += f"<DESCRIPTION>({name}) &lt;b&gt;</DESCRIPTION>\n{states}\n</VAR>\n"
    text += "</VARIABLES>\n<STRUCTURE>\n"
    for child, parents, _, _ in families(network):
        text += "".join(f'<ARC PARENT="{p}" CHILD="{child}"/>\n' for p in parents)
    text += "</STRUCTURE>\n<DISTRIBUTIONS>\n"
    for child, parents, rows, cards in families(network):
        elements = "".join(f'<CONDELEM NAME="{p}"/>' for p in parents)
        text += f'<DIST TYPE="discrete">\n<CONDSET>{elements}</CONDSET>\n'
        text += f'<PRIVATE NAME="{child}"/>\n<DPIS>\n'
        keys = itertools.product(*map(range, cards))
        for key, row in zip(keys, rows, strict=True):
            place = f' INDEXES=" {" ".join(map(str, key))} "' if key else ""
            text += f"<DPI{place}> {joined(row, ' ')} </DPI>\n"
        text += "</DPIS>\n</DIST>\n"
    return f"{text}</DISTRIBUTIONS>\n</BNMODEL>\n</ANALYSISNOTEBOOK>\n"


def pgmx(network: Network, rng: np.random.Generator) -> str:
    """As OpenMarkov writes a network; the first variable of a table is fastest."""
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ProbModelXML formatVersion="0.2.0">'
    )
    text += '\n  <ProbNet type="BayesianNetwork">\n    <AdditionalConstraints />\n'
    text += "    <Comment><![CDATA[some <b>net</b>]]></Comment>\n    <Variables>\n"
    for i, name in enumerate(network.domain.names):
        states = "".join(f'<State name="{s}" />' for s in states_of(network, i))
        text += f'<Variable name="{name}" type="finiteStates" role="chance">\n'
        text += f'<Coordinates x="1" y="2" />\n<States>{states}</States>\n</Variable>\n'
    text += "</Variables>\n<Links>\n"
    for child, parents, _, _ in families(network):
        for parent in parents:
            text += f'<Link directed="true"><Variable name="{parent}" />'
            text += f'<Variable name="{child}" /></Link>\n'
    text += "</Links>\n<Potentials>\n"
    for child, parents, rows, _ in families(network):
        names = "".join(f'<Variable name="{n}" />' for n in (child, *parents[::-1]))
        kind = "Table"
        values = f"<Values>{joined(rows, ' ')}</Values>"
        if np.all(rows == 1.0 / rows.shape[1]) and rng.random() < 0.7:
            kind, values = "Uniform", ""
        text += f'<Potential type="{kind}" role="conditionalProbability">\n'
        text += f"<Variables>{names}</Variables>\n{values}</Potential>\n"
    return f"{text}</Potentials>\n</ProbNet>\n</ProbModelXML>\n"


def oobn(network: Network, rng: np.random.Generator) -> str:
    """As HUGIN writes a class without instances."""
    text = "class Some_Net\n{\n    inputs = ();\n    outputs = ("
    text += f"{network.domain.names[0]});\n    node_size = (80 40);\n"
    for i, name in enumerate(network.domain.names):
        listed = " ".join(f'"{state}"' for state in states_of(network, i))
        text += f'    node {name}\n    {{\n        label = "{{ }}";\n'
        text += f"        position = (1 2);\n        states = ({listed});\n    }}\n"
    for child, parents, rows, cards in families(network):
        lines = [f"({joined(row, ' ')})" for row in rows]
        bar = " | " if parents or rng.random() < 0.5 else ""
        text += f"    potential ({child}{bar}{' '.join(parents)})\n    {{\n"
        data = nested(lines, cards).replace(",", " % a comment\n")
        text += f"        data = {data};\n    }}\n"
    return text + "}\n"


WRITERS: dict[str, Callable[[Network, np.random.Generator], str]] = {
    "dne": dne,
    "dnet": dne,
    "elv": elv,
    "dsc": dsc,
    "xbn": xbn,
    "pgmx": pgmx,
    "oobn": oobn,
}


def damaged(text: str, rng: np.random.Generator) -> str:
    """A file cut short, or with words or lines swapped, doubled, lost or replaced."""
    place = int(rng.integers(len(text)))
    kind = rng.integers(6)
    if kind == 0:
        return text[:place]
    words = text.split(" ")
    i, j = rng.integers(len(words), size=2)
    if kind == 1:
        words[i], words[j] = words[j], words[i]
    elif kind == 2:
        words.insert(int(i), words[j])
    elif kind == 3:
        del words[i]
    elif kind == 4:
        words[i] = str(
            rng.choice(["1e400", "99999999999", "-3", "nan", "v0", "s0", "{"])
        )
    else:
        lines = text.split("\n")
        k = int(rng.integers(len(lines)))
        return "\n".join(lines[:k] + lines[k : k + 8] * 2 + lines[k + 8 :])
    return " ".join(words)
