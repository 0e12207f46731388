// A variable's distributions, one for each way in which its parents can be.

// Columns of a table that are shown.
const COLUMNS_SHOWN = 8;

/** The first rows of a table, those first that what is set leaves possible. */
function tableOf(session, variable, term, mostRows) {
  const { variables } = session.model;
  const { family, values } = term;
  const about = variables[variable];
  const parents = family.slice(0, -1);
  const card = about.states.length;
  const counts = about.rows ? unpacked(about.rows) : null;
  const { evidence } = session;
  const fits = (states) => states.every(({ variable: parent, state }) => !evidence[parent] || evidence[parent][state] > 0);
  const rows = Array.from({ length: values.length / card }, (_, row) =>
    ({ row, states: statesOfRow(parents, variables, row) }));
  // Rows that what is set leaves possible come first.
  const ordered = [...rows.filter(({ states }) => fits(states)), ...rows.filter(({ states }) => !fits(states))];
  const nFitting = rows.filter(({ states }) => fits(states)).length;
  const columns = about.states.slice(0, COLUMNS_SHOWN);
  const head = element("tr", {}, [
    ...parents.map((parent) => element("th", { scope: "col", text: short(variables[parent].name, 20) })),
    ...columns.map((label) => element("th", { scope: "col", className: "number", text: short(label, 16) })),
    ...(counts ? [element("th", { scope: "col", className: "number", text: "rows" })] : []),
  ]);
  const body = ordered.slice(0, mostRows).map(({ row, states }, place) =>
    element("tr", { className: place < nFitting && parents.length ? "fits" : "" }, [
      ...states.map(({ label }) => element("td", { text: short(label, 20), dir: "auto" })),
      ...columns.map((_, state) => tableCell(values[row * card + state], counts?.[row])),
      ...(counts ? [element("td", { className: "number", text: brief(counts[row]) })] : []),
    ]));
  return {
    table: element("table", { className: "cpd" }, [element("thead", {}, [head]), element("tbody", {}, body)]),
    hidden: rows.length - mostRows,
    hiddenStates: card - COLUMNS_SHOWN,
  };
}

/** A probability, and about how many of the rows behind the distribution it stands for. */
function tableCell(p, count) {
  const cell = element("td", { className: "number", text: percent(p) });
  if (count !== undefined) cell.append(element("small", { text: ` ≈${brief(Math.round(p * count))}` }));
  return cell;
}
