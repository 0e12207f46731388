/** A tree: every split adds to its feature what it changes for the tree's class. */
class Tree {
  /** Trees one behind another, by their roots. */
  static several(program, lists, values) {
    const [roots, labels, ...nodes] = lists.map((place) => program.integers[place]);
    const numbers = program.values(values);
    return roots.map((root, k) =>
      new Tree(program.cards, root, roots[k + 1] ?? nodes[0].length, labels[k], nodes, numbers));
  }

  constructor(cards, root, end, label, [tested, states, children], values) {
    Object.assign(this, { cards, root, label, tested, states, children, values });
    this.features = [...new Set(tested.slice(root, end))].filter((feature) => feature >= 0);
  }

  addTo(nats, codes, given) {
    for (let node = this.root; this.tested[node] >= 0;) {
      const feature = this.tested[node];
      const code = codes[feature];
      if (code >= this.cards[feature]) return;
      const state = this.states[node];
      // Where lower states lead left as well, the complement is stored.
      const isLeft = state >= 0 ? code === state : code <= -1 - state;
      const child = this.children[node] + (isLeft ? 0 : 1);
      const factor = given ? given.scales[feature] : 1;
      nats[feature][this.label] += factor * (this.values[child] - this.values[node]);
      node = child;
    }
  }
}
