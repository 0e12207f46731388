// The field above the map: finds variables, and takes numbers as evidence.

/** Variables whose name, or the label of a state, holds all words of a text. */
function found(variables, text) {
  const words = plainName(text).split(" ").filter(Boolean);
  if (!words.length) return null;
  const holds = (own) => words.every((word) => plainName(own).includes(word));
  const all = [...variables.keys()].filter((v) => variables[v].role !== "cells");
  // The name itself first, then names that begin with what is typed.
  const rank = (v) => [plainName(variables[v].name)].map((own) => (own === words.join(" ") ? 0 : own.startsWith(words[0]) ? 1 : 2))[0];
  const byName = all.filter((v) => holds(variables[v].name)).sort((a, b) => rank(a) - rank(b));
  const byState = all.filter((v) => !byName.includes(v) && variables[v].states.some(holds));
  return [...byName, ...byState];
}

class Find {
  constructor(session, map, { say, choose }) {
    this.session = session;
    this.map = map;
    this.field = byId("find");
    this.said = byId("found");
    this.next = 0;
    this.field.addEventListener("input", () => this.#mark());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#clear();
      if (event.key !== "Enter") return;
      // The key must not press the button that it leads to as well.
      event.preventDefault();
      const bounds = readBounds(this.field.value.trim(), session.model.variables);
      const finding = bounds ? null : this.#finding();
      if (finding) {
        const refused = session.put(finding.variable, hardMask(session.card(finding.variable), finding.state));
        this.#clear();
        say(refused);
      } else if (bounds) {
        const told = session.chooseWithin(bounds);
        this.#clear();
        say(told);
      } else {
        this.#go(choose);
      }
    });
  }

  /** The variable and the state of a text such as HR=HIGH; null for none. */
  #finding() {
    const { variables } = this.session.model;
    const [name, ...label] = this.field.value.split("=");
    const variable = label.length ? namedPosition(variables.map((about) => about.name), name.trim()) : -1;
    const state = variable < 0 ? -1 : namedPosition(variables[variable].states, label.join("=").trim());
    return state < 0 ? null : { variable, state };
  }

  #mark() {
    const { variables } = this.session.model;
    this.next = 0;
    const bounds = readBounds(this.field.value.trim(), variables) ?? this.#finding();
    this.list = bounds ? [bounds.variable] : found(variables, this.field.value);
    this.map.markFound(this.list);
    if (this.list === null) this.said.textContent = "";
    else if (bounds) this.said.textContent = "Enter sets it";
    else if (!this.list.length) this.said.textContent = "nothing found";
    else this.said.textContent = `${this.list.length} found; Enter goes to ${this.list.length > 1 ? "the first" : "it"}`;
  }

  /** To the first that was found, and with each further Enter to the next. */
  #go(choose) {
    if (!this.list?.length) return;
    const node = this.list[this.next % this.list.length];
    this.next += 1;
    choose(node);
    this.map.focus(node);
    this.map.markFound(this.list);
  }

  #clear() {
    this.field.value = "";
    this.#mark();
  }
}
