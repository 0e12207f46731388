// Joint states whose nats are kept.
const MOST_KNOWN = 4000;

/**
 * Counts of a feature and its parents by class, at each number of parents. Cells are
 * numbers whose digits are the states, then the class, in increasing order, so that
 * those of some states are neighbours; they are added up when a row asks for them.
 */
class Counts {
  constructor(program, features, maps, steps, totals, weights, pseudo) {
    this.features = program.integers[features];
    this.maps = maps.map((place) => program.integers[place]);
    this.nClasses = program.nClasses;
    this.radices = this.maps.map((states) => Math.max(...states) + 1);
    let cell = 0;
    this.cells = Float64Array.from(shortNumbers(steps), (step) => (cell += step));
    this.totals = shortNumbers(totals);
    this.weights = program.values(weights);
    // By number of parents: how many cells share the states of so many parents.
    this.sizes = this.radices.map((_, depth) =>
      this.radices.slice(depth + 1).reduce((size, radix) => size * radix, this.nClasses));
    this.nStates = this.radices[0] - 1;
    const marginal = Array.from({ length: this.radices[0] }, (_, state) =>
      this.#counts(0, state).reduce((sum, own) => sum + own));
    const [each, together, shared] = program.values(pseudo);
    const all = marginal.reduce((sum, own) => sum + own);
    this.pseudo = marginal.map((own) => each + together / this.nStates + (shared * own) / all);
    // The last state is that of missing cells, which has no prior weight.
    this.pseudo[this.nStates] = 0;
    this.strength = each * this.nStates + together + shared;
    this.known = new Map();
  }

  /** Counts by class of the cells whose first digits are a number. */
  #counts(depth, prefix) {
    const found = new Float64Array(this.nClasses);
    const end = (prefix + 1) * this.sizes[depth];
    for (let k = this.#first(prefix * this.sizes[depth]); this.cells[k] < end; k += 1) {
      found[this.cells[k] % this.nClasses] += this.totals[k];
    }
    return found;
  }

  /** The first cell that is not below a number. */
  #first(number) {
    let low = 0;
    let high = this.cells.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.cells[middle] < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  addTo(nats, codes) {
    const states = this.features.map((feature, k) => this.maps[k][codes[feature]]);
    const key = states.reduce((sum, state, k) => sum * this.radices[k] + state, 0);
    // A search for changes asks for the same states again and again.
    if (!this.known.has(key)) {
      if (this.known.size >= MOST_KNOWN) this.known.clear();
      this.known.set(key, this.#nats(states));
    }
    added(nats[this.features[0]], this.known.get(key));
  }

  /**
   * The weighted logs of the state's share at each depth, by class; where no cell has the
   * parents' states, the depth before is repeated.
   */
  #nats(states) {
    const found = new Float64Array(this.nClasses);
    if (!(this.pseudo[states[0]] > 0)) return found;
    let parents = 0;
    let logs = null;
    let exists = true;
    this.weights.forEach((weight, depth) => {
      if (depth) parents = parents * this.radices[depth] + states[depth];
      // The last state is that of parents whose rows are too few.
      exists &&= !depth || states[depth] < this.radices[depth] - 1;
      if (exists) logs = this.#logs(depth, states[0], parents) ?? logs;
      for (let label = 0; label < this.nClasses; label += 1) found[label] += weight * logs[label];
    });
    return found;
  }

  /** The logs of the state's share at one depth; null where no cell has the parents' states. */
  #logs(depth, own, parents) {
    const step = this.sizes[0] / this.sizes[depth];
    const totals = new Float64Array(this.nClasses);
    let counts = totals;
    for (let state = 0; state <= this.nStates; state += 1) {
      const some = this.#counts(depth, state * step + parents);
      added(totals, some);
      if (state === own) counts = some;
    }
    if (!totals.some((total) => total > 0)) return null;
    return totals.map((total, label) =>
      Math.log((counts[label] + this.pseudo[own]) / (total + this.strength)));
  }
}
