// Networks' worth of no change in the mean of what a parent changes.
const WITHOUT_CHANGE = 0.5;
// Sets of known features whose weights are kept.
const MAX_SETS = 200;

/**
 * What counts and other terms weigh where some features are unknown: a feature that is
 * known alone counts as if it were the only one, and as learned where all are known.
 */
class Sharing {
  constructor(program, strengths, rates, alone, learned, prior, factors) {
    this.base = program.base;
    this.strengths = program.values(strengths);
    this.rates = rates;
    this.alone = alone.map((span) => program.values(span));
    this.learned = learned.map((span) => program.values(span));
    this.prior = program.values(prior);
    this.factors = program.values(factors);
    // By feature, its counts in each network.
    this.counts = this.alone.map(() => []);
    for (const term of program.additive) {
      if (term instanceof Counts) this.counts[term.owner].push(term);
    }
    this.sets = new Map();
  }

  /** The base, its share of the learned one, and weights; null where all is known. */
  given(known) {
    if (known.every(Boolean)) return null;
    const key = known.map(Number).join("");
    if (!this.sets.has(key)) {
      if (this.sets.size >= MAX_SETS) this.sets.clear();
      this.sets.set(key, this.#given(known));
    }
    return this.sets.get(key);
  }

  #given(known) {
    const { others, beyond } = knownShares(this.strengths, known);
    const [rate, baseRate] = this.rates;
    const bent = (share, by) => (by * share) / (1 - share + by * share);
    const share = bent(beyond, baseRate);
    const alone = others.map((other, feature) => (known[feature] ? 1 - bent(other, rate) : 0));
    return {
      known,
      share,
      base: this.prior.map((log, label) => (log === -Infinity || share === 1
        ? this.base[label] : log + share * (this.base[label] - log))),
      depths: this.alone.map((own, feature) =>
        this.#mean(feature, known, own.map((weight, depth) => alone[feature] * weight
          + (1 - alone[feature]) * this.learned[feature][depth]))),
      scales: alone.map((own, feature) => 1 - own + own * this.factors[feature]),
    };
  }

  /** Weights for sums over networks of what further parents change. */
  #mean(feature, known, weights) {
    const networks = this.counts[feature];
    const counted = new Float64Array(weights.length);
    for (const { features } of networks) {
      let depth = 0;
      while (depth + 1 < features.length && known[features[depth + 1]]) depth += 1;
      // Beyond the last parent, all parents are known.
      counted[depth + 1 < features.length ? depth : weights.length - 1] += 1;
    }
    for (let depth = counted.length - 2; depth >= 0; depth -= 1) counted[depth] += counted[depth + 1];
    return weights.map((weight, depth) =>
      weight / (counted[depth] + (counted[depth] < networks.length ? WITHOUT_CHANGE : 0)));
  }

  /** ln of how probable each state of a feature is in each class where others are known. */
  stateLogs(program, feature, codes) {
    const known = program.known(codes).with(feature, true);
    const { length } = this.alone[feature];
    const depths = this.#mean(feature, known, this.alone[feature].map((_, depth) => 1 - depth / length));
    const given = { known, depths: { [feature]: depths } };
    const sums = Array.from({ length: program.cards[feature] }, (_, state) => {
      const nats = { [feature]: new Float64Array(program.nClasses) };
      const changed = codes.with(feature, state);
      for (const term of this.counts[feature]) term.addTo(nats, changed, given);
      return nats[feature];
    });
    const totals = sumByClass(sums, program.nClasses);
    return sums.map((nats) => nats.map((sum, label) => sum - totals[label]));
  }
}
