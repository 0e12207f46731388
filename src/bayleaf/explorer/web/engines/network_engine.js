// What is asked of a model that is one Bayesian network, or the mean of several.

/** Answers for one network; the question is the variable that is explained. */
class NetworkEngine extends NetworkScores {
  constructor(network, model, order = model.order) {
    super(network, {
      order,
      nVariables: model.variables.length,
      question: model.question,
      label: model.class,
      classWeight: model.class_weight ? unpacked(model.class_weight) : null,
    });
    this.model = model;
    this.isJoint = true;
    this.canBeGiven = true;
  }

  ask(question) {
    super.ask(question);
    this.collection = new Collection(this.tree, question);
  }

  /** ln P(evidence), nats. */
  logProbability(evidence, scores) {
    return logSumExp(scores);
  }

  /** Posteriors of all variables under the evidence; null if it is impossible. */
  posteriors(evidence) {
    const collection = this.enter(this.collection, evidence);
    const before = collection.evidence[this.question];
    const mask = evidence[this.question];
    collection.set(this.question, mask ? combined(before, mask) : before);
    collection.collect();
    const found = collection.isNarrow ? this.#mixed(collection) : collection.posteriors();
    collection.set(this.question, before);
    return found && found.slice(0, this.nVariables);
  }

  /** For each state of the question ln P(state, evidence) and posteriors given it. */
  #byState(collection) {
    const scores = [];
    const each = [];
    for (let state = 0; state < this.tree.cards[this.question]; state += 1) {
      collection.restrict(state);
      scores.push(collection.logEvidence);
      each.push(collection.posteriors());
    }
    collection.restrict(-1);
    return { scores, each };
  }

  /**
   * ln P(question, state, evidence) for each state of every variable: one
   * propagation for each state of the question.
   */
  jointScores(evidence) {
    const { scores, each } = this.#byState(this.enter(this.work, evidence));
    return this.model.variables.map(({ states }, variable) =>
      states.map((_, state) => scores.map((score, label) =>
        (each[label] ? score + Math.log(each[label][variable][state]) : -Infinity))));
  }

  /**
   * For each variable whose table stands in a clique as it is: P(family, question,
   * evidence) / P(evidence), an array for each state of the question.
   */
  familySums(evidence) {
    const { tree } = this;
    const collection = this.enter(this.work, evidence);
    const whole = tree.terms.filter((term) => term.child !== undefined);
    const homes = whole.map(({ family }) => tree.smallestHolding(family));
    const maps = whole.map(({ family }, f) =>
      cellMap(tree.cliques[homes[f]], tree.cards, family));
    const ofClique = tree.cliques.map((_, c) =>
      [...whole.keys()].filter((f) => homes[f] === c));
    const total = collection.logEvidence;
    const sums = whole.map(() => []);
    for (let state = 0; state < tree.cards[this.question]; state += 1) {
      collection.restrict(state);
      const share = Math.exp(collection.logEvidence - total);
      whole.forEach(({ values }, f) => { sums[f][state] = new Float64Array(values.length); });
      if (!share) continue;
      collection.visit((clique, cells) => {
        if (!ofClique[clique].length) return;
        const size = cells.reduce((sum, value) => sum + value, 0);
        for (const f of ofClique[clique]) {
          const own = sums[f][state];
          for (let i = 0; i < cells.length; i += 1) {
            own[maps[f][i]] += (share * cells[i]) / size;
          }
        }
      });
    }
    collection.restrict(-1);
    return whole.map((term, f) => ({ ...term, sums: sums[f] }));
  }

  /** The most probable states of all variables; null if the evidence is impossible. */
  mostProbable(evidence) {
    const collection = this.enter(this.work, evidence);
    const before = collection.evidence[this.question];
    const mask = evidence[this.question];
    collection.set(this.question, mask ? combined(before, mask) : before);
    const found = mostProbable(collection);
    collection.set(this.question, before);
    return found && { ...found, states: found.states.slice(0, this.nVariables) };
  }

  /** Posteriors given each state of the question, weighed by the state's own. */
  #mixed(collection) {
    const { scores, each } = this.#byState(collection);
    const logs = logNormalized(scores);
    if (!logs) return null;
    return this.tree.cards.map((card, variable) => {
      const sums = new Float64Array(card);
      each.forEach((found, state) => {
        if (!found) return;
        const weight = Math.exp(logs[state]);
        found[variable].forEach((p, s) => { sums[s] += weight * p; });
      });
      return sums;
    });
  }
}

/** Answers for the mean of the joint distributions of several networks. */
class NetworksEngine {
  constructor(model) {
    const program = new Program({ ...model.program, terms: [] });
    const [[, , networks]] = model.program.terms;
    this.members = networks.map(([, order, , network]) =>
      new NetworkEngine(networkOf(program, network), model, order));
    this.isJoint = true;
    this.canBeGiven = true;
    this.question = model.class;
    this.order = model.order;
  }

  /** ln P(question, state, evidence) for each state of every variable. */
  jointScores(evidence) {
    const each = this.members.map((member) => member.jointScores(evidence));
    return each[0].map((own, variable) => own.map((scores, state) => scores.map((_, label) =>
      logSumExp(each.map((one) => one[variable][state][label])))));
  }

  /** Logarithm of the mean of ln P(class, evidence on the others) for each class. */
  scores(evidence) {
    const each = this.members.map((member) => member.scores(evidence));
    const least = Math.log(each.length);
    return each[0].map((_, label) => logSumExp(each.map((own) => own[label])) - least);
  }

  /** ln P(evidence), nats. */
  logProbability(evidence, scores) {
    return logSumExp(scores);
  }

  /** The members' posteriors, weighed by what each gives the evidence. */
  posteriors(evidence) {
    const mask = evidence[this.question];
    const logs = logNormalized(this.members.map((member) =>
      logSumExp(member.scores(evidence).filter((_, label) => !mask || mask[label]))));
    if (!logs) return null;
    let sums = null;
    this.members.forEach((member, m) => {
      const found = member.posteriors(evidence);
      const weight = Math.exp(logs[m]);
      if (!found || !weight) return;
      sums ??= found.map((own) => new Float64Array(own.length));
      found.forEach((own, v) => own.forEach((p, s) => { sums[v][s] += weight * p; }));
    });
    return sums;
  }

  /** The members' terms by logarithmic-mean weights. */
  contributions(evidence, target, against) {
    const each = this.members.map((member) => member.scores(evidence));
    const weights = logarithmicMeanWeights(
      each.map((own) => own[target]),
      each.map((own) => own[against]),
    );
    const total = { prior: 0, terms: new Array(evidence.length).fill(0) };
    this.members.forEach((member, m) => {
      if (!weights[m]) return;
      const own = member.contributions(evidence, target, against);
      total.prior += weights[m] * own.prior;
      own.terms.forEach((term, v) => { total.terms[v] += weights[m] * term; });
    });
    return total;
  }
}
