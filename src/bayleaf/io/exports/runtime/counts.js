// Sums of cells that are kept.
const MOST_KNOWN = 20000;
// Joint states whose nats are kept.
const MOST_NATS_KNOWN = 4000;

/**
 * Counts of a feature and its parents by class, at each number of parents. Cells are
 * numbers whose digits are the states of the parents and of the feature and the class,
 * in increasing order, so that those of some parents' states are neighbours; they are
 * added up when a row asks for them.
 */
class Counts {
  constructor(program, features, maps, steps, totals, weights, least, strength) {
    this.features = program.integers[features];
    [this.owner] = this.features;
    this.maps = maps.map((place) => program.integers[place]);
    this.nClasses = program.nClasses;
    this.radices = this.maps.map((states) => Math.max(...states) + 1);
    this.unread = { steps, totals };
    // Of each depth and all that follow.
    this.weights = program.values(weights);
    // Prior weight of each state, and of all.
    this.pseudo = program.values(least);
    this.strength = strength;
    // By number of parents: how many cells share the states of so many parents.
    this.nOwn = this.radices[0] * this.nClasses;
    this.sizes = this.radices.map((_, depth) =>
      this.radices.slice(depth + 1).reduce((size, radix) => size * radix, this.nOwn));
    this.known = this.sizes.map(() => new Map());
    this.nKnown = 0;
    this.logs = new Map();
  }

  /** Read the cells when they are first asked for, so that a page is soon there. */
  #read() {
    if (!this.unread) return;
    const { steps, totals } = this.unread;
    this.unread = null;
    this.cells = new Float64Array(shortNumbers(steps));
    for (let k = 1; k < this.cells.length; k += 1) this.cells[k] += this.cells[k - 1];
    this.totals = shortNumbers(totals);
  }

  /** Counts by class of each state that occurs with some parents', and their sums. */
  #counts(depth, parents) {
    const known = this.known[depth].get(parents);
    if (known) return known;
    const totals = new Float64Array(this.nClasses);
    const counts = new Map();
    const end = (parents + 1) * this.sizes[depth];
    for (let k = countBelow(this.cells, parents * this.sizes[depth]); this.cells[k] < end; k += 1) {
      const label = this.cells[k] % this.nClasses;
      const state = Math.floor((this.cells[k] % this.nOwn) / this.nClasses);
      if (!counts.has(state)) counts.set(state, new Float64Array(this.nClasses));
      counts.get(state)[label] += this.totals[k];
      totals[label] += this.totals[k];
    }
    if (this.nKnown >= MOST_KNOWN) {
      this.known.forEach((own) => own.clear());
      this.nKnown = 0;
    }
    this.nKnown += 1;
    this.known[depth].set(parents, { totals, counts });
    return { totals, counts };
  }

  /**
   * Add the logs of the state's share by the weight of each depth; where no cell has the
   * parents' states, the depth before counts for all that follow.
   */
  addTo(nats, codes, given) {
    if (given ? !given.known[this.owner] : !this.weights[0]) return;
    const states = this.features.map((feature, k) => this.maps[k][codes[feature]]);
    const key = states.reduce((sum, state, k) => sum * this.radices[k] + state, 0);
    // A search for changes asks for the same states again and again.
    if (!this.logs.has(key)) {
      if (this.logs.size >= MOST_NATS_KNOWN) this.logs.clear();
      this.logs.set(key, this.#logs(states));
    }
    const logs = this.logs.get(key);
    const weights = given ? given.depths[this.owner] : this.weights;
    logs.forEach((own, depth) => addMultiple(nats[this.owner], own,
      weights[depth] - (depth + 1 < logs.length ? weights[depth + 1] : 0)));
  }

  /** The logs of the state's share at each depth at which a cell has the parents' states. */
  #logs(states) {
    return this.#levels(states).map(({ cells, parents }) =>
      cells.map((cell, label) => Math.log(cell / parents[label])));
  }

  /** Smoothed weights of the state and of all states with the parents' states, by depth. */
  #levels(states) {
    this.#read();
    const levels = [];
    // The last state is that of missing cells, which add nothing.
    const pseudo = this.pseudo[states[0]];
    if (!(pseudo > 0)) return levels;
    let parents = 0;
    for (let depth = 0; depth < states.length; depth += 1) {
      if (depth) parents = parents * this.radices[depth] + states[depth];
      // The last state is that of parents whose rows are too few.
      if (depth && !(states[depth] < this.radices[depth] - 1)) break;
      const { counts, totals } = this.#counts(depth, parents);
      if (!totals.some((total) => total > 0)) break;
      const own = counts.get(states[0]);
      levels.push({
        cells: totals.map((_, label) => (own?.[label] ?? 0) + pseudo),
        parents: totals.map((total) => total + this.strength),
      });
    }
    return levels;
  }

  /**
   * Training rows with the states of the feature and of its first parent, and how many
   * there would be by chance; null where one of them is not known.
   */
  together(codes) {
    const states = this.features.map((feature, k) => this.maps[k][codes[feature]]);
    const [alone, given] = this.#levels(states);
    if (!given) return null;
    const rows = (weights, pseudo) => sumOf(weights) - this.nClasses * pseudo;
    const own = this.pseudo[states[0]];
    return {
      rows: rows(given.cells, own),
      byChance: (rows(alone.cells, own) * rows(given.parents, this.strength)) / rows(alone.parents, this.strength),
    };
  }

  /**
   * Standard deviation by class of what the term adds, nats, as a Dirichlet's logarithms
   * have it to first order; all networks count the same rows, so it adds up over them.
   */
  deviation(codes, given) {
    const total = new Float64Array(this.nClasses);
    if (given ? !given.known[this.owner] : !this.weights[0]) return total;
    const weights = given ? given.depths[this.owner] : this.weights;
    const levels = this.#levels(this.features.map((feature, k) => this.maps[k][codes[feature]]));
    levels.forEach(({ cells, parents }, depth) => {
      const weight = weights[depth] - (depth + 1 < levels.length ? weights[depth + 1] : 0);
      cells.forEach((cell, label) => {
        const sum = Math.max(parents[label], cell);
        total[label] += weight * Math.sqrt((sum - cell) / (cell * (sum + 1)));
      });
    });
    return total;
  }
}
