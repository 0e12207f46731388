// Ways along the arcs of a network on which what is known of one variable reaches another.

/**
 * A shortest trail from one variable to another that evidence leaves open (Shachter 1998,
 * Bayes-ball), with signs of its arcs; null for none, or where distributions are no
 * families.
 */
function openTrail(terms, evidence, from, to) {
  if (terms.some(({ child }) => child === undefined)) return null;
  const parents = new Map(terms.map(({ child, family }) => [child, family.filter((v) => v !== child)]));
  const children = new Map([...parents.keys()].map((node) => [node, []]));
  parents.forEach((own, child) => own.forEach((parent) => children.get(parent).push(child)));
  // Two arrows that meet in a variable let through what is known of its descendants.
  const opened = new Set();
  const above = [...parents.keys()].filter((node) => evidence[node]);
  for (const node of above) {
    if (!opened.has(node)) above.push(...parents.get(node));
    opened.add(node);
  }
  const isFixed = (node) => node !== from && onlyState(evidence[node]) >= 0;
  const waiting = [{ node: from, isFromChild: true, trail: [from] }, { node: from, isFromChild: false, trail: [from] }];
  const seen = new Set();
  for (const { node, isFromChild, trail } of waiting) {
    if (node === to) return trail;
    const key = `${node} ${isFromChild}`;
    const goes = !seen.has(key);
    seen.add(key);
    const isUpOpen = isFromChild ? !isFixed(node) : node === from || opened.has(node);
    if (goes && isUpOpen) {
      for (const next of parents.get(node)) waiting.push({ node: next, isFromChild: true, trail: [...trail, "←", next] });
    }
    if (goes && !isFixed(node)) {
      for (const next of children.get(node)) waiting.push({ node: next, isFromChild: false, trail: [...trail, "→", next] });
    }
  }
  return null;
}
