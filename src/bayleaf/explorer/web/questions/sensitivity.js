// How far the answer moves as one entry of one table changes.

// Each entry is lowered and raised by this share of itself.
const SPREAD = 0.1;

/**
 * For each table entry strictly between 0 and 1 the probability of a state of the
 * question as the entry is lowered and raised by a tenth, the others of its row keeping
 * proportions; null where an entry moves nothing. `byWidth` puts the widest first.
 */
function* tornado(session, state) {
  const { engine, evidence } = session;
  if (!engine.familySums || evidence[engine.question]) return;
  for (const { child, family, values, sums } of yield* engine.familySums(evidence)) {
    const card = session.model.variables[child].states.length;
    const totals = sums.map(sumOf);
    for (let start = 0; start < values.length; start += card) {
      const whole = values.slice(start, start + card).reduce((sum, value) => sum + value, 0);
      const row = values.slice(start, start + card).map((value) => value / whole);
      const own = sums.map((cells) => cells.slice(start, start + card));
      const rest = own.map((cells, label) => totals[label] - sumOf(cells));
      // A row that the evidence rules out moves nothing.
      if (!own.some((cells) => sumOf(cells) > 0)) continue;
      for (let entry = 0; entry < card; entry += 1) {
        const p = row[entry];
        // The score of each class is linear in the entry.
        const others = own.map((cells) => sumOf(cells.with(entry, 0)));
        const ends = p <= 0 || p >= 1 ? [null] : [p * (1 - SPREAD), Math.min(1, p * (1 + SPREAD))].map((x) => {
          const scores = own.map((cells, label) => Math.log(Math.max(
            rest[label] + (cells[entry] / p) * x + (others[label] / (1 - p)) * (1 - x), 0)));
          const logs = session.logPosterior(scores);
          return logs ? Math.exp(logs[state]) : null;
        });
        yield ends.includes(null) ? null : { child, family, row: start / card, entry, p, ends };
      }
    }
  }
}

/** Entries by how far they move the answer, the widest first. */
function byWidth(entries) {
  const width = ({ ends: [low, high] }) => Math.abs(high - low);
  return entries.sort((a, b) => width(b) - width(a));
}
