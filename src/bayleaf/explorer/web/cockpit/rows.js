// Rows that came with the page, on request: cases to open, and how many are like this one.

// Matching rows from which on no weaker findings are left out.
const ENOUGH_ROWS = 8;
// Share of the axis within which numbers count as alike.
const ALIKE = 0.1;
// Chances of a class this near to a half leave it undecided.
const UNDECIDED = 0.12;

const STARTS = {
  clear: "a clear case", undecided: "an undecided case", wrong: "a case that misled the model",
  low: "a case with a low number", high: "a case with a high number",
};

/** Which rows have values like those that are known, and what was recorded in them. */
class MatchingRows {
  constructor(cockpit) {
    this.cockpit = cockpit;
    const { rows } = cockpit.session.model;
    this.columns = new Map(rows.variables.map((variable, column) => [variable, rows.codes[column]]));
    this.n = rows.n;
  }

  /** The states of a feature that are like what is known of it. */
  #alike(variable, mask) {
    const { outcome, session } = this.cockpit;
    const about = session.model.variables[variable];
    if (!about.cuts || onlyState(mask) < 0 || onlyState(mask) === about.missing) return mask;
    const intervals = outcome.intervals(variable);
    const axis = axisOf(intervals);
    const tolerance = about.words?.tolerance ?? ALIKE * (axis.high - axis.low) / 2;
    const value = this.cockpit.findings.valueOf(variable, mask);
    const near_ = mask.map(() => 0);
    for (const { low, high, state } of intervals) {
      const middle = (Math.max(low, axis.low) + Math.min(high, axis.high)) / 2;
      if (mask[state] || Math.abs(middle - value) <= tolerance) near_[state] = 1;
    }
    return near_;
  }

  /** Rows that match some findings, and how many of them have each recorded class. */
  #count(variables, evidence, except) {
    const masks = variables.map((v) => [this.columns.get(v), this.#alike(v, evidence[v])]);
    const rows = [];
    for (let row = 0; row < this.n; row += 1) {
      if (row === except || !masks.every(([codes, mask]) => codes?.[row] >= 0 && mask[codes[row]])) continue;
      rows.push(row);
    }
    return { variables, n: rows.length, rows };
  }

  /** A sentence on the rows like this; where few match, also on the strongest findings. */
  sentence(evidence, reasons, target, except) {
    const { words } = this.cockpit;
    const known = reasons.items.map(({ variable }) => variable).filter((v) => this.columns.has(v));
    if (!known.length) return "";
    const all = this.#count(known, evidence, except);
    let few = all;
    for (let k = known.length - 1; k > 0 && few.n < ENOUGH_ROWS; k -= 1) {
      few = this.#count(known.slice(0, k), evidence, except);
    }
    const which = known.length === 1 ? "this finding" : known.length === 2 ? "both findings" : `all ${known.length} findings`;
    // An opened row does not match itself.
    const whole = except < 0 ? `the ${this.n}` : `the other ${this.n - 1}`;
    const head = `${all.n || "None"} of ${whole} ${words.cases} on this page match${all.n === 1 ? "es" : ""} ${which}`;
    if (few === all) return `${head}${this.#having(all, target)}.`;
    const names = few.variables.map((v) => words.label(v));
    const strongest = names.length === 1 ? `${names[0]} alone` : names.length > 3 ? `the ${names.length} strongest` : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
    return `${head}${this.#having(all, target)}. ${few.n || "None"} match${few.n === 1 ? "es" : ""} ${strongest}${this.#having(few, target)}.`;
  }

  /** What was recorded in rows. */
  #having({ rows }, target) {
    const { words, outcome, scale, session } = this.cockpit;
    if (outcome.isNumber) {
      const numbers = rows.map((row) => session.model.rows.recorded?.[row] ?? null).filter((number) => number !== null);
      return numbers.length ? `; ${scale.total(sumOf(numbers) / numbers.length)} was recorded${numbers.length > 1 ? " on average" : ""}` : "";
    }
    const labels = this.columns.get(outcome.question);
    if (!labels || !rows.length) return "";
    const predicate = (state) => words.predicate(outcome.question, state);
    const ofOne = (text) => text.replace(/^have\b/, "has").replace(/^are\b/, "is");
    if (rows.length === 1) return labels[rows[0]] < 0 ? "" : `; this one ${ofOne(predicate(labels[rows[0]]))}`;
    const n = rows.filter((row) => labels[row] === target).length;
    return `; ${n || "none"} of these ${n === 1 ? ofOne(predicate(target)) : predicate(target)}`;
  }
}

/** A row to open, what was recorded in it, and the rows like the case. */
class RowPanel {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.matching = new MatchingRows(cockpit);
    this.recorded = null;
    this.text = element("p", { className: "match" });
    this.note = element("p", { className: "recorded" });
    byId("now-body").prepend(this.note);
    byId("now-body").append(this.text);
    const { n } = cockpit.session.model.rows;
    this.field = element("input", { type: "number", min: 1, max: n, step: 1, "aria-label": "Row" });
    this.field.addEventListener("change", () => this.open(Number(this.field.value)));
    const step = (text, label, change) => pressing(text, () => this.open(Number(this.field.value || 0) + change), { "aria-label": label });
    this.quality = element("p", { className: "note" });
    byId("right").append(element("section", { "aria-labelledby": "rows-heading" }, [
      element("h2", { id: "rows-heading", text: `Open one of ${n} ${cockpit.words.cases}` }),
      element("p", { className: "buttons" }, [step("‹", "Row before", -1), this.field, step("›", "Next row", 1)]),
      this.quality,
    ]));
    this.stop = () => {};
    this.judge();
  }

  /** Count how often the model is right, once more where the line to act from has moved. */
  judge() {
    this.stop();
    this.stop = runInSlices(this.decisions(), (found, isDone) => { if (isDone) this.#tellQuality(found); }, whenIdle);
  }

  /** For each row with a recorded class, whether the model decides for it. */
  * decisions() {
    const { cockpit } = this;
    const { session } = cockpit;
    for (let row = 0; row < session.model.rows.n; row += 1) {
      const { evidence, label } = shippedCase(session, row);
      const { logs } = label < 0 ? {} : session.answer(evidence);
      yield logs ? { isRight: cockpit.decision(logs) === label } : null;
    }
  }

  #tellQuality(found) {
    if (!found.length) return;
    const right = found.filter(({ isRight }) => isRight).length;
    write(this.quality, `${this.rightFor(right, found.length)} It may have learned from them: for others see “How good is this model?”.`);
  }

  rightFor(right, n) {
    return `The model is right for ${right} of ${n}.`;
  }

  /** Cases to begin with, and whose answers chose them. */
  starts() {
    const { words, session } = this.cockpit;
    const suggested = session.model.rows.suggested ?? [];
    if (!suggested.length) return [];
    const { seen } = suggested[0];
    return [
      element("div", { className: "starts" }, suggested.map(({ kind, row }) =>
        pressing(`Open ${STARTS[kind]}`, () => {
          this.open(row + 1);
          // The buttons are gone.
          byId("now").focus();
        }))),
      element("p", { className: "note", text: seen === false
        ? "Chosen by answers of models that had not seen the one they answer for."
        : `Chosen by the model's own answers; it ${seen ? "has" : "may have"} learned from these ${words.cases}.` }),
    ];
  }

  open(line) {
    const { session } = this.cockpit;
    const row = Math.min(session.model.rows.n, Math.max(1, Math.round(line) || 1)) - 1;
    this.field.value = String(row + 1);
    this.recorded = { ...shippedCase(session, row), row };
    this.cockpit.touched = null;
    session.replace(this.recorded.evidence);
  }

  show(answer, reasons) {
    const { cockpit } = this;
    const evidence = cockpit.evidence();
    // What is tried is still of the row that is open, which does not match itself.
    const isOpen = this.recorded?.evidence === cockpit.session.evidence;
    write(this.text, answer && reasons ? this.matching.sentence(evidence, reasons, answer.target, isOpen ? this.recorded.row : -1) : "");
    const isUnchanged = this.recorded?.evidence === evidence;
    const suggested = isUnchanged && cockpit.session.model.rows.suggested?.find(({ row }) => row === this.recorded.row);
    write(this.note, isUnchanged && answer ? this.comparison(answer, suggested || { seen: false })
      ?? `No outcome was recorded for this one: the ${cockpit.words.cases} of this page came without.` : "");
  }

  /** The model, and whether it learned from the case. */
  learner(seen) {
    return `The model${seen === false ? "" : `, which ${seen ? "has" : "may have"} learned from this one,`}`;
  }

  /** What was recorded in the row that is open, and what it was given; null without. */
  comparison(answer, { seen, posterior, kind }) {
    const { cockpit } = this;
    const { outcome, words } = cockpit;
    const { label } = this.recorded;
    if (label < 0) return null;
    const head = `Recorded outcome: ${words.state(outcome.question, label)}.`;
    if (posterior && seen === false) return `${head} A model that had not seen this case gave it ${of100(posterior[answer.target])} in 100: ${kind === "clear" ? "right" : kind}.`;
    const isUndecided = Math.max(...answer.logs.map(Math.exp)) < 0.5 + (outcome.isBinary ? UNDECIDED : 0);
    const verdict = isUndecided ? "undecided" : cockpit.decision(answer.logs) === label ? "right here" : "wrong here";
    return `${head} ${this.learner(seen)} was ${verdict}.`;
  }
}

/** The same for rows with a recorded number. */
class NumberRowPanel extends RowPanel {
  * decisions() {
    const { outcome, session } = this.cockpit;
    for (const [row, number] of (session.model.rows.recorded ?? []).entries()) {
      const { low, high } = number === null ? {} : outcome.answer(shippedCase(session, row).evidence);
      yield number === null ? null : { isRight: low <= number && number <= high };
    }
  }

  rightFor(right, n) {
    return `The 90 % interval of the model contains the number for ${right} of ${n}.`;
  }

  comparison(answer, { seen, mean, interval }) {
    const { scale, session } = this.cockpit;
    const number = session.model.rows.recorded?.[this.recorded.row] ?? null;
    if (number === null) return null;
    const isLeftOut = interval && seen === false;
    const [low, high] = isLeftOut ? interval : [answer.low, answer.high];
    return `Recorded: ${scale.total(number)}. ${isLeftOut ? "A model that had not seen this case" : this.learner(seen)} gave ${scale.total(isLeftOut ? mean : answer.mean)}, ${scale.intervalText({ low, high })}.`;
  }
}
