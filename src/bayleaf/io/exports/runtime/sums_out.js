/** Evidence on one variable of a network: its scores, and what it owes to the others. */
class NetworkScores {
  /** The class may have a weight, which its posteriors are multiplied by. */
  constructor(network, read, { order, nVariables, question, label = null, classWeight = null }) {
    this.tree = new JunctionTree(network, read);
    Object.assign(this, { order, nVariables, label, classWeight });
    this.ask(question);
  }

  /** Choose the variable whose posterior is explained. */
  ask(question) {
    this.question = question;
    this.work = new Collection(this.tree, question);
    this.prior = this.enter(this.work, []).logScores();
  }

  /** Evidence into a collection, all but that on one variable; a given prior goes in. */
  enter(collection, evidence, except = this.question) {
    for (let v = 0; v < this.nVariables; v += 1) {
      const mask = v === except ? null : evidence[v];
      const given = v === this.label ? this.classWeight : null;
      const weights = given && mask ? given.map((own, s) => own * mask[s]) : given ?? mask;
      if (!sameWeights(collection.evidence[v], weights)) {
        collection.set(v, weights ? Float64Array.from(weights) : null);
      }
    }
    return collection;
  }

  /** ln P(question, evidence on the others) for each of its states, nats. */
  scores(evidence) {
    const scores = this.#lookedUp(evidence);
    if (scores) return scores;
    const collection = this.enter(this.work, evidence);
    const sums = collection.logScores();
    if (!collection.isNarrow) return sums;
    // Messages over all states have lost digits.
    return Float64Array.from(this.byState(collection), ({ score }) => score);
  }

  /** Of each state of the question ln P(state, evidence), and posteriors in some places. */
  byState(collection, places = []) {
    return Array.from({ length: this.tree.cards[this.question] }, (_, state) =>
      this.inState(collection, state, places));
  }

  /** The same for one state. */
  inState(collection, state, places) {
    collection.restrict(state);
    const score = collection.logEvidence;
    const found = places.length ? collection.posteriors(places) : null;
    collection.restrict(-1);
    return { score, found };
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

  /**
   * Terms of the log-odds by the chain rule, the prior's last: evidence is revealed item
   * by item in the model's order, and each term is how much the odds change.
   */
  odds(evidence, target, against) {
    const revealed = new Array(this.nVariables).fill(null);
    let before = this.prior[target] - this.prior[against];
    const terms = [...new Array(this.nVariables).fill(0), before];
    for (const variable of this.order) {
      if (!evidence[variable] || variable === this.question) continue;
      revealed[variable] = evidence[variable];
      const scores = this.scores(revealed);
      const after = scores[target] - scores[against];
      // Where a state has become impossible, no later term counts.
      if (Number.isFinite(before) && !Number.isNaN(after)) {
        terms[variable] = after - before;
        before = after;
      }
    }
    return terms;
  }
}

/** Whether weights are those of a mask. */
function sameWeights(weights, mask) {
  if (!weights || !mask) return !weights && !mask;
  return weights.every((weight, state) => weight === mask[state]);
}

/** A product of distributions, summed over what is not known; the class is the question. */
class SumOut {
  constructor(program, order, question, network, weight = 1) {
    const read = (span) => program.values(span);
    this.scorer = new NetworkScores(network, read, { order, nVariables: question + 1, question });
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
    const odds = this.scorer.odds(this.#evidence(codes), target, against);
    return [...odds.slice(0, codes.length), odds.at(-1)].map((own) => this.weight * own);
  }
}
