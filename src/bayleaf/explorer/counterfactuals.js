// Which of the things that are set would have to be otherwise for another answer.

// Work is done in slices of this many milliseconds, so that the page stays quick.
const SLICE = 12;
// Counterfactuals that are kept, by falling probability.
const MOST_KEPT = 200;

/** All single changes, then all pairs of changes none of which flips the answer alone. */
function* changesOf(session, evidence, answer) {
  const { engine } = session;
  const open = [];
  evidence.forEach((mask, variable) => {
    const state = onlyState(mask);
    // A value that is missing stays so, and none becomes missing.
    const isKnown = state >= 0 && state !== session.model.variables[variable].missing;
    if (isKnown && variable !== engine.question) open.push([variable, state]);
  });
  const flipping = new Set();
  const nValues = (variable) =>
    session.model.variables[variable].missing ?? evidence[variable].length;
  const changed = evidence.slice();
  const tryOut = (changes) => {
    const scores = engine.scores(changed);
    const logs = session.logPosterior(scores);
    const found = logs ? session.decision(logs) : answer;
    return found === answer ? null : {
      changes,
      answer: found,
      probability: Math.exp(logs[found]),
      logProbability: engine.logProbability(changed, scores),
    };
  };
  for (const [one, from] of open) {
    for (let to = 0; to < nValues(one); to += 1) {
      if (to === from) continue;
      changed[one] = hardMask(evidence[one].length, to);
      const found = tryOut([{ variable: one, from, to }]);
      if (found) flipping.add(`${one}:${to}`);
      yield found;
    }
    changed[one] = evidence[one];
  }
  for (let i = 0; i < open.length; i += 1) {
    const [one, from] = open[i];
    for (let to = 0; to < nValues(one); to += 1) {
      if (to === from || flipping.has(`${one}:${to}`)) continue;
      changed[one] = hardMask(evidence[one].length, to);
      for (let j = i + 1; j < open.length; j += 1) {
        const [other, before] = open[j];
        for (let after = 0; after < nValues(other); after += 1) {
          if (after === before || flipping.has(`${other}:${after}`)) continue;
          changed[other] = hardMask(evidence[other].length, after);
          yield tryOut([
            { variable: one, from, to },
            { variable: other, from: before, to: after },
          ]);
        }
        changed[other] = evidence[other];
      }
    }
    changed[one] = evidence[one];
  }
}

/** Evidence that leaves one state. */
function hardMask(card, state) {
  const mask = new Uint8Array(card);
  mask[state] = 1;
  return mask;
}

/** Fewest changes first, then the most probable. */
function sortCounterfactuals(found) {
  return found.sort((a, b) =>
    a.changes.length - b.changes.length || b.logProbability - a.logProbability);
}

/** All counterfactuals at once: what tests ask for. */
function allCounterfactuals(session) {
  const { logs } = session.answer();
  if (!logs) return [];
  const all = [...changesOf(session, session.evidence.slice(), session.decision(logs))];
  return sortCounterfactuals(all.filter((found) => found !== null));
}

/**
 * Search in slices of time; `tell` gets what was found so far and whether that is all.
 * Returns a function that stops the search.
 */
function searchCounterfactuals(session, tell) {
  const { logs } = session.answer();
  let timer = 0;
  if (!logs) {
    tell([], true);
    return () => {};
  }
  const changes = changesOf(session, session.evidence.slice(), session.decision(logs));
  let found = [];
  const step = () => {
    const end = performance.now() + SLICE;
    let next = changes.next();
    while (!next.done && performance.now() < end) {
      if (next.value) found.push(next.value);
      next = changes.next();
    }
    if (next.value) found.push(next.value);
    found = sortCounterfactuals(found).slice(0, MOST_KEPT);
    tell(found, next.done);
    if (!next.done) timer = setTimeout(step, 0);
  };
  timer = setTimeout(step, 0);
  return () => clearTimeout(timer);
}
