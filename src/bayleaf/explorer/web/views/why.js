// What speaks for the answer.

// Findings of averaged KDB divide what several of them tell.
const SHARED = "A finding's term changes when others become known, because they share evidence.";

/** The terms of the log-odds, as a table with bars. */
class WhyPanel {
  constructor(session) {
    this.session = session;
    this.line = byId("why-line");
    this.place = byId("why-table");
  }

  show() {
    const { session } = this;
    const { model, engine } = session;
    const question = model.variables[engine.question];
    this.place.replaceChildren();
    if (engine.expectation) {
      this.#showExpectation(short(question.name));
      return;
    }
    const found = session.explanation();
    const byItself = found && session.alone(found);
    if (!found) {
      this.line.textContent = session.evidence[engine.question]
        ? "You entered the outcome itself. Remove it to see reasons."
        : "There are no two states to compare.";
      return;
    }
    const [target, against] = [found.target, found.against].map((state) =>
      short(question.states[state]));
    const shared = engine.isShared ? ` ${SHARED}` : "";
    this.line.textContent = `Log-odds of ${target} against ${against}: `
      + `${inBits(found.logOdds)} bits, the sum of the terms below.${shared}`;
    const isOpen = session.evidence.every((mask) => !mask);
    const prior = { text: this.#prior(isOpen), value: found.prior };
    const items = this.#items(found.terms);
    const alone = byItself && this.#items(found.terms, byItself);
    // What a feature says alone, and what it adds because of the others that are set.
    const columns = alone
      ? [["bits", inBits], ["alone", (_, i) => (i ? inBits(alone[i - 1].alone) : "")],
        ["with others", (value, i) => (i ? inBits(value - alone[i - 1].alone) : "")]]
      : [["factor", timesOdds], ["bits", inBits]];
    this.place.append(this.#table([prior, ...items], [against, target], columns));
  }

  /** What the term is of that no finding has. */
  #prior(isOpen) {
    if (!this.session.engine.isShared) return "starting point";
    return isOpen ? "share of the training rows (ln P)" : "prior";
  }

  /** What moves the expectation of a number. */
  #showExpectation(name) {
    const { mean, baseline, terms } = this.session.engine.expectation(this.session.evidence);
    this.line.textContent = `${name} is expected to be ${brief(mean)}: a baseline of `
      + `${brief(baseline)} and the terms below. ${SHARED}`;
    const items = this.#items(terms);
    const plus = (value) => `${value < 0 ? "" : "+"}${brief(value)}`;
    if (items.length) this.place.append(this.#table(items, ["less", "more"], [["adds", plus]]));
    else this.line.textContent = `${name} is expected to be ${brief(mean)} before anything is known.`;
  }

  /** Terms of what is set, the strongest first. */
  #items(terms, alone = []) {
    const { model, evidence } = this.session;
    const items = [];
    evidence.forEach((mask, variable) => {
      if (!mask) return;
      items.push({ text: knownText(model.variables[variable], mask), value: terms[variable], alone: alone[variable] });
    });
    return items.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  }

  /** Items with bars to either end, and columns of a title and how values are written. */
  #table(items, [left, right], columns) {
    const finite = items.map(({ value }) => Math.abs(value)).filter(Number.isFinite);
    const largest = Math.max(...finite, 1e-300);
    const rows = items.map(({ text, value }, i) => {
      const bar = element("span", { className: value < 0 ? "bar against" : "bar for" });
      const length = Math.min(1, Math.abs(value) / largest) * 50;
      bar.style.width = `${length}%`;
      bar.style.left = value < 0 ? `${50 - length}%` : "50%";
      return element("tr", {}, [
        element("th", { scope: "row", dir: "auto" }, breakable(text)),
        element("td", { className: "odds", "aria-hidden": "true" }, [bar]),
        ...columns.map(([, say]) =>
          element("td", { className: "number", text: say(value, i) })),
      ]);
    });
    const head = element("tr", {}, [
      element("th", { scope: "col", text: "Evidence" }),
      element("td", { className: "odds-head", "aria-hidden": "true" }, [
        element("span", { text: `‹ ${short(left, 14)}` }),
        element("span", { text: `${short(right, 14)} ›` }),
      ]),
      ...columns.map(([text]) => element("th", { scope: "col", className: "number", text })),
    ]);
    return element("table", {
      "aria-labelledby": "why-heading", className: columns.length > 2 ? "terms split" : "terms",
    }, [
      element("thead", {}, [head]), element("tbody", {}, rows),
    ]);
  }
}
