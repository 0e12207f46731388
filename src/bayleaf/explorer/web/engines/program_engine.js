// What is asked of a model whose scores are a program's, which takes known states.

// Two states contradict each other if they occur together in fewer rows than this share
// of those by chance, and so many would be expected.
const [LEAST_TOGETHER, LEAST_BY_CHANCE] = [0.1, 3];

/**
 * Where several states of a feature are left, scores are those of each of them, mixed:
 * by the joint distribution where scores are one, else by the states' shares.
 */
class ProgramEngine {
  constructor(model) {
    // The page defines the kinds of terms that it has.
    this.program = new Program(model.program, KINDS);
    this.isJoint = model.is_joint;
    this.canBeGiven = model.is_joint;
    this.question = model.class;
    this.order = model.order;
    this.nClasses = this.program.nClasses;
    this.cards = this.program.cards;
    // Ways to combine the states that are left, beyond which nothing is computed.
    this.mostCombinations = this.isJoint ? 200 : 2000;
    this.stateLogs = model.states?.map(unpacked);
    this.shares = this.stateLogs?.map((own) => normalized(own.map(Math.exp)));
    this.calibration = new Calibration(model);
    this.hasIntervals = Boolean(model.has_intervals);
    this.isRounded = Boolean(model.is_rounded);
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

  /** The temperature and the shift of a row. */
  #calibrationOf(codes) {
    return this.calibration.of(this.program.known(codes));
  }

  /** Scores by class such that a calibrated posterior is the mean over all ways. */
  scores(evidence) {
    const ways = this.combinations(evidence);
    if (ways.length === 1) return this.program.scores(ways[0].codes).map((s) => s + ways[0].logWeight);
    const logs = ways.map((way) => this.#weighted(way));
    const { temperature, shift } = this.#calibrationOf(this.states(evidence));
    return sumByClass(logs, this.nClasses).map((mean, label) =>
      (this.isJoint ? mean : (mean - (shift?.[label] ?? 0)) * temperature));
  }

  /** What one way gives each class: its joint probability, or its share of a posterior. */
  #weighted({ logWeight, codes }) {
    const scores = this.program.scores(codes);
    if (this.isJoint) return scores.map((score) => score + logWeight);
    const logs = logNormalized(this.calibration.logs(scores, this.program.known(codes)));
    return (logs ?? scores).map((log) => log + logWeight);
  }

  /**
   * A function that scores the evidence with some of its states changed; null where
   * several states are left open, so that there is no one row to change.
   */
  scorer(evidence) {
    if (this.nCombinations(evidence) > 1) return null;
    return this.program.scorer(this.states(evidence));
  }

  /** Terms before calibration. */
  contributions(evidence, target, against) {
    const ways = this.combinations(evidence);
    const calibration = this.#calibrationOf(this.states(evidence));
    const shiftOf = ({ shift }) => (this.isJoint || !shift ? 0
      : (shift[target] - shift[against]) * calibration.temperature);
    const split = ({ codes }) => {
      const own = this.#calibrationOf(codes);
      const factor = this.isJoint ? 1 : calibration.temperature / own.temperature;
      const odds = this.program.odds(codes, target, against).map((nats) => factor * nats);
      // The class itself has no term.
      return [...odds.slice(0, -1), 0, odds.at(-1) + shiftOf(own)];
    };
    const odds = ways.length === 1 ? split(ways[0]) : oddsOfSum(
      ways.map((way) => ({ scores: this.#weighted(way), odds: () => split(way) })),
      this.cards.length + 2, target, against);
    const { prior, terms } = asTerms(odds);
    return { prior: prior - shiftOf(calibration), terms };
  }

  /** Whether findings share evidence, so that their terms change with each other. */
  get isShared() {
    return Boolean(this.program.sharing);
  }

  /** How probable each state of a feature is, by the question's posterior (logs). */
  statesOf(variable, evidence, logs) {
    const { program } = this;
    if (!program.sharing) return null;
    const byState = program.sharing.stateLogs(program, variable, this.states(evidence));
    return byState.map((own) => own.reduce((sum, log, label) => sum + Math.exp(logs[label] + log), 0));
  }

  /** Whether hardly any training row has the state of a feature with another one that is known. */
  isContradicted(variable, evidence) {
    // Rounded counts are zero where a few rows have both.
    if (this.isRounded) return false;
    const codes = this.states(evidence);
    return this.program.additive.some((term) => {
      const pair = term.features?.slice(0, 2).includes(variable) && term.together?.(codes);
      return pair && pair.byChance >= LEAST_BY_CHANCE && pair.rows < LEAST_TOGETHER * pair.byChance;
    });
  }

  /**
   * Standard deviation of what each feature adds to the score of each class, nats, by the
   * counts behind it; null if the page has none, or several states are left.
   */
  deviations(evidence) {
    if (!this.hasIntervals || this.nCombinations(evidence) > 1) return null;
    const codes = this.states(evidence);
    const given = this.program.given(codes);
    const deviations = this.cards.map(() => new Float64Array(this.nClasses));
    for (const term of this.program.additive) {
      if (term.deviation) added(deviations[term.owner], term.deviation(codes, given));
    }
    return deviations;
  }

  /** Variance of the score of each class, nats squared; features vary independently. */
  variance(evidence) {
    return this.deviations(evidence)?.reduce((sum, own) =>
      added(sum, own.map((one) => one ** 2)), new Float64Array(this.nClasses)) ?? null;
  }

  /** Weights of the states of a feature where a class and other features are known. */
  stateShares(variable, evidence, label) {
    const mask = evidence[variable];
    const { program } = this;
    const weights = this.isJoint ? this.#classScores(variable, evidence, label)
      : program.sharing?.stateLogs(program, variable, this.states(evidence)).map((own) => own[label])
        ?? this.stateLogs[variable];
    const shares = logNormalized(Array.from(weights)).map(Math.exp);
    return mask ? shares.map((p, state) => p * mask[state]) : shares;
  }

  /** The joint score of a class with each state of a feature. */
  #classScores(variable, evidence, label) {
    return Array.from({ length: this.cards[variable] }, (_, state) =>
      this.scores(evidence.with(variable, hardMask(this.cards[variable], state)))[label]);
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

  /** Posteriors of the features, or shares of training rows; null for the class. */
  posteriors(evidence) {
    const weights = this.isJoint ? this.#jointWeights(evidence) : this.shares;
    return [...weights.map((own, feature) => {
      const mask = evidence[feature];
      return normalized(mask ? own.map((p, state) => p * mask[state]) : own);
    }), null];
  }

  /** Of each state of each feature, the probability of it with all that is known. */
  #jointWeights(evidence) {
    const seen = evidence[this.question];
    const logs = this.cards.map((card, feature) => {
      const mask = evidence[feature];
      return Float64Array.from({ length: card }, (_, state) => {
        if (mask && !mask[state]) return -Infinity;
        const scores = this.scores(evidence.with(feature, hardMask(card, state)));
        return logSumExp(seen ? scores.map((score, k) => score + Math.log(seen[k])) : scores);
      });
    });
    return logs.map((own) => (logNormalized(own) ?? own).map(Math.exp));
  }
}
