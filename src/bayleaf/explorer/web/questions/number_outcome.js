// What the cockpit is about where the target is a number: where it lies, what moves it.

/** The expected number and its 90 % interval under evidence, and effects on it. */
class NumberOutcome extends Outcome {
  constructor(session) {
    super(session);
    Object.assign(this, { isNumber: true, isBinary: false });
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

  /** How far a feature by itself moves the expectation: a standard deviation. */
  importance(variable) {
    const weights = this.weights(variable);
    const total = sumOf(weights) || 1;
    const square = (state) => (this.effectOf(variable, state, this.nothing).values - this.initial.mean) ** 2;
    return Math.sqrt(weights.reduce((sum, weight, state) =>
      (weight ? sum + (weight / total) * square(state) : sum), 0));
  }
}
