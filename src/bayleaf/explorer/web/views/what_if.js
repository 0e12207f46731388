// What would change the answer.

// Counterfactuals that are listed.
const WHAT_IFS_SHOWN = 8;
// Of those, most that change the same variables.
const ALIKE_SHOWN = 3;

/** Changes that would flip the answer, as they are found. */
class WhatIfPanel {
  constructor(session) {
    this.session = session;
    this.line = byId("what-if-line");
    this.list = byId("what-if-list");
    this.stop = () => {};
  }

  show() {
    this.stop();
    this.list.replaceChildren();
    const { session } = this;
    if (session.engine.distribution) return;
    keepFocus(byId("what-if-kept"), () => this.#showKept());
    const { question } = session.engine;
    if (session.evidence[question] || !session.evidence.some((m) => onlyState(m) >= 0)) {
      this.line.textContent = "Enter some findings to see what would change the answer.";
      return;
    }
    this.line.textContent = "Searching …";
    this.stop = searchCounterfactuals(session, (...told) => this.#tell(...told));
  }

  /** Buttons of what is set, which a press keeps as it is. */
  #showKept() {
    const { evidence, kept, model } = this.session;
    const buttons = knownVariables(evidence).map((variable) => {
      const text = knownText(model.variables[variable], evidence[variable], 30);
      return pressing(text, () => {
        if (!kept.delete(variable)) kept.add(variable);
        this.session.tell();
      }, { className: "keep", dir: "auto", "data-key": variable, "aria-pressed": String(kept.has(variable)), "aria-label": `Leave ${text} as it is` });
    });
    byId("what-if-kept").replaceChildren(...(buttons.length ? ["Leave as it is: ", ...buttons] : []));
  }

  /** What a change would flip. */
  #noun() {
    return this.session.loss ? "decision under the loss matrix" : "answer";
  }

  #tell(found, isDone, nTried = 0) {
    const shown = this.#varied(found);
    const many = found.length > shown.length ? `, ${shown.length} of ${found.length}` : "";
    const searching = isDone ? "" : ` Searching on, ${nTried} tried …`;
    if (found.length) {
      this.line.textContent = `Smallest changes that give another ${this.#noun()}${many}:${searching}`;
    } else {
      this.line.textContent = isDone
        ? "No change of one or two of the states that are set gives another "
          + `${this.#noun()}.`
        : `Searching, ${nTried} tried …`;
    }
    // What stays the same keeps its focus.
    const key = JSON.stringify(shown.map(({ changes }) => changes));
    if (key === this.key && this.list.childElementCount) return;
    this.key = key;
    this.list.replaceChildren(...shown.map((one) => this.#item(one)));
  }

  /** The first ones, not all of them of the same variables. */
  #varied(found) {
    const seen = new Map();
    return found.filter(({ changes }) => {
      const key = changes.map(({ variable }) => variable).join();
      seen.set(key, (seen.get(key) ?? 0) + 1);
      return seen.get(key) <= ALIKE_SHOWN;
    }).slice(0, WHAT_IFS_SHOWN);
  }

  #item({ changes, answer, probability }) {
    const { session } = this;
    const { variables } = session.model;
    const words = changes.map(({ variable, from, to }) => {
      const { name, states } = variables[variable];
      return `${stated(short(name, 40), short(states[to], 40))} (not ${short(states[from], 40)})`;
    }).join(" and ");
    const { states } = variables[session.engine.question];
    const button = element("button", {
      type: "button", text: "Try", "aria-label": `Try ${words}`,
    });
    button.addEventListener("click", () => {
      const changed = session.evidence.slice();
      for (const { variable, to } of changes) {
        changed[variable] = hardMask(session.card(variable), to);
      }
      session.replace(changed);
      byId("undo").focus();
    });
    return element("li", {}, [
      button,
      element("span", { dir: "auto", text: `${words}: ${short(states[answer])} with `
        + `${percent(probability)}` }),
    ]);
  }
}
