// The form of the findings: features by importance, each with its way to enter a value.

// States that are chips; more are a list to choose from. Characters of all chips.
const MOST_CHIPS = 8;
const MOST_LETTERS = 150;
// Features from which on there is a search, and features that are shown at first.
const SEARCH_FROM = 12;
const SHOWN_AT_FIRST = 30;

/** One feature: its name, what it does to the odds, and a field for its value. */
class FindingRow {
  constructor(cockpit, variable) {
    Object.assign(this, { cockpit, variable });
    const { session, words } = cockpit;
    const { states, cuts, missing } = session.model.variables[variable];
    const known = states.slice(0, missing ?? states.length);
    const name = words.label(variable);
    this.name = pressing(name, () => cockpit.look(variable, true), { className: "feature-name", dir: "auto", "data-key": `name-${variable}` });
    this.factor = element("span", { className: "factor" });
    this.note = element("p", { className: "note several" });
    this.fixed = element("label", { className: "fixed" });
    const isChips = !cuts && known.length <= MOST_CHIPS && known.join("").length <= MOST_LETTERS;
    const unknown = "not known";
    if (isChips) {
      const group = `finding-${variable}`;
      this.radios = states.map((_, state) => this.#radio(group, state));
      this.open = element("input", { type: "radio", name: group });
      this.open.addEventListener("change", () => this.#put(null));
      this.state = element("span", { text: unknown });
      this.unknown = element("label", { className: "pick unknown" }, [this.open, this.state]);
      this.field = element("div", { className: "picks" }, this.radios.map(({ label }) => label));
    } else {
      this.unknown = pressing(unknown, () => this.#put(null), { className: "pick unknown" });
      this.state = this.unknown;
      this.field = cuts ? this.#number() : this.#choice();
    }
    this.node = element("div", {
      className: "entry", role: isChips ? "radiogroup" : "group", "aria-label": name,
    }, [
      element("div", { className: "feature-head" }, [this.name, this.factor, this.fixed, this.unknown]),
      this.field, this.note,
    ]);
    this.node.addEventListener("focusin", ({ target }) => { if (target.matches(":focus-visible")) cockpit.attend(variable); });
  }

  #put(mask, ...how) {
    this.cockpit.put(this.variable, mask, ...how);
  }

  /** A chip; chosen again by a pointer it is taken back. */
  #radio(group, state) {
    const { session, words } = this.cockpit;
    const input = element("input", { type: "radio", name: group });
    const choose = () => this.#put(hardMask(session.card(this.variable), state));
    let wasOn = false;
    input.addEventListener("change", choose);
    input.addEventListener("keydown", () => { wasOn = false; });
    input.addEventListener("click", () => { if (wasOn) this.#put(null); });
    const label = element("label", { className: "pick" }, [
      input, element("span", { text: words.state(this.variable, state), dir: "auto" }),
    ]);
    label.addEventListener("pointerdown", () => { wasOn = input.checked; });
    return { input, label };
  }

  #number() {
    const { session } = this.cockpit;
    this.number = new NumberField(this.cockpit, this.variable, (...given) => this.#put(...given), () => this.cockpit.settle());
    const { missing, states } = session.model.variables[this.variable];
    if (missing === undefined) return this.number.node;
    this.missing = pressing(states[missing], () => this.#put(hardMask(states.length, missing)), { className: "pick" });
    return element("div", {}, [this.number.node, this.missing]);
  }

  /** A list of many states. */
  #choice() {
    const { session, words } = this.cockpit;
    const { states } = session.model.variables[this.variable];
    this.select = element("select", { "aria-label": words.label(this.variable) }, [
      element("option", { value: "", text: "not known" }),
      ...states.map((_, state) => element("option", { value: state, text: words.state(this.variable, state) })),
    ]);
    this.select.addEventListener("change", () => this.#put(
      this.select.value === "" ? null : hardMask(states.length, Number(this.select.value)),
    ));
    return this.select;
  }

  /** What is known, and by what it moves the odds. */
  show(mask, term) {
    const { cockpit, variable } = this;
    const state = onlyState(mask);
    this.node.classList.toggle("touched", variable === cockpit.touched);
    mark(this.name, "aria-expanded", String(variable === cockpit.touched));
    // Where the picture follows the focus, the name is no stop of its own.
    mark(this.name, "tabindex", cockpit.narrow.matches ? "0" : "-1");
    mark(this.factor, "class", `factor ${term === undefined ? "" : cockpit.scale.side(term)}`);
    fill(this.factor, term === undefined ? [] : [
      arrow(cockpit.scale.side(term)), element("span", { "aria-hidden": "true", text: cockpit.scale.change(term) }),
      element("span", { className: "unseen", text: cockpit.scale.spoken(term) }),
    ]);
    write(this.state, mask ? "Clear" : "not known");
    this.unknown.classList.toggle("clear", Boolean(mask));
    if (this.radios) {
      mark(this.open, "aria-label", mask ? "Clear: not known" : "not known");
      this.open.checked = !mask;
      this.radios.forEach(({ input }, own) => { input.checked = own === state; });
    } else {
      mark(this.unknown, "aria-pressed", String(!mask));
      // What the field shows can be taken back in it.
      mark(this.unknown, "tabindex", mask && (state < 0 || this.missing) ? "0" : "-1");
      mark(this.unknown, "aria-label", mask ? `Clear ${cockpit.words.label(variable)}` : `${cockpit.words.label(variable)} not known`);
    }
    if (this.select) this.select.value = state < 0 ? "" : String(state);
    const isMissing = Boolean(this.missing) && state === cockpit.session.model.variables[variable].missing;
    if (this.missing) mark(this.missing, "aria-pressed", String(isMissing));
    this.number?.show(isMissing ? null : mask);
    write(this.note, [
      mask && state < 0 ? `Now: ${cockpit.words.value(variable, mask)}.` : "", this.#change(mask),
    ].filter(Boolean).join(" "));
    this.#showFixed();
  }

  /** In What if: what the finding is in the case, where that differs. */
  #change(mask) {
    const { trial, session, words } = this.cockpit;
    const before = session.evidence[this.variable];
    if (!trial || before === mask) return "";
    const was = before ? words.value(this.variable, before) : "not known";
    return mask && before && was === words.value(this.variable, mask) ? "" : `Was: ${was}.`;
  }

  /** In What if: whether the finding stays as it is. */
  #showFixed() {
    const { trial, session, words } = this.cockpit;
    const isFixed = Boolean(trial) && session.kept.has(this.variable);
    if (this.fixed.hidden !== !trial || !this.fixed.firstChild) {
      const box = element("input", { type: "checkbox", "aria-label": `${words.label(this.variable)} cannot be changed` });
      box.addEventListener("change", () => this.cockpit.keep(this.variable, box.checked));
      this.fixed.replaceChildren(box, "fixed");
      this.fixed.hidden = !trial;
    }
    this.fixed.firstChild.checked = isFixed;
    if (isFixed === this.isFixed) return;
    this.isFixed = isFixed;
    for (const field of this.node.querySelectorAll("input, select, button:not(.feature-name)")) {
      if (field.type !== "checkbox") field.disabled = isFixed;
    }
  }

  /** Put the focus on the field. */
  focus() {
    // Of chips the one that is chosen, as Tab does.
    const field = this.number?.box ?? this.select ?? this.field.querySelector(":checked") ?? this.open;
    // With the picture in it an entry may be higher than the window.
    for (const part of [this.node, this.name]) part.scrollIntoView({ block: "nearest" });
    field.focus({ preventScroll: true });
  }
}

/** All features, in an order that can be chosen, with a search where there are many. */
class Findings {
  constructor(cockpit) {
    this.cockpit = cockpit;
    const { session } = cockpit;
    this.features = tableVariables(session);
    this.rows = new Map();
    this.isAll = false;
    this.text = "";
    const strength = new Map(this.features.map((v) => [v, cockpit.outcome.importance(v)]));
    this.byStrength = [...this.features].sort((a, b) => strength.get(b) - strength.get(a) || a - b);
    const groups = this.features.map((v) => session.model.variables[v].words?.group ?? "");
    this.groups = [...new Set(groups)];
    this.orders = new Map([
      ["most telling first", () => this.byStrength],
      ...(this.groups.length > 1 ? [["by group", () => this.#byGroup()]] : []),
      ["as in the table", () => this.features],
    ]);
    this.order = this.groups.length > 1 ? "by group" : "most telling first";
    this.count = element("span", {});
    this.list = element("div", { className: "features" });
    this.node = element("div", {}, [this.#tools(), this.list]);
  }

  #group(variable) {
    return this.cockpit.session.model.variables[variable].words?.group ?? "";
  }

  #byGroup() {
    return this.groups.flatMap((group) => this.byStrength.filter((v) => this.#group(v) === group));
  }

  #tools() {
    const order = element("select", { "data-key": "order" }, [...this.orders.keys()].map((text) =>
      element("option", { text, value: text })));
    order.value = this.order;
    order.addEventListener("change", () => { this.order = order.value; this.build(); });
    const parts = [element("div", { className: "bar-line" }, [
      this.count, element("label", {}, ["Order ", order]),
    ])];
    if (this.features.length >= SEARCH_FROM) {
      const search = element("input", { type: "search", placeholder: "Search findings", "aria-label": "Search findings", autocomplete: "off" });
      search.addEventListener("input", () => { this.text = search.value; this.build(); });
      this.search = search;
      parts.push(element("div", { className: "bar-line" }, [search]));
    }
    return element("div", {}, parts);
  }

  row(variable) {
    if (!this.rows.has(variable)) this.rows.set(variable, new FindingRow(this.cockpit, variable));
    return this.rows.get(variable);
  }

  /** The features that are shown: those found, else the strongest and all that are known. */
  #shown() {
    const ordered = this.orders.get(this.order)();
    const matches = found(this.cockpit.session.model.variables, this.text);
    if (matches) return matches.filter((v) => ordered.includes(v));
    if (this.isAll || ordered.length <= SHOWN_AT_FIRST + 5) return ordered;
    const first = new Set(this.byStrength.slice(0, SHOWN_AT_FIRST));
    const evidence = this.cockpit.evidence();
    return ordered.filter((v) => first.has(v) || evidence[v] || v === this.cockpit.touched);
  }

  build() {
    const shown = this.#shown();
    const hidden = this.text ? 0 : this.features.length - shown.length;
    const isGrouped = this.order === "by group";
    const nodes = shown.flatMap((v, i) => {
      const group = this.#group(v);
      const isFirst = isGrouped && (!i || group !== this.#group(shown[i - 1]));
      return [...(isFirst ? [element("h3", { className: "group-name", text: group || "Other", dir: "auto" })] : []), this.row(v).node];
    });
    if (!nodes.length) nodes.push(element("p", { className: "note pad", text: "No finding has this name or value." }));
    if (hidden) {
      nodes.push(element("p", { className: "pad" }, [pressing(`Show all ${this.features.length} findings`, () => {
        this.isAll = true;
        this.build();
        this.row(this.orders.get(this.order)()[0]).name.focus();
      })]));
    }
    this.list.replaceChildren(...nodes);
    this.visible = shown;
    this.show(this.cockpit.terms ?? new Map());
  }

  /** Show what is known, with the term of each finding. */
  show(terms) {
    const evidence = this.cockpit.evidence();
    if (this.text === "" && this.features.some((v) => evidence[v] && !this.visible.includes(v))) {
      this.build();
      return;
    }
    for (const variable of this.visible) this.row(variable).show(evidence[variable], terms.get(variable));
    const n = this.features.filter((v) => evidence[v]).length;
    write(this.count, `${n} of ${this.features.length} known`);
  }

  /** The number that is known of a feature. */
  valueOf(variable, mask) {
    return this.row(variable).number.valueOf(mask);
  }

  focus(variable) {
    if (!this.visible.includes(variable)) {
      this.text = "";
      if (this.search) this.search.value = "";
      this.isAll = true;
      this.build();
    }
    this.row(variable).focus();
  }
}
