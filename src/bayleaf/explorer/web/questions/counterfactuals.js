// Which of the things that are set would have to be otherwise for another answer.

// Counterfactuals that are kept, by falling probability.
const MOST_KEPT = 200;
// Open variables at most, of which each is tried.
const MOST_OPEN = 100;
// States of a variable that take part in pairs of changes that are searched for.
const PAIRED_STATES = 3;

/** Things that are set and may be otherwise, each with the states it could have. */
function openItems(session, evidence) {
  const { engine, kept, model } = session;
  return [...evidence.keys()].flatMap((variable) => {
    const from = onlyState(evidence[variable]);
    const { missing, states } = model.variables[variable];
    // A value that is missing stays so, and none becomes missing.
    if (from < 0 || from === missing || variable === engine.question || kept.has(variable)) return [];
    const others = [...Array(missing ?? states.length).keys()].filter((to) => to !== from);
    return [{ variable, from, others }];
  });
}

/**
 * All single changes, then all pairs of changes none of which flips the answer alone;
 * pairs of changes that each take most from the answer come first. What decides may be
 * another rule than the session's, and what is left of the way to another decision
 * another measure; of each variable only some changes may be paired.
 * Of variables that are open, as `open` lists them, only single changes are tried. What
 * is not usual is not found; two changes of which none is usual alone may be together.
 */
function* changesOf(session, evidence, answer, {
  decide = (logs) => session.decision(logs), mostPaired = Infinity, open = [], isUsual = () => true, isPaired = () => true,
  leftOf = (logs) => logs[answer] - logs[argMax(logs, answer)],
} = {}) {
  const { engine } = session;
  const withChanges = (changes) => {
    const changed = evidence.slice();
    for (const { variable, to } of changes) {
      changed[variable] = hardMask(session.card(variable), to);
    }
    return changed;
  };
  const scoresWith = engine.scorer?.(evidence) ?? ((_, known) => engine.scores(known));
  const tryOut = (changes) => {
    const known = withChanges(changes);
    const scores = changes[0].from < 0 ? engine.scores(known) : scoresWith(changes, known);
    const logs = session.logPosterior(scores);
    const found = logs ? decide(logs, known) : answer;
    const left = logs ? leftOf(logs, known) : Infinity;
    if (found === answer) return { answer, left };
    return {
      changes,
      left,
      logs,
      answer: found,
      probability: Math.exp(logs[found]),
      logProbability: engine.logProbability(known, scores),
    };
  };
  const staying = [];
  for (const { variable, from, others } of [...openItems(session, evidence), ...open]) {
    const weakest = [];
    for (const to of others) {
      const change = { variable, from, to };
      const found = tryOut([change]);
      const isFound = found.answer !== answer && isUsual([change]);
      if (!isFound) weakest.push({ change, left: found.left });
      yield isFound ? found : null;
    }
    if (from < 0) continue;
    if (weakest.length > mostPaired) weakest.sort((a, b) => a.left - b.left);
    // Whether a change may be paired takes longest, and only the weakest are.
    let nPaired = 0;
    for (const one of weakest) {
      if (nPaired >= mostPaired) break;
      if (isPaired(one.change)) {
        staying.push(one);
        nPaired += 1;
      }
      yield null;
    }
  }
  const pairs = staying.flatMap((one, i) => staying.slice(i + 1)
    .filter((other) => other.change.variable !== one.change.variable)
    .map((other) => ({ changes: [one.change, other.change], left: one.left + other.left })));
  pairs.sort((a, b) => a.left - b.left);
  for (const { changes } of pairs) {
    const found = tryOut(changes);
    yield found.answer !== answer && isUsual(changes) ? found : null;
  }
}

/** The states that open variables usually turn out to have, where these are few enough to be tried. */
function usualAnswers(session, logs) {
  const { engine, evidence, kept } = session;
  const open = openVariables(session).filter((variable) => !evidence[variable] && !kept.has(variable));
  if (open.length > MOST_OPEN) return [];
  const all = engine.statesOf ? null : engine.posteriors(evidence);
  return open.map((variable) => {
    const shares = Array.from((all ? all[variable] : sharesOf(session, variable, evidence, logs)) ?? []);
    return { variable, from: -1, others: [...shares.keys()].filter((state) => shares[state] >= RARE_ANSWER) };
  });
}

/** Fewest changes first, then the most probable. */
function sortCounterfactuals(found) {
  return found.sort((a, b) =>
    a.changes.length - b.changes.length || b.logProbability - a.logProbability);
}

/** The first ones, of which not many change the same variables. */
function varied(found, most = 1) {
  const seen = new Map();
  return found.filter(({ changes }) => {
    const key = changes.map(({ variable }) => variable).join();
    seen.set(key, (seen.get(key) ?? 0) + 1);
    return seen.get(key) <= most;
  });
}

/** All counterfactuals at once: what tests ask for. */
function allCounterfactuals(session) {
  const { logs } = session.answer();
  if (!logs) return [];
  const all = [...changesOf(session, session.evidence.slice(), session.decision(logs))];
  return sortCounterfactuals(all.filter((found) => found !== null));
}

/**
 * Search in slices of time for what a rule decides otherwise than it does `now`; `tell` gets what was found so far, whether that is all, and
 * how many changes were tried.
 * Returns a function that stops the search.
 */
function searchCounterfactuals(session, tell, goal) {
  const { logs } = session.answer();
  if (!logs) {
    tell([], true);
    return () => {};
  }
  const options = { decide: goal.decide, mostPaired: PAIRED_STATES, open: usualAnswers(session, logs) };
  const changes = changesOf(session, session.evidence.slice(), goal.now, options);
  return runInSlices(changes, (found, isDone, nTried) =>
    tell(sortCounterfactuals(found.slice()).slice(0, MOST_KEPT), isDone, nTried));
}
