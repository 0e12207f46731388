// The most probable states of all variables together (Dawid 1992).

/** States of a clique's variables in one of its cells. */
function statesInCell(tree, clique, cell) {
  const variables = tree.cliques[clique];
  const states = new Array(variables.length);
  let rest = cell;
  for (let k = variables.length - 1; k >= 0; k -= 1) {
    states[k] = rest % tree.cards[variables[k]];
    rest = Math.floor(rest / tree.cards[variables[k]]);
  }
  return states;
}

/**
 * The states of all variables that are most probable together under the evidence of a
 * collection whose messages are the largest cells, and ln of their probability with it
 * (nats); null if it is impossible.
 */
function mostProbable(collection) {
  const { tree, order, up, children, logEvidence } = collection;
  if (logEvidence === -Infinity) return null;
  const states = new Array(tree.cards.length).fill(0);
  const entries = new Array(tree.cliques.length).fill(0);
  for (let k = order.length - 1; k >= 0; k -= 1) {
    const clique = order[k];
    const cells = collection.table(clique);
    const map = up[clique]?.here;
    let best = -1;
    for (let i = 0; i < cells.length; i += 1) {
      if (map && map[i] !== entries[clique]) continue;
      if (best < 0 || cells[i] > cells[best]) best = i;
    }
    statesInCell(tree, clique, best).forEach((state, place) => {
      states[tree.cliques[clique][place]] = state;
    });
    for (const child of children[clique]) entries[child.to] = child.here[best];
  }
  return { states, logProbability: logEvidence };
}
