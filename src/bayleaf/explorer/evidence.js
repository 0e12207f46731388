// What is known, how it came about, and what follows from it.

// Steps that can be undone.
const MOST_STEPS = 500;

/** Evidence on a model, with its history; a mask a variable, or null for none. */
class Session {
  constructor(model) {
    this.model = model;
    this.engine = engineOf(model);
    this.temperature = model.temperature ?? 1;
    this.shift = model.shift ? unpacked(model.shift) : null;
    this.loss = model.loss ? unpacked(model.loss) : null;
    this.evidence = new Array(model.variables.length).fill(null);
    this.history = [];
    this.listeners = [];
  }

  // ---- what is known

  /** Why nothing can be set on a variable; empty if it can. */
  locked(variable) {
    if (this.engine.canRuleOut || variable !== this.model.class) return "";
    const { role } = this.model.variables[variable];
    return `This model predicts the ${role} from the features alone.`;
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
    const isFresh = !before || onlyState(before) >= 0;
    const mask = isFresh ? new Uint8Array(card).fill(1) : before.slice();
    mask[state] = mask[state] ? 0 : 1;
    if (!mask.includes(1)) return "At least one state must remain possible.";
    if (!this.engine.canRuleOut && mask.includes(0) && onlyState(mask) < 0) {
      return "This model averages several networks and knows single states only; "
        + "a state can be ruled out where one other remains.";
    }
    this.put(variable, mask.includes(0) ? mask : null);
    return "";
  }

  /** Let only some states remain, such as those of a group of values. */
  chooseSeveral(variable, states) {
    const mask = new Uint8Array(this.card(variable));
    for (const state of states) mask[state] = 1;
    this.put(variable, mask.includes(0) ? mask : null);
  }

  /** Let the states within bounds remain. Returns a sentence for the reader. */
  chooseWithin(bounds) {
    const { variable } = bounds;
    const about = this.model.variables[variable];
    const states = statesWithin(about, bounds);
    if (!states) return `The states of ${about.name} are no numbers.`;
    if (!states.length) return `No state of ${about.name} lies within these bounds.`;
    if (this.locked(variable)) return this.locked(variable);
    if (!this.engine.canRuleOut && states.length > 1) {
      return "This model averages several networks and knows single states only.";
    }
    this.chooseSeveral(variable, states);
    if (states.length === this.card(variable)) {
      return `Every state of ${about.name} holds values within these bounds; nothing is set.`;
    }
    return `Set: ${about.name} is ${states.map((state) => about.states[state]).join(" or ")}.`;
  }

  /** Change the evidence on one variable. */
  put(variable, mask) {
    if (this.locked(variable)) return;
    const changed = this.evidence.slice();
    changed[variable] = mask;
    this.replace(changed);
  }

  /** Change all evidence in one step that can be undone. */
  replace(evidence) {
    this.history.push(this.evidence);
    if (this.history.length > MOST_STEPS) this.history.shift();
    this.evidence = evidence;
    this.#tell();
  }

  /** Go one step back. */
  undo() {
    if (!this.history.length) return;
    this.evidence = this.history.pop();
    this.#tell();
  }

  /** Forget all evidence. */
  reset() {
    if (this.evidence.some((mask) => mask)) this.replace(this.evidence.map(() => null));
  }

  /** Ask for another variable, where the model has no class. */
  ask(variable) {
    this.engine.ask(variable);
    this.#tell();
  }

  card(variable) {
    return this.model.variables[variable].states.length;
  }

  #tell() {
    for (const listener of this.listeners) listener();
  }

  // ---- what follows

  /** Log posterior of the question from its scores, calibrated; null if impossible. */
  logPosterior(scores, mask = null) {
    const isClass = this.engine.question === this.model.class;
    const logs = Array.from(scores, (score, state) => {
      if (mask && !mask[state]) return -Infinity;
      if (!isClass) return score;
      return score / this.temperature + (this.shift ? this.shift[state] : 0);
    });
    return logNormalized(logs);
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
  answer() {
    const scores = this.engine.scores(this.evidence);
    return { scores, logs: this.logPosterior(scores, this.evidence[this.engine.question]) };
  }

  /** Posteriors of all variables; null if the evidence is impossible. */
  posteriors() {
    const { logs } = this.answer();
    if (!logs) return null;
    const found = this.engine.posteriors(this.evidence);
    if (!found) return null;
    found[this.engine.question] = Float64Array.from(logs, Math.exp);
    return found;
  }

  /** Terms of the log-odds of the decision against the most probable other state. */
  explanation() {
    const { engine } = this;
    const { logs } = this.answer();
    if (!logs || logs.length < 2 || this.evidence[engine.question]) return null;
    const target = this.decision(logs);
    const against = argMax(logs, target);
    const found = engine.contributions(this.evidence, target, against);
    const isClass = engine.question === this.model.class;
    const divisor = isClass ? this.temperature : 1;
    const shift = isClass && this.shift ? this.shift[target] - this.shift[against] : 0;
    return {
      target,
      against,
      logOdds: logs[target] - logs[against],
      prior: found.prior / divisor + shift,
      terms: found.terms.map((term) => term / divisor),
    };
  }

  // ---- links

  /** The evidence as the fragment of an address. */
  fragment() {
    const items = [];
    this.evidence.forEach((mask, variable) => {
      if (!mask) return;
      const inside = [];
      const outside = [];
      mask.forEach((allowed, state) => (allowed ? inside : outside).push(state));
      const short = inside.length === 1 || inside.length <= outside.length;
      items.push(`${variable}${short ? "=" : "!"}${(short ? inside : outside).join(".")}`);
    });
    if (this.model.class === null && this.engine.question !== this.model.question) {
      items.unshift(`ask=${this.engine.question}`);
    }
    return items.length ? `#${this.model.fingerprint}&${items.join("&")}` : "";
  }

  /**
   * Take the evidence of a fragment over. Returns a sentence if it does not fit; parts
   * that mean nothing are left out.
   */
  restore(fragment) {
    const [fingerprint, ...items] = fragment.replace(/^#/, "").split("&");
    if (fingerprint && fingerprint !== this.model.fingerprint) {
      return "This link belongs to another model; its evidence was not taken over.";
    }
    const evidence = this.evidence.map(() => null);
    let question = this.model.question;
    for (const item of items) {
      const found = /^(\d+)([=!])(\d+(?:\.\d+)*)$/.exec(item);
      const asked = /^ask=(\d+)$/.exec(item);
      if (asked && this.model.class === null && evidence.length > Number(asked[1])) {
        question = Number(asked[1]);
      }
      if (found) this.#restoreItem(evidence, found);
    }
    if (question !== this.engine.question) this.engine.ask(question);
    this.replace(evidence);
    return "";
  }

  #restoreItem(evidence, [, name, sign, listed]) {
    const variable = Number(name);
    if (variable >= evidence.length || this.locked(variable)) return;
    const mask = new Uint8Array(this.card(variable)).fill(sign === "!" ? 1 : 0);
    for (const state of listed.split(".").map(Number)) {
      if (state < mask.length) mask[state] = sign === "!" ? 0 : 1;
    }
    const single = onlyState(mask) >= 0;
    if (mask.includes(1) && mask.includes(0) && (single || this.engine.canRuleOut)) {
      evidence[variable] = mask;
    } else if (mask.length === 1 && mask[0]) {
      evidence[variable] = mask;
    }
  }
}
