// What would change the answer, or reach a goal.

// Counterfactuals that are listed.
const WHAT_IFS_SHOWN = 8;
// Values of what is open that are listed after them.
const OPEN_IFS_SHOWN = 2;
// Of those, most that change the same variables.
const ALIKE_SHOWN = 3;
// Without an interval, how far beyond the line a change must carry the chance.
const CLEARLY = 0.05;
// Those nearer than this are on the line of the decision, and no other answer.
const HARDLY = 0.02;

const IF_SEEN = "This is how the model's answer would change, not what an action would do.";
const IF_UNSURE = "“Not sure” where the answer would be hardly over the line.";

/** Changes that would reach a goal, as they are found. */
class WhatIfPanel {
  constructor(session) {
    this.session = session;
    this.line = byId("what-if-line");
    this.list = byId("what-if-list");
    this.goal = byId("what-if-goal");
    this.tried = byId("what-if-tried");
    this.note = byId("what-if-note");
    // The goal of the reader: a state, "below" or "least", and how many in 100; else another answer.
    this.chosen = {};
    this.stop = () => {};
  }

  show() {
    this.stop();
    this.list.replaceChildren();
    const { session } = this;
    if (session.engine.distribution) return;
    keepFocus(byId("what-if-kept"), () => this.#showKept());
    const { question } = session.engine;
    this.#showTried();
    this.note.textContent = "";
    if (session.evidence[question] || !session.evidence.some((m) => onlyState(m) >= 0)) {
      this.goal.replaceChildren();
      this.line.textContent = "Enter some findings to see what would change the answer.";
      return;
    }
    const { logs } = session.answer();
    if (this.chosen.question !== question) this.chosen = { question };
    // A try leaves the goal that it was for as it is.
    if (!this.#isTrying()) this.chosen.tried = undefined;
    this.state = this.chosen.state ?? this.chosen.tried ?? (logs ? session.decision(logs) : 0);
    this.before = logs && Math.exp(logs[this.state]);
    const goal = logs && this.#target(logs);
    this.#showGoal();
    if (goal?.isThere) {
      this.line.textContent = `Reached: ${this.#name()} is at ${percent(this.before)}.`;
      return;
    }
    this.note.textContent = IF_SEEN;
    this.line.textContent = "Searching …";
    this.stop = searchCounterfactuals(session, (...found) => this.#tell(...found), goal);
  }

  /** The rule that a goal makes. */
  #target(logs) {
    const { state, way, line } = this.chosen;
    const decide = (all) => this.session.decision(all);
    if (!way) return { now: this.state, isThere: decide(logs) !== this.state, decide };
    const isUp = way === "least";
    const isOver = (all) => (isUp ? 100 * Math.exp(all[state]) >= line : 100 * Math.exp(all[state]) < line);
    const other = argMax(logs, state);
    const [now, reached] = isUp ? [other, state] : [state, other];
    return { now, isThere: isOver(logs), decide: (all) => (isOver(all) ? reached : now) };
  }

  /** Make a state less or more likely, up to the next ten in 100; or no way for another answer. */
  #choose(way, state) {
    const { question } = this.session.engine;
    const count = 100 * Math.exp(this.session.answer().logs?.[state] ?? -LN2);
    const line = way === "least" ? Math.min(99, 10 * Math.ceil((count + 1) / 10)) : Math.max(1, 10 * Math.floor(count / 10));
    this.chosen = way ? { question, way, state, line } : { question };
    this.show();
  }

  /** The state that the goal is about. */
  #name() {
    return short(this.session.model.variables[this.session.engine.question].states[this.state], 30);
  }

  #isTrying() {
    return this.trial?.after === this.session.evidence;
  }

  /** The choice of a goal, and a button that turns its direction. */
  #showGoal() {
    const { way } = this.chosen;
    const { states } = this.session.model.variables[this.session.engine.question];
    const [turned, other] = way === "least" ? ["below", "less"] : ["least", "more"];
    const choice = element("select", { "data-key": "goal", "aria-label": "Goal" }, [
      element("option", { value: "", text: `another ${this.#noun()}${way ? "" : ` (${this.#name()} less likely)`}` }),
      ...states.flatMap((text, state) => [["below", "less likely: below"], ["least", "more likely: at least"]].map(([own, name]) =>
        element("option", { value: `${own} ${state}`, text: `${short(text, 30)} ${name}` }))),
    ]);
    choice.value = way ? `${way} ${this.state}` : "";
    choice.addEventListener("change", () => {
      const [own, state] = choice.value.split(" ");
      this.#choose(own, Number(state));
    });
    const line = element("input", { type: "number", min: "1", max: "99", value: this.chosen.line ?? "", "data-key": "line", "aria-label": "Goal in 100" });
    line.addEventListener("change", () => {
      // What is not a count stays, with the browser's word on it.
      if (!line.value || !line.reportValidity()) return;
      this.chosen.line = Number(line.value);
      this.stop();
      this.list.replaceChildren();
      // The focus is about to move on.
      afterOthers(() => this.show());
    });
    keepFocus(this.goal, () => this.goal.replaceChildren("What would give ", choice, ...(way ? [" ", line, " in 100"] : []), "? ",
      pressing(`${this.#name()} ${other} likely instead`, () => this.#choose(turned, this.state), { className: "link", "data-key": "turn" })));
  }

  /** What was tried, while it holds, and a way back. */
  #showTried() {
    const { session, trial } = this;
    keepFocus(this.tried, () => this.tried.replaceChildren(...(this.#isTrying() ? [
      element("span", { text: `Tried: ${trial.words}.`, dir: "auto" }), " ",
      pressing("Take it back", () => {
        session.replace(trial.before);
        byId("what-if").querySelector("summary").focus({ preventScroll: true });
      }, { "data-key": "back" }),
    ] : [])));
  }

  /** Buttons of what is set, which a press keeps as it is. */
  #showKept() {
    const { evidence, kept, model } = this.session;
    const buttons = knownVariables(evidence).map((variable) => {
      const text = knownText(model.variables[variable], evidence[variable], 30);
      return pressing(text, () => {
        if (!kept.delete(variable)) kept.add(variable);
        this.session.tell();
      }, { className: "keep", dir: "auto", "data-key": variable, "aria-pressed": String(kept.has(variable)), "aria-label": `Keep ${text} fixed` });
    });
    byId("what-if-kept").replaceChildren(...(buttons.length ? ["Keep fixed: ", ...buttons] : []));
  }

  /** What a change would flip. */
  #noun() {
    return this.session.loss ? "decision under the loss matrix" : "answer";
  }

  #tell(found, isDone, nTried = 0) {
    const over = this.chosen.way ? found : found.filter((one) => this.#isOver(one, HARDLY));
    const clear = over.filter((one) => this.#isOver(one, CLEARLY));
    const ordered = [...clear, ...over.filter((one) => !clear.includes(one))];
    const isOpen = ({ changes }) => changes[0].from < 0;
    const shown = [
      ...varied(ordered.filter((one) => !isOpen(one)), ALIKE_SHOWN).slice(0, WHAT_IFS_SHOWN),
      ...varied(ordered.filter(isOpen)).slice(0, OPEN_IFS_SHOWN),
    ];
    const isSure = shown.every((one) => clear.includes(one));
    this.note.textContent = isSure ? IF_SEEN : `${IF_SEEN} ${IF_UNSURE}`;
    const many = over.length > shown.length ? `, ${shown.length} of ${over.length}` : "";
    const searching = isDone ? "" : ` Searching on, ${nTried} tried …`;
    if (over.length) {
      this.line.textContent = `${isSure ? "Fewest" : "Clear answers, then fewest"} changes first, then the most probable cases${many}:${searching}`;
    } else {
      this.line.textContent = isDone
        ? "No change of one or two of the findings was found that reaches this."
        : `Searching, ${nTried} tried …`;
    }
    // What stays the same keeps its focus.
    const key = JSON.stringify([this.state, shown.map(({ changes, probability }) => [changes, probability])]);
    if (key === this.key && this.list.childElementCount) return;
    this.key = key;
    this.list.replaceChildren(...shown.map((one) => this.#item(one)));
  }

  /** Whether a change carries the answer so far over the line; a loss has lines of its own. */
  #isOver({ answer, logs }, far) {
    const { way, line } = this.chosen;
    const chance = Math.exp(logs[this.state]);
    if (!way && this.session.loss) return true;
    if (!way) return Math.exp(logs[answer]) - chance > far;
    return way === "least" ? chance - far >= line / 100 : chance + far < line / 100;
  }

  #item(one) {
    const { changes, answer, probability, logs } = one;
    const { session } = this;
    const { variables } = session.model;
    const words = changes.map(({ variable, from, to }) => {
      const { name, states } = variables[variable];
      const change = stated(short(name, 40), short(states[to], 40));
      return from < 0 ? `${change}, not known yet` : `${change} instead of ${short(states[from], 40)}`;
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
      this.trial = { before: session.evidence, after: changed, words };
      this.chosen.tried = this.state;
      session.replace(changed);
      // The panel is drawn again after the answer.
      this.#showTried();
      this.tried.querySelector("button")?.focus({ preventScroll: true });
    });
    return element("li", {}, [
      button,
      element("span", { dir: "auto" }, breakable(`${words}: ${this.chosen.way ? "" : `${short(states[answer])} with `
        + `${percent(probability)}, `}${short(states[this.state])} ${percent(this.before)} → ${percent(Math.exp(logs[this.state]))}${this.#isOver(one, CLEARLY) ? "" : " – not sure"}`)),
    ]);
  }
}
