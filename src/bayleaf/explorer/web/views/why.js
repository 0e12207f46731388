// What speaks for the answer.

// Findings of averaged KDB divide what several of them tell.
const SHARED = "A finding's effect changes when others become known, because findings overlap.";
const UNLINKED = "One without a link to the answer may change what those below it do.";
const IN_ORDER = "They are taken in the order below, causes before effects; in another order the factors may differ.";

// The bars of a table go at least this far to either side, so that weak effects look weak.
const LEAST_SPAN = Math.log(11);
// What findings have together beyond the effects of each.
const OVERLAP = "overlap of findings";

/** The factors of the odds of two states, as a table with bars. */
class WhyPanel {
  constructor(session) {
    this.session = session;
    this.line = byId("why-line");
    this.place = byId("why-table");
    // States that the reader has chosen, of the variable in question.
    this.chosen = {};
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
    if (this.chosen.question !== engine.question) this.chosen = { question: engine.question };
    const found = session.explanation(this.chosen);
    if (!found) {
      this.line.textContent = session.evidence[engine.question]
        ? "You entered the outcome itself. Remove it to see reasons."
        : "There are no two values to compare.";
      return;
    }
    const [target, against] = [found.target, found.against].map((state) =>
      short(question.states[state]));
    const isOrdered = !engine.program;
    const unit = byId("unit").value;
    const isOpen = session.evidence.every((mask) => !mask);
    const start = engine.isShared ? session.start(found) : found.prior;
    const prior = { text: engine.isShared && isOpen ? "share of the training rows" : "starting point", value: start };
    const items = this.#items(found.terms, session.alone(found));
    if (isOrdered) this.#alongTrails(items);
    else items.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    const isUnlinked = items.slice(0, -1).some(({ isLinked }) => isLinked === false);
    keepFocus(this.line, () => this.line.replaceChildren(
      "Why ", this.#choice("target", found), " rather than ", this.#choice("against", found), "? ",
      `${likelier(found.logOdds, target, against)}. Each finding ${unit === "odds" ? "multiplies these odds" : `adds to the logarithm of these odds, in ${unit}`}. `,
      [engine.isShared ? SHARED : "", isOrdered && items.length > 1 ? IN_ORDER : "", isUnlinked ? UNLINKED : ""].filter(Boolean).join(" "),
    ));
    const shown = (nats) => ({ odds: timesOdds, nats: signed, bits: inBits })[unit](nats);
    // What a feature says alone, and what it adds because of the others that are set.
    const rest = found.prior - start;
    const overlap = shown(rest) === shown(0) ? [] : [{ text: OVERLAP, value: rest }];
    this.place.append(this.#table([prior, ...items, ...overlap], [against, target], [
      [isOrdered ? "given those above" : { odds: "factor" }[unit] ?? unit, shown],
      ["alone", (_, i) => (items[i - 1] ? shown(items[i - 1].alone) : "")],
      ...(isOrdered ? [] : [["with others", (value, i) => (items[i - 1] ? shown(value - items[i - 1].alone) : "")]]),
    ], LEAST_SPAN));
  }

  /** A choice among the states, by default the first two by probability. */
  #choice(role, found) {
    const { states } = this.session.model.variables[this.session.engine.question];
    const other = role === "target" ? "against" : "target";
    const choice = element("select", { "data-key": role, "aria-label": role === "target" ? "Value to explain" : "Value to compare it with" },
      states.map((text, state) => element("option", { value: state, text: short(text, 40) })));
    choice.value = String(found[role]);
    choice.addEventListener("change", () => {
      // Both stay, so that findings entered later do not turn the comparison.
      const state = Number(choice.value);
      Object.assign(this.chosen, { [other]: state === found[other] ? found[role] : found[other], [role]: state });
      this.show();
    });
    return choice;
  }

  /** In the order of the model, with the way that each finding's evidence takes. */
  #alongTrails(items) {
    const { engine, evidence, model } = this.session;
    items.sort((a, b) => engine.order.indexOf(a.variable) - engine.order.indexOf(b.variable));
    if (!engine.tree) return;
    const revealed = evidence.map(() => null);
    for (const item of items) {
      const trail = openTrail(engine.tree.terms, revealed, item.variable, engine.question);
      item.isLinked = Boolean(trail);
      item.trail = trail?.map((part) => model.variables[part]?.name ?? part).map((part) => short(part, 30)).join(" ")
        ?? `no link to ${short(model.variables[engine.question].name, 30)} here`;
      revealed[item.variable] = evidence[item.variable];
    }
  }

  /** What moves the expectation of a number. */
  #showExpectation(name) {
    const { mean, baseline, terms } = this.session.engine.expectation(this.session.evidence);
    this.line.textContent = `${name} is expected to be ${brief(mean)}: a baseline of `
      + `${brief(baseline)} and the terms below. ${SHARED}`;
    const items = this.#items(terms).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
    const plus = (value) => `${value < 0 ? "" : "+"}${brief(value)}`;
    if (items.length) this.place.append(this.#table(items, ["less", "more"], [["adds", plus]]));
    else this.line.textContent = `${name} is expected to be ${brief(mean)} before anything is known.`;
  }

  /** Terms of what is set. */
  #items(terms, alone = []) {
    const { model, evidence } = this.session;
    const items = [];
    evidence.forEach((mask, variable) => {
      if (!mask) return;
      items.push({ variable, text: knownText(model.variables[variable], mask), value: terms[variable], alone: alone[variable] });
    });
    return items;
  }

  /** Items with bars to either end, and columns of a title and how values are written. */
  #table(items, [left, right], columns, least = 1e-300) {
    const finite = items.map(({ value }) => Math.abs(value)).filter(Number.isFinite);
    const largest = Math.max(...finite, least);
    const rows = items.map(({ text, value, trail }, i) => {
      const bar = element("span", { className: value < 0 ? "bar against" : "bar for" });
      const length = Math.min(1, Math.abs(value) / largest) * 50;
      bar.style.width = `${length}%`;
      bar.style.left = value < 0 ? `${50 - length}%` : "50%";
      return element("tr", {}, [
        element("th", { scope: "row", dir: "auto" }, [
          ...breakable(text), ...(trail ? [element("small", { className: "trail" }, breakable(trail))] : []),
        ]),
        element("td", { className: "odds", "aria-hidden": "true" }, [bar]),
        ...columns.map(([, say]) =>
          element("td", { className: "number", text: say(value, i) })),
      ]);
    });
    const head = element("tr", {}, [
      element("th", { scope: "col", text: "Finding" }),
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
