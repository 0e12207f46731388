// Models that average several networks: scores of the class under known states.

// Joint states of a family whose evidence is kept.
const MOST_KNOWN = 500;

/** What these models have in common: they know single states of features alone. */
class AverageEngine {
  constructor(model) {
    this.model = model;
    this.canRuleOut = false;
    this.hasPosteriors = false;
    this.question = model.class;
    this.order = model.order;
    this.nFeatures = model.class;
    this.nClasses = model.variables[model.class].states.length;
    this.stateLogs = model.average.states?.map(unpacked);
    this.cards = model.variables.slice(0, -1).map((variable) => variable.states.length);
  }

  /** The state of each feature, its number of states if that is unknown. */
  states(evidence) {
    return this.cards.map((card, feature) => {
      const state = onlyState(evidence[feature]);
      return state < 0 ? card : state;
    });
  }

  /**
   * ln P(what is known), nats, by which changed rows are ranked: that of the joint
   * distribution where there is one, else the product of the features' own.
   */
  logProbability(evidence, scores) {
    if (!this.stateLogs) return logSumExp(scores);
    return this.states(evidence).reduce((total, state, feature) =>
      total + (this.stateLogs[feature][state] ?? 0), 0);
  }

  /** No variable but the class has a posterior. */
  posteriors() {
    return new Array(this.nFeatures + 1).fill(null);
  }
}

/** The average of one-dependence networks. */
class OneDependenceEngine extends AverageEngine {
  constructor(model) {
    super(model);
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
  #positions(evidence) {
    return this.states(evidence).map((state, feature) =>
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

  scores(evidence) {
    const positions = this.#positions(evidence);
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

  contributions(evidence, target, against) {
    const positions = this.#positions(evidence);
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
  }

  /**
   * Counts by joint state and class, at each number of parents. Cells come as numbers
   * whose digits are the states and the class, each as its distance from the last.
   */
  #family({ variables, radices, steps, totals }, coding) {
    const maps = variables.map((variable) => coding[variable]);
    const nStates = maps[0][maps[0].length - 1];
    const marginal = new Float64Array(nStates + 1);
    const levels = variables.map(() => ({ upper: new Map(), lower: new Map() }));
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
        this.#count(lower, parents, label, totals[cell]);
        this.#count(upper, parents * radices[0] + states[0], label, totals[cell]);
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

  #count(table, key, label, weight) {
    let counts = table.get(key);
    if (!counts) table.set(key, (counts = new Float64Array(this.nClasses)));
    counts[label] += weight;
  }

  /** What the tables of one feature add to the score of each class, nats. */
  #evidence(feature, codes) {
    const found = new Float64Array(this.nClasses);
    // As a search for changes asks for the same states again and again, what they say is
    // kept; this loop is its heart.
    for (const family of this.families[feature]) {
      const { variables, maps, radices, known } = family;
      let key = 0;
      for (let k = 0; k < variables.length; k += 1) {
        key = key * radices[k] + maps[k][codes[variables[k]]];
      }
      let own = known.get(key);
      if (!own) {
        if (known.size >= MOST_KNOWN) known.clear();
        const states = variables.map((variable, k) => maps[k][codes[variable]]);
        known.set(key, (own = this.#ofFamily(feature, family, states)));
      }
      for (let label = 0; label < this.nClasses; label += 1) found[label] += own[label];
    }
    for (let label = 0; label < this.nClasses; label += 1) found[label] /= this.nNetworks;
    return found;
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
      const counts = upper.get(parents * radices[0] + states[0]);
      const totals = lower.get(parents);
      for (let label = 0; label < this.nClasses; label += 1) {
        const count = counts ? counts[label] : 0;
        const total = totals ? totals[label] : 0;
        found[label] += weight * Math.log((count + pseudo[states[0]]) / (total + strength));
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

  scores(evidence) {
    const scores = Float64Array.from(this.base);
    for (const term of this.terms(this.states(evidence))) {
      term.forEach((nats, label) => { scores[label] += nats; });
    }
    return scores;
  }

  contributions(evidence, target, against) {
    const terms = this.terms(this.states(evidence))
      .map((term) => term[target] - term[against]);
    return { prior: this.base[target] - this.base[against], terms: [...terms, 0] };
  }
}

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

  scores(evidence) {
    const members = this.#members(this.states(evidence));
    const many = Math.log(this.starts.length);
    return this.shift.map((shift, label) =>
      logSumExp(members.map((member) => member[label])) - many + shift);
  }

  contributions(evidence, target, against) {
    const codes = this.states(evidence);
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
