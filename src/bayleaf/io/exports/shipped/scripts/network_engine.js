// What is asked of a model that is one Bayesian network.

/** Weights that evidence gives the states of a variable. */
function weightsOf(mask) {
  return mask ? Float64Array.from(mask) : null;
}

/** Answers for one network; the question is the variable that is explained. */
class NetworkEngine {
  constructor(model) {
    this.model = model;
    this.tree = new JunctionTree(model.network);
    this.isJoint = true;
    this.canBeGiven = true;
    this.order = model.order;
    this.nVariables = model.variables.length;
    this.classWeight = model.class_weight ? unpacked(model.class_weight) : null;
    this.ask(model.question);
  }

  /** Choose the variable whose posterior is explained. */
  ask(question) {
    this.question = question;
    this.collection = new Collection(this.tree, question);
    this.work = new Collection(this.tree, question);
    this.prior = this.#enter(this.work, new Array(this.nVariables).fill(null)).logScores();
  }

  /** Evidence into a collection; the question's own stays out, a given prior goes in. */
  #enter(collection, evidence) {
    for (let v = 0; v < this.nVariables; v += 1) {
      const own = v === this.question;
      const mask = own ? null : evidence[v];
      if (own) {
        collection.set(v, v === this.model.class ? this.classWeight : null);
      } else if (!sameWeights(collection.evidence[v], mask)) {
        collection.set(v, weightsOf(mask));
      }
    }
    // With another question than the class, the class may have a given prior too.
    const given = this.classWeight;
    if (given && this.question !== this.model.class) {
      const mask = evidence[this.model.class];
      collection.set(this.model.class, mask ? given.map((w, s) => w * mask[s]) : given);
    }
    return collection;
  }

  /** ln P(question, evidence on the others) for each of its states, nats. */
  scores(evidence) {
    return this.#lookedUp(evidence) ?? this.#exactScores(this.#enter(this.work, evidence));
  }

  /**
   * The same from the tables alone, where one state is known of all that they are of;
   * null where something must be summed out.
   */
  #lookedUp(evidence) {
    const { question, tree: { terms, cards } } = this;
    if (terms.length !== cards.length || terms.some(({ child }) => child === undefined)) return null;
    if (this.classWeight && question !== this.model.class) return null;
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

  /** ln P(evidence), nats. */
  logProbability(evidence, scores) {
    return logSumExp(scores);
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

  /** Posteriors of all variables under the evidence; null if it is impossible. */
  posteriors(evidence) {
    const collection = this.#enter(this.collection, evidence);
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
    const { scores, each } = this.#byState(this.#enter(this.work, evidence));
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
    const collection = this.#enter(this.work, evidence);
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
    const collection = this.#enter(this.work, evidence);
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
      // Where a state has become impossible, nothing more can be told.
      if (Number.isFinite(before) && !Number.isNaN(after)) {
        terms[variable] = after - before;
        before = after;
      }
    }
    return { prior, terms };
  }
}

/** Answers for the mean of the joint distributions of several networks. */
class NetworksEngine {
  constructor(model) {
    this.members = model.networks.map((own) => new NetworkEngine({ ...model, ...own }));
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

/** Whether weights are those of a mask. */
function sameWeights(weights, mask) {
  if (!weights || !mask) return !weights && !mask;
  return weights.every((weight, state) => weight === mask[state]);
}

/** A mask times weights, if there are any. */
function combined(weights, mask) {
  return Float64Array.from(mask, (allowed, s) => allowed * (weights ? weights[s] : 1));
}
