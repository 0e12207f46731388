// What to ask next: how much less uncertain the question is expected to be.

/** Entropy of a distribution given by its logarithms, nats. */
function entropyOf(logs) {
  return logs.reduce((sum, log) => (log === -Infinity ? sum : sum - Math.exp(log) * log), 0);
}

/** How probable the states of a variable are where other things are known. */
function sharesOf({ engine }, variable, evidence, logs) {
  const mask = evidence[variable];
  const open = engine.statesOf?.(variable, evidence, logs);
  if (!open) return engine.posteriors(evidence)?.[variable];
  return mask ? open.map((p, state) => p * mask[state]) : open;
}

/** For each state of a variable, one a step, ln of its weight and the question's scores. */
function* scoresByState(session, evidence, variable, joint, logs) {
  const { engine } = session;
  if (joint) return joint[variable].map((scores) => ({ scores, logWeight: logSumExp(scores) }));
  const shares = engine.isJoint ? null : sharesOf(session, variable, evidence, logs);
  const mask = evidence[variable];
  const changed = evidence.slice();
  const found = [];
  for (let state = 0; state < session.card(variable); state += 1) {
    changed[variable] = hardMask(session.card(variable), state);
    const scores = engine.scores(changed);
    found.push({ scores, logWeight: shares ? Math.log(shares[state]) : logSumExp(scores) + Math.log(mask?.[state] ?? 1) });
    yield null;
  }
  return found;
}

/** How probable each state of a variable is where other things are known. */
function statesGiven(session, variable, evidence) {
  const { engine } = session;
  const others = evidence.with(variable, null);
  const { logs } = session.answer(others);
  if (!logs) return new Float64Array(session.card(variable));
  if (!engine.isJoint) return sharesOf(session, variable, others, logs);
  // One propagation is cheaper than one for each state.
  if (engine.jointScores) return engine.posteriors(others)[variable];
  return logNormalized(resultOf(scoresByState(session, others, variable)).map(({ logWeight }) => logWeight)).map(Math.exp);
}

/** Variables whose state could be found out. */
function openVariables(session) {
  const { engine, evidence, model } = session;
  return model.variables.map((_, variable) => variable).filter((variable) =>
    variable !== engine.question && onlyState(evidence[variable]) < 0
    && ["feature", "variable"].includes(model.variables[variable].role)
    && session.card(variable) > 1);
}

/**
 * After steps of null, for each open variable the expected reduction of the question's entropy (nats) once
 * its state is known: the variable's states as probable as the model finds them now. Of averages
 * the entropy is that of the mean of the answers, so that no reduction is negative.
 */
function* expectedReductions(session) {
  const { logs } = session.answer();
  if (!logs || session.evidence[session.engine.question]) return;
  const joint = session.engine.jointScores && (yield* session.engine.jointScores(session.evidence));
  for (const variable of openVariables(session)) {
    const own = yield* scoresByState(session, session.evidence, variable, joint, logs);
    const weights = own.map(({ logWeight }) => logWeight);
    const total = logSumExp(weights);
    const answers = own.map(({ scores }, state) => {
      const known = session.evidence.with(variable, hardMask(own.length, state));
      const share = Math.exp(weights[state] - total);
      return {
        share, logs: share ? session.logPosterior(scores, known) : null,
        isContradicted: session.engine.isContradicted?.(variable, known),
      };
    }).filter((answer) => answer.logs);
    const after = answers.reduce((sum, answer) => sum + answer.share * entropyOf(answer.logs), 0);
    const mean = logs.map((_, label) => Math.log(answers.reduce((sum, answer) =>
      sum + answer.share * Math.exp(answer.logs[label]), 0)));
    yield { variable, nats: entropyOf(mean) - after, answers };
  }
}

// Answers less probable than this do not count for the range of a question.
const RARE_ANSWER = 0.03;
// The least share of the uncertainty, and nats, that a question worth asking removes.
const [LEAST_SHARE, LEAST_NATS] = [0.01, 0.002];

/** The part of the uncertainty that a gain is: averages may expect more than there is. */
function partOf(gain, uncertainty) {
  return Math.min(1, gain / uncertainty);
}

/** What an answer to a question could make of a number that follows from it. */
function rangeOfAnswers({ answers }, numberOf) {
  const possible = answers.filter(({ isContradicted }) => !isContradicted);
  // Of many states none may be common: then those of the middle of their distribution.
  const sorted = (possible.length ? possible : answers).map((answer) => ({ share: answer.share, number: numberOf(answer) }))
    .sort((a, b) => a.number - b.number);
  const end = (ordered) => {
    let sum = 0;
    return ordered.find(({ share }) => (sum += share) >= RARE_ANSWER)?.number ?? ordered[0].number;
  };
  return { low: end(sorted), high: end(sorted.reverse()) };
}

/** Questions worth asking, from the most to the least telling per cost. */
function worthAsking(found, uncertainty, costOf = () => 1, measure = "nats") {
  const worth = (question) => question[measure] / costOf(question.variable);
  return found.filter(({ [measure]: gain, isIdle }) => !isIdle && gain >= LEAST_NATS && gain >= LEAST_SHARE * uncertainty)
    .sort((a, b) => worth(b) - worth(a) || a.variable - b.variable);
}

// Cases drawn to find out whether open answers could turn the decision.
const [DRAWN_CASES, FEWEST_DRAWN] = [200, 30];

/** Random numbers from 0 to 1, the same ones each time (mulberry32). */
function randomNumbers(seed) {
  let at = seed;
  return () => {
    at = (at + 0x6d2b79f5) | 0;
    let mixed = Math.imul(at ^ (at >>> 15), 1 | at);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Numbers of a standard normal distribution (Box and Muller 1958). */
function normalNumbers(random) {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A position drawn by weights. */
function drawnPosition(weights, random) {
  let rest = random() * sumOf(weights);
  const found = weights.findIndex((weight) => (rest -= weight) < 0);
  return found < 0 ? weights.findLastIndex((weight) => weight > 0) : found;
}

/**
 * Draw how the open features of such cases turn out, by the model: the class by its
 * posterior, then each feature given the class and all before. After steps of null it
 * yields for each case whether the decision on all features is another one than now; it ends early where
 * that is clearly so for a larger share than the `limit`.
 */
function* turnedDecisions(session, features, decide, limit) {
  const { engine, evidence } = session;
  const { logs } = session.answer();
  const now = decide(logs, evidence);
  const random = randomNumbers(7);
  const given = logs.map((_, label) => hardMask(logs.length, label));
  let nTurned = 0;
  for (let k = 0; k < DRAWN_CASES; k += 1) {
    const label = drawnPosition(logs.map(Math.exp), random);
    let known = evidence;
    for (const variable of features) {
      const shares = engine.stateShares?.(variable, known, label)
        ?? engine.posteriors(known.with(engine.question, given[label]))[variable];
      known = known.with(variable, hardMask(shares.length, drawnPosition(shares, random)));
      yield null;
    }
    const { logs: after } = session.answer(known);
    const isTurned = after !== null && decide(after, known) !== now;
    nTurned += Number(isTurned);
    yield { isTurned };
    const part = nTurned / (k + 1);
    const error = Math.sqrt((part * (1 - part)) / (k + 1));
    if (k + 1 >= FEWEST_DRAWN && part - 2 * error > limit) return;
  }
}
