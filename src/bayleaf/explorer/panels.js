// The answer, what speaks for it, and what would change it.

const LN2 = Math.log(2);
// States of the answer, and counterfactuals, that are listed.
const ANSWERS_SHOWN = 3;
const WHAT_IFS_SHOWN = 8;

/** A number with its sign. */
function signed(value) {
  if (value === Infinity) return "+∞";
  if (value === -Infinity) return "−∞";
  const text = Math.abs(value).toFixed(3);
  return Number(text) === 0 ? "0.000" : `${value < 0 ? "−" : "+"}${text}`;
}

/** A number in few digits. */
function brief(value) {
  return String(Number(value.toPrecision(5))).replace("-", "−");
}

/** That a variable has a state, as a reader would say it. */
function stated(name, label) {
  if (label.startsWith("<= ") || label.startsWith("> ")) return `${name} ${label}`;
  return label.startsWith("(") && label.endsWith("]") ? `${name} in ${label}`
    : `${name} = ${label}`;
}

/** What is known of a variable, in words. */
function knownText(variable, mask, longest = 60) {
  const name = short(variable.name, longest);
  const labels = (allowed) => variable.states
    .filter((_, state) => Boolean(mask[state]) === allowed)
    .map((label) => short(label, longest));
  const inside = labels(true);
  const outside = labels(false);
  if (inside.length === 1) return stated(name, inside[0]);
  if (outside.length === 1) return `${name} ≠ ${outside[0]}`;
  return outside.length < inside.length
    ? `${name} not in {${outside.join(", ")}}` : `${name} in {${inside.join(", ")}}`;
}

/** The posterior of the question, in a sentence and in bars. */
class AnswerPanel {
  constructor(session) {
    this.session = session;
    this.verdict = document.getElementById("verdict");
    this.bars = document.getElementById("answer-bars");
    this.known = document.getElementById("known");
  }

  show(logs) {
    this.#showKnown();
    const { model, engine } = this.session;
    const { name, states } = model.variables[engine.question];
    this.bars.replaceChildren();
    if (!logs) {
      this.verdict.textContent = "This evidence is impossible in the model: take "
        + "something back.";
      return;
    }
    const p = logs.map(Math.exp);
    const ranked = p.map((_, state) => state).sort((a, b) => p[b] - p[a] || a - b);
    const [best] = ranked;
    const said = (state) => `${short(states[state])} with ${percent(p[state])}`;
    const decision = this.session.decision(logs);
    const cheapest = decision === best ? ""
      : ` The cheapest decision under the loss matrix is ${short(states[decision])}.`;
    this.verdict.textContent = engine.distribution ? this.#range(name)
      : `${stated(short(name), said(best))}`
        + `${ranked.length > 1 ? `, then ${said(ranked[1])}` : ""}.${cheapest}`;
    for (const state of ranked.slice(0, ANSWERS_SHOWN)) {
      const fill = element("span", { className: "fill", "aria-hidden": "true" });
      fill.style.width = `${100 * p[state]}%`;
      this.bars.append(element("div", { className: "answer-bar", "aria-hidden": "true" }, [
        fill,
        element("span", { text: visible(states[state]), className: "label", dir: "auto" }),
        element("span", { text: percent(p[state]), className: "value" }),
      ]));
    }
  }

  /** Where a number is expected to lie. */
  #range(name) {
    const { mean, quantiles } = this.session.engine
      .distribution(this.session.evidence, [0.05, 0.5, 0.95]);
    const [low, median, high] = quantiles.map(brief);
    return `${short(name)} is expected to be ${brief(mean)}; median ${median}, `
      + `with 90\u00a0% between ${low} and ${high}.`;
  }

  /** What is set, each with a button that takes it back. */
  #showKnown() {
    const { session } = this;
    const chips = [];
    session.evidence.forEach((mask, variable) => {
      if (!mask) return;
      const text = knownText(session.model.variables[variable], mask);
      const button = element("button", {
        type: "button", className: "chip", "aria-label": `Take back ${text}`,
      }, [element("bdi", { text }), " ×"]);
      button.addEventListener("click", () => {
        session.put(variable, null);
        document.getElementById("undo").focus();
      });
      chips.push(element("li", {}, [button]));
    });
    this.known.replaceChildren(chips.length
      ? element("ul", { className: "chips", "aria-label": "What is set" }, chips)
      : element("p", { className: "note", text: "Nothing is set yet." }));
  }
}

/** The terms of the log-odds, as a table with bars. */
class WhyPanel {
  constructor(session) {
    this.session = session;
    this.line = document.getElementById("why-line");
    this.place = document.getElementById("why-table");
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
    if (!found) {
      this.line.textContent = session.evidence[engine.question]
        ? `${short(question.name)} itself is set; take that back to see what speaks `
          + "for its states."
        : "There are no two states to compare.";
      return;
    }
    const [target, against] = [found.target, found.against].map((state) =>
      short(question.states[state]));
    this.line.textContent = `Log-odds of ${target} against ${against}: `
      + `${signed(found.logOdds)} nats = ${signed(found.logOdds / LN2)} bits, the sum of`;
    const prior = { text: "before anything is set", value: found.prior };
    const columns = [["nats", signed], ["bits", (value) => signed(value / LN2)]];
    this.place.append(
      this.#table([prior, ...this.#items(found.terms)], [against, target], columns),
    );
  }

  /** What moves the expectation of a number. */
  #showExpectation(name) {
    const { mean, baseline, terms } = this.session.engine.expectation(this.session.evidence);
    this.line.textContent = `${name} is expected to be ${brief(mean)}: ${brief(baseline)} `
      + "before anything is set, and";
    const items = this.#items(terms);
    const plus = (value) => `${value < 0 ? "" : "+"}${brief(value)}`;
    if (items.length) this.place.append(this.#table(items, ["less", "more"], [["adds", plus]]));
    else this.line.textContent = `${name} is expected to be ${brief(mean)} before anything is set.`;
  }

  /** Terms of what is set, the strongest first. */
  #items(terms) {
    const { model, evidence } = this.session;
    const items = [];
    evidence.forEach((mask, variable) => {
      if (!mask) return;
      items.push({ text: knownText(model.variables[variable], mask), value: terms[variable] });
    });
    return items.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  }

  /** Items with bars to either end, and columns of a title and how values are written. */
  #table(items, [left, right], columns) {
    const finite = items.map(({ value }) => Math.abs(value)).filter(Number.isFinite);
    const largest = Math.max(...finite, 1e-300);
    const rows = items.map(({ text, value }) => {
      const bar = element("span", { className: value < 0 ? "bar against" : "bar for" });
      const length = Math.min(1, Math.abs(value) / largest) * 50;
      bar.style.width = `${length}%`;
      bar.style.left = value < 0 ? `${50 - length}%` : "50%";
      return element("tr", {}, [
        element("th", { scope: "row", dir: "auto", text }),
        element("td", { className: "odds", "aria-hidden": "true" }, [bar]),
        ...columns.map(([, write]) =>
          element("td", { className: "number", text: write(value) })),
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
    return element("table", { "aria-labelledby": "why-heading" }, [
      element("thead", {}, [head]), element("tbody", {}, rows),
    ]);
  }
}

/** Changes that would flip the answer, as they are found. */
class WhatIfPanel {
  constructor(session) {
    this.session = session;
    this.line = document.getElementById("what-if-line");
    this.list = document.getElementById("what-if-list");
    this.stop = () => {};
  }

  show() {
    this.stop();
    this.list.replaceChildren();
    const { session } = this;
    if (session.engine.distribution) return;
    const { question } = session.engine;
    if (session.evidence[question] || !session.evidence.some((m) => onlyState(m) >= 0)) {
      this.line.textContent = "Set states of some variables: here stand the smallest "
        + "changes that would give another answer.";
      return;
    }
    this.line.textContent = "Searching …";
    this.stop = searchCounterfactuals(session, (found, isDone) => this.#tell(found, isDone));
  }

  /** What a change would flip. */
  #noun() {
    return this.session.loss ? "decision under the loss matrix" : "answer";
  }

  #tell(found, isDone) {
    const many = found.length > WHAT_IFS_SHOWN ? `, the first ${WHAT_IFS_SHOWN} of them` : "";
    const searching = isDone ? "" : " Searching on …";
    if (found.length) {
      this.line.textContent = `Smallest changes that give another ${this.#noun()}${many}:${searching}`;
    } else {
      this.line.textContent = isDone
        ? "No change of one or two of the states that are set gives another "
          + `${this.#noun()}.`
        : "Searching …";
    }
    const items = found.slice(0, WHAT_IFS_SHOWN).map((one) => this.#item(one));
    this.list.replaceChildren(...items);
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
      document.getElementById("undo").focus();
    });
    return element("li", {}, [
      button,
      element("span", { dir: "auto", text: `${words}: ${short(states[answer])} with `
        + `${percent(probability)}` }),
    ]);
  }
}
