// Which engine answers for which page.

/** Odds, of which the prior's are last, as the prior and terms of a page. */
function asTerms(odds) {
  return { prior: odds.at(-1), terms: odds.slice(0, -1) };
}

/** The engine of a model. */
function engineOf(model) {
  const kinds = {
    // Tables of a model that is edited in the page are not packed.
    network: () => new NetworkEngine(model.network, model, (table) =>
      (ArrayBuffer.isView(table) ? table : unpacked(table))),
    networks: () => new NetworksEngine(model),
    program: () => new ProgramEngine(model),
    target: () => new TargetEngine(model),
  };
  return kinds[model.kind]();
}
