// Rows of which some features are unknown.

/** Share of all features' strength that is known, without each and without the strongest. */
function knownShares(strengths, known) {
  const own = strengths.map((strength, feature) => (known[feature] ? strength : 0));
  const total = sumOf(strengths);
  const summed = sumOf(own);
  const share = (part, whole) => (whole > 0 ? Math.min(Math.max(part / whole, 0), 1) : 0);
  return {
    others: strengths.map((strength) => share(summed - strength, total - strength)),
    beyond: share(summed - Math.max(...own), total - Math.max(...strengths)),
  };
}

/** What scores are divided by, and what is added then, by the features that are known. */
class Calibration {
  constructor({ temperature, shift, strengths }) {
    this.whole = { temperature: temperature ?? 1, shift: shift ? unpacked(shift) : null };
    this.strengths = strengths ? unpacked(strengths) : null;
  }

  /** The temperature and the shift; a temperature is learned on rows that know all. */
  of(known) {
    if (!this.strengths || known.every(Boolean)) return this.whole;
    const { temperature, shift } = this.whole;
    const { beyond } = knownShares(this.strengths, known);
    return {
      temperature: 1 / (1 + beyond * (1 / temperature - 1)),
      shift: shift && shift.map((nats) => beyond * nats),
    };
  }

  /** Scores as logs of probabilities up to a constant. */
  logs(scores, known) {
    const { temperature, shift } = this.of(known);
    return Array.from(scores, (score, label) =>
      score / temperature + (shift ? shift[label] : 0));
  }
}
