// How good the model is: what it gave to training rows that were left out of learning.

/** Shares of rows that came true, by what the model gave them without having seen them. */
class Quality {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.about = cockpit.session.model.quality ?? {};
    this.isKnown = this.about.rows !== undefined;
    if (this.isKnown) {
      for (const name of ["rows", "expected", "observed"]) this[name] = unpacked(this.about[name]);
      this.nBins = this.rows.length / cockpit.outcome.states.length;
    }
    this.lines = element("ul", {});
    this.table = element("tbody", {});
    byId("right").append(element("section", { id: "quality", "aria-labelledby": "quality-heading" }, [
      element("h2", { id: "quality-heading", tabindex: "-1", text: "How good is this model?" }), this.lines,
      ...(this.isKnown ? [this.#bins()] : []),
      ...this.#remarks(),
    ]));
  }

  #bins() {
    const head = ["The model gave", "It came true for", "rows"];
    return element("details", {}, [
      element("summary", { text: "How often each answer came true" }),
      element("table", {}, [
        element("thead", {}, [element("tr", {}, head.map((text, i) =>
          element("th", { scope: "col", text, className: i ? "number" : "" })))]), this.table,
      ]),
    ]);
  }

  #remarks() {
    const { outcome, session: { model: { variables, remarks, is_rounded: isRounded } } } = this.cockpit;
    const texts = this.isKnown ? [] : [`bayleaf evaluate TABLE --target ${variables[outcome.question].name} tests such a model on rows that it has not seen.`];
    if (!isRounded) texts.push(...remarks);
    return texts.length ? [forProgrammers(texts)] : [];
  }

  /** The part of the left-out rows that got a chance like this one; null without rows. */
  #bin(target, bin) {
    const at = target * this.nBins + bin;
    const rows = this.rows[at];
    return rows ? { rows, given: this.expected[at] / rows, came: this.observed[at] / rows } : null;
  }

  /** How often the model is right, in a sentence. */
  hits() {
    const { words, outcome } = this.cockpit;
    if (!this.isKnown) return "How well it predicts new cases has not been measured.";
    const { n, error, shares } = this.about;
    const usual = shares.indexOf(Math.max(...shares));
    return `Right for ${near(1 - error)} of 100 ${words.cases} when each was left out of learning, all its findings known. Always answering “${words.state(outcome.question, usual)}” would be right for ${of100(shares[usual])}.${n ? ` Measured on ${counted(n, "row")}${this.#learned()}.` : ""}`;
  }

  /** That figures of cases with all findings known are not those of this one; "" if they are. */
  beyond() {
    const { cockpit } = this;
    const { features } = cockpit.findings;
    const n = features.filter((v) => onlyState(cockpit.evidence()[v]) >= 0).length;
    return !this.isKnown || n === features.length ? ""
      : `Here ${n} of ${features.length} findings ${n === 1 ? "is" : "are"} known, for which that was not measured: expect more errors.`;
  }

  /** Training rows, of which some may not have been left out, and the date. */
  #learned() {
    const { outcome, findings } = this.cockpit;
    const all = sumOf(outcome.rows(findings.features[0]));
    const { fitted } = this.about;
    // Dates take long to write, and this one stays.
    this.learned ??= `${all ? `, learned from ${brief(all)}` : ""}${fitted ? ` on ${new Date(fitted).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" })}` : ""}`;
    return this.learned;
  }

  /** How often an answer like this one came true, in a sentence; "" if not known. */
  like({ target, chance }) {
    if (!this.isKnown) return "";
    const bin = Math.min(this.nBins - 1, Math.floor(chance * this.nBins));
    const found = this.#bin(target, bin);
    if (!found) return "";
    const { words, outcome } = this.cockpit;
    return `Answers like this one: where it gave ${about(found.given).toLowerCase()} in 100 for “${words.state(outcome.question, target)}”, that came true for ${near(found.came)} of 100 (${counted(found.rows, "row")}, all findings known).`;
  }

  /** What is known of how good the model is, in sentences. */
  facts(answer) {
    return [this.hits(), this.beyond(), answer ? this.like(answer) : ""].filter(Boolean);
  }

  show(answer) {
    const { engine, model } = this.cockpit.session;
    const notes = [
      ...(this.isKnown ? ["Each row was left out of the counts alone, so new cases are predicted a little worse, those of other places or times perhaps much worse."] : []),
      ...(this.isKnown && engine.hasIntervals ? ["The 95 % interval covers what the number of training rows leaves open, not errors of the data."] : []),
      ...(model.is_rounded ? model.remarks : []),
    ];
    fill(this.lines, [...this.facts(answer), ...notes]
      .map((text) => element("li", { text, dir: "auto", className: notes.includes(text) ? "note" : "" })));
    if (!this.isKnown || !answer) return;
    fill(this.table, Array.from({ length: this.nBins }, (_, bin) => this.#bin(answer.target, bin))
      .filter(Boolean).map(({ rows, given, came }) => element("tr", {}, [
        element("th", { scope: "row", text: `${of100(given)} in 100` }),
        element("td", { className: "number", text: `${of100(came)} of 100` }),
        element("td", { className: "number", text: brief(rows) }),
      ])));
  }
}
