// What does not fit together: items in conflict, and the least to take back.

// Items that may have to be taken back together.
const MOST_TAKEN_BACK = 4;

/** Variables of which something is known. */
function knownVariables(evidence) {
  return [...evidence.keys()].filter((variable) => evidence[variable]);
}

/** Evidence without that on some variables. */
function without(evidence, variables) {
  return evidence.map((mask, variable) => (variables.includes(variable) ? null : mask));
}

/**
 * Conflict of the evidence, nats: how much less probable it is than if its items had
 * nothing to do with each other, altogether and for each item against the others
 * (Jensen et al. 1991), in the last step; none without a joint distribution or two items.
 */
function* conflictOf(session) {
  const { evidence } = session;
  const known = knownVariables(evidence);
  const together = session.logEvidence(evidence);
  if (!session.engine.isJoint || known.length < 2 || together === -Infinity) return;
  // A given prior of the class makes sums of scores differ from one by a factor.
  const nothing = session.logEvidence(evidence.map(() => null));
  const items = [];
  let total = nothing - together;
  for (const variable of known) {
    yield null;
    const alone = session.logEvidence(evidence.map((mask, v) => (v === variable ? mask : null))) - nothing;
    total += alone;
    items.push({ variable, nats: alone + session.logEvidence(without(evidence, [variable])) - together });
  }
  yield { total, items: items.sort((a, b) => b.nats - a.nats) };
}

/** The smallest sets of items without which the evidence is possible; null for others. */
function* leastToTakeBack(session) {
  const { evidence } = session;
  const known = knownVariables(evidence);
  let isFound = false;
  function* extend(chosen, first, size) {
    if (chosen.length === size) {
      const isPossible = session.logEvidence(without(evidence, chosen)) > -Infinity;
      isFound ||= isPossible;
      yield isPossible ? chosen : null;
      return;
    }
    for (let i = first; i < known.length; i += 1) yield* extend([...chosen, known[i]], i + 1, size);
  }
  for (let size = 1; size <= MOST_TAKEN_BACK && !isFound; size += 1) yield* extend([], 0, size);
}
