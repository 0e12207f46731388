/** Naive Bayes models over the same features. */
class Bank {
  constructor(program, nNodes, base, tables, members = -1) {
    this.nNodes = nNodes;
    this.base = program.values(base);
    this.nOutputs = this.base.length / nNodes;
    this.members = program.integers[members] ?? [...Array(nNodes).keys()];
    this.looks = tables.map((table) => new Look(program, ...table));
    // What is owned by the prior comes first.
    this.looks.sort((a, b) => (b.slot === program.cards.length) - (a.slot === program.cards.length));
    this.prior = { slot: program.cards.length, row: this.base };
  }

  /** What is added up for a row, by owner. */
  evidence(codes) {
    const found = this.looks.map((look) => ({ slot: look.slot, row: look.entry(codes) }));
    return [this.prior, ...found.filter(({ row }) => row)];
  }

  /** Log scores, or log posteriors, of all nodes. */
  nodes(evidence, isPosterior) {
    const total = evidence.reduce((sum, { row }) => added(sum, row), new Float64Array(this.base.length));
    return Array.from({ length: this.nNodes }, (_, node) => {
      const own = total.subarray(node * this.nOutputs, (node + 1) * this.nOutputs);
      return (isPosterior && logNormalized(own)) || own;
    });
  }

  /** By owner, the change of the log-odds of nodes together as evidence is added. */
  odds(evidence, nodes, target, against) {
    const odds = new Float64Array(this.prior.slot + 1);
    const sides = [target, against].map((label) => ({ label, sums: new Float64Array(nodes.length) }));
    let before = 0;
    for (const { slot, row } of evidence) {
      for (const { label, sums } of sides) {
        added(sums, nodes.map((node) => row[node * this.nOutputs + label]));
      }
      const after = logSumExp(sides[0].sums) - logSumExp(sides[1].sums);
      odds[slot] += after - before;
      before = after;
    }
    return odds;
  }
}

/** The log of a mean of members; the posterior of a gate is the weight of its branches. */
class LogSum {
  constructor(program, paths, networks, isPosterior, fallback = []) {
    this.nClasses = program.nClasses;
    this.isPosterior = isPosterior;
    this.paths = paths.map((path) => path.map((bank) => new Bank(program, ...bank)));
    this.networks = networks.map((network) => program.term(network));
    // What scores a row for which no member is possible.
    this.fallback = fallback.map((bank) => [new Bank(program, ...bank)]);
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
      scores: sumByClass(scores, this.nClasses),
      odds: (target, against) => bank.odds(evidence, nodes, target, against),
    }));
  }

  scores(codes) {
    const members = this.#members(codes).map(({ scores }) => scores);
    const scale = Math.log(members.length || 1);
    return sumByClass(members, this.nClasses).map((score) => score - scale);
  }

  /** Log-odds by owner. */
  odds(codes, target, against) {
    return oddsOfSum(this.#members(codes), codes.length + 1, target, against);
  }
}
