// One variable: its states as buttons with bars.

// States of a variable beyond this are folded away.
const STATES_SHOWN = 12;
// States with bars in a box of the map; Python left room for as many.
const STATES_IN_BOX = 6;
// Letters of a line that names may share before they are cut.
const LETTERS_IN_LINE = 11;
// The scale of the map from which on boxes hold tables, and pixels of their parts then.
const TABLES_FROM = 2;
const [TABLE_LINE, BOX_EDGES] = [15, 10];
// A press as long as this (ms) rules a state out where there is no shift key.
const LONG_PRESS = 500;

/** A name without words that another one begins with as well, where these fill lines of a box. */
function withoutShared(name, variables) {
  const shared = ({ name: other }) => {
    let n = 0;
    while (n < name.length && name[n] === other[n]) n += 1;
    return name === other ? 0 : n;
  };
  const first = name.slice(0, Math.max(...variables.map(shared))).match(/^.*[_ ]/su)?.[0] ?? "";
  return first.length > 2 * LETTERS_IN_LINE ? `${first.match(/^.{1,10}(?=[_ ])|^.{10}/su)[0]}…${name.slice(first.length)}` : visible(name);
}

/** A card of a variable, in a box of the map with letters in a line of its name, or whole. */
class VariableCard {
  constructor(session, variable, { id, letters, wrapped = [], isRulingOut, say, choose }) {
    Object.assign(this, { session, variable, id, wrapped, isRulingOut, say, choose });
    const isBox = Boolean(letters);
    this.about = session.model.variables[variable];
    const { name, role, states } = this.about;
    this.name = element("button", {
      type: "button", className: "name", tabindex: "-1",
    }, breakable(isBox ? withoutShared(name, session.model.variables) : visible(name), letters));
    this.isShortened = this.name.textContent !== visible(name);
    if (this.isShortened) this.name.setAttribute("aria-label", name);
    const heading = element("h3", { id, dir: "auto", title: name }, [this.name]);
    if (role === "class" || role === "target" || role === "latent") {
      heading.append(" ", element("span", { text: role, className: "tag", dir: "ltr" }));
    }
    this.locked = session.locked(variable);
    this.rows = states.map((label, state) => this.#row(label, state));
    this.list = element("div", {
      className: "states", role: "group", "aria-labelledby": id,
    }, this.rows.map(({ button }) => button));
    this.histogram = this.about.cuts?.length >= STATES_IN_BOX ? new BoxHistogram(session, variable) : null;
    this.card = element("article", {
      className: ["card", role, ...(isBox ? ["node"] : []), ...(this.histogram ? ["drawn"] : [])].join(" "), "aria-labelledby": id,
    }, [heading, ...(this.histogram ? [this.histogram.node] : []), this.list]);
    if (isBox) this.#box(choose);
    else this.#whole();
    this.#moveByKeys();
  }

  /** Whether not all of the name is in sight. */
  get isNameCut() {
    return this.name.scrollHeight > this.name.clientHeight + 1;
  }

  /** What is special to a box of the map. */
  #box(choose) {
    const { states } = this.about;
    const rows = Math.min(states.length, STATES_IN_BOX);
    this.card.style.setProperty("--rows", rows);
    // Lines of values, for which Python left room.
    this.card.style.setProperty("--values", rows + Math.min(this.wrapped.length, STATES_IN_BOX) + (states.length > rows));
    this.card.addEventListener("click", (event) => {
      if (event.target.closest(".state, .more")) return;
      choose(this.variable);
      // Who came by the keyboard goes on among the states that are now open.
      if (!event.detail) byId("chosen").querySelector(".state:not(:disabled)")?.focus();
    });
    if (states.length <= STATES_IN_BOX) return;
    this.isFew = Boolean(this.histogram) || states.length > STATES_SHOWN;
    this.card.classList.toggle("few", this.isFew);
    if (this.isFew) this.#showFew(states.map(() => 0));
    const left = this.histogram ? "Set a number" : counted(states.length - STATES_IN_BOX, "more value");
    this.more = pressing(left, () => choose(this.variable), { className: "more" });
    this.card.append(this.more);
  }

  /** Of many states keep the most probable ones in sight; of intervals that which is set. */
  #showFew(proba) {
    const most = this.histogram ? [onlyState(this.mask), this.about.missing]
      : [...proba.keys()].sort((a, b) => proba[b] - proba[a]).slice(0, STATES_IN_BOX);
    this.rows.forEach(({ button }, state) => button.classList.toggle("rare", !most.includes(state)));
  }

  /** The first rows of the variable's table, as many as there is room for below its bars. */
  showTable() {
    const { session, variable } = this;
    if (this.tableOf === session.evidence) return;
    this.tableOf = session.evidence;
    this.place?.remove();
    const term = session.engine.tree?.terms.find(({ child }) => child === variable);
    if (!term || this.about.distribution) return;
    const used = 4 + Math.min(this.rows.length, STATES_IN_BOX + 1);
    const room = TABLES_FROM * parseFloat(this.card.style.height) - BOX_EDGES;
    const { table, hidden } = tableOf(session, variable, term, Math.max(0, Math.floor(room / TABLE_LINE) - used));
    this.place = element("div", { className: "table-in-box" }, [
      table, ...(hidden > 0 ? [pressing(counted(hidden, "more row"), () => this.choose(variable), { className: "link" })] : []),
    ]);
    this.card.append(this.place);
  }

  /** Let states be chosen in the box, or the box only lead to them. */
  setReadable(isReadable) {
    this.list.inert = !isReadable;
    if (this.more) this.more.inert = !isReadable;
    this.name.tabIndex = isReadable && !this.locked && !this.histogram ? -1 : 0;
  }

  /** What only a whole card has: all states, groups of values, rules. */
  #whole() {
    const { states, groups, rules, name } = this.about;
    if (this.locked) this.card.append(element("p", { text: this.locked, className: "note" }));
    if (this.histogram || states.length > STATES_SHOWN) this.card.append(this.#unfolding(states.length));
    this.groupButtons = (groups ?? []).map((group) => this.#groupButton(group));
    if (this.groupButtons.length) {
      this.card.append(element("div", {
        className: "groups", role: "group", "aria-label": `Groups of values of ${short(name)}`,
      }, ["Groups: ", ...this.groupButtons]));
    }
    if (rules) this.card.append(this.#rules(states, rules));
  }

  #row(label, state) {
    const parts = {
      fill: element("span", { className: "fill", "aria-hidden": "true" }),
      before: element("span", { className: "before", "aria-hidden": "true" }),
      pinned: element("span", { className: "pinned", "aria-hidden": "true" }),
      value: element("span", { className: "value" }),
      mark: element("span", { className: "mark" }),
    };
    const button = element("button", {
      type: "button", className: this.wrapped.includes(state) ? "state two" : "state", tabindex: state ? "-1" : "0", title: label,
    }, [
      parts.fill, parts.before, parts.pinned,
      element("span", { className: "label", dir: "auto" }, breakable(visible(label))),
      " ", parts.value, parts.mark,
    ]);
    button.disabled = Boolean(this.locked);
    if (!this.locked) this.#listen(button, state);
    return { button, shown: {}, ...parts };
  }

  #listen(button, state) {
    let held = 0;
    let wasLong = false;
    button.addEventListener("pointerdown", (event) => {
      wasLong = false;
      if (event.pointerType === "mouse") return;
      held = setTimeout(() => {
        wasLong = true;
        this.#ruleOut(state);
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
        this.#ruleOut(state);
      } else {
        this.#tell(this.session.choose(this.variable, state));
      }
    });
  }

  #ruleOut(state) {
    this.#tell(this.session.ruleOut(this.variable, state));
  }

  /** What could not be done; the page has emptied the message of what was done. */
  #tell(refusal) {
    if (refusal) this.say(refusal);
  }

  /** Arrow keys within a card, so that Tab goes from variable to variable. */
  #moveByKeys() {
    const steps = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
    const buttons = this.rows.map(({ button }) => button);
    this.list.addEventListener("keydown", (event) => {
      const at = buttons.indexOf(event.target);
      if (at < 0) return;
      if (event.key === "Delete") {
        this.#ruleOut(at);
      } else if (event.key in steps || event.key === "Home" || event.key === "End") {
        const shown = buttons.filter((button) => button.offsetParent);
        const ends = { Home: 0, End: shown.length - 1 };
        const to = ends[event.key] ?? shown.indexOf(event.target) + steps[event.key];
        shown[(to + shown.length) % shown.length].focus();
      } else {
        return;
      }
      event.preventDefault();
      // The map has arrow keys of its own.
      event.stopPropagation();
    });
    this.list.addEventListener("focusin", (event) => {
      for (const button of buttons) button.tabIndex = button === event.target ? 0 : -1;
    });
  }

  #unfolding(nStates) {
    this.card.classList.add("folded");
    const button = pressing(`Show all ${nStates} values`, () => {
      const isFolded = this.card.classList.toggle("folded");
      button.setAttribute("aria-expanded", String(!isFolded));
      button.textContent = isFolded ? `Show all ${nStates} values` : "Show fewer values";
    }, { className: "more", "aria-expanded": "false" });
    return button;
  }

  /** A group of a value hierarchy; choosing it rules out all other states. */
  #groupButton({ name, states }) {
    const button = pressing(visible(name), () => {
      const isSet = button.getAttribute("aria-pressed") === "true";
      this.#tell(isSet ? this.session.put(this.variable, null)
        : this.session.chooseSeveral(this.variable, states));
    }, { className: "group", dir: "auto" });
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

  /**
   * Bars and marks: posteriors now, before the last change, and in the case that is
   * pinned; each an array by state or null.
   */
  show(latest) {
    const { now, before, pinned, isShare } = latest;
    const mask = this.session.evidence[this.variable];
    Object.assign(this, { latest, mask });
    const only = onlyState(mask);
    const isWeighed = isSoft(mask);
    this.card.classList.toggle("known", Boolean(mask));
    this.card.classList.toggle("asked", this.variable === this.session.engine.question);
    this.card.classList.toggle("share", Boolean(isShare) && !mask);
    this.rows.forEach((row, state) => {
      const p = now ? now[state] : null;
      const isOut = Boolean(mask) && !mask[state] && only < 0;
      const seen = isWeighed && mask[state] ? `× ${Number(mask[state].toPrecision(2))}` : "";
      const wasElsewhere = before && Math.abs(before[state] - p) > 0.002;
      this.#fill(row, {
        width: p === null ? "0" : share(p),
        value: p === null ? "" : percent(p),
        before: wasElsewhere ? share(before[state]) : "",
        pinned: pinned ? share(pinned[state]) : "",
        isChosen: only === state,
        isOut,
        mark: isOut ? "ruled out" : seen,
      });
    });
    this.histogram?.show(now, mask);
    if (now && this.isFew) this.#showFew(now);
    if (this.histogram && only >= 0) {
      this.rows[only].button.querySelector(".label").textContent = mask.entered ?? this.about.states[only];
    }
    for (const [g, button] of (this.groupButtons ?? []).entries()) {
      const inside = new Set(this.about.groups[g].states);
      const isSet = Boolean(mask)
        && mask.every((allowed, state) => Boolean(allowed) === inside.has(state));
      button.setAttribute("aria-pressed", String(isSet));
    }
  }

  /** Mark what was set or taken back, before it is known what follows. */
  showKnown() {
    const mask = this.session.evidence[this.variable];
    if (!this.latest || mask === this.mask) return;
    const now = onlyState(mask) < 0 ? this.latest.now : mask;
    this.show({ ...this.latest, now });
  }

  /** Show a state; what stays the same is not touched, so that it is not laid out again. */
  #fill(row, now) {
    const changes = {
      width: (width) => { row.fill.style.width = width; },
      value: (text) => { row.value.textContent = text; },
      before: (at) => this.#ghost(row.before, at),
      pinned: (at) => this.#ghost(row.pinned, at),
      isChosen: (is) => row.button.setAttribute("aria-pressed", String(is)),
      isOut: (is) => row.button.classList.toggle("out", is),
      mark: (text) => { row.mark.textContent = text; },
    };
    for (const [name, value] of Object.entries(now)) {
      if (row.shown[name] !== value) changes[name](value);
    }
    row.shown = now;
  }

  #ghost(place, at) {
    place.hidden = !at;
    if (at) place.style.left = at;
  }

  /** Where the keyboard goes in this card. */
  focus() {
    const buttons = this.rows.map(({ button }) => button).filter((button) => button.offsetParent);
    const open = this.list.inert ? [] : buttons.filter((button) => !button.disabled);
    (open.find((button) => button.tabIndex === 0) ?? open[0] ?? this.name).focus({ preventScroll: true });
  }
}
