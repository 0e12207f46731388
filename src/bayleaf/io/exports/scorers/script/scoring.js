// From a row to a label, to probabilities, and to what speaks for it.

// Features that a text names beside the one that a term is of.
const MOST_GIVEN = 3;

/** A model that scores one row at a time. */
class Scorer {
  constructor(model, kinds, readers) {
    this.classes = model.classes;
    const byName = Object.fromEntries(Object.entries(readers).map(
      ([name, Reader]) => [name, new Reader(model.patterns)]));
    this.cells = model.cells.map((own) => new Cell(
      own, byName, model.empty ?? [], model.markers ?? []));
    this.states = model.variables.slice(0, this.cells.length).map(({ states }) => states);
    this.columns = this.cells.map(({ column }) => column);
    this.leftOut = model.left_out ?? [];
    this.texts = model.texts;
    this.parents = model.parents;
    this.calibration = new Calibration(model);
    this.loss = model.loss ? unpacked(model.loss) : null;
    this.program = new Program(model.program, kinds);
  }

  /** Codes of the values of a row; columns that the model has no use for pass. */
  codes(row) {
    if (row === null || typeof row !== "object") {
      throw new TypeError(`a row must be an object of columns and values, got ${
        row === null ? "null" : `a ${typeof row}`}`);
    }
    return this.cells.map((cell) => {
      if (!Object.hasOwn(row, cell.column)) {
        throw new Error(`the row lacks column ${inQuotes(cell.column)}; give it, as null `
          + "if it is not known");
      }
      return cell.code(row[cell.column]);
    });
  }

  /** The cells of a row that are not taken as they are. */
  notes(row) {
    const notes = this.codes(row).map((code, k) => [
      this.columns[k], this.cells[k].note(row[this.columns[k]], code, this.states[k])]);
    const known = [...this.columns, ...this.leftOut].map(String);
    const others = Object.keys(row).filter((name) => !known.includes(name));
    notes.push(...others.map((name) => [name, "not in training"]));
    // Each part of a date has the same note.
    return Array.from(new Map(notes.filter(([, note]) => note)), ([column, note]) =>
      ({ column, cell: row[column] ?? null, note }));
  }

  /** Logarithm of the probability of each class. */
  logProba(codes) {
    const logs = logNormalized(
      this.calibration.logs(this.program.scores(codes), this.program.known(codes)));
    if (logs === null || !logs.every((log) => log <= 1e-9)) {
      throw new Error("the row has probability zero under every class; use a smoothing "
        + "rule that leaves no zero in the tables");
    }
    return logs;
  }

  /** The class that is most probable or, under a loss, cheapest. */
  chosen(logs) {
    const proba = logs.map(Math.exp);
    if (!this.loss) return argMax(proba);
    const n = proba.length;
    return argMax(proba.map((_, label) =>
      -proba.reduce((cost, p, other) => cost + p * this.loss[label * n + other], 0)));
  }

  predict(row) {
    return this.classes[this.chosen(this.logProba(this.codes(row)))];
  }

  predictProba(row) {
    const logs = this.logProba(this.codes(row));
    return Object.fromEntries(this.classes.map((label, k) => [label, Math.exp(logs[k])]));
  }

  /** The log-odds of the label predicted against another, in terms that add up. */
  explain(row, against) {
    const codes = this.codes(row);
    const logs = this.logProba(codes);
    const target = this.chosen(logs);
    const other = this.#rival(logs, target, against);
    const { temperature, shift } = this.calibration.of(this.program.known(codes));
    const odds = this.program.odds(codes, target, other).map((own) => own / temperature);
    return {
      class: this.classes[target],
      against: this.classes[other],
      probability: Math.exp(logs[target]),
      against_probability: Math.exp(logs[other]),
      log_odds: logs[target] - logs[other],
      prior: odds.at(-1) + (shift ? shift[target] - shift[other] : 0),
      terms: codes.map((_, feature) => this.#term(feature, codes, odds[feature])),
    };
  }

  /** The class to compare with: the one named, else the runner-up. */
  #rival(logs, target, against) {
    if (against !== undefined && against !== null) {
      const place = this.classes.indexOf(against);
      if (place < 0) {
        throw new Error(`against must be one of the classes ${this.classes.join(", ")}, got `
          + inQuotes(against));
      }
      if (place !== target) return place;
    }
    return logs.length > 1 ? argMax(logs, target) : target;
  }

  /** What one feature contributes, and on which others that depends. */
  #term(feature, codes, nats) {
    const parents = this.parents[feature];
    const given = parents.slice(0, MOST_GIVEN).map((parent) => this.#text(parent, codes));
    if (parents.length > MOST_GIVEN) given.push("...");
    const text = this.#text(feature, codes);
    return {
      feature: this.cells[feature].feature,
      value: this.#label(feature, codes),
      given: Object.fromEntries(parents.map((parent) =>
        [this.cells[parent].feature, this.#label(parent, codes)])),
      contribution: nats,
      text: given.length ? `${text} given ${given.join(", ")}` : text,
    };
  }

  #label(feature, codes) {
    return this.states[feature][codes[feature]] ?? "missing";
  }

  #text(feature, codes) {
    return this.texts[feature]?.[codes[feature]]
      ?? `${this.cells[feature].feature} = ${this.#label(feature, codes)}`;
  }
}
