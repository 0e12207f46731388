// What the cockpit is about: the chance of one class, and what moves it.

// The standard normal distribution's quantile of 97.5 %, and draws where it is not enough.
const NORMAL_95 = 1.959963984540054;
const DRAWS = 4000;

/** The class whose chance is shown, the class it is compared with, and effects on both. */
class Outcome {
  constructor(session) {
    this.session = session;
    this.question = session.model.class;
    this.states = session.model.variables[this.question].states;
    this.isBinary = this.states.length === 2;
    // What a question takes away of the doubt, entropy here.
    this.measure = "nats";
    // Of two classes the second, as in scikit-learn; of more the most probable.
    this.chosen = session.model.words?.outcome ?? (this.isBinary ? 1 : null);
    this.nothing = session.evidence.map(() => null);
    this.curves = new Map();
    this.weightsOf = new Map();
  }

  /** The chance in 100 from which on to act: that at which both decisions cost the same. */
  line() {
    const { loss } = this.session;
    if (!loss || !this.isBinary) return 50;
    const [target, other] = [this.chosen, 1 - this.chosen];
    const cost = (decision, state) => loss[2 * decision + state] - loss[2 * state + state];
    const [acting, waiting] = [cost(target, other), cost(other, target)];
    const line = Math.round((100 * acting) / (acting + waiting));
    return Math.min(99, Math.max(1, line)) || 50;
  }

  /** Chance and log-odds of the class in question under evidence; null if impossible. */
  answer(evidence) {
    const { logs } = this.session.answer(evidence);
    if (!logs) return null;
    const target = this.chosen ?? this.session.decision(logs);
    const against = argMax(logs, target);
    const logOdds = against < 0 ? Infinity : logs[target] - logs[against];
    return { logs, target, against, logOdds, chance: Math.exp(logs[target]) };
  }

  /**
   * Ends of the 95 % credible interval of the chance: scores are taken as normal, with
   * the variance that the counts behind them give; null where the page has none.
   */
  interval(evidence, { logs, target }) {
    const variance = evidence[this.question] ? null : this.session.engine.variance?.(evidence);
    if (!variance || logs.length < 2) return null;
    const temperature = this.session.temperature(evidence);
    const deviations = variance.map((own) => Math.sqrt(own) / temperature);
    if (this.isBinary) {
      const spread = NORMAL_95 * Math.hypot(...deviations);
      const odds = logs[target] - logs[1 - target];
      const [low, high] = [odds - spread, odds + spread].map((own) => 1 / (1 + Math.exp(-own)));
      return { low, high };
    }
    const normal = normalNumbers(randomNumbers(11));
    const drawn = Float64Array.from({ length: DRAWS }, () =>
      Math.exp(logNormalized(logs.map((log, label) => log + deviations[label] * normal()))[target]));
    drawn.sort();
    // Between the draws around it, as NumPy's quantiles are.
    const at = (share) => {
      const place = share * (DRAWS - 1);
      const [below, above] = [Math.floor(place), Math.ceil(place)].map((i) => drawn[i]);
      return below + (place - Math.floor(place)) * (above - below);
    };
    return { low: at(0.025), high: at(0.975) };
  }

  /** The answer before anything is known. */
  start({ target, against }) {
    this.initial ??= this.session.answer(this.nothing).logs ?? this.nothing;
    const logs = this.initial;
    return { chance: Math.exp(logs[target]), logOdds: logs[target] - logs[against] };
  }

  /**
   * What each finding adds to the log-odds, the strongest first, and the rest, by which
   * findings that share evidence differ from each on its own; null without two classes.
   */
  reasons(evidence, answer) {
    const { target, against, logOdds } = answer;
    if (against < 0 || evidence[this.question]) return null;
    const { terms } = this.session.terms(evidence, target, against);
    const start = this.start(answer).logOdds;
    return itemised(evidence, terms, start, logOdds);
  }

  /** Log-odds that a state adds where other things are known. */
  effect(variable, state, evidence, { target, against }) {
    const changed = evidence.with(variable, hardMask(this.session.card(variable), state));
    return this.session.terms(changed, target, against).terms[variable];
  }

  /** Half the width of its 95 % interval; NaN where the page has none. */
  #halfWidth(variable, state, evidence, { target, against }) {
    const changed = evidence.with(variable, hardMask(this.session.card(variable), state));
    const deviations = this.session.engine.deviations?.(changed)?.[variable];
    if (!deviations) return NaN;
    const spread = Math.hypot(deviations[target], deviations[against]);
    return (NORMAL_95 * spread) / this.session.temperature(changed);
  }

  /** An effect and half the width of its interval. */
  effectOf(variable, state, others, answer) {
    return {
      values: this.effect(variable, state, others, answer),
      widths: this.#halfWidth(variable, state, others, answer),
    };
  }

  /** Effects of all states of a variable, one a step; what was computed is kept. */
  * effects(variable, evidence, answer) {
    const others = evidence.with(variable, null);
    const isKnown = others.some((mask) => mask);
    const key = `${variable} ${isKnown} ${answer.target} ${answer.against}`;
    const before = this.curves.get(key);
    const curve = before?.others.every((mask, v) => mask === others[v]) ? before : { others, states: [] };
    this.curves.set(key, curve);
    const card = this.session.card(variable);
    const { states } = curve;
    while (states.length < card) {
      states.push(this.effectOf(variable, states.length, others, answer));
      if (states.length < card) yield null;
    }
    const part = (name) => Float64Array.from(states, (own) => own[name]);
    curve.effects ??= Object.fromEntries(Object.keys(states[0]).map((name) => [name, part(name)]));
    yield curve.effects;
  }

  /** How much each open feature is expected to take away of the doubt, one a step. */
  * reductions() {
    const answer = this.answer(this.session.evidence);
    for (const question of expectedReductions(this.session)) {
      yield question && { ...question, isIdle: this.isIdle(question, answer) };
    }
  }

  /** Whether no usual answer takes the chance from below 1, or from above 99, in 100. */
  isIdle(question, answer) {
    if (!this.isBinary) return false;
    const { low, high } = this.reach(question, answer);
    return high < 0.01 || low > 0.99;
  }

  /** The doubt that is left, in the measure of questions. */
  doubt({ logs }) {
    return entropyOf(logs);
  }

  /** What the answers to a question could make of the chance. */
  reach(question, { target }) {
    return rangeOfAnswers(question, ({ logs }) => Math.exp(logs[target]));
  }

  /** Weights of the states of a feature, training rows where the page has them. */
  weights(variable) {
    if (!this.weightsOf.has(variable)) {
      const rows = this.rows(variable);
      this.weightsOf.set(variable, rows.length ? rows : this.session.initial?.[variable] ?? []);
    }
    return this.weightsOf.get(variable);
  }

  /** Training rows with each state of a feature; none where the page has no numbers. */
  rows(variable) {
    const { shape } = this.session.model.variables[variable];
    return shape ? unpacked(shape.rows) : [];
  }

  /** How much a feature by itself reduces the entropy of the class, nats. */
  importance(variable) {
    const weights = this.weights(variable);
    const { logs } = this.session.answer(this.nothing);
    const { shape } = this.session.model.variables[variable];
    const nats = shape && unpacked(shape.nats);
    // Shapes compare each class with the mean of all others, not of all.
    const scale = (logs.length - 1) / logs.length;
    const posterior = (state) => (nats
      ? logNormalized(logs.map((log, label) => log + scale * nats[state * logs.length + label]))
      : this.session.answer(this.nothing.with(variable, hardMask(weights.length, state))).logs);
    const total = sumOf(weights) || 1;
    return weights.reduce((gain, weight, state) =>
      (weight ? gain + (weight / total) * (entropyOf(logs) - entropyOf(posterior(state))) : gain), 0);
  }

  /** The intervals of a variable of numbers: ends, state, weight, and rows if known. */
  intervals(variable) {
    const about = this.session.model.variables[variable];
    const weights = this.weights(variable);
    const hasRows = this.rows(variable).length > 0;
    return intervalsOf(about, weights).map((own) => ({ ...own, rows: hasRows ? own.weight : null }));
  }
}

/** Terms of what is known, the strongest first, and the rest of the way from start to end. */
function itemised(evidence, terms, start, end) {
  const items = knownVariables(evidence).map((variable) => ({ variable, value: terms[variable] }));
  items.sort((a, b) => Math.abs(b.value) - Math.abs(a.value) || a.variable - b.variable);
  const rest = end - start - items.reduce((sum, { value }) => sum + value, 0);
  return { start, items, rest, end };
}

/** Whether cut points lie between integers, as those of counts and years do. */
function areIntegers({ cuts, range }) {
  return [...cuts.map((cut) => 2 * cut), ...(range ?? [])].every(Number.isInteger);
}

/** A step of a slider that a person would choose: integers stay integers. */
function stepOf(about, { low, high }) {
  const isInteger = areIntegers(about);
  const step = 10 ** Math.floor(Math.log10((high - low) / 100));
  return isInteger ? Math.max(1, step) : step;
}

/** The interval in which a number lies. */
function intervalAt(intervals, number) {
  return intervals.find(({ high }) => number <= high) ?? intervals.at(-1);
}
