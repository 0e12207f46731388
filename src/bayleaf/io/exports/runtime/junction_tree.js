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
  /** The tables are read by a function. */
  constructor({ cards, cliques, links, terms }, read) {
    this.cards = cards;
    this.cliques = cliques;
    this.sizes = cliques.map((clique) => this.#size(clique));
    this.base = this.sizes.map((size) => new Float64Array(size).fill(1));
    // Where tables with evidence are computed.
    this.scratch = this.sizes.map((size) => new Float64Array(size));
    this.terms = terms.map((term) => ({ ...term, values: read(term.table) }));
    for (const { family, values } of this.terms) {
      const { clique, map } = this.place(family);
      const base = this.base[clique];
      for (let i = 0; i < base.length; i += 1) base[i] *= values[map[i]];
    }
    this.links = cliques.map(() => []);
    for (const [one, other] of links) {
      const shared = cliques[one].filter((v) => cliques[other].includes(v));
      const size = this.#size(shared);
      const [here, there] = [one, other].map((c) => cellMap(cliques[c], cards, shared));
      const link = { to: other, size, here };
      link.back = { to: one, size, here: there, back: link };
      this.links[one].push(link);
      this.links[other].push(link.back);
    }
    this.homes = cards.map((_, variable) => this.place([variable]));
  }

  /** Cells of all cliques. */
  get nCells() {
    return sumOf(this.sizes);
  }

  #size(variables) {
    return variables.reduce((size, variable) => size * this.cards[variable], 1);
  }

  /** The smallest clique that holds all of some variables, and their cells in it. */
  place(variables) {
    let best = -1;
    this.cliques.forEach((clique, c) => {
      const holds = variables.every((variable) => clique.includes(variable));
      if (holds && (best < 0 || this.sizes[c] < this.sizes[best])) best = c;
    });
    const map = cellMap(this.cliques[best], this.cards, variables);
    return { clique: best, map, size: this.#size(variables) };
  }
}

/**
 * Messages towards a root clique under evidence that changes little by little: only
 * what lies between a change and the root is computed again.
 */
class Collection {
  /** Messages are sums of cells, or the largest. */
  constructor(tree, target, isMax = false) {
    this.tree = tree;
    this.isMax = isMax;
    this.target = target;
    this.evidence = new Array(tree.cards.length).fill(null);
    this.homed = tree.cliques.map(() => []);
    this.#rootAt(tree.homes[target].clique);
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
    const { cliques, links } = this.tree;
    this.up = cliques.map(() => null);
    this.children = cliques.map(() => []);
    this.order = [];
    const seen = new Set();
    for (const start of [root, ...cliques.keys()]) {
      const waiting = seen.has(start) ? [] : [start];
      // The list grows while it is gone through.
      for (const clique of waiting) {
        seen.add(clique);
        for (const link of links[clique].filter(({ to }) => !seen.has(to))) {
          this.children[clique].push(link);
          this.up[link.to] = link.back;
          waiting.push(link.to);
        }
      }
      this.order = this.order.concat(waiting);
    }
    this.order.reverse();
    this.messages = this.up.map((up) => new Float64Array(up ? up.size : 1));
    this.scales = new Float64Array(cliques.length);
    this.narrow = new Uint8Array(cliques.length);
  }

  /** Take evidence on a variable in: weights of its states, or null for none. */
  set(variable, weights) {
    const home = this.tree.homes[variable].clique;
    this.evidence[variable] = weights;
    const others = this.homed[home].filter((known) => known !== variable);
    this.homed[home] = weights ? [...others, variable] : others;
    for (let c = home; !this.dirty[c]; c = this.up[c].to) {
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
    const cells = this.tree.scratch[clique];
    cells.set(this.tree.base[clique]);
    const states = this.only < 0 ? null : this.targetMaps[clique];
    if (states) {
      for (let i = 0; i < cells.length; i += 1) if (states[i] !== this.only) cells[i] = 0;
    }
    for (const variable of this.homed[clique]) {
      const { map } = this.tree.homes[variable];
      const weights = this.evidence[variable];
      for (let i = 0; i < cells.length; i += 1) cells[i] *= weights[map[i]];
    }
    for (const child of this.children[clique]) {
      const message = this.messages[child.to];
      const map = child.here;
      for (let i = 0; i < cells.length; i += 1) cells[i] *= message[map[i]];
    }
    return cells;
  }

  #send(clique) {
    const cells = this.table(clique);
    const up = this.up[clique];
    const message = this.messages[clique].fill(0);
    for (let i = 0; i < cells.length; i += 1) {
      const at = up ? up.here[i] : 0;
      message[at] = this.isMax ? Math.max(message[at], cells[i]) : message[at] + cells[i];
    }
    let highest = 0;
    for (const value of message) if (value > highest) highest = value;
    this.scales[clique] = Math.log(highest);
    this.narrow[clique] = 0;
    for (let i = 0; highest > 0 && i < message.length; i += 1) {
      message[i] /= highest;
      if (message[i] > 0 && message[i] < FEWEST) this.narrow[clique] = 1;
    }
  }

  /** Whether some message may have lost states that further evidence brings back. */
  get isNarrow() {
    return this.narrow.includes(1);
  }

  /** ln P(evidence), nats. */
  get logEvidence() {
    this.collect();
    return sumOf(this.scales);
  }

  /** ln P(target, evidence) for each of the target's states, nats. */
  logScores() {
    const total = this.logEvidence;
    const card = this.tree.cards[this.target];
    const scores = new Float64Array(card).fill(-Infinity);
    if (total === -Infinity) return scores;
    const { clique: root, map } = this.tree.homes[this.target];
    // The root's own message summed its cells; here they are told apart by state.
    const sums = new Float64Array(card);
    const cells = this.table(root);
    for (let i = 0; i < cells.length; i += 1) sums[map[i]] += cells[i];
    const outside = total - this.scales[root];
    return scores.map((_, state) => Math.log(sums[state]) + outside);
  }

  /** Joint posteriors of variables in some places; null if the evidence is impossible. */
  posteriors(places = this.tree.homes) {
    if (this.logEvidence === -Infinity) return null;
    const ofClique = this.tree.cliques.map(() => []);
    places.forEach((place, k) => ofClique[place.clique].push(k));
    const found = new Array(places.length);
    this.visit((clique, cells) => {
      if (!ofClique[clique].length) return;
      const total = sumOf(cells);
      for (const k of ofClique[clique]) {
        const sums = new Float64Array(places[k].size);
        const { map } = places[k];
        for (let i = 0; i < cells.length; i += 1) sums[map[i]] += cells[i];
        found[k] = sums.map((sum) => sum / total);
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
    const sums = down[child.to];
    for (let i = 0; i < cells.length; i += 1) sums[child.here[i]] += cells[i];
    const from = this.messages[child.to];
    let highest = 0;
    for (let j = 0; j < sums.length; j += 1) {
      // Where the child's message is zero, so is the sum.
      sums[j] = from[j] > 0 ? sums[j] / from[j] : 0;
      if (sums[j] > highest) highest = sums[j];
    }
    for (let j = 0; j < sums.length; j += 1) sums[j] /= highest;
  }
}
