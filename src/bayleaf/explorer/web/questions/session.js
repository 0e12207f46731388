// What is known, how it came about, and what follows from it.

// Steps that can be undone.
const MOST_STEPS = 500;

/** Evidence on a model, with its history; a mask a variable, or null for none. */
class Session {
  constructor(model) {
    this.model = model;
    this.engine = engineOf(model);
    this.calibration = new Calibration(model);
    this.loss = model.loss ? unpacked(model.loss) : null;
    this.evidence = new Array(model.variables.length).fill(null);
    if (model.rows) {
      // What is missing is written as the largest code.
      const codes = model.rows.codes.map((own) => Int32Array.from(unpackedCodes(own), (code) =>
        (code === 0xffff ? -1 : code)));
      model.rows = { ...model.rows, codes };
    }
    this.history = [];
    this.future = [];
    // Variables that a search for changes leaves as they are.
    this.kept = new Set([...model.variables.keys()].filter((variable) =>
      model.variables[variable].change === "immutable"));
    this.pinned = null;
    // What an edit took away with the states, until the case changes.
    this.takenBack = new Map();
    this.listeners = [];
  }

  // ---- what is known

  /** Why nothing can be set on a variable; empty if it can. */
  locked(variable) {
    if (this.engine.canBeGiven || variable !== this.model.class) return "";
    const { role } = this.model.variables[variable];
    return `This model predicts the ${role} from the features alone.`;
  }

  /** Why evidence cannot be computed with; empty if it can. */
  refusal(evidence) {
    const { mostCombinations: most } = this.engine;
    const many = this.engine.nCombinations?.(evidence) ?? 1;
    if (!(many > most)) return "";
    return `What is left open can be combined in ${many} ways, and this page computes `
      + `with at most ${most}; set a single value somewhere.`;
  }

  /** Set a state, or take it back if it is what is set. */
  choose(variable, state) {
    const card = this.card(variable);
    const same = onlyState(this.evidence[variable]) === state;
    this.put(variable, same ? null : hardMask(card, state));
  }

  /** Rule a state out, or let it in again. Returns a sentence if that cannot be. */
  ruleOut(variable, state) {
    const card = this.card(variable);
    const before = this.evidence[variable];
    // Where a state was set, what is ruled out takes its place.
    const isFresh = !before || onlyState(before) >= 0 || isSoft(before);
    const mask = isFresh ? new Uint8Array(card).fill(1) : before.slice();
    mask[state] = mask[state] ? 0 : 1;
    if (!mask.includes(1)) return "At least one value must remain possible.";
    return this.put(variable, mask.includes(0) ? mask : null);
  }

  /** Let only some states remain, such as those of a group of values. */
  chooseSeveral(variable, states) {
    const mask = new Uint8Array(this.card(variable));
    for (const state of states) mask[state] = 1;
    return this.put(variable, mask.includes(0) ? mask : null);
  }

  /** Weigh the states by how likely what was seen is in each of them. */
  weigh(variable, weights) {
    const highest = Math.max(...weights);
    if (!(highest > 0)) return "At least one value must remain possible.";
    const scaled = Float64Array.from(weights, (weight) => weight / highest);
    return this.put(variable, scaled.every((weight) => weight === 1) ? null : scaled);
  }

  /** Let the states within bounds remain. Returns a sentence for the reader. */
  chooseWithin(bounds) {
    const { variable } = bounds;
    const about = this.model.variables[variable];
    const states = statesWithin(about, bounds);
    if (!states) return `The values of ${about.name} are not numbers.`;
    const unnamed = unnamedText(about);
    if (!states.length) return `No value of ${about.name} lies within these bounds.${unnamed}`;
    if (this.locked(variable)) return this.locked(variable);
    const { low, high } = bounds;
    const refused = about.cuts && low === high && states.length === 1
      ? this.put(variable, enteredMask(this.card(variable), states[0], String(low)))
      : this.chooseSeveral(variable, states);
    if (refused) return refused;
    if (states.length === this.card(variable)) {
      return `All of ${about.name} lies within these bounds; nothing is set.`;
    }
    const chosen = states.map((state) => about.states[state]).join(" or ");
    const typed = this.evidence[variable]?.entered;
    return `Set: ${about.name} is ${typed === undefined ? chosen : `${brief(low)} ${inBrackets(chosen)}`}.${bounds.low < bounds.high ? unnamed : ""}`;
  }

  /** Change the evidence on one variable. Returns a sentence if that cannot be. */
  put(variable, mask, isStep = true) {
    if (this.locked(variable)) return this.locked(variable);
    const changed = this.evidence.slice();
    changed[variable] = mask;
    const refused = this.refusal(changed);
    if (!refused) this.replace(changed, isStep);
    return refused;
  }

  /** Change all evidence in one step that can be undone, or as part of the step before. */
  replace(evidence, isStep = true) {
    if (isStep) this.history.push(this.evidence);
    if (this.history.length > MOST_STEPS) this.history.shift();
    this.future = [];
    this.takenBack.clear();
    this.evidence = evidence;
    this.tell();
  }

  /** Go one step back. */
  undo() {
    if (!this.history.length) return;
    this.future.push(this.evidence);
    this.evidence = this.history.pop();
    this.tell();
  }

  /** Take the step that was last undone again. */
  redo() {
    if (!this.future.length) return;
    this.history.push(this.evidence);
    this.evidence = this.future.pop();
    this.tell();
  }

  /** Keep what is set now, to compare what is set later with it; or forget that. */
  pin(evidence) {
    this.pinned = evidence && { evidence, posteriors: this.posteriors(evidence) };
    this.tell();
  }

  /** Forget all evidence. */
  reset() {
    if (this.evidence.some((mask) => mask)) this.replace(this.evidence.map(() => null));
  }

  /** Ask for another variable, where the model has no class. */
  ask(variable) {
    this.engine.ask(variable);
    this.tell();
  }

  /**
   * Go on with other variables and distributions. What is set on a variable of other
   * states is read again if it was entered as a number, and else taken back until the
   * states return. What shows the model is called before what shows its answers.
   */
  adopt(changes, redraw) {
    const { variables } = this.model;
    Object.assign(this.model, changes);
    this.engine = engineOf(this.model);
    const { takenBack } = this;
    this.takenBack = new Map();
    this.evidence = this.evidence.map((own, v) => {
      const { mask, states } = own ? { mask: own, states: variables[v].states } : takenBack.get(v) ?? {};
      if (!mask) return null;
      if (String(states) === String(this.model.variables[v].states)) return mask;
      if (mask.entered !== undefined) return readEntered(this, v, mask.entered);
      this.takenBack.set(v, { mask, states });
      return null;
    });
    this.history = [];
    this.future = [];
    this.pinned = null;
    redraw();
    this.tell();
  }

  card(variable) {
    return this.model.variables[variable].states.length;
  }

  /** Let everybody know that something has changed. */
  tell() {
    for (const listener of this.listeners) listener();
  }

  // ---- what follows

  /** Whether a single state of each feature is set, where calibration depends on it. */
  #known(evidence) {
    const nFeatures = this.calibration.strengths?.length ?? 0;
    return evidence.slice(0, nFeatures).map((mask) => onlyState(mask) >= 0);
  }

  /** Log posterior of the question from its scores, calibrated; null if impossible. */
  logPosterior(scores, evidence = this.evidence, mask = null) {
    const isClass = this.engine.question === this.model.class;
    const logs = isClass ? this.calibration.logs(scores, this.#known(evidence))
      : Array.from(scores);
    return logNormalized(mask ? logs.map((log, state) => log + Math.log(mask[state])) : logs);
  }

  /** The state that is decided for: the most probable or, under a loss, the cheapest. */
  decision(logs) {
    if (!this.loss || this.engine.question !== this.model.class) return argMax(logs);
    const n = logs.length;
    const costs = logs.map((_, row) =>
      logs.reduce((sum, log, column) => sum + this.loss[row * n + column] * Math.exp(log), 0));
    return argMax(costs.map((cost) => -cost));
  }

  /** Posterior of the question under the evidence. */
  answer(evidence = this.evidence) {
    const scores = this.engine.scores(evidence);
    return { scores, logs: this.logPosterior(scores, evidence, evidence[this.engine.question]) };
  }

  /** ln P(evidence), nats, the question's own included. */
  logEvidence(evidence) {
    const mask = evidence[this.engine.question];
    const scores = this.engine.scores(evidence);
    return logSumExp(mask ? scores.map((score, s) => score + Math.log(mask[s])) : scores);
  }

  /** The log-odds of two states before anything is known. */
  start({ target, against }) {
    const { logs } = this.answer(this.evidence.map(() => null));
    return logs[target] - logs[against];
  }

  /** Posteriors before anything is known. */
  get initial() {
    this.unknowing ??= this.posteriors(this.evidence.map(() => null));
    return this.unknowing;
  }

  /** Posteriors of all variables; null if the evidence is impossible. */
  posteriors(evidence = this.evidence) {
    const { logs } = this.answer(evidence);
    if (!logs) return null;
    const found = this.engine.posteriors(evidence);
    if (!found) return null;
    found[this.engine.question] = Float64Array.from(logs, Math.exp);
    return found;
  }

  /** Terms of the log-odds of two states, by default the decision and the next likely. */
  explanation(states = {}) {
    const { engine } = this;
    const { logs } = this.answer();
    if (!logs || logs.length < 2 || this.evidence[engine.question]) return null;
    const target = states.target ?? this.decision(logs);
    const against = states.against ?? argMax(logs, target);
    return {
      target,
      against,
      logOdds: logs[target] - logs[against],
      ...this.terms(this.evidence, target, against),
    };
  }

  /** What scores of the class are divided by. */
  temperature(evidence) {
    return this.calibration.of(this.#known(evidence)).temperature;
  }

  /** The prior and the terms, calibrated, of the log-odds of two states of the question. */
  terms(evidence, target, against) {
    const { engine } = this;
    const found = engine.contributions(evidence, target, against);
    const isClass = engine.question === this.model.class;
    const { temperature, shift } = this.calibration.of(this.#known(evidence));
    const divisor = isClass ? temperature : 1;
    const shifted = isClass && shift ? shift[target] - shift[against] : 0;
    return {
      prior: found.prior / divisor + shifted,
      terms: found.terms.map((term) => term / divisor),
    };
  }

  /** The effect of each finding where nothing else is set, by variable. */
  alone({ target, against }) {
    // A temperature does not count where a single thing is known.
    const none = this.engine.scores(this.evidence.map(() => null));
    return this.evidence.map((mask, variable) => {
      if (!mask || variable === this.engine.question) return 0;
      const only = this.engine.scores(this.evidence.map((given, v) => (v === variable ? given : null)));
      const gain = (label) => only[label] - none[label];
      // A state that neither can have adds nothing.
      return gain(target) - gain(against) || 0;
    });
  }
}
