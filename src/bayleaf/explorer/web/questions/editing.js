// A model under the hands of its reader: cut points, arcs, and exact leave-one-out.

// Joint states of missing parents beyond which a row is not summed over.
const MOST_MISSING_STATES = 5000;
const NOTHING = 0xffff;

/** Rows, counts and history of a model that is edited; `reset` gives the learned one. */
class EditedModel {
  constructor(model) {
    const { document, each, together, codes, weights } = model.editing;
    Object.assign(this, { document, each, together, variables: model.variables });
    this.nFeatures = codes.length - 1;
    this.nClasses = model.variables[model.class].states.length;
    this.codes = codes.map(unpackedCodes);
    this.weights = unpacked(weights);
    this.temperature = document.temperature;
  }

  /** Begin with the learned model, with whose losses edits are compared. */
  begin() {
    this.reset();
    this.lossesBefore = this.losses();
    this.before = weightedMean(this.lossesBefore, this.weights);
  }

  /** Take the last edit back. */
  undo() {
    Object.assign(this, this.history.pop());
  }

  get isEdited() {
    return this.history.length > 0;
  }

  /** Mean log-loss of the training rows, nats, each left out of all counts. */
  score() {
    return weightedMean(this.losses(), this.weights);
  }

  /** What is added to each of the cells of a distribution. */
  share(card) {
    return this.each + this.together / card;
  }

  /** Rows of each class. */
  classCounts() {
    const counts = new Float64Array(this.nClasses);
    this.codes[this.nFeatures].forEach((label, row) => { counts[label] += this.weights[row]; });
    return counts;
  }
}

/** The structure that is edited: cut points and parents of each feature. */
class Editing extends EditedModel {
  constructor(model) {
    super(model);
    this.possible = model.editing.cuts.map(unpacked);
    this.order = Array.from({ length: this.nFeatures }, (_, v) => v);
    const { model: { network: { dag } } } = this.document;
    this.learned = this.order.map((v) => dag.parents[v].filter((p) => p < this.nFeatures));
    this.begin();
  }

  /** The model as it was learned. */
  reset() {
    const { domain } = this.document;
    this.cuts = this.order.map((v) => (this.possible[v].length ? domain[v].cut_points.slice() : null));
    this.parents = this.learned.map((own) => own.slice());
    this.history = [];
  }

  #keep() {
    this.history.push({
      cuts: this.cuts.map((own) => own && own.slice()),
      parents: this.parents.map((own) => own.slice()),
    });
  }

  /** Number of states of a feature, as it is cut now. */
  card(v) {
    return this.cuts[v] ? this.cuts[v].length + 1 : this.variables[v].states.length;
  }

  // ---- edits

  /** Move a cut point to the next possible one below or above; false if there is none. */
  moveCut(v, place, step) {
    const at = this.possible[v].indexOf(this.cuts[v][place]);
    const to = this.possible[v][at + step];
    if (to === undefined || this.cuts[v].includes(to)) return false;
    this.#keep();
    this.cuts[v] = this.cuts[v].toSpliced(place, 1, to);
    return true;
  }

  removeCut(v, place) {
    this.#keep();
    this.cuts[v] = this.cuts[v].toSpliced(place, 1);
  }

  /** Split the interval with most rows at its middle; false if no cut is possible. */
  addCut(v, cut) {
    if (this.cuts[v].includes(cut)) return false;
    this.#keep();
    this.cuts[v] = [...this.cuts[v], cut].sort((a, b) => a - b);
    return true;
  }

  removeArc(parent, child) {
    this.#keep();
    this.parents[child] = this.parents[child].filter((own) => own !== parent);
  }

  addArc(parent, child) {
    this.#keep();
    this.parents[child] = [...this.parents[child], parent];
  }

  /** Features that may become a parent without closing a cycle. */
  possibleParents(child) {
    const below = new Set([child]);
    const waiting = [child];
    for (const node of waiting) {
      this.order.forEach((v) => {
        if (this.parents[v].includes(node) && !below.has(v)) {
          below.add(v);
          waiting.push(v);
        }
      });
    }
    return this.order.filter((v) => !below.has(v) && !this.parents[child].includes(v));
  }

  // ---- counts

  /** States of a feature in all rows, as it is cut now. */
  #column(v) {
    const fine = this.codes[v];
    const cuts = this.cuts[v];
    if (!cuts) return fine;
    // A fine interval lies above the cut points up to its lower end.
    const lower = [-Infinity, ...this.possible[v]];
    const states = Uint16Array.from(lower, (low) => cuts.filter((cut) => cut <= low).length);
    return fine.map((code) => (code === NOTHING ? NOTHING : states[code]));
  }

  /** Counts of each family by class, parents' states and the child's. */
  #families(columns) {
    const label = this.codes[this.nFeatures];
    return this.order.map((v) => {
      const members = [...this.parents[v], v];
      const cards = members.map((member) => this.card(member));
      const size = cards.reduce((product, card) => product * card, 1);
      const joint = new Float64Array(this.nClasses * size);
      const card = cards[cards.length - 1];
      const above = new Float64Array(joint.length / card);
      for (let row = 0; row < label.length; row += 1) {
        const at = cellOf(members, cards, columns, row);
        if (at < 0) continue;
        joint[label[row] * size + at] += this.weights[row];
        above[Math.floor((label[row] * size + at) / card)] += this.weights[row];
      }
      return { v, members, cards, size, card, joint, above };
    });
  }

  /** ln P(state | parents, class) without a share of the row's own weight. */
  #log({ joint, above, card, size }, label, at, own) {
    const cell = label * size + at;
    const share = this.share(card);
    const total = above[Math.floor(cell / card)] - own + this.each * card + this.together;
    return Math.log((joint[cell] - own + share) / total);
  }

  /** Whether the class prior was counted like the tables. */
  get #isLearned() {
    return this.document.support?.prior_is_learned ?? true;
  }

  #logPrior(counts, label, own, total) {
    if (!this.#isLearned) {
      const { cpds } = this.document.model.network;
      return Math.log(numbersOf(cpds[this.nFeatures].probabilities)[label]);
    }
    const share = this.share(this.nClasses);
    return Math.log((counts[label] - own + share)
      / (total - 1 + this.each * this.nClasses + this.together));
  }

  // ---- scores

  /** Log-losses of the distinct rows; missing features are summed out as the model does. */
  losses() {
    const columns = this.order.map((v) => this.#column(v));
    const families = this.#families(columns);
    const hasChildren = this.order.map((v) => this.parents.some((own) => own.includes(v)));
    const counts = this.classCounts();
    const total = counts.reduce((sum, count) => sum + count, 0);
    const label = this.codes[this.nFeatures];
    return Float64Array.from(label, (own, row) => {
      const scores = Array.from({ length: this.nClasses }, (_, c) =>
        this.#logPrior(counts, c, c === own ? 1 : 0, total)
        + this.#rowScore(families, columns, hasChildren, row, c));
      return -logNormalized(scores.map((score) => score / this.temperature))[own];
    });
  }

  #rowScore(families, columns, hasChildren, row, c) {
    const isOwn = c === this.codes[this.nFeatures][row] ? 1 : 0;
    const missing = this.order.filter((v) => columns[v][row] === NOTHING && hasChildren[v]);
    let score = 0;
    const open = [];
    for (const family of families) {
      const at = cellOf(family.members, family.cards, columns, row);
      if (at >= 0) score += this.#log(family, c, at, isOwn);
      else if (family.members.some((v) => missing.includes(v))) open.push(family);
    }
    return open.length ? score + this.#summed(open, columns, missing, row, c) : score;
  }

  /** ln of the sum over missing parents' states of what their families say. */
  #summed(open, columns, missing, row, c) {
    const cards = missing.map((v) => this.card(v));
    const size = cards.reduce((product, card) => product * card, 1);
    if (size > MOST_MISSING_STATES) return NaN;
    const logs = [];
    for (let joint = 0; joint < size; joint += 1) {
      let rest = joint;
      const states = new Map(missing.map((v, k) => {
        const state = rest % cards[k];
        rest = Math.floor(rest / cards[k]);
        return [v, state];
      }));
      let sum = 0;
      for (const family of open) {
        let at = 0;
        family.members.forEach((v, k) => {
          at = at * family.cards[k] + (states.get(v) ?? columns[v][row]);
        });
        // A child that is missing and has no children says nothing.
        const childIsKnown = states.has(family.v) || columns[family.v][row] !== NOTHING;
        if (childIsKnown) sum += this.#log(family, c, at, 0);
      }
      logs.push(sum);
    }
    return logSumExp(logs);
  }

  // ---- the model

  /** P(state | class, parents' states) of a family, the child's states last. */
  #probabilities({ joint, above, card }) {
    const share = this.share(card);
    const strength = this.each * card + this.together;
    return Float64Array.from(joint, (count, cell) =>
      (count + share) / (above[Math.floor(cell / card)] + strength));
  }

  /** The edited network as an engine takes it, its order, and its variables. */
  network() {
    const label = this.nFeatures;
    const families = this.#families(this.order.map((v) => this.#column(v)));
    const prior = numbersOf(this.document.model.network.cpds[label].probabilities);
    const terms = families.map((family) => ({
      family: [label, ...family.members], child: family.v, table: this.#probabilities(family),
    }));
    terms.push({ family: [label], child: label, table: Float64Array.from(prior) });
    const cards = [...this.order.map((v) => this.card(v)), this.nClasses];
    return {
      network: { cards, terms, ...cliquesOf(cards.length, terms.map(({ family }) => family)) },
      order: topologicalOrder(this.parents),
      variables: this.variables.map((about, v) => (v < label ? this.#edited(about, v) : about)),
    };
  }

  /** A variable with its own states; others are left out. */
  #edited(about, v) {
    const hasCuts = this.cuts[v] && String(this.cuts[v]) !== String(about.cuts);
    if (!hasCuts && String(this.parents[v]) === String(this.learned[v])) return about;
    const { rows, shape, ...kept } = about;
    if (!hasCuts) return { ...kept, ...(shape ? { shape } : {}), isEdited: true };
    return { ...kept, states: intervalLabels(this.cuts[v]), cuts: this.cuts[v], isEdited: true };
  }

  /** The page's map with the arcs as they are edited. */
  map(learned) {
    return editedMap(learned, this);
  }

  // ---- the file

  /** The edited model as the text of a model file. */
  file() {
    const edited = structuredClone(this.document);
    const columns = this.order.map((v) => this.#column(v));
    const families = this.#families(columns);
    const counts = this.classCounts();
    this.order.forEach((v) => {
      const was = this.document.domain[v];
      if (!this.cuts[v] || String(was.cut_points) === String(this.cuts[v])) return;
      const own = edited.domain[v];
      own.cut_points = this.cuts[v];
      own.states = intervalLabels(this.cuts[v]);
      // What is known of the numbers inside the intervals belongs to the old ones.
      delete own.numbers;
      if (edited.support?.state_rows) {
        edited.support.state_rows[v] = stateRows(columns[v], this.card(v), this.weights);
      }
    });
    const { network } = edited.model;
    const rows = [];
    families.forEach((family) => {
      const { v, above, cards } = family;
      network.dag.parents[v] = [this.nFeatures, ...this.parents[v]];
      const numbers = Array.from(this.#probabilities(family));
      network.cpds[v] = {
        type: "table",
        family: [this.nFeatures, ...family.members],
        probabilities: { shape: [this.nClasses, ...cards], numbers },
      };
      rows.push(Array.from(above));
    });
    rows.push([counts.reduce((sum, count) => sum + count, 0)]);
    if (edited.support) {
      edited.support.rows = rows;
      edited.support.pseudo_rows = [...families.map(({ card }) => card), this.nClasses]
        .map((card) => this.each * card + this.together);
    }
    edited.log_likelihood = this.#logLikelihood(families, columns, counts);
    return JSON.stringify(edited);
  }

  /** ln P(all complete families of all rows), nats. */
  #logLikelihood(families, columns, counts) {
    const label = this.codes[this.nFeatures];
    const total = counts.reduce((sum, count) => sum + count, 0);
    let sum = 0;
    for (let row = 0; row < label.length; row += 1) {
      const share = this.share(this.nClasses);
      let log = Math.log((counts[label[row]] + share)
        / (total + this.each * this.nClasses + this.together));
      for (const family of families) {
        const at = cellOf(family.members, family.cards, columns, row);
        if (at >= 0) log += this.#log(family, label[row], at, 0);
      }
      sum += this.weights[row] * log;
    }
    return sum;
  }
}

/** The mean of values with weights. */
function weightedMean(values, weights) {
  return sumOf(values.map((value, i) => value * weights[i])) / sumOf(weights);
}

/** The standard error of the mean of values, of which each stands for `weights` rows. */
function standardError(values, weights) {
  const mean = weightedMean(values, weights);
  const n = sumOf(weights);
  const squares = sumOf(values.map((value, i) => weights[i] * (value - mean) ** 2));
  return n > 1 ? Math.sqrt(squares / (n - 1) / n) : Infinity;
}

/** The cell of a family that a row falls into; -1 if something is missing. */
function cellOf(members, cards, columns, row) {
  let at = 0;
  for (let k = 0; k < members.length; k += 1) {
    const state = columns[members[k]][row];
    if (state === NOTHING) return -1;
    at = at * cards[k] + state;
  }
  return at;
}

/** Rows with each state, as `rows_by_state` counts them. */
function stateRows(column, card, weights) {
  const rows = new Array(card).fill(0);
  const areWhole = weights.every((weight) => Number.isInteger(weight));
  column.forEach((state, row) => {
    if (state !== NOTHING) rows[state] += areWhole ? weights[row] : Number(weights[row] > 0);
  });
  return rows;
}

/** Numbers of an array in a model file. */
function numbersOf(array) {
  return Array.isArray(array) ? array : array.numbers;
}

/** Names of the intervals between cut points. */
function intervalLabels(cuts) {
  if (!cuts.length) return ["any value"];
  return [
    `<= ${cuts[0]}`,
    ...cuts.slice(1).map((cut, k) => `(${cuts[k]}, ${cut}]`),
    `> ${cuts[cuts.length - 1]}`,
  ];
}
