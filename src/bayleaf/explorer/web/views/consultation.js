// What to ask next, what is most probable altogether, and what the answer rests on.

// Lines that are listed.
const QUESTIONS_SHOWN = 12;
const ENTRIES_SHOWN = 10;

/** Questions by the share of the uncertainty that they are expected to remove. */
class AskNextPanel {
  constructor(session, choose) {
    this.session = session;
    this.choose = choose;
    this.line = byId("ask-next-line");
    this.place = byId("ask-next-table");
    this.costs = new Map();
    this.stop = () => {};
  }

  show() {
    this.stop();
    this.found = [];
    const { logs } = this.session.answer();
    if (!logs || this.session.evidence[this.session.engine.question]) {
      this.line.textContent = logs ? "You entered the outcome itself: there is nothing to ask." : "There is nothing to ask: these findings contradict each other.";
      this.place.replaceChildren();
      return;
    }
    this.uncertainty = entropyOf(logs);
    const { unit, amount } = this.#inUnit();
    const line = `How much of the uncertainty knowing each removes on average.${unit ? ` Uncertainty now: ${amount(this.uncertainty)} ${unit} (0 is certainty).` : ""}`;
    this.line.textContent = `${line} Computing …`;
    this.stop = runInSlices(expectedReductions(this.session), (found, isDone) => {
      this.found = found;
      if (!isDone) return;
      this.line.textContent = line;
      this.#list();
    });
  }

  #cost(variable) {
    return this.costs.get(variable) ?? 1;
  }

  /** The unit of uncertainty that the menu has chosen, if any, and how amounts are written in it. */
  #inUnit() {
    const unit = byId("unit").value;
    return unit === "odds" ? {} : { unit, amount: (nats) => (unit === "bits" ? nats / LN2 : nats).toFixed(3) };
  }

  #list() {
    const { unit } = this.#inUnit();
    const shown = worthAsking(this.found, this.uncertainty, (variable) => this.#cost(variable))
      .slice(0, QUESTIONS_SHOWN);
    this.place.replaceChildren();
    if (!shown.length) {
      this.line.textContent = "No further question is likely to change this.";
      return;
    }
    this.place.append(element("table", { "aria-labelledby": "ask-next-heading" }, [
      element("thead", {}, [element("tr", {}, [
        ...["Question", "", "share", ...(unit ? [unit] : []), "cost"].map((text, i) => (text
          ? element("th", { scope: "col", text, className: i > 1 ? "number" : "" })
          : element("td", { "aria-hidden": "true" }))),
      ])]),
      element("tbody", {}, shown.map((one) => this.#row(one))),
    ]));
  }

  #row({ variable, nats }) {
    const part = partOf(nats, this.uncertainty);
    const { amount } = this.#inUnit();
    const { name } = this.session.model.variables[variable];
    const bar = element("span", { className: "bar for" });
    bar.style.left = "0";
    bar.style.width = share(part);
    const question = pressing(short(name, 40), () => this.choose(variable), { className: "link", dir: "auto", "data-key": `ask-${variable}` });
    const cost = element("input", {
      type: "number", min: "0.01", step: "any", "data-key": `cost-${variable}`, value: this.#cost(variable),
      className: "cost", "aria-label": `Cost of asking for ${short(name)}`,
    });
    cost.addEventListener("change", () => {
      if (!cost.value || !cost.reportValidity()) return;
      this.costs.set(variable, Number(cost.value));
      // The focus is about to move on.
      afterOthers(() => keepFocus(this.place, () => this.#list()));
    });
    return element("tr", {}, [
      element("th", { scope: "row" }, [question]),
      element("td", { className: "gain", "aria-hidden": "true" }, [bar]),
      element("td", { className: "number", text: percent(part) }),
      ...(amount ? [element("td", { className: "number", text: amount(nats) })] : []),
      element("td", { className: "number" }, [cost]),
    ]);
  }
}

/** The most probable states of everything that is open. */
class MostProbablePanel {
  constructor(session) {
    this.session = session;
    this.place = byId("most-probable-list");
    this.line = byId("most-probable-line");
  }

  show() {
    const { session } = this;
    const found = session.engine.mostProbable(session.evidence);
    this.place.replaceChildren();
    if (!found) {
      this.line.textContent = "The evidence is impossible.";
      return;
    }
    const log = session.logEvidence(session.evidence);
    const { variables } = session.model;
    this.line.textContent = "The most probable values of all that is open, together: "
      + `probability ${(Math.exp(found.logProbability - log)).toPrecision(3)} given what is known.`;
    const constants = variables.filter((about) => about.role !== "cells" && isConstant(about));
    variables.forEach((about, variable) => {
      const { name, states, role } = about;
      if (role === "cells" || isConstant(about) || onlyState(session.evidence[variable]) >= 0) return;
      this.place.append(element("li", { dir: "auto" },
        breakable(stated(short(name, 40), short(states[found.states[variable]], 40)))));
    });
    if (!constants.length) return;
    const names = constants.map(({ name }) => short(name, 40)).join(", ");
    this.place.append(element("li", { dir: "auto", text: `any value: ${names}` }));
  }
}

/** Table entries by how far the answer moves as they do. */
class SensitivityPanel {
  constructor(session) {
    this.session = session;
    this.line = byId("sensitivity-line");
    this.place = byId("sensitivity-table");
    this.stop = () => {};
  }

  show() {
    this.stop();
    const { logs } = this.session.answer();
    const state = logs ? argMax(logs) : -1;
    this.place.replaceChildren();
    this.line.textContent = "Computing …";
    this.stop = runInSlices(logs ? tornado(this.session, state) : [].values(), (found, isDone) => {
      if (isDone) this.#list(byWidth(found), state, logs);
    });
  }

  /** The entries that move the probability of a state most. */
  #list(found, state, logs) {
    const { session } = this;
    if (!found.length) {
      this.line.textContent = "There is no table entry that moves the answer.";
      return;
    }
    const { name, states } = session.model.variables[session.engine.question];
    const now = Math.exp(logs[state]);
    this.line.textContent = `How far P(${stated(short(name, 30), short(states[state], 30))}), now `
      + `${percent(now)}, moves if one number of one table is a tenth smaller or larger:`;
    const shown = found.slice(0, ENTRIES_SHOWN);
    const all = [now, ...shown.flatMap(({ ends }) => ends)];
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const place = (p) => (high > low ? (100 * (p - low)) / (high - low) : 50);
    this.place.append(element("table", { "aria-labelledby": "sensitivity-heading" }, [
      element("thead", {}, [element("tr", {}, [
        element("th", { scope: "col", text: "Table entry" }),
        element("td", { "aria-hidden": "true" }),
        element("th", { scope: "col", className: "number", text: "from … to" }),
      ])]),
      element("tbody", {}, shown.map((one) => this.#row(one, place, now))),
    ]));
  }

  #row(one, place, now) {
    const { variables } = this.session.model;
    const states = statesOfRow(one.family.slice(0, -1), variables, one.row);
    const given = states.map(({ name, label }) => stated(short(name, 24), short(label, 20)));
    const about = variables[one.child];
    const event = stated(short(about.name, 30), short(about.states[one.entry], 24));
    const [from, to] = one.ends.slice().sort((a, b) => a - b);
    const bar = element("span", { className: "bar for" });
    bar.style.left = `${place(from)}%`;
    bar.style.width = `${place(to) - place(from)}%`;
    const middle = element("span", { className: "before" });
    middle.style.left = `${place(now)}%`;
    return element("tr", {}, [
      element("th", { scope: "row", dir: "auto" }, breakable(
        `P(${event}${given.length ? ` | ${given.join(", ")}` : ""}) = ${brief(one.p)}`,
      )),
      element("td", { className: "gain", "aria-hidden": "true" }, [bar, middle]),
      element("td", { className: "number", text: `${percent(from)} … ${percent(to)}` }),
    ]);
  }
}

/** States of the parents in a row of a table, the last parent running fastest. */
function statesOfRow(parents, variables, row) {
  let rest = row;
  return parents.slice().reverse().map((parent) => {
    const { name, states } = variables[parent];
    const state = rest % states.length;
    rest = Math.floor(rest / states.length);
    return { name, state, label: states[state], variable: parent };
  }).reverse();
}
