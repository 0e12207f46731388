// A numeric target: probabilities of cells of its range, and what moves its expectation.

/** Numbers in the leaves of regression trees, added up; steps count by feature. */
class TreeSum {
  constructor({ base, positions, roots, features, thresholds, right, values }) {
    this.positions = positions.map(unpacked);
    this.roots = roots;
    this.features = features;
    this.thresholds = unpacked(thresholds);
    this.right = right;
    this.values = unpacked(values);
    this.start = roots.reduce((sum, root) => sum + this.values[root], base);
  }

  /** What each feature adds to the start; a state that is unknown ends the way. */
  terms(codes) {
    const terms = new Float64Array(this.positions.length);
    for (const root of this.roots) {
      let node = root;
      while (this.features[node] >= 0) {
        const feature = this.features[node];
        const position = this.positions[feature][codes[feature]];
        if (position === undefined) break;
        const child = position <= this.thresholds[node] ? node + 1 : this.right[node];
        terms[feature] += this.values[child] - this.values[node];
        node = child;
      }
    }
    return terms;
  }
}

/** Intervals scored by averaged KDB, cells inside them, and a density from trees. */
class TargetEngine extends ProgramEngine {
  constructor(model) {
    super(model);
    const { quantiles, prior, centre, scale, head, trees, points, shares } = model.target;
    const ends = quantiles.map(unpacked);
    this.lower = ends.flatMap((own) => Array.from(own.slice(0, -1)));
    this.upper = ends.flatMap((own) => Array.from(own.slice(1)));
    this.intervalOf = ends.flatMap((own, interval) =>
      new Array(own.length - 1).fill(interval));
    this.cellShares = ends.flatMap((own) =>
      new Array(own.length - 1).fill(-Math.log(own.length - 1)));
    this.middle = this.lower.map((low, cell) => low / 2 + this.upper[cell] / 2);
    this.centres = this.lower.map((low, cell) =>
      (low / 2 - centre / 2 + (this.upper[cell] / 2 - centre / 2)) / scale);
    this.prior = unpacked(prior);
    this.scale = scale;
    this.head = head;
    this.trees = trees && { mean: new TreeSum(trees.mean), spread: new TreeSum(trees.spread) };
    this.points = unpacked(points);
    this.pointShares = unpacked(shares);
  }

  /** The ways in which the states that are left can be combined: weight and parts. */
  #ways(evidence) {
    return this.combinations(evidence).map(({ logWeight, codes }) =>
      ({ weight: Math.exp(logWeight), parts: this.#parts(codes) }));
  }

  /** Probabilities of all cells under the evidence. */
  #shares(evidence) {
    const sums = new Float64Array(this.intervalOf.length);
    for (const { weight, parts } of this.#ways(evidence)) {
      this.#cells(parts, 1).shares.forEach((share, cell) => { sums[cell] += weight * share; });
    }
    return sums;
  }

  /** What each feature adds to the scores of intervals, to the mean and to the scale. */
  #parts(codes) {
    const none = new Float64Array(codes.length);
    const given = this.program.given(codes);
    return {
      base: given?.base ?? this.program.base,
      // How far the trees and the weight of intervals count, which are of whole rows.
      known: given && this.trees ? given.share : 1,
      intervals: this.program.nats(codes, given).slice(0, -1),
      mean: this.trees ? this.trees.mean.terms(codes) : none,
      spread: this.trees ? this.trees.spread.terms(codes) : none,
    };
  }

  /** What the scores of intervals weigh. */
  #weight(known) {
    return known * this.head.interval_weight + (1 - known);
  }

  /** Probabilities of all cells where a share of what features say is believed. */
  #cells({ base, known, intervals, mean, spread }, share) {
    const scores = Float64Array.from(base);
    for (const term of intervals) {
      term.forEach((nats, interval) => { scores[interval] += share * nats; });
    }
    const total = (values) => values.reduce((sum, value) => sum + value, 0);
    const { log_scale: logScale, spread_weight: wide } = this.head;
    const weight = this.#weight(known);
    const place = this.trees && this.trees.mean.start + share * total(mean);
    const logs = this.trees && this.trees.spread.start + share * total(spread);
    const inverse = this.trees && Math.exp(-(logScale + wide * logs));
    const freedom = this.head.freedom;
    const found = this.intervalOf.map((interval, cell) => {
      const score = weight * scores[interval] + (1 - weight) * this.prior[interval]
        + this.cellShares[cell];
      if (!this.trees) return score;
      const away = (this.centres[cell] - place) * inverse;
      return score - known * ((freedom + 1) / 2) * Math.log1p(away ** 2 / freedom);
    });
    const norm = logSumExp(found);
    return { shares: found.map((score) => Math.exp(score - norm)), place, inverse };
  }

  #mean(shares) {
    return shares.reduce((sum, share, cell) => sum + share * this.middle[cell], 0);
  }

  scores(evidence) {
    const found = new Float64Array(this.nClasses);
    this.#shares(evidence).forEach((share, cell) => { found[this.intervalOf[cell]] += share; });
    return found.map(Math.log);
  }

  /** The cells of the target's range with their probabilities, in numeric order. */
  density(evidence) {
    return Array.from(this.#shares(evidence), (share, cell) =>
      ({ low: this.lower[cell], high: this.upper[cell], weight: share }));
  }

  /** Changed rows are scored as a whole, trees included. */
  scorer() {
    return null;
  }

  /** Mean and variance of the distribution, which is uniform within a cell. */
  moments(evidence) {
    const shares = this.#shares(evidence);
    const mean = this.#mean(shares);
    const variance = shares.reduce((sum, share, cell) => sum + share
      * ((this.middle[cell] - mean) ** 2 + (this.upper[cell] - this.lower[cell]) ** 2 / 12), 0);
    return { mean, variance };
  }

  /** Mean of the distribution, and its quantiles at some levels. */
  distribution(evidence, levels) {
    const shares = this.#shares(evidence);
    const whole = shares.reduce((sum, share) => sum + share, 0);
    const quantiles = levels.map((level) => {
      let below = 0;
      let cell = 0;
      while (cell < shares.length - 1 && (below + shares[cell]) / whole < level) {
        below += shares[cell];
        cell += 1;
      }
      const share = Math.max(shares[cell], Number.MIN_VALUE);
      const inside = Math.min(Math.max((level * whole - below) / share, 0), 1);
      return this.lower[cell] + (this.upper[cell] - this.lower[cell]) * inside;
    });
    return { mean: this.#mean(shares), quantiles };
  }

  /**
   * The expectation before anything is set, and what each feature adds to it: changes
   * along the straight line from nothing to all that features say.
   */
  expectation(evidence) {
    const total = { mean: 0, baseline: 0, terms: new Float64Array(this.cards.length) };
    for (const { weight, parts } of this.#ways(evidence)) {
      const own = this.#expectationOf(parts);
      total.mean += weight * own.mean;
      total.baseline += weight * own.baseline;
      own.terms.forEach((term, feature) => { total.terms[feature] += weight * term; });
    }
    return { ...total, terms: Array.from(total.terms) };
  }

  #expectationOf(parts) {
    const terms = new Float64Array(this.cards.length);
    this.points.forEach((point, k) => this.#addChanges(terms, parts, point, this.pointShares[k]));
    const mean = this.#mean(this.#cells(parts, 1).shares);
    const baseline = this.#mean(this.#cells(parts, 0).shares);
    const scaled = terms.map((term) => term * this.scale);
    const missing = mean - baseline - scaled.reduce((sum, term) => sum + term, 0);
    const sizes = scaled.map((term) => Math.abs(term) + 1e-300);
    const size = sizes.reduce((sum, own) => sum + own, 0);
    return { mean, baseline, terms: scaled.map((term, f) => term + (missing * sizes[f]) / size) };
  }

  /** What a step on the line adds by each feature, in standard deviations. */
  #addChanges(terms, parts, point, step) {
    const { shares, place, inverse } = this.#cells(parts, point);
    const { spread_weight: wide, freedom } = this.head;
    const weight = this.#weight(parts.known);
    const centre = shares.reduce((sum, share, cell) => sum + share * this.centres[cell], 0);
    const byInterval = new Float64Array(this.nClasses);
    let byMean = 0;
    let byScale = 0;
    shares.forEach((share, cell) => {
      const pull = share * (this.centres[cell] - centre);
      byInterval[this.intervalOf[cell]] += pull;
      if (!this.trees) return;
      const away = (this.centres[cell] - place) * inverse;
      const slope = (parts.known * (freedom + 1) * away) / (freedom + away ** 2);
      byMean += pull * slope * inverse;
      byScale += pull * slope * away * wide;
    });
    parts.intervals.forEach((term, feature) => {
      let change = byMean * parts.mean[feature] + byScale * parts.spread[feature];
      term.forEach((nats, interval) => { change += weight * byInterval[interval] * nats; });
      terms[feature] += step * change;
    });
  }
}
