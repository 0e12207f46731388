// Naive Bayes classifiers gated by naive Bayes classifiers.

/** Means of trees of naive Bayes gates over naive Bayes experts. */
class MixtureEngine extends AverageEngine {
  constructor(model) {
    super(model);
    this.shift = unpacked(model.average.shift);
    this.starts = model.average.starts.map((banks) => banks.map((bank) => ({
      prior: unpacked(bank.prior),
      table: unpacked(bank.table),
      offsets: bank.offsets,
      nNodes: bank.prior.shape[0],
      nOutputs: bank.prior.shape[1],
    })));
  }

  /** Table entry of each known state in a bank. */
  #entries(bank, codes) {
    const size = bank.prior.length;
    return codes
      .map((state, k) => (state < this.cards[k] ? (bank.offsets[k] + state) * size : -1))
      .filter((entry) => entry >= 0);
  }

  /** Log posteriors of all nodes of a bank, node by node. */
  #logPosteriors(bank, codes) {
    const scores = Float64Array.from(bank.prior);
    for (const entry of this.#entries(bank, codes)) {
      for (let i = 0; i < scores.length; i += 1) scores[i] += bank.table[entry + i];
    }
    return Array.from({ length: bank.nNodes }, (_, node) => {
      const own = scores.slice(node * bank.nOutputs, (node + 1) * bank.nOutputs);
      const total = logSumExp(own);
      return own.map((score) => score - total);
    });
  }

  /** Log of gate weight times posterior of every expert: member by member, by class. */
  #members(codes) {
    return this.starts.flatMap((banks) => {
      let weights = [0];
      for (const gate of banks.slice(0, -1)) {
        const found = this.#logPosteriors(gate, codes);
        weights = weights.flatMap((weight, node) =>
          Array.from(found[node], (share) => weight + share));
      }
      return this.#logPosteriors(banks[banks.length - 1], codes).map((posterior, node) =>
        posterior.map((value) => value + weights[node]));
    });
  }

  scoresOf(codes) {
    const members = this.#members(codes);
    const many = Math.log(this.starts.length);
    return this.shift.map((shift, label) =>
      logSumExp(members.map((member) => member[label])) - many + shift);
  }

  contributionsOf(codes, target, against) {
    const members = this.#members(codes);
    const weights = logarithmicMeanWeights(
      members.map((member) => member[target]),
      members.map((member) => member[against]),
    );
    let prior = this.shift[target] - this.shift[against];
    const terms = new Array(this.nFeatures + 1).fill(0);
    let member = 0;
    for (const banks of this.starts) {
      const bank = banks[banks.length - 1];
      for (let node = 0; node < bank.nNodes; node += 1) {
        const weight = weights[member];
        member += 1;
        const at = (label) => node * bank.nOutputs + label;
        prior += weight * (bank.prior[at(target)] - bank.prior[at(against)]);
        codes.forEach((state, k) => {
          if (state >= this.cards[k]) return;
          const entry = (bank.offsets[k] + state) * bank.prior.length;
          terms[k] += weight
            * (bank.table[entry + at(target)] - bank.table[entry + at(against)]);
        });
      }
    }
    return { prior, terms };
  }
}
