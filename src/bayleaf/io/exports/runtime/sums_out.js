/** Evidence on one variable of a network: its scores, and what it owes to the others. */
class NetworkScores {
  /** The class may have a weight, which its posteriors are multiplied by. */
  constructor(network, { order, nVariables, question, label = null, classWeight = null }) {
    this.tree = new JunctionTree(network);
    Object.assign(this, { order, nVariables, label, classWeight });
    this.ask(question);
  }

  /** Choose the variable whose posterior is explained. */
  ask(question) {
    this.question = question;
    this.work = new Collection(this.tree, question);
    this.prior = this.enter(this.work, new Array(this.nVariables).fill(null)).logScores();
  }

  /** Evidence into a collection; the question's own stays out, a given prior goes in. */
  enter(collection, evidence) {
    for (let v = 0; v < this.nVariables; v += 1) {
      const mask = v === this.question ? null : evidence[v];
      if (v === this.label && this.classWeight) {
        collection.set(v, mask ? combined(this.classWeight, mask) : this.classWeight);
      } else if (!sameWeights(collection.evidence[v], mask)) {
        collection.set(v, mask ? Float64Array.from(mask) : null);
      }
    }
    return collection;
  }

  /** ln P(question, evidence on the others) for each of its states, nats. */
  scores(evidence) {
    return this.#lookedUp(evidence) ?? this.#exactScores(this.enter(this.work, evidence));
  }

  /**
   * The same from the tables alone, where one state is known of all that they are of;
   * null where something must be summed out.
   */
  #lookedUp(evidence) {
    const { question, tree: { terms, cards } } = this;
    if (terms.length !== cards.length || terms.some(({ child }) => child === undefined)) return null;
    if (this.classWeight && question !== this.label) return null;
    const states = evidence.map(onlyState);
    states[question] = 0;
    // Tables of what is not known sum to one, unless something else is known by them.
    const ours = terms.filter(({ child }) => child === question || evidence[child]);
    if (ours.some(({ family }) => family.some((variable) => states[variable] < 0))) return null;
    return Float64Array.from({ length: cards[question] }, (_, state) => {
      states[question] = state;
      const start = this.classWeight ? Math.log(this.classWeight[state]) : 0;
      return ours.reduce((sum, { family, values }) => {
        const cell = family.reduce((place, v) => place * cards[v] + states[v], 0);
        return sum + Math.log(values[cell]);
      }, start);
    });
  }

  /** Scores state by state where messages over all of them have lost digits. */
  #exactScores(collection) {
    const scores = collection.logScores();
    if (!collection.isNarrow) return scores;
    const each = scores.map((_, state) => {
      collection.restrict(state);
      return collection.logEvidence;
    });
    collection.restrict(-1);
    return each;
  }

  /**
   * Terms of the log-odds by the chain rule: evidence is revealed item by item in the
   * model's order, and each term is how much the odds change.
   */
  contributions(evidence, target, against) {
    const revealed = new Array(this.nVariables).fill(null);
    const odds = (scores) => scores[target] - scores[against];
    const prior = odds(this.prior);
    const terms = new Array(this.nVariables).fill(0);
    let before = prior;
    for (const variable of this.order) {
      if (!evidence[variable] || variable === this.question) continue;
      revealed[variable] = evidence[variable];
      const after = odds(this.scores(revealed));
      // Where a state has become impossible, no later term counts.
      if (Number.isFinite(before) && !Number.isNaN(after)) {
        terms[variable] = after - before;
        before = after;
      }
    }
    return { prior, terms };
  }
}

/** Whether weights are those of a mask. */
function sameWeights(weights, mask) {
  if (!weights || !mask) return !weights && !mask;
  return weights.every((weight, state) => weight === mask[state]);
}

/** A mask times weights, if there are any. */
function combined(weights, mask) {
  return Float64Array.from(mask, (allowed, s) => allowed * (weights ? weights[s] : 1));
}

/** A network whose tables are numbers of a program. */
function networkOf(program, network) {
  const terms = network.terms.map((term) => ({ ...term, table: program.values(term.table) }));
  return { ...network, terms };
}

/** A product of distributions, summed over what is not known; the class is the question. */
class SumOut {
  constructor(program, order, question, network, weight = 1) {
    this.scorer = new NetworkScores(networkOf(program, network), { order, nVariables: question + 1, question });
    this.cards = program.cards;
    this.weight = weight;
  }

  /** Known states as evidence. */
  #evidence(codes) {
    const evidence = new Array(this.scorer.nVariables).fill(null);
    codes.forEach((code, v) => { if (code < this.cards[v]) evidence[v] = hardMask(this.cards[v], code); });
    return evidence;
  }

  scores(codes) {
    return this.scorer.scores(this.#evidence(codes)).map((score) => this.weight * score);
  }

  /** Log-odds by feature, and of the prior. */
  odds(codes, target, against) {
    const { prior, terms } = this.scorer.contributions(this.#evidence(codes), target, against);
    return [...terms.slice(0, codes.length), prior].map((own) => this.weight * own);
  }
}
