// What models that average have in common: they score the class under known states.

// Ways in which states that are left can be combined, beyond which nothing is computed.
const MOST_COMBINATIONS = 2000;

/**
 * Where several states of a feature are left, scores are those of each of them, mixed:
 * by the joint distribution where there is one, else by the states' shares.
 */
class AverageEngine {
  constructor(model) {
    this.model = model;
    this.isJoint = false;
    this.canBeGiven = false;
    this.question = model.class;
    this.order = model.order;
    this.nFeatures = model.class;
    this.nClasses = model.variables[model.class].states.length;
    this.cards = model.variables.slice(0, -1).map((variable) => variable.states.length);
    this.stateLogs = model.average.states?.map(unpacked);
    this.shares = this.stateLogs?.map((own) => normalized(own.map(Math.exp)));
    this.temperature = model.temperature ?? 1;
    this.shift = model.shift ? unpacked(model.shift) : null;
  }

  /** The state of each feature, its number of states if that is unknown. */
  states(evidence) {
    return this.cards.map((card, feature) => {
      const state = onlyState(evidence[feature]);
      return state < 0 ? card : state;
    });
  }

  /** In how many ways the states that are left can be combined. */
  nCombinations(evidence) {
    return this.cards.reduce((product, _, feature) =>
      product * (evidence[feature] ? statesLeft(evidence[feature]).length : 1), 1);
  }

  /** Each way in which the states that are left can be combined, with ln of its weight. */
  combinations(evidence) {
    let found = [{ logWeight: 0, codes: this.states(evidence) }];
    this.cards.forEach((_, feature) => {
      const mask = evidence[feature];
      if (!mask || onlyState(mask) >= 0) return;
      const shares = this.shares?.[feature];
      found = found.flatMap(({ logWeight, codes }) => statesLeft(mask).map((state) => ({
        logWeight: logWeight + Math.log(mask[state] * (shares ? shares[state] : 1)),
        codes: codes.with(feature, state),
      })));
    });
    if (this.isJoint) return found;
    const total = logSumExp(found.map(({ logWeight }) => logWeight));
    return found.map((one) => ({ ...one, logWeight: one.logWeight - total }));
  }

  /** Scores by class such that a calibrated posterior is the mean over all ways. */
  scores(evidence) {
    const ways = this.combinations(evidence);
    if (ways.length === 1) return this.scoresOf(ways[0].codes).map((s) => s + ways[0].logWeight);
    const logs = ways.map((way) => this.#weighted(way));
    return Float64Array.from({ length: this.nClasses }, (_, label) => {
      const mean = logSumExp(logs.map((own) => own[label]));
      return this.isJoint ? mean : (mean - (this.shift?.[label] ?? 0)) * this.temperature;
    });
  }

  /** What one way gives each class: its joint probability, or its share of a posterior. */
  #weighted({ logWeight, codes }) {
    const scores = this.scoresOf(codes);
    if (this.isJoint) return scores.map((score) => score + logWeight);
    const logs = logNormalized(scores.map((score, label) =>
      score / this.temperature + (this.shift?.[label] ?? 0)));
    return (logs ?? scores).map((log) => log + logWeight);
  }

  /**
   * A function that scores the evidence with some of its states changed; null where
   * several states are left open, so that there is no one row to change.
   */
  scorer(evidence) {
    if (this.nCombinations(evidence) > 1) return null;
    const codes = this.states(evidence);
    return (changes) => this.scoresNear(codes, changes);
  }

  /** Scores of a row with some of its states changed. */
  scoresNear(codes, changes) {
    const changed = codes.slice();
    for (const { variable, to } of changes) changed[variable] = to;
    return this.scoresOf(changed);
  }

  contributions(evidence, target, against) {
    const ways = this.combinations(evidence);
    if (ways.length === 1) return this.contributionsOf(ways[0].codes, target, against);
    const logs = ways.map((way) => this.#weighted(way));
    const weights = logarithmicMeanWeights(
      logs.map((own) => own[target]),
      logs.map((own) => own[against]),
    );
    const shift = this.isJoint || !this.shift ? 0
      : (this.shift[target] - this.shift[against]) * this.temperature;
    const total = { prior: -shift, terms: new Array(this.nFeatures + 1).fill(0) };
    ways.forEach(({ codes }, way) => {
      const own = this.contributionsOf(codes, target, against);
      total.prior += weights[way] * (own.prior + shift);
      own.terms.forEach((term, v) => { total.terms[v] += weights[way] * term; });
    });
    return total;
  }

  /**
   * ln P(what is known), nats, by which changed rows are ranked: that of the joint
   * distribution where there is one, else the product of the features' own.
   */
  logProbability(evidence, scores) {
    if (!this.shares) return logSumExp(scores);
    return this.shares.reduce((total, shares, feature) => {
      const mask = evidence[feature];
      const state = onlyState(mask);
      if (!mask) return total;
      if (state >= 0) return total + this.stateLogs[feature][state];
      return total + Math.log(shares.reduce((sum, p, s) => sum + p * mask[s], 0));
    }, 0);
  }

  /** Shares of training rows, among the states that are left; null for the class. */
  posteriors(evidence) {
    return [...this.cards.map((card, feature) => {
      const shares = this.shares?.[feature] ?? new Float64Array(card).fill(1);
      const mask = evidence[feature];
      return normalized(mask ? shares.map((p, state) => p * mask[state]) : shares);
    }), null];
  }
}
