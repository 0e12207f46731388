// How far the answer moves as one entry of one table changes.

// Each entry is lowered and raised by this share of itself.
const SPREAD = 0.1;

/** The question's scores if an entry of a row were x, the others keeping proportions. */
function scoresWithEntry(sums, rowSums, row, entry, x) {
  const p = row[entry];
  return sums.map((cells, label) => {
    const whole = rowSums.others[label];
    const moved = row.reduce((sum, old, state) => {
      if (!old) return sum;
      const now = state === entry ? x : (old * (1 - x)) / (1 - p);
      return sum + (cells[rowSums.start + state] / old) * now;
    }, 0);
    return Math.log(Math.max(whole + moved, 0));
  });
}

/**
 * For each table entry strictly between 0 and 1 the probability of a state of the
 * question as the entry is lowered and raised by a tenth: the widest first.
 */
function tornado(session, state) {
  const { engine, evidence } = session;
  if (!engine.familySums || evidence[engine.question]) return null;
  const found = [];
  for (const { child, family, values, sums } of engine.familySums(evidence)) {
    const card = session.model.variables[child].states.length;
    const totals = sums.map((cells) => cells.reduce((sum, cell) => sum + cell, 0));
    for (let start = 0; start < values.length; start += card) {
      const whole = values.slice(start, start + card).reduce((sum, value) => sum + value, 0);
      const row = values.slice(start, start + card).map((value) => value / whole);
      const own = sums.map((cells) =>
        cells.slice(start, start + card).reduce((sum, cell) => sum + cell, 0));
      const rowSums = { start, others: totals.map((total, label) => total - own[label]) };
      // A row that the evidence rules out moves nothing.
      if (!own.some((sum) => sum > 0)) continue;
      row.forEach((p, entry) => {
        if (p <= 0 || p >= 1) return;
        const ends = [p * (1 - SPREAD), Math.min(1, p * (1 + SPREAD))].map((x) => {
          const logs = session.logPosterior(scoresWithEntry(sums, rowSums, row, entry, x));
          return logs ? Math.exp(logs[state]) : null;
        });
        if (ends.includes(null)) return;
        found.push({ child, family, row: start / card, entry, p, ends });
      });
    }
  }
  return found.sort((a, b) =>
    Math.abs(b.ends[1] - b.ends[0]) - Math.abs(a.ends[1] - a.ends[0]));
}
