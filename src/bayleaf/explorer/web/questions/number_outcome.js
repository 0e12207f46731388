// What the cockpit is about where the target is a number: where it lies, what moves it.

/** The expected number and its 90 % interval under evidence, and effects on it. */
class NumberOutcome extends Outcome {
  constructor(session) {
    super(session);
    Object.assign(this, { isNumber: true, isBinary: false, measure: "share" });
    this.initial = this.answer(this.nothing);
  }

  answer(evidence) {
    const { mean, quantiles: [low, high] } = this.session.engine.distribution(evidence, [0.05, 0.95]);
    return { mean, low, high };
  }

  interval(evidence, { low, high }) {
    return { low, high };
  }

  start() {
    return this.initial;
  }

  /** What each finding adds to the expectation, in the target's units. */
  reasons(evidence, { mean }) {
    const { terms } = this.session.engine.expectation(evidence);
    return itemised(evidence, terms, this.initial.mean, mean);
  }

  /** Where the number lies if a variable has a state. */
  effectOf(variable, state, others) {
    const known = others.with(variable, hardMask(this.session.card(variable), state));
    const { mean, low, high } = this.answer(known);
    return { values: mean, lows: low, highs: high };
  }

  /**
   * The share of the variance that each open feature is expected to take away once its
   * state is known: that of the expectations among its answers (law of total variance).
   */
  * reductions() {
    const { engine, evidence } = this.session;
    const { logs } = this.session.answer();
    for (const variable of openVariables(this.session)) {
      const shares = normalized(Array.from(sharesOf(this.session, variable, evidence, logs)));
      const answers = [];
      for (const [state, share] of shares.entries()) {
        if (share) answers.push({ share, ...engine.moments(evidence.with(variable, hardMask(shares.length, state))) });
        yield null;
      }
      const average = (numberOf) => answers.reduce((sum, answer) => sum + answer.share * numberOf(answer), 0);
      const mean = average((answer) => answer.mean);
      const between = average((answer) => (answer.mean - mean) ** 2);
      const whole = between + average((answer) => answer.variance);
      // Of a number that never varies, rounding alone is left.
      const rounding = 8 * Number.EPSILON * Math.max(...answers.map((answer) => Math.abs(answer.mean)));
      yield { variable, share: whole > rounding ** 2 ? between / whole : 0, answers };
    }
  }

  /** All of the doubt, of which questions take shares away. */
  doubt() {
    return 1;
  }

  reach(question) {
    return rangeOfAnswers(question, ({ mean }) => mean);
  }

  /** Whether the expectation lies below, within or above two numbers: -1, 0 or 1. */
  side({ low, high }, evidence) {
    const { mean } = this.answer(evidence);
    return mean < low ? -1 : Number(mean > high);
  }

  /** How far a feature by itself moves the expectation: a standard deviation. */
  importance(variable) {
    const weights = this.weights(variable);
    const total = sumOf(weights) || 1;
    const square = (state) => (this.effectOf(variable, state, this.nothing).values - this.initial.mean) ** 2;
    return Math.sqrt(weights.reduce((sum, weight, state) =>
      (weight ? sum + (weight / total) * square(state) : sum), 0));
  }
}
