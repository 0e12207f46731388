// What to ask next: how much less uncertain the question is expected to be.

/** Entropy of a distribution given by its logarithms, nats. */
function entropyOf(logs) {
  return logs.reduce((sum, log) => (log === -Infinity ? sum : sum - Math.exp(log) * log), 0);
}

/** For each state of a variable, ln of its weight and the question's scores under it. */
function scoresByState(session, variable, joint, logs) {
  const { engine, evidence } = session;
  if (joint) return joint[variable].map((scores) => ({ scores, logWeight: logSumExp(scores) }));
  const shares = engine.statesOf?.(variable, evidence, logs) ?? engine.posteriors(evidence)?.[variable];
  const changed = evidence.slice();
  return session.model.variables[variable].states.map((_, state) => {
    changed[variable] = hardMask(session.card(variable), state);
    const scores = engine.scores(changed);
    return { scores, logWeight: engine.isJoint ? logSumExp(scores) : Math.log(shares[state]) };
  });
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
 * For each open variable the expected reduction of the question's entropy (nats) once
 * its state is known: the variable's states as probable as the model finds them now.
 */
function* expectedReductions(session) {
  const { logs } = session.answer();
  if (!logs || session.evidence[session.engine.question]) return;
  const now = entropyOf(logs);
  const joint = session.engine.jointScores?.(session.evidence);
  for (const variable of openVariables(session)) {
    const own = scoresByState(session, variable, joint, logs);
    const mask = session.evidence[variable];
    const weights = own.map(({ logWeight }, s) =>
      logWeight + (mask && !joint ? Math.log(mask[s]) : 0));
    const total = logSumExp(weights);
    const after = own.reduce((sum, { scores }, state) => {
      const found = session.evidence.with(variable, hardMask(own.length, state));
      const posterior = weights[state] === -Infinity ? null : session.logPosterior(scores, found);
      return posterior ? sum + Math.exp(weights[state] - total) * entropyOf(posterior) : sum;
    }, 0);
    yield { variable, nats: now - after };
  }
}
