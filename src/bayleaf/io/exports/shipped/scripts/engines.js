// Which program computes with which kind of model.

/** The engine of a model's kind. */
function engineOf(model) {
  const kinds = {
    network: NetworkEngine,
    networks: NetworksEngine,
    one_dependence: OneDependenceEngine,
    averaged: AveragedEngine,
    mixture: MixtureEngine,
    hybrid: HybridEngine,
    target: TargetEngine,
  };
  return new kinds[model.kind](model);
}
