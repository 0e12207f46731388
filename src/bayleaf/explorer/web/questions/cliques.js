// The order and the junction forest of a network whose arcs are edited.

/** Nodes after their parents, the lowest that is possible first, as Python orders them. */
function topologicalOrder(parents) {
  const left = new Set(parents.keys());
  const found = [];
  while (left.size) {
    const next = [...left].find((node) => !parents[node].some((parent) => left.has(parent)));
    found.push(next);
    left.delete(next);
  }
  return found;
}

/** Cliques that hold all families, and the links of a junction forest between them. */
function cliquesOf(n, families) {
  const near = Array.from({ length: n }, () => new Set());
  const join = (members) => members.forEach((one) => members.forEach((other) => {
    if (one !== other) near[one].add(other);
  }));
  families.forEach(join);
  const nMissing = (node) => {
    const own = [...near[node]];
    return sumOf(own.map((one) => own.filter((other) => other > one && !near[one].has(other)).length));
  };
  const left = new Set(near.keys());
  const cliques = [];
  // The node whose elimination adds the fewest arcs goes first.
  while (left.size) {
    const next = [...left].reduce((best, node) => (nMissing(node) < nMissing(best) ? node : best));
    const clique = [next, ...near[next]].sort((a, b) => a - b);
    join(clique);
    for (const other of near[next]) near[other].delete(next);
    left.delete(next);
    if (!cliques.some((other) => clique.every((v) => other.includes(v)))) cliques.push(clique);
  }
  return { cliques, links: spanningLinks(cliques) };
}

/** Links between cliques that share most: a forest of greatest weight. */
function spanningLinks(cliques) {
  const pairs = cliques.flatMap((one, i) => cliques.slice(i + 1).map((other, k) =>
    [i, i + 1 + k, one.filter((v) => other.includes(v)).length]));
  const root = [...cliques.keys()];
  const links = [];
  for (const [i, j, weight] of pairs.sort((a, b) => b[2] - a[2])) {
    if (!weight || root[i] === root[j]) continue;
    const [to, from] = [root[i], root[j]];
    root.forEach((own, k) => { if (own === from) root[k] = to; });
    links.push([i, j]);
  }
  return links;
}
