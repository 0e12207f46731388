// The variable that is looked at: all its states, numbers, likelihoods, table and shape.

// Rows and columns of a table that are shown, and states of a shape as bars.
const ROWS_SHOWN = 40;
const SHAPE_STATES = 24;

class ChosenVariable {
  constructor(session, { isRulingOut, say, choose, graph }) {
    Object.assign(this, { session, isRulingOut, say, choose, graph });
    this.place = byId("chosen");
    this.heading = byId("chosen-heading");
    this.variable = null;
  }

  /** Look at a variable. */
  set(variable) {
    this.variable = variable;
    const { session, isRulingOut, say, choose } = this;
    const about = session.model.variables[variable];
    this.heading.textContent = short(about.name, 60);
    this.card = new VariableCard(session, variable, {
      id: "chosen-name", isRulingOut, say, choose,
    });
    this.moves = element("div", {});
    this.table = element("div", { className: "scroll", tabindex: "0", role: "group", "aria-label": `Table of ${short(about.name)}` });
    this.place.replaceChildren(
      this.card.card,
      ...this.#numbers(about),
      ...this.#sliders(about),
      this.#relatives(),
      ...this.#shape(about),
      ...this.#distribution(about),
    );
    if (this.latest) this.show(...this.latest);
  }

  show(posteriors, before, pinned) {
    this.latest = [posteriors, before, pinned];
    if (this.variable === null) return;
    const { variable, session } = this;
    const { engine } = session;
    this.card.show({
      now: posteriors?.[variable] ?? null,
      before: before?.[variable] ?? null,
      pinned: pinned?.[variable] ?? null,
      isShare: !engine.isJoint && variable !== engine.question,
    });
    this.#showSliders();
    this.#showTable();
  }

  showKnown() {
    this.card?.showKnown();
  }

  /** A number or bounds, typed. */
  #numbers(about) {
    if ((!about.cuts && !about.numbers) || this.session.locked(this.variable)) return [];
    const field = (label) => element("input", { type: "text", inputmode: "decimal", size: "7", "aria-label": label });
    const low = field(`${short(about.name)} is at least`);
    const high = field(`${short(about.name)} is at most`);
    const set = () => {
      const [from, to] = [low, high].map(({ value }) => value.trim());
      if (!from && !to) return;
      const bounds = {
        variable: this.variable,
        low: from ? Number(from) : -Infinity,
        high: to ? Number(to) : Infinity,
        open: false,
      };
      const isWrong = Number.isNaN(bounds.low) || Number.isNaN(bounds.high) || bounds.low > bounds.high;
      this.say(isWrong ? "Type numbers, the smaller one first."
        : this.session.chooseWithin(bounds));
    };
    for (const own of [low, high]) {
      own.addEventListener("keydown", (event) => { if (event.key === "Enter") set(); });
    }
    const single = field(`${short(about.name)} is`);
    const setOne = () => {
      const text = single.value.trim();
      const value = Number(text);
      if (!text || Number.isNaN(value)) this.say("Type a number.");
      else this.say(this.session.chooseWithin({ variable: this.variable, low: value, high: value, open: false }));
    };
    single.addEventListener("keydown", (event) => { if (event.key === "Enter") setOne(); });
    return [element("p", { className: "numbers" }, [
      "is ", single, pressing("Set", setOne), " or from ", low, " to ", high, pressing("Set range", set),
    ])];
  }

  /** Likelihoods of what was seen under each state. */
  #sliders(about) {
    this.sliderOf = [];
    if (this.session.locked(this.variable) || about.states.length > SHAPE_STATES) return [];
    const rows = about.states.map((label, state) => {
      const slider = element("input", {
        type: "range", min: "0", max: "100", value: "100",
        "aria-label": `Likelihood of what was seen if ${stated(short(about.name, 40), short(label, 40))}`,
      });
      slider.addEventListener("change", () => {
        const weights = this.sliderOf.map(({ value }) => Number(value) / 100);
        const refused = this.session.weigh(this.variable, weights);
        if (refused) this.say(refused);
        this.#showSliders();
      });
      this.sliderOf[state] = slider;
      return element("label", { className: "slider" }, [
        element("span", { text: short(label, 30), dir: "auto" }), slider,
      ]);
    });
    return [element("details", {}, [
      element("summary", { text: "Uncertain evidence" }),
      element("p", { className: "note", text: "How strongly does what you saw point to each value? A value at 0 is ruled out." }),
      ...rows,
    ])];
  }

  #showSliders() {
    const mask = this.session.evidence[this.variable];
    this.sliderOf.forEach((slider, state) => {
      slider.value = String(Math.round(100 * (mask ? mask[state] : 1)));
    });
  }

  /** Parents, children and the rest of the Markov blanket, a click away. */
  #relatives() {
    const { parents, children, others } = this.graph.relations(this.variable);
    const { variables } = this.session.model;
    const line = (text, nodes) => (nodes.length ? [element("p", { className: "relatives" }, [
      `${text}: `, ...nodes.slice(0, 30).flatMap((node, i) => [
        i ? ", " : "",
        pressing(short(variables[node].name, 30), () => this.choose(node), { className: "link", dir: "auto" }),
      ]), nodes.length > 30 ? ` and ${nodes.length - 30} more` : "",
    ])] : []);
    return element("div", {}, [
      ...line("Parents", parents), ...line("Children", children),
      ...line("Children's other parents", others),
    ]);
  }

  // ---- what it says alone

  #shape({ shape, states, name }) {
    if (!shape) return [];
    const { model } = this.session;
    const classes = model.variables[model.class].states;
    const nats = unpacked(shape.nats);
    const rows = unpacked(shape.rows);
    const label = classes.length === 2 ? 1 : 0;
    const place = element("div", { className: "scroll", tabindex: "0", role: "group", "aria-label": `Shape of ${short(name)}` });
    const draw = (own) => {
      const values = states.map((_, state) => nats[state * classes.length + own]);
      place.replaceChildren(states.length <= SHAPE_STATES ? this.#bars(states, values, rows)
        : this.#curve(values, rows));
    };
    const choice = element("select", { "aria-label": "Class that it speaks for" },
      classes.map((text, own) => element("option", { value: own, text: short(text, 40) })));
    choice.value = String(label);
    choice.addEventListener("change", () => draw(Number(choice.value)));
    draw(label);
    return [element("details", {}, [
      element("summary", { text: "Effect of each value on its own" }),
      element("p", { className: "note" }, ["Factor of the odds of ", choice, classes.length > 2 ? " against the mean of the other classes, and training rows." : ", and training rows."]),
      place,
    ])];
  }

  #bars(states, values, rows) {
    const largest = Math.max(...values.map(Math.abs), 1e-12);
    return element("table", {}, [element("tbody", {}, states.map((label, state) => {
      const bar = element("span", { className: values[state] < 0 ? "bar against" : "bar for" });
      const length = (Math.abs(values[state]) / largest) * 50;
      bar.style.width = `${length}%`;
      bar.style.left = values[state] < 0 ? `${50 - length}%` : "50%";
      return element("tr", {}, [
        element("th", { scope: "row", dir: "auto", text: short(label, 40) }),
        element("td", { className: "odds", "aria-hidden": "true" }, [bar]),
        element("td", { className: "number", text: timesOdds(values[state]) }),
        element("td", { className: "number", text: rows.length ? counted(rows[state], "row") : "" }),
      ]);
    }))]);
  }

  /** Many states as steps over one another, and where the rows are. */
  #curve(values, rows) {
    const [width, height] = [360, 130];
    const step = width / values.length;
    const largest = Math.max(...values.map(Math.abs), 1e-12);
    const most = Math.max(...rows, 1);
    const y = (value) => 50 - (value / largest) * 46;
    const path = values.map((value, i) => `${i ? "L" : "M"}${(i * step).toFixed(1)} ${y(value).toFixed(1)}H${((i + 1) * step).toFixed(1)}`).join("");
    return drawn("svg", {
      viewBox: `0 0 ${width} ${height}`, class: "curve", role: "img",
      "aria-label": `Steps from ${timesOdds(Math.min(...values))} to ${timesOdds(Math.max(...values))}`,
    }, [
      drawn("line", { x1: 0, x2: width, y1: 50, y2: 50, class: "axis" }),
      drawn("path", { d: path, class: "steps" }),
      ...rows.map((n, i) => drawn("rect", {
        x: i * step, width: step, y: height - (n / most) * 28, height: (n / most) * 28, class: "rows",
      })),
    ]);
  }

  // ---- its distribution given its parents

  #distribution({ distribution, name, rows }) {
    const lines = distribution ? [element("pre", { text: distribution.join("\n"), dir: "auto" })] : [];
    this.term = this.session.engine.tree?.terms.find(({ child }) => child === this.variable);
    if (!lines.length && !this.term) return [];
    const details = element("details", {}, [
      element("summary", { text: distribution ? "Distribution, in contexts" : rows ? "Table, and the rows behind it" : "Table" }),
      distribution ? element("div", { className: "scroll", tabindex: "0", role: "group", "aria-label": `Distribution of ${short(name)}` }, lines) : this.table,
    ]);
    this.details = details;
    details.addEventListener("toggle", () => this.#showTable());
    return [details];
  }

  #showTable() {
    if (!this.term || !this.details?.open || this.session.model.variables[this.variable].distribution) return;
    const { table, hidden, hiddenStates } = tableOf(this.session, this.variable, this.term, ROWS_SHOWN);
    const more = [
      hidden > 0 ? counted(hidden, "more row") : "",
      hiddenStates > 0 ? counted(hiddenStates, "more value") : "",
    ].filter(Boolean).join(", ");
    this.table.replaceChildren(table, element("p", { className: "note", text: more }));
  }
}
