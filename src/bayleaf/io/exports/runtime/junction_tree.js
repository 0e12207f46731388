// Exact inference by messages in a tree of cliques (Jensen, Lauritzen & Olesen 1990).

// A message whose smallest positive cell is below this has lost digits of some states.
const FEWEST = 1e-200;

/** For each cell of a table, its cell in the table over some of the variables. */
function cellMap(variables, cards, kept) {
  const strides = new Map();
  let stride = 1;
  for (let k = kept.length - 1; k >= 0; k -= 1) {
    strides.set(kept[k], stride);
    stride *= cards[kept[k]];
  }
  let map = new Int32Array(1);
  for (const variable of variables) {
    const card = cards[variable];
    const step = strides.get(variable) ?? 0;
    const wider = new Int32Array(map.length * card);
    for (let i = 0; i < map.length; i += 1) {
      for (let s = 0; s < card; s += 1) wider[i * card + s] = map[i] + s * step;
    }
    map = wider;
  }
  return map;
}

/** The cliques of a network and what stands in them before any evidence. */
class JunctionTree {
  constructor(network) {
    this.cards = network.cards;
    this.cliques = network.cliques;
    this.sizes = this.cliques.map((clique) =>
      clique.reduce((size, variable) => size * this.cards[variable], 1));
    this.base = this.sizes.map((size) => new Float64Array(size).fill(1));
    this.terms = network.terms.map((term) => ({
      ...term, values: ArrayBuffer.isView(term.table) ? term.table : unpacked(term.table),
    }));
    for (const { family, values } of this.terms) this.#multiply(family, values);
    this.links = this.cliques.map(() => []);
    for (const [one, other] of network.links) this.#link(one, other);
    this.homes = this.cards.map((_, variable) => this.smallestHolding([variable]));
    this.stateMaps = this.cards.map((_, variable) =>
      cellMap(this.cliques[this.homes[variable]], this.cards, [variable]));
  }

  /** Cells of all cliques. */
  get nCells() {
    return this.sizes.reduce((total, size) => total + size, 0);
  }

  /** The smallest clique that holds all of some variables. */
  smallestHolding(variables) {
    let best = -1;
    this.cliques.forEach((clique, c) => {
      const holds = variables.every((variable) => clique.includes(variable));
      if (holds && (best < 0 || this.sizes[c] < this.sizes[best])) best = c;
    });
    return best;
  }

  #multiply(family, values) {
    const c = this.smallestHolding(family);
    const map = cellMap(this.cliques[c], this.cards, family);
    const base = this.base[c];
    for (let i = 0; i < base.length; i += 1) base[i] *= values[map[i]];
  }

  #link(one, other) {
    const shared = this.cliques[one].filter((v) => this.cliques[other].includes(v));
    const size = shared.reduce((total, v) => total * this.cards[v], 1);
    const maps = [one, other].map((c) => cellMap(this.cliques[c], this.cards, shared));
    this.links[one].push({ to: other, size, here: maps[0], there: maps[1] });
    this.links[other].push({ to: one, size, here: maps[1], there: maps[0] });
  }
}

/**
 * Messages towards a root clique under evidence that changes little by little: only
 * what lies between a change and the root is computed again.
 */
class Collection {
  constructor(tree, target) {
    this.tree = tree;
    this.target = target;
    this.evidence = new Array(tree.cards.length).fill(null);
    this.homed = tree.cliques.map(() => []);
    this.scratch = tree.sizes.map((size) => new Float64Array(size));
    this.#rootAt(tree.homes[target]);
    this.dirty = new Uint8Array(tree.cliques.length).fill(1);
    this.only = -1;
    this.targetMaps = null;
  }

  /**
   * Leave one state of the target in every clique that holds it, or all states for -1.
   * Messages of a single state keep all their digits, whatever they are beside those
   * of other states.
   */
  restrict(state) {
    if (this.only === state) return;
    this.only = state;
    this.dirty.fill(1);
    const { cliques, cards } = this.tree;
    this.targetMaps ??= cliques.map((clique) =>
      (clique.includes(this.target) ? cellMap(clique, cards, [this.target]) : null));
  }

  /** Each clique's way to its root; roots other than the target's head other parts. */
  #rootAt(root) {
    const n = this.tree.cliques.length;
    this.up = new Array(n).fill(null);
    this.children = Array.from({ length: n }, () => []);
    this.order = [];
    this.roots = [];
    const seen = new Uint8Array(n);
    for (const start of [root, ...Array(n).keys()]) {
      if (seen[start]) continue;
      this.roots.push(start);
      seen[start] = 1;
      const waiting = [start];
      while (waiting.length) {
        const clique = waiting.pop();
        this.order.push(clique);
        for (const link of this.tree.links[clique]) {
          if (seen[link.to]) continue;
          seen[link.to] = 1;
          this.children[clique].push({ ...link, clique: link.to });
          this.up[link.to] = { parent: clique, size: link.size, here: link.there };
          waiting.push(link.to);
        }
      }
    }
    this.order.reverse();
    this.messages = this.up.map((up) => new Float64Array(up ? up.size : 1));
    this.scales = new Float64Array(n);
    this.narrow = new Uint8Array(n);
  }

  /** Take evidence on a variable in: weights of its states, or null for none. */
  set(variable, weights) {
    if (this.evidence[variable] === weights) return;
    const home = this.tree.homes[variable];
    this.evidence[variable] = weights;
    const others = this.homed[home].filter((known) => known !== variable);
    this.homed[home] = weights ? [...others, variable] : others;
    for (let c = home; !this.dirty[c]; c = this.up[c].parent) {
      this.dirty[c] = 1;
      if (!this.up[c]) break;
    }
  }

  /** Bring all messages to the roots up to date. */
  collect() {
    for (const clique of this.order) {
      if (this.dirty[clique]) this.#send(clique);
      this.dirty[clique] = 0;
    }
  }

  /** The clique's table times its evidence and the messages from below. */
  table(clique) {
    const cells = this.scratch[clique];
    cells.set(this.tree.base[clique]);
    const states = this.only < 0 ? null : this.targetMaps[clique];
    if (states) {
      for (let i = 0; i < cells.length; i += 1) if (states[i] !== this.only) cells[i] = 0;
    }
    for (const variable of this.homed[clique]) {
      const map = this.tree.stateMaps[variable];
      const weights = this.evidence[variable];
      for (let i = 0; i < cells.length; i += 1) cells[i] *= weights[map[i]];
    }
    for (const child of this.children[clique]) {
      const message = this.messages[child.clique];
      const map = child.here;
      for (let i = 0; i < cells.length; i += 1) cells[i] *= message[map[i]];
    }
    return cells;
  }

  #send(clique) {
    const cells = this.table(clique);
    const up = this.up[clique];
    const message = this.messages[clique].fill(0);
    if (up) {
      for (let i = 0; i < cells.length; i += 1) message[up.here[i]] += cells[i];
    } else {
      for (let i = 0; i < cells.length; i += 1) message[0] += cells[i];
    }
    let highest = 0;
    for (const value of message) if (value > highest) highest = value;
    this.scales[clique] = Math.log(highest);
    let narrow = 0;
    if (highest > 0) {
      for (let i = 0; i < message.length; i += 1) {
        message[i] /= highest;
        if (message[i] > 0 && message[i] < FEWEST) narrow = 1;
      }
    }
    this.narrow[clique] = narrow;
  }

  /** Whether some message may have lost states that further evidence brings back. */
  get isNarrow() {
    return this.narrow.includes(1);
  }

  /** ln P(evidence), nats. */
  get logEvidence() {
    this.collect();
    return this.scales.reduce((total, scale) => total + scale, 0);
  }

  /** ln P(target, evidence) for each of the target's states, nats. */
  logScores() {
    const total = this.logEvidence;
    const card = this.tree.cards[this.target];
    const scores = new Float64Array(card).fill(-Infinity);
    if (total === -Infinity) return scores;
    const root = this.roots[0];
    // The root's own message summed its cells; here they are told apart by state.
    const sums = new Float64Array(card);
    const cells = this.table(root);
    const map = this.tree.stateMaps[this.target];
    for (let i = 0; i < cells.length; i += 1) sums[map[i]] += cells[i];
    const outside = total - this.scales[root];
    return scores.map((_, state) => Math.log(sums[state]) + outside);
  }

  /** Posterior of every variable, or null if the evidence is impossible. */
  posteriors() {
    if (this.logEvidence === -Infinity) return null;
    const { tree } = this;
    const found = new Array(tree.cards.length);
    const homeOf = tree.cliques.map(() => []);
    tree.homes.forEach((home, variable) => homeOf[home].push(variable));
    this.visit((clique, cells) => {
      for (const variable of homeOf[clique]) {
        found[variable] = shares(cells, tree.stateMaps[variable], tree.cards[variable]);
      }
    });
    return found;
  }

  /** Call for every clique with its joint posterior, up to a factor, from the roots down. */
  visit(tell) {
    const down = this.messages.map((message, c) =>
      (this.up[c] ? new Float64Array(message.length) : null));
    for (let k = this.order.length - 1; k >= 0; k -= 1) {
      const clique = this.order[k];
      const cells = this.table(clique);
      if (down[clique]) {
        const map = this.up[clique].here;
        for (let i = 0; i < cells.length; i += 1) cells[i] *= down[clique][map[i]];
      }
      for (const child of this.children[clique]) this.#sendDown(cells, child, down);
      tell(clique, cells);
    }
  }

  /** The clique's table without what the child said, summed to what both hold. */
  #sendDown(cells, child, down) {
    const sums = down[child.clique];
    for (let i = 0; i < cells.length; i += 1) sums[child.here[i]] += cells[i];
    const from = this.messages[child.clique];
    let highest = 0;
    for (let j = 0; j < sums.length; j += 1) {
      // Where the child's message is zero, so is the sum.
      sums[j] = from[j] > 0 ? sums[j] / from[j] : 0;
      if (sums[j] > highest) highest = sums[j];
    }
    for (let j = 0; j < sums.length; j += 1) sums[j] /= highest;
  }
}

/** Sums of a table's cells by state, as shares of their total. */
function shares(cells, map, card) {
  const sums = new Float64Array(card);
  for (let i = 0; i < cells.length; i += 1) sums[map[i]] += cells[i];
  const total = sums.reduce((sum, value) => sum + value, 0);
  return sums.map((value) => value / total);
}
