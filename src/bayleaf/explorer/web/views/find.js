// The field above the map: finds variables, and takes values as evidence.

// Letters of an example up to which two of them fit into a line or two above the field.
const LONGEST_EXAMPLE = 30;

/** Variables whose name, or the label of a state, holds all words of a text. */
function found(variables, text) {
  const words = plainName(text).split(" ").filter(Boolean);
  if (!words.length) return null;
  const holds = (own) => words.every((word) => plainName(own).includes(word));
  const all = [...variables.keys()].filter((v) => variables[v].role !== "cells");
  // The name itself first, then names that begin with what is typed.
  const rank = (v) => {
    const own = plainName(variables[v].name);
    return own === words.join(" ") ? 0 : own.startsWith(words[0]) ? 1 : 2;
  };
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
    byId("find-examples").textContent = this.#examples();
    this.field.addEventListener("input", () => {
      say("");
      this.#mark();
    });
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#clear();
      if (event.key !== "Enter") return;
      // The key must not press the button that it leads to as well.
      event.preventDefault();
      const setting = this.#setting(this.field.value);
      if (setting?.set) {
        const told = setting.set();
        this.#clear();
        say(told);
      } else if (setting) {
        const typed = this.field.value.split("=").slice(1).join("=").trim();
        say(`${typed ? `${typed} is not a value: ` : ""}${this.said.textContent}.`);
      } else {
        this.#go(choose);
      }
    });
  }

  /** The variable of a text such as HR=HIGH or age=30..50, and what sets it; null for none. */
  #setting(text) {
    const { session } = this;
    const { variables } = session.model;
    const bounds = readBounds(text.trim(), variables);
    if (bounds && statesWithin(variables[bounds.variable], bounds)) {
      return { variable: bounds.variable, set: () => session.chooseWithin(bounds) };
    }
    const [name, ...label] = text.split("=");
    const variable = label.length ? namedPosition(variables.map((about) => about.name), name.trim()) : -1;
    if (variable < 0) return null;
    const { states } = variables[variable];
    const state = namedState(variables[variable], label.join("=").trim());
    const set = () => session.put(variable, hardMask(states.length, state))
      || `Set: ${variables[variable].name} is ${states[state]}.`;
    return { variable, set: state >= 0 && set };
  }

  /** The shortest texts that set a state and a number of this model. */
  #examples() {
    const { session } = this;
    const texts = [[], []];
    session.model.variables.forEach((about, v) => {
      const { name, role, states, cuts } = about;
      if (v === session.engine.question || isConstant(about) || !["variable", "feature"].includes(role)) return;
      texts[Number(Boolean(cuts))].push(`${name}=${cuts ? Number(((cuts[0] + cuts.at(-1)) / 2).toPrecision(2)) : states[0]}`);
    });
    const shown = texts.flatMap((all) => all.sort((a, b) => a.length - b.length)
      .find((text) => text.length <= LONGEST_EXAMPLE && this.#setting(text)?.set) ?? []);
    return shown.length ? `, or set a value such as ${shown.join(" or ")}` : "";
  }

  #mark() {
    const { variables } = this.session.model;
    this.next = 0;
    const setting = this.#setting(this.field.value);
    this.list = setting ? [setting.variable] : found(variables, this.field.value);
    this.map.markFound(this.list);
    const [first] = this.list ?? [];
    const { name, states } = variables[first] ?? {};
    if (this.list === null) this.said.textContent = "";
    else if (setting?.set) this.said.textContent = "Enter sets it";
    else if (setting) this.said.textContent = `${short(name)} is one of ${short(states.join(", "), 80)}`;
    else if (!this.list.length) this.said.textContent = "nothing found";
    else this.said.textContent = `${this.list.length} found; Enter goes to ${short(name)}`;
  }

  /** To the first that was found, and with each further Enter to the next. */
  #go(choose) {
    if (!this.list?.length) return;
    const node = this.list[this.next % this.list.length];
    this.next += 1;
    choose(node);
    this.map.focus(node);
  }

  #clear() {
    this.field.value = "";
    this.#mark();
  }
}
