// Which engine answers for which page.

/** The engine of a model. */
function engineOf(model) {
  const kinds = {
    network: () => new NetworkEngine(model.network, model),
    networks: () => new NetworksEngine(model),
    program: () => new ProgramEngine(model),
    target: () => new TargetEngine(model),
  };
  return kinds[model.kind]();
}
