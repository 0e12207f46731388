// What is known of a variable: weights of its states, or null where nothing is known.
// Weights of 0 and 1 rule states out and in; others are likelihoods.

/** The only state that evidence leaves, or -1. */
function onlyState(mask) {
  if (!mask) return -1;
  let found = -1;
  for (let state = 0; state < mask.length; state += 1) {
    if (mask[state] && found >= 0) return -1;
    if (mask[state]) found = state;
  }
  return found;
}

/** Evidence that leaves one state. */
function hardMask(card, state) {
  const mask = new Uint8Array(card);
  mask[state] = 1;
  return mask;
}

/** Whether evidence weighs states rather than ruling them in or out. */
function isSoft(mask) {
  return onlyState(mask) < 0 && Boolean(mask) && mask.some((weight) => weight !== 0 && weight !== 1);
}

/** The states that evidence leaves. */
function statesLeft(mask) {
  return [...mask.keys()].filter((state) => mask[state] > 0);
}
