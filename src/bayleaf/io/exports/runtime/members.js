/** The log of a mean of members; the posterior of a gate is the weight of its branches. */
class LogSum {
  constructor(program, paths, networks, isPosterior, fallback = []) {
    this.nClasses = program.nClasses;
    this.isPosterior = isPosterior;
    this.paths = paths.map((path) => path.map((bank) => program.term(bank)));
    this.networks = networks.map((network) => program.term(network));
    // What scores a row for which no member is possible.
    this.fallback = fallback.map((bank) => [program.term(bank)]);
  }

  /** Members that are possible: scores by class, and how their odds are split. */
  #members(codes) {
    const members = this.networks.map((network) => ({
      scores: network.scores(codes),
      odds: (target, against) => network.odds(codes, target, against),
    }));
    for (const path of this.paths) members.push(...this.#experts(path, codes, this.isPosterior));
    const possible = members.filter(({ scores }) => scores.some((score) => score > -Infinity));
    return possible.length ? possible
      : this.fallback.flatMap((path) => this.#experts(path, codes, false));
  }

  #experts(path, codes, isPosterior) {
    const bank = path[path.length - 1];
    let weights = [0];
    for (const gate of path.slice(0, -1)) {
      weights = gate.nodes(gate.evidence(codes), isPosterior).flatMap((own, node) =>
        Array.from(own, (share) => weights[node] + share));
    }
    const evidence = bank.evidence(codes);
    const parts = new Map();
    bank.nodes(evidence, isPosterior).forEach((scores, node) => {
      if (!scores.some((score) => score > -Infinity)) return;
      const part = parts.get(bank.members[node]) ?? { scores: [], nodes: [] };
      part.scores.push(scores.map((score) => score + (weights[node] ?? 0)));
      part.nodes.push(node);
      parts.set(bank.members[node], part);
    });
    return Array.from(parts.values(), ({ scores, nodes }) => ({
      scores: this.#sum(scores),
      odds: (target, against) => bank.odds(evidence, nodes, target, against),
    }));
  }

  /** Log of the sum, by class. */
  #sum(members) {
    return Float64Array.from({ length: this.nClasses }, (_, label) =>
      logSumExp(members.map((own) => own[label])));
  }

  scores(codes) {
    const members = this.#members(codes).map(({ scores }) => scores);
    return this.#sum(members).map((score) => score - Math.log(members.length || 1));
  }

  /** The members' log-odds by logarithmic-mean weights, by owner. */
  odds(codes, target, against) {
    const members = this.#members(codes);
    const weights = logarithmicMeanWeights(
      members.map(({ scores }) => scores[target]),
      members.map(({ scores }) => scores[against]),
    );
    const total = new Float64Array(codes.length + 1);
    // Members without weight may have no finite terms.
    members.forEach(({ odds }, m) => {
      if (weights[m]) added(total, odds(target, against).map((own) => weights[m] * own));
    });
    return total;
  }
}
