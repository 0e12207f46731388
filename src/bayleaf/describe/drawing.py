"""Structure and tables of a model as text."""

from __future__ import annotations

import itertools

from bayleaf.models.class_model import ClassModel
from bayleaf.models.explanation import wrapped
from bayleaf.wording import near_names, quoted, shown_name, stated


def structure_text(model: ClassModel) -> str:
    """One line a variable: its parents, arrow, its name; weights where arcs have them.

    Parents that have weights stand by falling weight. Beyond 80 columns a line goes on
    in the next one, indented.
    """
    names, weights = model.domain.names, model.arc_weights
    parents: dict[int, list[str]] = {child: [] for child in range(len(names))}
    for parent, child in model.arcs:
        weight = weights.get((parent, child))
        share = "" if weight is None else f" ({weight:.2f})"
        parents[child].append(f"{shown_name(names[parent])}{share}")
    lines = [
        f"{', '.join(above)} -> {shown_name(names[child])}"
        if above
        else shown_name(names[child])
        for child, above in sorted(parents.items(), key=lambda item: len(item[1]) > 0)
    ]
    return "\n".join(
        shown
        for line in lines
        for shown in (wrapped(line, "", further="    ") if len(line) > 80 else [line])
    )


def structure_dot(model: ClassModel) -> str:
    """The graph in Graphviz' DOT language, the class drawn as a double circle.

    Arcs that have weights carry them as labels and are drawn the thicker the heavier.
    """
    names, weights = model.domain.names, model.arc_weights
    lines = ["digraph bayleaf {", "  node [shape=ellipse];"]
    for index, name in enumerate(names):
        shape = " [shape=doublecircle]" if index == len(names) - 1 else ""
        lines.append(f"  {dot_string(name)}{shape};")
    for parent, child in model.arcs:
        weight = weights.get((parent, child))
        look = (
            ""
            if weight is None
            else f' [label="{weight:.2f}", penwidth={0.2 + 4 * weight:.2f}]'
        )
        lines.append(
            f"  {dot_string(names[parent])} -> {dot_string(names[child])}{look};"
        )
    return "\n".join([*lines, "}"])


def table_rows(
    model: ClassModel, name: str
) -> tuple[list[str], list[list[str | float]]]:
    """The probability table of a feature or the class, as header and rows.

    The header has the parents' names, then the variable's states; each row, for one
    joint state of the parents, their labels and the probabilities. ValueError offers
    close names.
    """
    by_text = {str(known): index for index, known in enumerate(model.domain.names)}
    if name not in by_text:
        raise ValueError(
            f"there is no variable {quoted(name)}; {near_names(name, by_text)}"
        )
    child = by_text[name]
    parents, table = model.table(child)
    variables = [model.domain[parent] for parent in parents]
    states = model.domain[child]
    header = [*(str(v.name) for v in variables)]
    header += [stated(name, states.label(code)) for code in range(states.n_states)]
    rows: list[list[str | float]] = []
    for codes in itertools.product(*(range(v.n_states) for v in variables)):
        labels = [v.label(code) for v, code in zip(variables, codes, strict=True)]
        rows.append([*labels, *table[codes].tolist()])
    return header, rows


def dot_string(name: object) -> str:
    """A name as a string of Graphviz' DOT language."""
    # Graphviz reads backslashes as the start of an escape and & as that of an entity.
    text = printable(name).replace("\\", "\\\\").replace('"', '\\"')
    text = text.replace("&", "&amp;").replace("\n", "\\n")
    return f'"{text}"'


def printable(name: object) -> str:
    """A name whose characters can all be seen or break the line."""
    return "".join(
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}"
        for c in str(name)
    )
