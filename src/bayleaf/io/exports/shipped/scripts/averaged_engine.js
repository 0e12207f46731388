// The average of sampled KDB networks, weighted by what left-out rows say of them.

// Joint states of a family whose evidence is kept.
const MOST_KNOWN = 4000;

/** Sums by key and class, side by side, since a network has very many of them. */
class Sums {
  constructor(nClasses) {
    this.nClasses = nClasses;
    this.places = new Map();
    this.cells = [];
    this.last = -1;
    this.lastPlace = 0;
  }

  add(key, label, weight) {
    // Keys often come again at once.
    if (key !== this.last) {
      this.last = key;
      this.lastPlace = this.places.get(key) ?? this.#begun(key);
    }
    this.cells[this.lastPlace + label] += weight;
  }

  #begun(key) {
    const place = this.cells.length;
    this.places.set(key, place);
    for (let label = 0; label < this.nClasses; label += 1) this.cells.push(0);
    return place;
  }

  /** The sums of a key by class; zeros if it has none. */
  of(key) {
    const place = this.places.get(key);
    if (place === undefined) return new Float64Array(this.nClasses);
    return this.cells.slice(place, place + this.nClasses);
  }
}

/** The weighted average of sampled KDB networks. */
class AveragedEngine extends AverageEngine {
  constructor(model) {
    super(model);
    const { base, weights, pseudo, codings, networks } = model.average;
    this.base = unpacked(base);
    this.weights = unpacked(weights);
    this.nDepths = weights.shape[1];
    this.pseudo = pseudo;
    this.codings = codings.map((maps) => maps.map(unpackedCodes));
    const { linear, curves, trees } = model.average;
    this.besideTables = [
      ...(linear ? [new LinearFamilies(linear, this.nClasses)] : []),
      ...(curves ? [new Curves(curves, this.nClasses)] : []),
      ...(trees ? [new ClassTrees(trees, this.cards)] : []),
    ];
    this.nNetworks = networks.length;
    this.families = this.cards.map((_, feature) => networks
      .filter(({ families }) => families[feature])
      .map(({ coding, families }) => this.#family(families[feature], this.codings[coding])));
    // For each variable the families in which it stands.
    this.everyFamily = this.families.flat();
    this.touched = this.cards.map((_, variable) => [...this.everyFamily.keys()]
      .filter((place) => this.everyFamily[place].variables.includes(variable)));
    this.near = null;
  }

  /**
   * Counts by joint state and class, at each number of parents. Cells come as numbers
   * whose digits are the states and the class, each as its distance from the last.
   */
  #family({ variables, radices, steps, totals }, coding) {
    const maps = variables.map((variable) => coding[variable]);
    const nStates = maps[0][maps[0].length - 1];
    const marginal = new Float64Array(nStates + 1);
    const levels = variables.map(() => ({
      upper: new Sums(this.nClasses), lower: new Sums(this.nClasses),
    }));
    const states = new Array(radices.length);
    let key = 0;
    steps.forEach((step, cell) => {
      key += step;
      let rest = key;
      for (let k = radices.length - 1; k >= 0; k -= 1) {
        states[k] = rest % radices[k];
        rest = Math.floor(rest / radices[k]);
      }
      const label = states[variables.length];
      marginal[states[0]] += totals[cell];
      let parents = 0;
      levels.forEach(({ upper, lower }, depth) => {
        if (depth) parents = parents * radices[depth] + states[depth];
        lower.add(parents, label, totals[cell]);
        upper.add(parents * radices[0] + states[0], label, totals[cell]);
      });
    });
    const [each, together, shared] = this.pseudo;
    const total = marginal.reduce((sum, weight) => sum + weight, 0);
    const pseudo = marginal.map((own) =>
      each + together / nStates + (shared * own) / total);
    pseudo[nStates] = 0;
    const strength = each * nStates + together + shared;
    return { variables, maps, radices, pseudo, strength, levels, known: new Map() };
  }

  /** What the tables of one feature add to the score of each class, nats. */
  #evidence(feature, codes) {
    const found = new Float64Array(this.nClasses);
    for (const family of this.families[feature]) {
      const own = this.#known(family, codes);
      for (let label = 0; label < this.nClasses; label += 1) found[label] += own[label];
    }
    for (let label = 0; label < this.nClasses; label += 1) found[label] /= this.nNetworks;
    return found;
  }

  /**
   * What one family says of a row. A search for changes asks for the same states again
   * and again, so this is kept; it is the heart of that search.
   */
  #known(family, codes) {
    const { variables, maps, radices, known } = family;
    let key = 0;
    for (let k = 0; k < variables.length; k += 1) {
      key = key * radices[k] + maps[k][codes[variables[k]]];
    }
    let own = known.get(key);
    if (!own) {
      if (known.size >= MOST_KNOWN) known.clear();
      const states = variables.map((variable, k) => maps[k][codes[variable]]);
      known.set(key, (own = this.#ofFamily(variables[0], family, states)));
    }
    return own;
  }

  /** What one family says of its child's state, weighted depth by depth. */
  #ofFamily(feature, { variables, radices, pseudo, strength, levels }, states) {
    const found = new Float64Array(this.nClasses);
    // Without prior weight a state says nothing.
    if (!(pseudo[states[0]] > 0)) return found;
    let parents = 0;
    const deepest = variables.length - 1;
    levels.forEach(({ upper, lower }, depth) => {
      if (depth) parents = parents * radices[depth] + states[depth];
      let weight = this.weights[feature * this.nDepths + depth];
      // Where a family has fewer parents than others, its deepest evidence repeats.
      for (let d = depth + 1; depth === deepest && d < this.nDepths; d += 1) {
        weight += this.weights[feature * this.nDepths + d];
      }
      if (!weight) return;
      const counts = upper.of(parents * radices[0] + states[0]);
      const totals = lower.of(parents);
      for (let label = 0; label < this.nClasses; label += 1) {
        const share = (counts[label] + pseudo[states[0]]) / (totals[label] + strength);
        found[label] += weight * Math.log(share);
      }
    });
    return found;
  }

  /** What each feature adds to the score of each class, nats. */
  terms(codes) {
    const terms = codes.map((_, feature) => this.#evidence(feature, codes));
    this.besideTables.forEach((more) => more.addTo(terms, codes));
    return terms;
  }

  scoresOf(codes) {
    const scores = Float64Array.from(this.base);
    for (const term of this.terms(codes)) {
      term.forEach((nats, label) => { scores[label] += nats; });
    }
    return scores;
  }

  /** Only families in which something has changed are looked up again. */
  scoresNear(codes, changes) {
    if (this.near?.codes !== codes) {
      const said = this.everyFamily.map((family) => this.#known(family, codes));
      const scores = this.base.map((base, label) =>
        said.reduce((sum, own) => sum + own[label] / this.nNetworks, base));
      this.near = { codes, said, scores, seen: new Int32Array(said.length), round: 0 };
    }
    const { near } = this;
    near.round += 1;
    const changed = codes.slice();
    for (const { variable, to } of changes) changed[variable] = to;
    const found = near.scores.slice();
    for (const { variable } of changes) {
      for (const place of this.touched[variable]) {
        if (near.seen[place] === near.round) continue;
        near.seen[place] = near.round;
        const now = this.#known(this.everyFamily[place], changed);
        const before = near.said[place];
        for (let label = 0; label < this.nClasses; label += 1) {
          found[label] += (now[label] - before[label]) / this.nNetworks;
        }
      }
    }
    const beside = codes.map(() => new Float64Array(this.nClasses));
    this.besideTables.forEach((more) => more.addTo(beside, changed));
    for (const term of beside) {
      for (let label = 0; label < this.nClasses; label += 1) found[label] += term[label];
    }
    return found;
  }

  contributionsOf(codes, target, against) {
    const terms = this.terms(codes)
      .map((term) => term[target] - term[against]);
    return { prior: this.base[target] - this.base[against], terms: [...terms, 0] };
  }
}
