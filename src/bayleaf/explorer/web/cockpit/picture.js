// The picture of one feature: what each of its values does to the odds, and its rows.

const [CURVE_TOP, CURVE_HEIGHT, ROWS_HEIGHT, CURVE_LEFT, CURVE_RIGHT] = [20, 170, 44, 40, 14];
// One scale for all features: a factor of 11 to either side.
const SPAN = Math.log(11);
const FACTORS = [10, 5, 2, 1, 1 / 2, 1 / 5, 1 / 10];

class Picture {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.section = byId("picture");
    this.heading = byId("picture-heading");
    this.body = byId("picture-body");
    this.stop = () => {};
  }

  /** Effects are computed in slices; what was drawn stays until they are there. */
  show(answer) {
    this.stop();
    const { cockpit } = this;
    const { touched: variable, outcome, session } = cockpit;
    const evidence = cockpit.evidence();
    const isAble = variable !== null && answer && answer.against >= 0 && !evidence[outcome.question];
    this.section.hidden = !isAble;
    if (!isAble) return;
    if (this.variable !== variable) {
      this.body.replaceChildren();
      this.variable = variable;
    }
    const { words } = cockpit;
    const unit = words.unitOf(variable);
    this.heading.replaceChildren(words.label(variable), ...(unit ? [element("span", { className: "note", text: `, ${unit}` })] : []));
    const others = evidence.with(variable, null);
    const isGiven = others.some((mask) => mask);
    const nothing = outcome.nothing;
    const draw = ({ values, widths }, alone) => {
      const { cuts } = session.model.variables[variable];
      const lead = element("p", { className: "note", text: `Effect on the odds, ${isGiven ? "given what else is known" : "on its own"}${widths.some((width) => width > 0) ? `; ${cuts ? "band" : "line"}: 95 % interval` : ""}${isGiven && cuts ? "; dotted: on its own" : ""}.` });
      const mask = evidence[variable];
      this.body.replaceChildren(lead, cuts ? this.#curve(variable, mask, { values, widths }, alone?.values) : this.#bars(variable, mask, { values, widths }), this.#table(variable, values));
    };
    function* work() {
      let effects;
      let alone;
      for (const own of outcome.effects(variable, others, answer)) {
        effects = own;
        yield null;
      }
      for (const own of isGiven ? outcome.effects(variable, nothing, answer) : []) {
        alone = own;
        yield null;
      }
      yield { effects, alone };
    }
    this.stop = runAtOnce(work(), ([{ effects, alone }]) => draw(effects, alone));
  }

  #curve(variable, mask, { values, widths }, alone) {
    const { session, words } = this.cockpit;
    const about = session.model.variables[variable];
    const intervals = this.cockpit.outcome.intervals(variable);
    const axis = axisOf(intervals);
    const width = Math.max(260, this.body.clientWidth);
    const bottom = CURVE_TOP + CURVE_HEIGHT;
    const base = bottom + 8 + ROWS_HEIGHT;
    const right = width - CURVE_RIGHT;
    const x = (value) => CURVE_LEFT + ((right - CURVE_LEFT) * (Math.min(axis.high, Math.max(axis.low, value)) - axis.low)) / (axis.high - axis.low);
    const y = (nats) => CURVE_TOP + CURVE_HEIGHT / 2 - (Math.min(SPAN, Math.max(-SPAN, nats)) / SPAN) * (CURVE_HEIGHT / 2);
    const shown = intervals.filter(({ low, high }) => low < axis.high && high > axis.low);
    const path = (numbers) => shown.map(({ low, high, state }, i) =>
      `${i ? "L" : "M"}${x(low).toFixed(1)} ${y(numbers[state]).toFixed(1)}H${x(high).toFixed(1)}`).join("");
    const band = (numbers) => [...shown].reverse().map(({ low, high, state }) =>
      `L${x(high).toFixed(1)} ${y(numbers[state]).toFixed(1)}H${x(low).toFixed(1)}`).join("");
    const hasBand = widths.some((width) => width > 0);
    const text = (content, attributes) => {
      const made = drawn("text", attributes);
      made.textContent = content;
      return made;
    };
    const value = mask && this.cockpit.findings.valueOf(variable, mask);
    const at = value === undefined || value === null ? null : intervalAt(intervals, value);
    const hasRows = intervals[0].rows !== null;
    const bins = binsOf(intervals, axis);
    const bars = densityBars(bins, x, base, ROWS_HEIGHT - 4);
    markBar(bars, bins, value);
    const parts = [
      ...FACTORS.flatMap((factor) => [
        drawn("line", { x1: CURVE_LEFT, x2: right, y1: y(Math.log(factor)), y2: y(Math.log(factor)), class: factor === 1 ? "zero" : "grid" }),
        text(this.#tick(factor), { x: CURVE_LEFT - 5, y: y(Math.log(factor)) + 4, "text-anchor": "end" }),
      ]),
      ...(hasBand ? [drawn("path", { class: "band", d: `${path(values.map((own, i) => own + widths[i]))}${band(values.map((own, i) => own - widths[i]))}Z` })] : []),
      ...(alone ? [drawn("path", { d: path(alone), class: "alone" })] : []),
      drawn("path", { d: path(values), class: "effects" }),
      text("▲ raises the odds", { x: CURVE_LEFT, y: 12 }),
      text("▼ lowers", { x: CURVE_LEFT + 4, y: bottom - 4 }),
      ...bars,
      drawn("line", { x1: CURVE_LEFT, x2: right, y1: base, y2: base, class: "zero" }),
      ...ticksOf(axis, 6).flatMap((tick) => [
        drawn("line", { x1: x(tick), x2: x(tick), y1: base, y2: base + 4, class: "zero" }),
        text(brief(tick), { x: x(tick), y: base + 17, "text-anchor": "middle" }),
      ]),
    ];
    const probe = drawn("g");
    const name = words.label(variable);
    const drawing = drawn("svg", {
      viewBox: `0 0 ${width} ${base + 22}`, height: base + 22, class: "shape", role: "img",
      "aria-label": `Curve of ${name}: the odds by value, and ${hasRows ? "training rows" : "shares"} per unit. The table below has the same numbers.`,
    }, [...parts, probe]);
    const line = element("p", { className: "read" });
    const point = (number, own, label, isMine) => {
      const nats = values[own.state];
      probe.replaceChildren(
        drawn("line", { x1: x(number), x2: x(number), y1: CURVE_TOP, y2: base, class: isMine ? "mine" : "probe" }),
        drawn("path", { d: `M${x(number)} ${y(nats) - 7}l7 7l-7 7l-7 -7z`, class: isMine ? "mine" : "probe" }),
        ...(isMine ? [text("you are here", { class: "here", y: CURVE_TOP + 12, x: x(number) + (x(number) > width - 130 ? -8 : 8), "text-anchor": x(number) > width - 130 ? "end" : "start" })] : []),
      );
      const rows = own.rows === null ? "" : ` ${brief(own.rows)} of ${brief(sumOf(intervals.map((i) => i.rows)))} training rows are in this interval.`;
      line.replaceChildren(element("b", { text: `${label}${words.unitOf(variable) ? ` ${words.unitOf(variable)}` : ""}: ` }), this.#effect(nats),
        ` (${words.state(variable, own.state)}).${rows}`, this.#beyond(about, number, isMine));
    };
    const rest = () => {
      if (at) point(value, at, mask.entered ?? words.state(variable, at.state), true);
      else {
        probe.replaceChildren();
        line.textContent = `Bars: ${hasRows ? "training rows" : "share"} per unit. Point at the curve to read it; enter a value to mark it.`;
      }
    };
    rest();
    drawing.addEventListener("pointermove", (event) => {
      const box = drawing.getBoundingClientRect();
      const place = ((event.clientX - box.left) * width) / box.width;
      const step = stepOf(about, axis);
      const number = axis.low + ((axis.high - axis.low) * (place - CURVE_LEFT)) / (right - CURVE_LEFT);
      const held = Math.min(axis.high, Math.max(axis.low, Math.round(number / step) * step));
      point(held, intervalAt(intervals, held), brief(held), false);
    });
    drawing.addEventListener("pointerleave", rest);
    return element("div", {}, [drawing, line]);
  }

  #beyond({ range }, number, isMine) {
    if (!isMine || !range || (number >= range[0] && number <= range[1])) return "";
    const [end, side_] = number > range[1] ? [range[1], "above"] : [range[0], "below"];
    return ` This is ${side_} every training row (${number > range[1] ? "up to" : "from"} ${brief(end)}), and counts as ${brief(end)}.`;
  }

  #effect(nats) {
    const { words } = this.cockpit;
    return element("span", { className: side(nats) }, [arrow(nats), words.factor(nats)]);
  }

  #tick(factor) {
    const { unit } = this.cockpit.words;
    if (unit === "odds") return factor < 1 ? `÷${Math.round(1 / factor)}` : `×${factor}`;
    return brief(Number((Math.log(factor) / (unit === "bits" ? LN2 : 1)).toFixed(1)));
  }

  /** A bar for each state. */
  #bars(variable, mask, { values, widths }) {
    const { outcome, words } = this.cockpit;
    const rows = outcome.rows(variable);
    const on = onlyState(mask);
    const x = (nats) => 50 + (Math.min(SPAN, Math.max(-SPAN, nats)) / SPAN) * 50;
    const axis = element("div", { className: "bar-axis", "aria-hidden": "true" }, FACTORS.map((factor) => {
      const tick = element("span", { text: this.#tick(factor) });
      tick.style.left = `${x(Math.log(factor))}%`;
      return tick;
    }));
    const items = Array.from(values, (nats, state) => {
      const bar = element("span", { className: `bar ${nats < 0 ? "against" : "for"}` });
      bar.style.left = `${Math.min(x(nats), 50)}%`;
      bar.style.width = `${Math.abs(x(nats) - 50)}%`;
      const whisker = element("span", { className: "whisker" });
      whisker.hidden = !(widths[state] > 0);
      whisker.style.left = `${x(nats - widths[state])}%`;
      whisker.style.width = `${x(nats + widths[state]) - x(nats - widths[state])}%`;
      return element("li", { className: state === on ? "value-row on" : "value-row" }, [
        element("span", { dir: "auto" }, [
          ...(state === on ? [element("span", { className: "here", "aria-hidden": "true", text: "◆ " })] : []),
          words.state(variable, state),
          ...(state === on ? [element("span", { className: "note", text: " – you are here" })] : []),
        ]),
        this.#effect(nats),
        element("span", { className: "bar-lane", "aria-hidden": "true" }, [bar, whisker]),
        ...(rows.length ? [element("span", { className: "note", text: `${brief(rows[state])} training rows` })] : []),
      ]);
    });
    return element("div", {}, [axis, element("ul", { className: "value-rows" }, items)]);
  }

  /** The numbers of a curve. */
  #table(variable, values) {
    const { session, words } = this.cockpit;
    const { cuts } = session.model.variables[variable];
    if (!cuts) return "";
    const details = element("details", {}, [element("summary", { text: "Values as a table" })]);
    details.addEventListener("toggle", () => {
      if (details.childElementCount > 1) return;
      const row = (cells) => element("tr", {}, cells.map((text, i) => (i
        ? element("td", { text, className: "number" }) : element("th", { scope: "row", text }))));
      const head = ["from – to", "effect", "training rows"].map((text, i) => element("th", { scope: "col", text, className: i ? "number" : "" }));
      details.append(element("table", {}, [
        element("thead", {}, [element("tr", {}, head)]),
        element("tbody", {}, this.cockpit.outcome.intervals(variable).map(({ state, rows }) =>
          row([words.state(variable, state), words.factor(values[state]), rows === null ? "" : brief(rows)]))),
      ]));
    });
    return details;
  }
}
