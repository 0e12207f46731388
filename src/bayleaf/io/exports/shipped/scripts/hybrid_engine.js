// Networks in which some features are numbers, with a regression in each class.

/** Tables as those of a network under a uniform class prior, and densities of numbers. */
class HybridEngine extends AverageEngine {
  constructor(model) {
    super(model);
    const { base, table_weight: weight, order, network, linear } = model.average;
    this.base = unpacked(base);
    this.tableWeight = weight;
    this.tables = new NetworkEngine({ ...model, order, network });
    this.linear = new LinearFamilies(linear, this.nClasses);
  }

  /** What each number adds to the score of each class, nats; zeros for other features. */
  #numberTerms(codes) {
    const terms = this.cards.map(() => new Float64Array(this.nClasses));
    this.linear.addTo(terms, codes);
    return terms;
  }

  /** Known states as the network of tables takes them. */
  #evidence(codes) {
    return [...codes.map((state, feature) =>
      (state < this.cards[feature] ? hardMask(this.cards[feature], state) : null)), null];
  }

  scoresOf(codes) {
    const { prior } = this.tables;
    const scores = this.tables.scores(this.#evidence(codes)).map((score, label) =>
      this.base[label] + this.tableWeight * (score - prior[label]));
    for (const term of this.#numberTerms(codes)) {
      term.forEach((nats, label) => { scores[label] += nats; });
    }
    return scores;
  }

  contributionsOf(codes, target, against) {
    const { terms } = this.tables.contributions(this.#evidence(codes), target, against);
    const numbers = this.#numberTerms(codes).map((term) => term[target] - term[against]);
    return {
      prior: this.base[target] - this.base[against],
      terms: terms.map((term, v) => this.tableWeight * term + (numbers[v] ?? 0)),
    };
  }
}
