// Latent variables under the hands of their reader: states merged and split.

/** The partitions of latent variables' cells, edited; all rows are complete. */
class LatentEditing extends EditedModel {
  constructor(model) {
    super(model);
    this.order = model.order;
    // Which latent variable a variable of the page is; of one state only cells are there.
    const isRoot = ({ role, parents }) => role === "latent" || (role === "cells" && !parents.length);
    this.latentOf = new Map(model.variables.map((_, v) => v)
      .filter((v) => isRoot(model.variables[v])).map((v, latent) => [v, latent]));
    this.begin();
  }

  /** The partitions as they were learned. */
  reset() {
    const { tree } = this.document.model;
    this.history = [];
    this.latents = tree.latents.map(({ left, right, states }) => ({
      left, right, rows: states.shape[0], columns: states.shape[1], states: states.numbers.slice(),
    }));
    this.learned ??= this.latents.map((own) => ({ ...own }));
  }

  #keep() {
    this.history.push({ latents: this.latents.map((own) => ({ ...own, states: own.states.slice() })) });
  }

  /** Number of states of a node: a feature, or a latent variable after all features. */
  card(node) {
    if (node < this.nFeatures) return this.document.model.tree.feature_cards[node];
    return Math.max(...this.latents[node - this.nFeatures].states) + 1;
  }

  // ---- edits

  /** Put a cell into another state; the number of states stands for a new one. */
  moveCell(latent, cell, state) {
    const own = this.latents[latent];
    const before = own.states[cell];
    const card = this.card(this.nFeatures + latent);
    if (state === before || !own.states.some((other, i) => other !== state && i !== cell)) return false;
    this.#keep();
    const now = this.latents[latent];
    if (state === card) this.#copyInParent(latent, before);
    now.states = now.states.toSpliced(cell, 1, state);
    this.#number();
    return true;
  }

  /** Put all cells of one state into another. */
  merge(latent, from, to) {
    const node = this.nFeatures + latent;
    if (from === to || this.card(node) <= 2) return false;
    this.#keep();
    const own = this.latents[latent];
    own.states = own.states.map((state) => (state === from ? to : state));
    this.#number();
    return true;
  }

  /** The latent variable that a latent variable is a child of, and on which side. */
  #parentOf(latent) {
    const node = this.nFeatures + latent;
    const above = this.latents.find(({ left, right }) => left === node || right === node);
    return above && { above, isLeft: above.left === node };
  }

  /** A new state means to the parent what the one did that it was split off. */
  #copyInParent(latent, state) {
    const found = this.#parentOf(latent);
    if (!found) return;
    const { above, isLeft } = found;
    this.#resize(above, isLeft, (lines) => [...lines, lines[state]]);
  }

  /** Number the states of all latent variables by their first cells. */
  #number() {
    this.latents.forEach((own, latent) => {
      const order = [...new Set(own.states)];
      own.states = own.states.map((state) => order.indexOf(state));
      const found = this.#parentOf(latent);
      if (found) this.#resize(found.above, found.isLeft, (lines) => order.map((state) => lines[state]));
    });
  }

  /** Change the rows, or the columns, of a latent variable's cells. */
  #resize(own, isLeft, change) {
    const lines = isLeft
      ? Array.from({ length: own.rows }, (_, i) => own.states.slice(i * own.columns, (i + 1) * own.columns))
      : Array.from({ length: own.columns }, (_, j) =>
        Array.from({ length: own.rows }, (__, i) => own.states[i * own.columns + j]));
    const changed = change(lines);
    if (isLeft) {
      own.rows = changed.length;
      own.states = changed.flat();
    } else {
      own.columns = changed.length;
      own.states = Array.from({ length: own.rows }, (_, i) => changed.map((line) => line[i])).flat();
    }
  }

  // ---- scores

  /** States of all nodes in all rows. */
  #columns() {
    const columns = this.codes.slice(0, this.nFeatures);
    for (const { left, right, columns: width, states } of this.latents) {
      columns.push(columns[left].map((state, row) => states[state * width + columns[right][row]]));
    }
    return columns;
  }

  /** Nodes that are children of the class. */
  get #children() {
    const below = new Set(this.latents.flatMap(({ left, right }) => [left, right]));
    const n = this.nFeatures + this.latents.length;
    return Array.from({ length: n }, (_, node) => node).filter((node) => !below.has(node));
  }

  #counts(columns) {
    const label = this.codes[this.nFeatures];
    const tables = this.#children.map((node) => {
      const card = this.card(node);
      const counts = new Float64Array(this.nClasses * card);
      columns[node].forEach((state, row) => { counts[label[row] * card + state] += this.weights[row]; });
      return { node, card, counts };
    });
    return { classes: this.classCounts(), tables };
  }

  /** Log-losses of the distinct rows, nats. */
  losses() {
    const columns = this.#columns();
    const { classes, tables } = this.#counts(columns);
    const used = this.document.model.used;
    const told = tables.filter(({ node }) => !used || used.includes(node));
    const label = this.codes[this.nFeatures];
    const total = classes.reduce((sum, count) => sum + count, 0);
    return Float64Array.from(label, (own, row) => {
      const scores = Array.from(classes, (count, c) => {
        const out = c === own ? 1 : 0;
        let score = Math.log((count - out + this.share(this.nClasses))
          / (total - 1 + this.share(this.nClasses) * this.nClasses));
        for (const { node, card, counts } of told) {
          score += Math.log((counts[c * card + columns[node][row]] - out + this.share(card))
            / (count - out + this.share(card) * card));
        }
        return score / this.temperature;
      });
      return -logNormalized(scores)[own];
    });
  }

  // ---- the model

  /** Rows with each pair of states of a latent variable's children. */
  #cellCounts({ left, right, rows, columns: width }, columns) {
    const counts = new Array(rows * width).fill(0);
    this.weights.forEach((weight, row) => {
      counts[columns[left][row] * width + columns[right][row]] += weight;
    });
    return counts;
  }

  /** P(state | class) of a child of the class, the states last. */
  #probabilities({ card, counts }, classes) {
    return Array.from(counts, (count, cell) => (count + this.share(card))
      / (classes[Math.floor(cell / card)] + this.share(card) * card));
  }

  /** P(left | latent) and P(right | latent, left), which make up P(cell | latent). */
  #below(latent, columns) {
    const { rows, columns: width, states } = latent;
    const n = Math.max(...states) + 1;
    const weights = this.#cellCounts(latent, columns).map((count) => count + this.document.model.cell_smoothing);
    const [lefts, totals] = [new Float64Array(n * rows), new Float64Array(n)];
    states.forEach((state, cell) => {
      lefts[state * rows + Math.floor(cell / width)] += weights[cell];
      totals[state] += weights[cell];
    });
    const right = Float64Array.from({ length: n * rows * width }, (_, at) => {
      const [state, cell] = [Math.floor(at / (rows * width)), at % (rows * width)];
      const sum = lefts[state * rows + Math.floor(cell / width)];
      // What no cell of the state holds is impossible; its distribution never counts.
      if (!sum) return 1 / width;
      return states[cell] === state ? weights[cell] / sum : 0;
    });
    return [lefts.map((sum, at) => sum / totals[Math.floor(at / rows)]), right];
  }

  /**
   * The edited network as an engine takes it, its order, and its variables. Children of
   * a latent variable hang on it directly; the variables of its cells have one state.
   */
  network() {
    const columns = this.#columns();
    const { classes, tables } = this.#counts(columns);
    const { prior, used } = this.document.model;
    const label = this.variables.length - 1;
    const variableOf = [...Array(this.nFeatures).keys(), ...this.latentOf.keys()];
    const cards = new Array(label).fill(1);
    variableOf.forEach((v, node) => { cards[v] = this.card(node); });
    cards.push(this.nClasses);
    const terms = [{ family: [label], child: label, table: Float64Array.from(prior) }];
    for (const one of tables) {
      const [child, table] = [variableOf[one.node], this.#probabilities(one, classes)];
      const isTold = !used || used.includes(one.node);
      terms.push({ family: isTold ? [label, child] : [child], child,
        table: Float64Array.from(isTold ? table : table.slice(0, one.card)) });
    }
    this.latents.forEach((latent, k) => {
      const [own, left, right] = [this.nFeatures + k, latent.left, latent.right].map((node) => variableOf[node]);
      const [ofLeft, ofRight] = this.#below(latent, columns);
      terms.push({ family: [own, left], child: left, table: ofLeft });
      terms.push({ family: [own, left, right], child: right, table: ofRight });
    });
    cards.forEach((_, v) => {
      if (v < label && !variableOf.includes(v)) terms.push({ family: [v], child: v, table: Float64Array.of(1) });
    });
    const edited = this.#editedVariables(variableOf);
    return {
      network: { cards, terms, ...cliquesOf(cards.length, terms.map(({ family }) => family)) },
      order: this.order,
      variables: this.variables.map((about, v) => edited.get(v) ?? about),
    };
  }

  /** By variable, edited latent variables with numbered states, and what is below them. */
  #editedVariables(variableOf) {
    const found = new Map();
    const visit = (node, isOwn) => {
      const { rows, shape, rules, distribution, ...kept } = this.variables[variableOf[node]];
      const states = Array.from({ length: this.card(node) }, (_, state) => String(state + 1));
      found.set(variableOf[node], isOwn ? { ...kept, states, isEdited: true } : kept);
      const latent = this.latents[node - this.nFeatures];
      for (const below of latent ? [latent.left, latent.right] : []) {
        if (!found.get(variableOf[below])?.isEdited) visit(below, this.#isChanged(below));
      }
    };
    this.latents.forEach((_, k) => {
      if (this.#isChanged(this.nFeatures + k)) visit(this.nFeatures + k, true);
    });
    return found;
  }

  /** Whether a node is a latent variable with another partition than was learned. */
  #isChanged(node) {
    const k = node - this.nFeatures;
    return k >= 0 && String(this.latents[k].states) !== String(this.learned[k].states);
  }

  /** The page's map, whose arcs stay. */
  map(learned) {
    return learned;
  }

  /** The edited model as the text of a model file. */
  file() {
    const edited = structuredClone(this.document);
    const columns = this.#columns();
    const { classes, tables } = this.#counts(columns);
    const { model } = edited;
    // Shares of the classes among rows of states that are no more.
    delete model.class_counts;
    this.latents.forEach(({ rows, columns: width, states }, latent) => {
      const counts = this.#cellCounts(this.latents[latent], columns);
      model.tree.latents[latent].states = { shape: [rows, width], numbers: states };
      model.cell_counts[latent] = { shape: [rows, width], numbers: counts };
    });
    model.tables = tables.map((one) => ({
      shape: [this.nClasses, one.card], numbers: this.#probabilities(one, classes),
    }));
    if (edited.support) {
      const total = classes.reduce((sum, count) => sum + count, 0);
      edited.support.rows = [...tables.map(() => Array.from(classes)), [total]];
      edited.support.pseudo_rows = [...tables.map(({ card }) => card), this.nClasses]
        .map((card) => this.share(card) * card);
    }
    let logLikelihood = 0;
    const total = classes.reduce((sum, count) => sum + count, 0);
    this.codes[this.nFeatures].forEach((own, row) => {
      let log = Math.log((classes[own] + this.share(this.nClasses))
        / (total + this.share(this.nClasses) * this.nClasses));
      tables.forEach(({ node, card }, t) => {
        log += Math.log(model.tables[t].numbers[own * card + columns[node][row]]);
      });
      logLikelihood += this.weights[row] * log;
    });
    edited.log_likelihood = logLikelihood;
    return JSON.stringify(edited);
  }
}
