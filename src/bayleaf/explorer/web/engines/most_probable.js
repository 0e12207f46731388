// The most probable states of all variables together (Dawid 1992).

/** The largest message of each clique towards its root, with all cliques' tables. */
function largestMessages(collection) {
  const { tree, order, up, children } = collection;
  const messages = new Array(tree.cliques.length);
  const tables = new Array(tree.cliques.length);
  let logScale = 0;
  for (const clique of order) {
    const cells = Float64Array.from(tree.base[clique]);
    for (const variable of collection.homed[clique]) {
      const map = tree.stateMaps[variable];
      const weights = collection.evidence[variable];
      for (let i = 0; i < cells.length; i += 1) cells[i] *= weights[map[i]];
    }
    for (const child of children[clique]) {
      const message = messages[child.clique];
      for (let i = 0; i < cells.length; i += 1) cells[i] *= message[child.here[i]];
    }
    const message = new Float64Array(up[clique] ? up[clique].size : 1);
    for (let i = 0; i < cells.length; i += 1) {
      const at = up[clique] ? up[clique].here[i] : 0;
      if (cells[i] > message[at]) message[at] = cells[i];
    }
    const highest = message.reduce((most, value) => Math.max(most, value), 0);
    if (!highest) return null;
    messages[clique] = message.map((value) => value / highest);
    tables[clique] = cells;
    logScale += Math.log(highest);
  }
  return { tables, logScale };
}

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
 * The states of all variables that are most probable together under a collection's
 * evidence, and ln of their probability with it (nats); null if it is impossible.
 */
function mostProbable(collection) {
  const { tree, order, up, children } = collection;
  const found = largestMessages(collection);
  if (!found) return null;
  const states = new Array(tree.cards.length).fill(0);
  const entries = new Array(tree.cliques.length).fill(0);
  for (let k = order.length - 1; k >= 0; k -= 1) {
    const clique = order[k];
    const cells = found.tables[clique];
    const map = up[clique]?.here;
    let best = -1;
    for (let i = 0; i < cells.length; i += 1) {
      if (map && map[i] !== entries[clique]) continue;
      if (best < 0 || cells[i] > cells[best]) best = i;
    }
    statesInCell(tree, clique, best).forEach((state, place) => {
      states[tree.cliques[clique][place]] = state;
    });
    for (const child of children[clique]) entries[child.clique] = child.here[best];
  }
  return { states, logProbability: found.logScale };
}
