// Rows that came with the page, on request: cases to open, and how many are like this one.

// Matching rows from which on no weaker findings are left out.
const ENOUGH_ROWS = 8;
// Share of the axis within which numbers count as alike.
const ALIKE = 0.1;
// Chances of a class this near to a half leave it undecided.
const UNDECIDED = 0.12;

const STARTS = { clear: "a clear case", undecided: "an undecided case", wrong: "a case that misled the model" };

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
    const labels = this.columns.get(this.cockpit.outcome.question);
    const recorded = new Map();
    let n = 0;
    for (let row = 0; row < this.n; row += 1) {
      if (row === except || !masks.every(([codes, mask]) => codes?.[row] >= 0 && mask[codes[row]])) continue;
      n += 1;
      if (labels) recorded.set(labels[row], (recorded.get(labels[row]) ?? 0) + 1);
    }
    return { variables, n, recorded };
  }

  /** A sentence on the rows like this; where few match, also on the strongest findings. */
  sentence(evidence, reasons, target, except) {
    const { words, outcome } = this.cockpit;
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
    const having = ({ n, recorded }) => {
      const m = recorded.get(target) ?? 0;
      return this.columns.has(outcome.question) && n ? `; ${m} of these ${words.predicate(outcome.question, target)}` : "";
    };
    if (few === all) return `${head}${having(all)}.`;
    const strongest = few.variables.length === 1 ? `${words.label(few.variables[0])} alone` : `the ${few.variables.length} strongest`;
    return `${head}. ${few.n} match ${strongest}${having(few)}.`;
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
    runInSlices(this.#decisions(), (found, isDone) => { if (isDone) this.#tellQuality(found); });
  }

  /** For each row with a recorded class, whether the model decides for it. */
  * #decisions() {
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
    write(this.quality, `The model is right for ${right} of ${found.length}. Where it learned from these ${this.cockpit.words.cases}, it errs more often for others.`);
  }

  /** Cases to begin with, and whose answers chose them. */
  starts() {
    const { words, session } = this.cockpit;
    const suggested = session.model.rows.suggested ?? [];
    if (!suggested.length) return [];
    const { seen } = suggested[0];
    return [
      element("div", { className: "starts" }, suggested.map(({ kind, row }) =>
        pressing(`Open ${STARTS[kind]}`, () => this.open(row + 1)))),
      element("p", { className: "note", text: seen === false
        ? "Chosen by answers of models that had not seen the one they answer for."
        : `Chosen by the model's own answers; it ${seen ? "has" : "may have"} learned from these ${words.cases}.` }),
    ];
  }

  open(line) {
    const { session } = this.cockpit;
    const row = Math.min(session.model.rows.n, Math.max(1, Math.round(line) || 1)) - 1;
    this.field.value = String(row + 1);
    const { evidence, label } = shippedCase(session, row);
    this.recorded = { evidence, label, row };
    this.cockpit.touched = null;
    session.replace(evidence);
  }

  show(answer, reasons) {
    const { cockpit } = this;
    const { outcome, words } = cockpit;
    const evidence = cockpit.evidence();
    const isOpen = this.recorded?.evidence === evidence;
    write(this.text, answer && reasons ? this.matching.sentence(evidence, reasons, answer.target, isOpen ? this.recorded.row : -1) : "");
    const label = isOpen && answer ? this.recorded.label : -1;
    const without_ = isOpen && this.cockpit.session.model.rows.suggested?.find(({ row }) => row === this.recorded.row);
    if (without_?.seen === false && label >= 0) {
      const { posterior, kind } = without_;
      write(this.note, `Recorded outcome: ${words.state(outcome.question, label)}. A model that had not seen this case gave it ${of100(posterior[answer.target])} in 100: ${kind === "clear" ? "right" : kind}.`);
      return;
    }
    const isUndecided = answer && Math.max(...answer.logs.map(Math.exp)) < 0.5 + (outcome.isBinary ? UNDECIDED : 0);
    const verdict = isUndecided ? "undecided" : answer && cockpit.decision(answer.logs) === label ? "right here" : "wrong here";
    const { seen } = without_ || { seen: false };
    const learned = seen === false ? "" : `, which ${seen ? "has" : "may have"} learned from this one,`;
    if (isOpen && label < 0) write(this.note, `No outcome was recorded for this one: the ${words.cases} of this page came without.`);
    else write(this.note, label < 0 ? "" : `Recorded outcome: ${words.state(outcome.question, label)}. The model${learned} was ${verdict}.`);
  }
}
