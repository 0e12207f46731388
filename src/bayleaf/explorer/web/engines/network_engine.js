// What is asked of a model that is one Bayesian network, or the mean of several.

/** The mean of posteriors of variables by the logs of weights; null if none is possible. */
function mixedPosteriors(logs, members) {
  const weights = logNormalized(logs)?.map(Math.exp);
  let sums = null;
  members.forEach((found, m) => {
    if (!found || !weights?.[m]) return;
    const own = found.map((posterior) => posterior.map((p) => weights[m] * p));
    sums = sums?.map((sum, variable) => added(sum, own[variable])) ?? own;
  });
  return sums;
}

/** Answers for one network; the question is the variable that is explained. */
class NetworkEngine extends NetworkScores {
  constructor(network, model, read = unpacked, order = model.order) {
    super(network, read, {
      order,
      nVariables: model.variables.length,
      question: model.question,
      label: model.class,
      classWeight: model.class_weight ? unpacked(model.class_weight) : null,
    });
    this.isJoint = true;
    this.canBeGiven = true;
  }

  ask(question) {
    super.ask(question);
    this.collection = new Collection(this.tree, question);
    this.most = null;
  }

  /** ln P(evidence), nats. */
  logProbability(evidence, scores) {
    return logSumExp(scores);
  }

  contributions(evidence, target, against) {
    return asTerms(this.odds(evidence, target, against));
  }

  /** Posteriors of all variables under the evidence; null if it is impossible. */
  posteriors(evidence) {
    const collection = this.enter(this.collection, evidence, -1);
    collection.collect();
    const found = collection.isNarrow ? this.#mixed(collection) : collection.posteriors();
    return found && found.slice(0, this.nVariables);
  }

  /** Posteriors given each state of the question, weighed by the state's own. */
  #mixed(collection) {
    const each = this.byState(collection, this.tree.homes);
    return mixedPosteriors(each.map(({ score }) => score), each.map(({ found }) => found));
  }

  /**
   * ln P(question, state, evidence) for each state of every variable: one
   * propagation, and a step, for each state of the question.
   */
  * jointScores(evidence) {
    const homes = this.tree.homes.slice(0, this.nVariables);
    const each = yield* this.#inStates(evidence, homes);
    return homes.map(({ size }, variable) => Array.from({ length: size }, (_, state) =>
      each.map(({ score, found }) =>
        (found ? score + Math.log(found[variable][state]) : -Infinity))));
  }

  /** What `byState` finds, one state of the question a step. */
  * #inStates(evidence, places) {
    const each = [];
    for (let state = 0; state < this.tree.cards[this.question]; state += 1) {
      // Between steps others may have entered other evidence.
      each.push(this.inState(this.enter(this.work, evidence), state, places));
      yield null;
    }
    return each;
  }

  /**
   * For each variable whose table stands in a clique as it is: P(family, question,
   * evidence) / P(evidence), an array for each state of the question.
   */
  * familySums(evidence) {
    const whole = this.tree.terms.filter((term) => term.child !== undefined);
    const places = whole.map(({ family }) => this.tree.place(family));
    const each = yield* this.#inStates(evidence, places);
    const total = logSumExp(each.map(({ score }) => score));
    return whole.map((term, f) => ({
      ...term,
      sums: each.map(({ score, found }) => {
        const share = Math.exp(score - total);
        return found ? found[f].map((p) => share * p) : new Float64Array(term.values.length);
      }),
    }));
  }

  /** The most probable states of all variables; null if the evidence is impossible. */
  mostProbable(evidence) {
    this.most ??= new Collection(this.tree, this.question, true);
    const found = mostProbable(this.enter(this.most, evidence, -1));
    return found && { ...found, states: found.states.slice(0, this.nVariables) };
  }
}

/** Answers for the mean of the joint distributions of several networks. */
class NetworksEngine {
  constructor(model) {
    const program = new Program({ ...model.program, terms: [] });
    const [[, , networks]] = model.program.terms;
    this.members = networks.map(([, order, , network]) =>
      new NetworkEngine(network, model, (span) => program.values(span), order));
    this.isJoint = true;
    this.canBeGiven = true;
    this.question = model.class;
    this.order = model.order;
  }

  /** ln P(question, state, evidence) for each state of every variable. */
  * jointScores(evidence) {
    const each = [];
    for (const member of this.members) each.push(yield* member.jointScores(evidence));
    return each[0].map((own, variable) => own.map((_, state) =>
      Array.from(sumByClass(each.map((one) => one[variable][state]), own[state].length))));
  }

  /** Logarithm of the mean of ln P(class, evidence on the others) for each class. */
  scores(evidence) {
    const each = this.members.map((member) => member.scores(evidence));
    return sumByClass(each, each[0].length).map((score) => score - Math.log(each.length));
  }

  /** ln P(evidence), nats. */
  logProbability(evidence, scores) {
    return logSumExp(scores);
  }

  /** The members' posteriors, weighed by what each gives the evidence. */
  posteriors(evidence) {
    const mask = evidence[this.question];
    const logs = this.members.map((member) =>
      logSumExp(member.scores(evidence).filter((_, label) => !mask || mask[label])));
    return mixedPosteriors(logs, this.members.map((member) => member.posteriors(evidence)));
  }

  /** The members' terms by logarithmic-mean weights. */
  contributions(evidence, target, against) {
    const members = this.members.map((member) => ({
      scores: member.scores(evidence),
      odds: () => member.odds(evidence, target, against),
    }));
    return asTerms(oddsOfSum(members, evidence.length + 1, target, against));
  }
}
