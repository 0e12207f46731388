// One card a variable: its states as buttons with bars.

// Letters written from right to left, and signs that turn the direction.
const OTHER_DIRECTION = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/;
// States of a variable beyond this are folded away.
const STATES_SHOWN = 12;
// A press as long as this (ms) rules a state out where there is no shift key.
const LONG_PRESS = 500;

/** An element with text, classes and attributes; text is never read as markup. */
function element(tag, { text, className, ...attributes } = {}, children = []) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A name as it is; in quotes if it would not be seen without. */
function visible(text) {
  return text.trim() ? text : `'${text}'`;
}

/** A name short enough for a sentence, whose direction it leaves alone. */
function short(text, longest = 60) {
  const characters = Array.from(visible(text));
  const isLong = characters.length > longest;
  const cut = isLong ? `${characters.slice(0, longest - 1).join("")}…` : visible(text);
  return OTHER_DIRECTION.test(cut) ? `\u2068${cut}\u2069` : cut;
}

/** A probability as a percentage. */
function percent(p) {
  // The spaces do not break, so that no line begins with the sign.
  if (p > 0 && p < 0.0005) return "<\u00a00.1\u00a0%";
  if (p < 1 && p > 0.9995) return ">\u00a099.9\u00a0%";
  return `${(100 * p).toFixed(1)}\u00a0%`;
}

/** The monitors of all variables. */
class Monitors {
  constructor(session, place, isRulingOut, say) {
    this.session = session;
    this.isRulingOut = isRulingOut;
    this.say = say;
    this.cards = new Map();
    const { variables } = session.model;
    const rank = { class: 0, target: 0, latent: 1, variable: 2, feature: 2 };
    const shown = variables.map((_, i) => i).filter((i) => variables[i].role !== "cells");
    shown.sort((a, b) => rank[variables[a].role] - rank[variables[b].role] || a - b);
    for (const variable of shown) place.append(this.#card(variable));
  }

  #card(variable) {
    const { session } = this;
    const { name, role, states, groups, rules } = session.model.variables[variable];
    const id = `variable-${variable}`;
    const heading = element("h3", { id, dir: "auto", title: name }, [
      element("span", { text: visible(name), className: "name" }),
    ]);
    if (role === "class" || role === "target" || role === "latent") {
      heading.append(" ", element("span", { text: role, className: "tag", dir: "ltr" }));
    }
    const list = element("div", {
      className: "states", role: "group", "aria-labelledby": id,
    });
    const locked = session.locked(variable);
    const buttons = states.map((label, state) =>
      this.#stateButton(variable, state, label, Boolean(locked)));
    list.append(...buttons);
    const card = element("article", { className: `card ${role}`, "aria-labelledby": id },
      [heading, list]);
    if (locked) list.append(element("p", { text: locked, className: "note" }));
    if (states.length > STATES_SHOWN) card.append(this.#unfolding(card, states.length));
    const groupButtons = [];
    if (groups && session.engine.canRuleOut) {
      groupButtons.push(...groups.map((group) => this.#groupButton(variable, group)));
      card.append(element("div", {
        className: "groups", role: "group", "aria-label": `Groups of values of ${short(name)}`,
      }, ["Groups: ", ...groupButtons]));
    }
    if (rules) card.append(this.#rules(states, rules));
    this.#moveByKeys(list, buttons, variable);
    this.cards.set(variable, { card, buttons, name, groups, groupButtons });
    return card;
  }

  #stateButton(variable, state, label, disabled) {
    const button = element("button", {
      type: "button", className: "state", tabindex: state ? "-1" : "0", title: label,
    }, [
      element("span", { className: "fill", "aria-hidden": "true" }),
      element("span", { text: visible(label), className: "label", dir: "auto" }),
      " ",
      element("span", { className: "value" }),
      element("span", { className: "mark" }),
    ]);
    if (disabled) {
      button.disabled = true;
      return button;
    }
    let held = 0;
    let wasLong = false;
    button.addEventListener("pointerdown", (event) => {
      wasLong = false;
      if (event.pointerType === "mouse") return;
      held = setTimeout(() => {
        wasLong = true;
        this.#ruleOut(variable, state);
      }, LONG_PRESS);
    });
    for (const kind of ["pointerup", "pointerleave", "pointercancel"]) {
      button.addEventListener(kind, () => clearTimeout(held));
    }
    button.addEventListener("contextmenu", (event) => {
      // A long press must not open a menu over what it did.
      if (wasLong) event.preventDefault();
    });
    button.addEventListener("click", (event) => {
      if (wasLong) {
        wasLong = false;
      } else if (event.shiftKey || this.isRulingOut()) {
        this.#ruleOut(variable, state);
      } else {
        this.session.choose(variable, state);
      }
    });
    return button;
  }

  #ruleOut(variable, state) {
    this.say(this.session.ruleOut(variable, state));
  }

  /** Arrow keys within a card, so that Tab goes from variable to variable. */
  #moveByKeys(list, buttons, variable) {
    const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
    list.addEventListener("keydown", (event) => {
      const at = buttons.indexOf(event.target);
      if (at < 0) return;
      if (event.key === "Delete") {
        this.#ruleOut(variable, at);
      } else if (event.key in steps || event.key === "Home" || event.key === "End") {
        const visible = buttons.filter((button) => button.offsetParent);
        const place = visible.indexOf(event.target);
        const ends = { Home: 0, End: visible.length - 1 };
        const to = ends[event.key] ?? place + steps[event.key];
        visible[(to + visible.length) % visible.length].focus();
      } else {
        return;
      }
      event.preventDefault();
    });
    list.addEventListener("focusin", (event) => {
      for (const button of buttons) {
        button.tabIndex = button === event.target ? 0 : -1;
      }
    });
  }

  #unfolding(card, nStates) {
    card.classList.add("folded");
    const button = element("button", {
      type: "button", className: "more", text: `Show all ${nStates} states`,
      "aria-expanded": "false",
    });
    button.addEventListener("click", () => {
      const isFolded = card.classList.toggle("folded");
      button.setAttribute("aria-expanded", String(!isFolded));
      button.textContent = isFolded ? `Show all ${nStates} states` : "Show fewer states";
    });
    return button;
  }

  /** A group of a value hierarchy; choosing it rules out all other states. */
  #groupButton(variable, { name, states }) {
    const button = element("button", {
      type: "button", className: "group", text: visible(name), dir: "auto",
    });
    button.addEventListener("click", () => {
      const isSet = button.getAttribute("aria-pressed") === "true";
      if (isSet) this.session.put(variable, null);
      else this.session.chooseSeveral(variable, states);
    });
    return button;
  }

  /** What the states of a latent variable mean. */
  #rules(states, rules) {
    const items = states.map((label, state) => element("li", {}, [
      element("strong", { text: label, dir: "auto" }),
      element("ul", {}, rules[state].map((rule) => element("li", { text: rule, dir: "auto" }))),
    ]));
    return element("details", {}, [
      element("summary", { text: "Rules" }),
      element("ul", { className: "rules" }, items),
    ]);
  }

  /** Bars and marks of all cards. */
  show(posteriors) {
    for (const [variable, { card, buttons, groups, groupButtons }] of this.cards) {
      const mask = this.session.evidence[variable];
      const only = onlyState(mask);
      const found = posteriors ? posteriors[variable] : null;
      card.classList.toggle("known", Boolean(mask));
      buttons.forEach((button, state) => {
        const [fill, , value, mark] = button.children;
        const p = found ? found[state] : null;
        fill.style.width = p === null ? "0" : `${100 * p}%`;
        value.textContent = p === null ? "" : percent(p);
        value.title = p === null ? "" : String(p);
        const isOut = Boolean(mask) && !mask[state];
        button.setAttribute("aria-pressed", String(only === state));
        button.classList.toggle("out", isOut && only < 0);
        mark.textContent = isOut && only < 0 ? "ruled out" : "";
      });
      groupButtons.forEach((button, g) => {
        const inside = new Set(groups[g].states);
        const isSet = Boolean(mask)
          && mask.every((allowed, state) => Boolean(allowed) === inside.has(state));
        button.setAttribute("aria-pressed", String(isSet));
      });
    }
  }

  /** Only the cards whose variable's name or states hold a text. */
  filter(text) {
    const wanted = text.trim().toLowerCase();
    for (const [variable, { card, name }] of this.cards) {
      const { states } = this.session.model.variables[variable];
      const fits = [name, ...states].some((own) => own.toLowerCase().includes(wanted));
      card.hidden = !fits;
    }
  }

  /** Bring a variable's card into view and into focus. */
  focus(variable) {
    const known = this.cards.get(variable);
    if (!known) return;
    known.card.hidden = false;
    known.card.scrollIntoView({ block: "center" });
    (known.buttons.find((button) => button.tabIndex === 0) ?? known.buttons[0]).focus();
  }
}
