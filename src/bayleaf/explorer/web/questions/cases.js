// A case as a line of a table: pasted, or picked from the rows that came with the page.

// What stands for a value that is missing.
const MISSING = new Set(["", "?", "na", "n/a", "nan", "null", "none", "missing"]);
// Letters of all values of a variable that are listed where another was given.
const MOST_LISTED = 60;

/** Cells, as they are, of lines whose delimiter is that which is most often in the first. */
function readCells(text) {
  const first = text.split(/\r?\n/, 1)[0];
  const [delimiter] = [",", ";", "\t"].sort((a, b) =>
    first.split(b).length - first.split(a).length);
  const lines = [[]];
  let cell = "";
  let isQuoted = false;
  const endCell = () => { lines[lines.length - 1].push(cell); cell = ""; };
  for (let i = 0; i < text.length; i += 1) {
    const sign = text[i];
    if (isQuoted && sign === '"' && text[i + 1] === '"') { cell += '"'; i += 1; }
    else if (sign === '"' && isQuoted) isQuoted = false;
    else if (sign === '"' && !cell.trim()) { cell = ""; isQuoted = true; }
    else if (!isQuoted && sign === delimiter) endCell();
    else if (!isQuoted && sign === "\n") { endCell(); lines.push([]); }
    else if (sign !== "\r" || isQuoted) cell += sign;
  }
  endCell();
  return lines.filter((line) => line.length > 1 || line[0].trim());
}

/** Names as they are compared: no matter the case, and what stands between words. */
function plainName(name) {
  const letters = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().trim();
  // Signs at the ends, such as that of the grade A-, are part of a name.
  return letters.replace(/(?<=[^\s_.-])[\s_.-]+(?=[^\s_.-])/g, " ");
}

/** The position of a name that is the very same, or so without blanks at its ends; or -1. */
function exactPosition(names, name) {
  const exact = names.indexOf(name);
  return exact >= 0 ? exact : names.indexOf(name.trim());
}

/** The position of a name: the very same, else the only one that compares equal; or -1. */
function namedPosition(names, name) {
  const exact = exactPosition(names, name);
  if (exact >= 0) return exact;
  const plain = plainName(name);
  const alike = [...names.keys()].filter((i) => names[i] !== null && plainName(names[i]) === plain);
  return alike.length === 1 ? alike[0] : -1;
}

/** The state of a name, its own or that of a category within it; or -1. */
function namedState({ states, members = [] }, name, position = namedPosition) {
  const found = position([...states, ...members.map(([own]) => own)], name);
  return found < states.length ? found : members[found - states.length][1];
}

/** The state that a cell means; -1 for none, null for a missing value. */
function stateOf(variable, cell, patterns) {
  const exact = namedState(variable, cell, exactPosition);
  if (exact >= 0) return exact;
  const text = cell.trim();
  const form = variable.text ?? {};
  if (MISSING.has(text.toLowerCase()) || form.missing?.includes(text)) return null;
  const time = variable.time ? new Times(patterns).value(text, variable.time) : null;
  if (Number.isFinite(time) && !variable.cuts) {
    return variable.time.codes.find(([value]) => value === time)?.[1] ?? -1;
  }
  const number = Number.isFinite(time) ? time : variable.cuts || variable.numbers ? new Numbers(patterns).value(text, { text: form }) : null;
  if (Number.isFinite(number)) {
    const [state] = statesWithin(variable, { low: number, high: number, open: false });
    return state ?? -1;
  }
  return namedState(variable, text);
}

/** A sentence on the values that a page of rounded counts does not name; "" without any. */
function unnamedText({ name, unnamed, cuts }) {
  return unnamed?.length && !cuts
    ? ` Values of ${name} that few training rows have are numbered on this page, not named.` : "";
}

/** Evidence that leaves one state; of a number, it keeps the text that was entered. */
function enteredMask(card, state, text) {
  const mask = hardMask(card, state);
  if (text !== undefined) mask.entered = text;
  return mask;
}

/** The evidence that a number entered as text means; null if it means none. */
function readEntered({ model }, variable, text) {
  const about = model.variables[variable];
  const state = about.cuts && text ? stateOf(about, text, model.patterns) : -1;
  return state === null || state < 0 ? null : enteredMask(about.states.length, state, text);
}

/** The variables whose values a line without names may hold, in their order. */
function tableVariables(session) {
  const { variables } = session.model;
  return [...variables.keys()].filter((v) => ["feature", "variable"].includes(variables[v].role));
}

/** The variables that each column of a table becomes: several where it holds dates. */
function tableColumns(session) {
  const columns = new Map();
  for (const variable of tableVariables(session)) {
    const { name, time } = session.model.variables[variable];
    const column = time ? time.column : name;
    columns.set(column, [...columns.get(column) ?? [], variable]);
  }
  return columns;
}

/**
 * The evidence that a pasted line means, with or without a line of names above it, and
 * what could not be read. The class is left out: it is what is asked.
 */
function readCase(session, text) {
  const { variables, class: label } = session.model;
  const lines = readCells(text.replace(/^\s*\n|[\r\n]+$/g, ""));
  if (!lines.length) return { problems: ["Paste a line of values, with or without names above it."] };
  const names = variables.map(({ name, role }) => (role === "cells" ? null : name));
  const columns = tableColumns(session);
  const headings = [...columns.keys()];
  const named = (cell) => {
    for (const position of [exactPosition, namedPosition]) {
      const own = position(names, cell);
      const found = own >= 0 ? [own] : columns.get(headings[position(headings, cell)]);
      if (found) return found;
    }
    return [];
  };
  const hasNames = lines.length > 1 && lines[0].some((cell) => named(cell).length);
  const twice = hasNames && lines[0].find((name, place) => {
    const found = named(name);
    return found.length && lines[0].findIndex((other) => named(other)[0] === found[0]) < place;
  });
  if (twice) return { problems: [`${twice.trim()} is there twice; leave one of them out.`] };
  const cells = lines[hasNames ? 1 : 0];
  const order = hasNames ? lines[0].map(named)
    : [...columns.values()];
  const nExpected = order.length;
  const mayHoldClass = !hasNames && label !== null && cells.length === nExpected + 1;
  if (cells.length !== nExpected && !mayHoldClass) {
    return { problems: [`The line has ${counted(cells.length, "value")} where ${hasNames ? `${nExpected} names are above it` : `${nExpected} are expected; write the names above it to enter fewer`}.`] };
  }
  const evidence = session.evidence.map(() => null);
  const problems = [];
  order.forEach((found, place) => {
    const cell = cells[place];
    if (!found.length) problems.push(`No variable is called ${lines[0][place].trim()}.`);
    for (const variable of found.filter((own) => own !== label)) {
      const about = variables[variable];
      const state = stateOf(about, cell, session.model.patterns) ?? about.missing;
      if (state === -1) {
        problems.push(`${cell.trim()} is not a value of ${about.time?.column ?? about.name}${valuesText(about)}.${unnamedText(about)}`);
      } else if (state !== undefined) {
        const isNumber = about.cuts && state !== about.missing && about.states[state] !== cell;
        evidence[variable] = enteredMask(session.card(variable), state, isNumber ? cell.trim() : undefined);
      }
    }
  });
  // A text that is no date is none in all of its parts.
  return { evidence, problems: [...new Set(problems)], nLines: lines.length - Number(hasNames) };
}

/** The values of a variable that has few, all with names, in brackets; "" for others. */
function valuesText({ cuts, states, missing, time, unnamed }) {
  const named = states.filter((_, state) => state !== missing);
  const isShort = !cuts && !time && !unnamed?.length && named.join("").length <= MOST_LISTED;
  return isShort ? ` (${named.join(", ")})` : "";
}

/** Set the values of a pasted line. Returns a sentence for the reader. */
function takeCase(session, text) {
  const { evidence, problems, nLines } = readCase(session, text);
  const refused = evidence ? session.refusal(evidence) : "";
  if (evidence && !refused) session.replace(evidence);
  const told = [refused, ...problems].filter(Boolean);
  const more = told.length > 4 ? [told.length === 5 ? "1 more value was not read." : `${told.length - 4} more values were not read.`] : [];
  const rest = problems.length && evidence && !refused ? ["All else was set."] : [];
  const first = nLines > 1 ? [`Only the first of ${nLines} lines was read.`] : [];
  return [...first, ...(told.length ? [...told.slice(0, 4), ...more, ...rest] : ["The case was set."])].join(" ");
}

/** The evidence of a row that came with the page, and the state of the class in it. */
function shippedCase(session, row) {
  const { variables, codes } = session.model.rows;
  const evidence = session.evidence.map(() => null);
  let label = -1;
  variables.forEach((variable, column) => {
    const state = codes[column][row];
    if (state < 0) return;
    if (variable === session.model.class) label = state;
    else evidence[variable] = hardMask(session.card(variable), state);
  });
  return { evidence, label };
}
