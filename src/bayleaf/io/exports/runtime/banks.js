/** Naive Bayes models over the same features. */
class Bank {
  constructor(program, nNodes, base, tables, members = -1) {
    this.nNodes = nNodes;
    this.base = program.values(base);
    this.nOutputs = this.base.length / nNodes;
    this.members = program.integers[members] ?? [...Array(nNodes).keys()];
    this.tables = tables.map(([owner, feature, places, rows, first]) => {
      const codes = program.integers[places];
      const values = program.values(rows);
      const nRows = Math.max(...codes) + 1;
      const entries = Array.from({ length: nRows }, (_, row) => {
        const entry = new Float64Array(this.base.length);
        for (let k = row; k < values.length; k += nRows) entry[first + Math.floor(k / nRows)] = values[k];
        return entry;
      });
      return { slot: program.slot(owner), feature, rows: codes.map((row) => entries[row]) };
    });
    // What is owned by the prior comes first.
    this.tables.sort((a, b) => (b.slot === program.cards.length) - (a.slot === program.cards.length));
    this.prior = { slot: program.cards.length, row: this.base };
  }

  /** What is added up for a row, by owner. */
  evidence(codes) {
    const found = this.tables.map(({ slot, feature, rows }) => ({ slot, row: rows[codes[feature]] }));
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
