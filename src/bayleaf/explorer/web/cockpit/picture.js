// The picture of one feature: what each of its values does to the odds, and its rows.

// An effect is vague if its 95 % interval goes further than this factor to either side.
const VAGUE_FACTOR = 2;
const BEYOND = "Effects beyond the axis are drawn at its ends.";
const isBeyond = ({ low, high }, values) => values.some((value) => value < low || value > high);
const [CURVE_TOP, CURVE_HEIGHT, LABEL_HEIGHT, ROWS_HEIGHT, CURVE_RIGHT] = [20, 170, 20, 44, 14];

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
    const isAble = variable !== null && answer && !(answer.against < 0) && !evidence[outcome.question];
    this.section.hidden = !isAble;
    if (!isAble) return;
    if (this.variable !== variable) {
      this.body.replaceChildren(element("p", { className: "note", text: "Computing …" }));
      Object.assign(this, { variable, drawn: [], follow: null });
    }
    const { words } = cockpit;
    const unit = words.unitOf(variable);
    fill(this.heading, [...breakable(words.label(variable)), ...(unit ? [element("span", { className: "note", text: `, ${unit}` })] : [])]);
    const others = evidence.with(variable, null);
    const isGiven = others.some((mask) => mask);
    const nothing = outcome.nothing;
    const draw = (effects, alone) => {
      const { values } = effects;
      cockpit.scale.startFrom(others);
      const { cuts } = session.model.variables[variable];
      const mask = cockpit.evidence()[variable];
      // On a curve only the mark follows the value.
      const shown = [effects, alone, words.unit, this.body.clientWidth, cuts ? null : mask];
      if (shown.some((part, i) => part !== this.drawn[i])) {
        const ends = cockpit.scale.band(effects);
        const lead = element("p", { className: "note", text: cockpit.scale.lead(isGiven, ends && (cuts ? "band" : "line"), Boolean(cuts)) });
        const { node, follow } = cuts ? this.#curve(variable, effects, ends, alone?.values) : this.#bars(variable, mask, values, ends);
        Object.assign(this, { drawn: shown, follow });
        this.body.replaceChildren(lead, node, this.#table(variable, values));
      }
      this.follow?.(mask);
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

  /** A curve, and a function that marks what is known on it. */
  #curve(variable, { values, widths }, ends, alone) {
    const { session, words, scale } = this.cockpit;
    const about = session.model.variables[variable];
    const intervals = this.cockpit.outcome.intervals(variable);
    const axis = axisOf(intervals);
    const width = Math.max(260, this.body.clientWidth);
    const bottom = CURVE_TOP + CURVE_HEIGHT;
    const base = bottom + LABEL_HEIGHT + ROWS_HEIGHT;
    const right = width - CURVE_RIGHT;
    const grid = scale.ticks();
    const left = Math.max(40, 10 + 8 * Math.max(...grid.map(({ text: own }) => own.length)));
    const x = (value) => left + ((right - left) * (Math.min(axis.high, Math.max(axis.low, value)) - axis.low)) / (axis.high - axis.low);
    const y = (value) => CURVE_TOP + (CURVE_HEIGHT * (scale.high - Math.min(scale.high, Math.max(scale.low, value)))) / (scale.high - scale.low);
    const shown = intervals.filter(({ low, high }) => low < axis.high && high > axis.low);
    const isVague = ({ state }) => widths?.[state] > Math.log(VAGUE_FACTOR);
    const path = (numbers, isDrawn = () => true) => shown.map((own, i) => (isDrawn(own)
      ? `${i && isDrawn(shown[i - 1]) ? "L" : "M"}${x(own.low).toFixed(1)} ${y(numbers[own.state]).toFixed(1)}H${x(own.high).toFixed(1)}` : "")).join("");
    const band = (numbers) => [...shown].reverse().map(({ low, high, state }) =>
      `L${x(high).toFixed(1)} ${y(numbers[state]).toFixed(1)}H${x(low).toFixed(1)}`).join("");
    const text = (content, attributes) => {
      const made = drawn("text", attributes);
      made.textContent = content;
      return made;
    };
    const hasRows = intervals[0].rows !== null;
    const bins = binsOf(intervals, axis);
    const bars = densityBars(bins, x, base, ROWS_HEIGHT - 4);
    const parts = [
      ...grid.flatMap(({ at: own, text: label }) => [
        drawn("line", { x1: left, x2: right, y1: y(own), y2: y(own), class: "grid" }),
        text(label, { x: left - 5, y: y(own) + 4, "text-anchor": "end" }),
      ]),
      drawn("line", { x1: left, x2: right, y1: y(scale.base), y2: y(scale.base), class: "zero" }),
      ...(ends ? [drawn("path", { class: "band", d: `${path(ends.highs)}${band(ends.lows)}Z` })] : []),
      ...(alone ? [drawn("path", { d: path(alone), class: "alone" })] : []),
      drawn("path", { d: path(values), class: "effects vague" }),
      drawn("path", { d: path(values, (own) => !isVague(own)), class: "effects" }),
      text(scale.ends[0], { x: left, y: 12 }),
      text(scale.ends[1], { x: left, y: bottom + 15 }),
      ...bars,
      drawn("line", { x1: left, x2: right, y1: base, y2: base, class: "zero" }),
      ...ticksOf(axis, 6).flatMap((tick) => [
        drawn("line", { x1: x(tick), x2: x(tick), y1: base, y2: base + 4, class: "zero" }),
        text(brief(tick), { x: x(tick), y: base + 17, "text-anchor": "middle" }),
      ]),
    ];
    const probe = drawn("g");
    const name = words.label(variable);
    const drawing = drawn("svg", {
      viewBox: `0 0 ${width} ${base + 22}`, height: base + 22, class: "shape", role: "img",
      "aria-label": `Curve of ${name}: ${scale.heading} by value, and ${hasRows ? "training rows" : "shares"} per unit. The table below has the same numbers.`,
    }, [...parts, probe]);
    const line = element("p", { className: "read" });
    const point = (number, own, label, isMine) => {
      const nats = values[own.state];
      const state = words.state(variable, own.state);
      fill(probe, [
        drawn("line", { x1: x(number), x2: x(number), y1: CURVE_TOP, y2: base, class: isMine ? "mine" : "probe" }),
        drawn("path", { d: `M${x(number)} ${y(nats) - 7}l7 7l-7 7l-7 -7z`, class: isMine ? "mine" : "probe" }),
        ...(isMine ? [text("you are here", { class: "here", y: CURVE_TOP + 12, x: x(number) + (x(number) > width - 130 ? -8 : 8), "text-anchor": x(number) > width - 130 ? "end" : "start" })] : []),
      ]);
      const rows = own.rows === null ? "" : ` ${brief(own.rows)} of ${brief(sumOf(intervals.map((i) => i.rows)))} training rows ${own.rows === 1 ? "is" : "are"} in this interval.`;
      const vague = isVague(own) ? [" Vague: its 95 % interval goes from ", scale.effect(ends.lows[own.state]), " to ", scale.effect(ends.highs[own.state]), "."] : [];
      fill(line, [element("b", { text: `${label}${words.unitOf(variable) ? ` ${words.unitOf(variable)}` : ""}: ` }), scale.effect(nats),
        state === label ? "." : state.startsWith("(") ? ` ${state}.` : ` (${state}).`, rows, ...vague, this.#beyond(about, number, isMine)]);
    };
    let mask;
    let value;
    const rest = () => {
      if (Number.isFinite(value)) {
        const own = intervalAt(intervals, value);
        point(value, own, mask.entered ?? words.state(variable, own.state), true);
      }
      else {
        probe.replaceChildren();
        line.textContent = `Bars: ${hasRows ? "training rows" : "share"} per unit. Point at the curve to read it; enter a value to mark it.`;
      }
    };
    const follow = (own) => {
      mask = own;
      value = mask && this.cockpit.findings.valueOf(variable, mask);
      markBar(bars, bins, value);
      rest();
    };
    drawing.addEventListener("pointermove", (event) => {
      const box = drawing.getBoundingClientRect();
      const place = ((event.clientX - box.left) * width) / box.width;
      const step = stepOf(about, axis);
      const number = axis.low + ((axis.high - axis.low) * (place - left)) / (right - left);
      const held = Math.min(axis.high, Math.max(axis.low, Math.round(number / step) * step));
      point(held, intervalAt(intervals, held), brief(held), false);
    });
    drawing.addEventListener("pointerleave", rest);
    const remarks = [
      shown.some(isVague) ? `Thin line: vague; the factor could be more than ${VAGUE_FACTOR} times larger or smaller.` : "",
      isBeyond(scale, shown.map(({ state }) => values[state])) ? BEYOND : "",
    ].filter(Boolean).join(" ");
    return { node: element("div", {}, [element("p", { className: "note", text: remarks }), drawing, line]), follow };
  }

  #beyond({ range }, number, isMine) {
    if (!isMine || !range || (number >= range[0] && number <= range[1])) return "";
    const [end, side_] = number > range[1] ? [range[1], "above"] : [range[0], "below"];
    return ` This is ${side_} every training row (${number > range[1] ? "up to" : "from"} ${brief(end)}), and counts as ${brief(end)}.`;
  }

  /** A bar for each state. */
  #bars(variable, mask, values, ends) {
    const { outcome, words, scale } = this.cockpit;
    const rows = outcome.rows(variable);
    const on = onlyState(mask);
    const x = (value) => (100 * (Math.min(scale.high, Math.max(scale.low, value)) - scale.low)) / (scale.high - scale.low);
    const base = x(scale.base);
    const axis = element("div", { className: "bar-axis", "aria-hidden": "true" }, scale.ticks().map(({ at, text }) => {
      const tick = element("span", { text });
      tick.style.left = `${x(at)}%`;
      return tick;
    }));
    const items = Array.from(values, (nats, state) => {
      const bar = element("span", { className: `bar ${nats < scale.base ? "against" : "for"}` });
      bar.style.left = `${Math.min(x(nats), base)}%`;
      bar.style.width = `${Math.abs(x(nats) - base)}%`;
      const whisker = element("span", { className: "whisker" });
      const [low, high] = ends ? [x(ends.lows[state]), x(ends.highs[state])] : [];
      whisker.hidden = !(high > low);
      whisker.style.left = `${low}%`;
      whisker.style.width = `${high - low}%`;
      const lane = element("span", { className: "bar-lane", "aria-hidden": "true" }, [bar, whisker]);
      lane.style.backgroundPositionX = `${base}%`;
      return element("li", { className: state === on ? "value-row on" : "value-row" }, [
        element("span", { dir: "auto" }, [
          ...(state === on ? [element("span", { className: "here", "aria-hidden": "true", text: "◆ " })] : []),
          words.state(variable, state),
          ...(state === on ? [element("span", { className: "note", text: " – you are here" })] : []),
        ]),
        scale.effect(nats),
        lane,
        ...(rows.length ? [element("span", { className: "note", text: counted(rows[state], "training row") })] : []),
      ]);
    });
    const remark = isBeyond(scale, values) ? [element("p", { className: "note", text: BEYOND })] : [];
    return { node: element("div", {}, [...remark, axis, element("ul", { className: "value-rows" }, items)]) };
  }

  /** The numbers of a curve. */
  #table(variable, values) {
    const { session, words, scale } = this.cockpit;
    const { cuts } = session.model.variables[variable];
    if (!cuts) return "";
    const details = element("details", {}, [element("summary", { text: "Values as a table" })]);
    details.addEventListener("toggle", () => {
      if (details.childElementCount > 1) return;
      const row = (cells) => element("tr", {}, cells.map((text, i) => (i
        ? element("td", { className: "number" }, [text]) : element("th", { scope: "row" }, [text]))));
      const head = ["from – to", scale.heading, "training rows"].map((text, i) => element("th", { scope: "col", text, className: i ? "number" : "" }));
      details.append(element("table", {}, [
        element("thead", {}, [element("tr", {}, head)]),
        element("tbody", {}, this.cockpit.outcome.intervals(variable).map(({ state, rows }) =>
          row([words.state(variable, state), scale.effect(values[state]), rows === null ? "" : brief(rows)]))),
      ]));
    });
    return details;
  }
}
