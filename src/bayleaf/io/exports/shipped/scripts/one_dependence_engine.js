// Averages of networks in each of which one feature is a parent of all others.

/** The average of one-dependence networks. */
class OneDependenceEngine extends AverageEngine {
  constructor(model) {
    super(model);
    this.isJoint = true;
    this.canBeGiven = true;
    const { prior, parent, child, usable } = model.average;
    this.logPrior = unpacked(prior).map(Math.log);
    this.logParent = unpacked(parent).map(Math.log);
    this.logChild = unpacked(child).map(Math.log);
    this.usable = usable;
    this.nPositions = usable.length;
    let start = 0;
    this.starts = this.cards.map((card) => (start += card) - card);
  }

  /** Positions of the known states; -1 for a feature that is unknown. */
  #positions(codes) {
    return codes.map((state, feature) =>
      (state < this.cards[feature] ? this.starts[feature] + state : -1));
  }

  /** Log joint of one class in the network whose super-parent has a position. */
  #joint(label, at, positions) {
    const n = this.nPositions;
    let score = this.logPrior[label] + this.logParent[label * n + at];
    const row = (label * n + at) * n;
    const own = this.#featureAt(at);
    positions.forEach((position, feature) => {
      if (position >= 0 && feature !== own) score += this.logChild[row + position];
    });
    return score;
  }

  #featureAt(position) {
    let feature = this.starts.length - 1;
    while (this.starts[feature] > position) feature -= 1;
    return feature;
  }

  /** Log joint by class of each super-parent that may be used. */
  #members(positions) {
    const members = Array.from({ length: this.nClasses }, () => []);
    const parents = [];
    positions.forEach((position, parent) => {
      if (position >= 0 && !this.usable[position]) return;
      parents.push(parent);
      members.forEach((scores, label) => {
        scores.push(position >= 0
          ? this.#joint(label, position, positions)
          : logSumExp(this.#range(parent).map((at) => this.#joint(label, at, positions))));
      });
    });
    return { members, parents };
  }

  /** Positions of all states of a feature. */
  #range(feature) {
    return Array.from({ length: this.cards[feature] }, (_, s) => this.starts[feature] + s);
  }

  scoresOf(codes) {
    const positions = this.#positions(codes);
    const { members, parents } = this.#members(positions);
    if (parents.length) {
      const least = Math.log(parents.length);
      return Float64Array.from(members, (scores) => logSumExp(scores) - least);
    }
    return Float64Array.from(members, (_, label) => positions.reduce(
      (score, at) => score + (at < 0 ? 0 : this.logParent[label * this.nPositions + at]),
      this.logPrior[label],
    ));
  }

  contributionsOf(codes, target, against) {
    const positions = this.#positions(codes);
    const { members, parents } = this.#members(positions);
    const terms = new Array(this.nFeatures + 1).fill(0);
    const prior = this.logPrior[target] - this.logPrior[against];
    const odds = (logs, at) =>
      logs[target * this.nPositions + at] - logs[against * this.nPositions + at];
    if (!parents.length) {
      positions.forEach((at, i) => { if (at >= 0) terms[i] = odds(this.logParent, at); });
      return { prior, terms };
    }
    const weights = logarithmicMeanWeights(members[target], members[against]);
    parents.forEach((parent, p) => {
      const own = this.#memberTerms(parent, target, against, positions);
      own.forEach((term, i) => { terms[i] += weights[p] * term; });
    });
    return { prior: prior * weights.reduce((sum, w) => sum + w, 0), terms };
  }

  /** Terms of one network's log-odds; an unknown super-parent is summed out. */
  #memberTerms(parent, target, against, positions) {
    const n = this.nPositions;
    const known = positions[parent] >= 0;
    const states = known ? [positions[parent]] : this.#range(parent);
    const chain = [target, against].map((label) =>
      states.map((at) => this.logParent[label * n + at]));
    const oddsNow = () => logSumExp(chain[0]) - logSumExp(chain[1]);
    const terms = new Array(this.nFeatures).fill(0);
    let before = oddsNow();
    if (known) terms[parent] = before;
    positions.forEach((position, feature) => {
      if (position < 0 || feature === parent) return;
      [target, against].forEach((label, side) => states.forEach((at, s) => {
        chain[side][s] += this.logChild[(label * n + at) * n + position];
      }));
      const after = oddsNow();
      terms[feature] = after - before;
      before = after;
    });
    return terms;
  }

  /** Posteriors of all features in the mixture of the networks that may be used. */
  posteriors(evidence) {
    const mask = evidence[this.question];
    const sums = this.cards.map((card) => new Float64Array(card));
    const ways = this.combinations(evidence);
    const scores = ways.map(({ codes, logWeight }) =>
      logWeight + logSumExp(this.scoresOf(codes).filter((_, label) => !mask || mask[label])));
    const total = logSumExp(scores);
    if (total === -Infinity) return null;
    ways.forEach(({ codes }, way) =>
      this.#addPosteriors(sums, codes, mask, Math.exp(scores[way] - total)));
    return [...sums.map(normalized), null];
  }

  /** Add the posteriors of all features given a state of some of them. */
  #addPosteriors(sums, codes, mask, weight) {
    const positions = this.#positions(codes);
    const { members, parents } = this.#members(positions);
    const allowed = [...Array(this.nClasses).keys()].filter((label) => !mask || mask[label]);
    codes.forEach((state, feature) => {
      if (state < this.cards[feature]) sums[feature][state] += weight;
    });
    if (!parents.length) {
      const logs = logNormalized(this.scoresOf(codes));
      for (const label of allowed) {
        this.#addRow(sums, positions, this.logParent, label * this.nPositions,
          weight * Math.exp(logs[label]), -1);
      }
      return;
    }
    const total = logSumExp(allowed.map((label) => logSumExp(members[label])));
    parents.forEach((parent) => {
      const known = positions[parent] >= 0;
      for (const at of known ? [positions[parent]] : this.#range(parent)) {
        for (const label of allowed) {
          const share = weight * Math.exp(this.#joint(label, at, positions) - total);
          if (!known) sums[parent][at - this.starts[parent]] += share;
          const row = (label * this.nPositions + at) * this.nPositions;
          this.#addRow(sums, positions, this.logChild, row, share, parent);
        }
      }
    });
  }

  /** Add a row of tables to the sums of all features that are unknown. */
  #addRow(sums, positions, logs, row, share, except) {
    positions.forEach((position, feature) => {
      if (position >= 0 || feature === except) return;
      const first = row + this.starts[feature];
      const own = Array.from({ length: this.cards[feature] }, (_, s) => Math.exp(logs[first + s]));
      const whole = own.reduce((sum, p) => sum + p, 0);
      own.forEach((p, state) => { sums[feature][state] += (share * p) / whole; });
    });
  }
}
