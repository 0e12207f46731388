// Why: how each finding moves the answer from the start, on an axis of chances.

// Findings with a line of their own.
const LINES_SHOWN = 6;
const TICKS = [1, 5, 20, 50, 80, 95, 99];
const logit = (chance) => Math.log(chance / (1 - chance));
const logistic = (logOdds) => 1 / (1 + Math.exp(-logOdds));

class Waterfall {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.body = byId("reasons-body");
  }

  show(answer, reasons) {
    byId("reasons").hidden = !reasons;
    if (!reasons) return;
    this.answer = answer;
    if (reasons.items.length) this.body.replaceChildren(...this.#lead(answer), this.#table(this.#steps(reasons), reasons), this.#legend(false));
    else this.body.replaceChildren(element("p", { className: "note", text: "Enter findings on the left, or let the page ask you. Each one then shows here by how much it moves the answer." }), ...(this.cockpit.rows?.starts() ?? []), this.#legend(true));
  }

  /** A key of the marks, which stays open or closed as the reader left it. */
  #legend(isOpen) {
    const details = element("details", { className: "legend-of-marks" }, [element("summary", { text: "What the marks mean" }), legend()]);
    details.open = this.isLegendOpen ?? isOpen;
    details.firstChild.addEventListener("click", () => { this.isLegendOpen = !details.open; });
    return details;
  }

  /** Of more than two classes, which two the odds are of. */
  #lead({ target, against }) {
    const { outcome, words } = this.cockpit;
    if (outcome.isBinary) return [];
    const [one, other] = [target, against].map((state) => words.state(outcome.question, state));
    return [element("p", { className: "note", text: `${one} rather than ${other}, the most probable other class` })];
  }

  /** Lines of the table: the strongest findings, then all others together. */
  #steps({ start, items, rest }) {
    const { variables } = this.cockpit.session.model;
    const strongest = items.filter(({ value }) => side(value)).slice(0, LINES_SHOWN);
    // What no one can change, such as sex, is never hidden among the others.
    const shown = items.filter((item) => strongest.includes(item) || variables[item.variable].change === "immutable");
    const others = items.filter((item) => !shown.includes(item));
    const steps = shown.map(({ variable, value }) => ({ variable, value }));
    const remaining = others.reduce((sum, { value }) => sum + value, rest);
    if (others.length || side(rest)) steps.push({ others: others.length, isShared: Boolean(side(rest)), value: remaining });
    let at = start;
    return steps.map((step) => {
      const from = at;
      at += step.value;
      return { ...step, from, to: at };
    });
  }

  #table(steps, { start, logOdds }) {
    const { cockpit } = this;
    const evidence = cockpit.evidence();
    const line = logit(cockpit.threshold / 100);
    const range = cockpit.outcome.isBinary && cockpit.interval ? [cockpit.interval.low, cockpit.interval.high].map(logit) : [];
    const ends = [start, logOdds, line, ...range, ...steps.map(({ to }) => to)].filter(Number.isFinite);
    const low = Math.max(-12, Math.min(-1.6, ...ends)) - 0.25;
    const high = Math.min(12, Math.max(1.6, ...ends)) + 0.25;
    const x = (value) => (100 * (Math.min(high, Math.max(low, value)) - low)) / (high - low);
    const ticks = TICKS.filter((tick) => logit(tick / 100) > low && logit(tick / 100) < high);
    const at = (className, value, to) => {
      const mark = element("i", { className });
      mark.style.left = `${x(value)}%`;
      if (to !== undefined) mark.style.width = `${x(to) - x(value)}%`;
      return mark;
    };
    const lane = (...marks) => element("div", { className: "lane", "aria-hidden": "true" }, [
      ...ticks.map((tick) => at("grid", logit(tick / 100))),
      ...(cockpit.outcome.isBinary ? [at("line", line)] : []), ...marks,
    ]);
    const row = (head, marks, read, text, className = "") => element("tr", { className }, [
      element("th", { scope: "row" }, [head]),
      element("td", {}, [lane(...marks), element("span", { className: "unseen", text: read })]),
      element("td", { className: "effect" }, text),
    ]);
    const step = ({ variable, others, isShared, value, from, to }) => {
      const name = others === undefined ? pressing(cockpit.words.finding(variable, evidence[variable]), () => cockpit.look(variable), { className: "plain-link", dir: "auto", "data-key": `why-${variable}` })
        : element("span", { text: [others ? `${others} other${others > 1 ? "s" : ""}` : "", isShared ? "overlap of findings" : ""].filter(Boolean).join(", ") });
      const text = element("span", { className: side(value), "aria-hidden": "true" }, [arrow(value), cockpit.words.factor(value)]);
      return row(name, [at(`segment ${value < 0 ? "down" : "up"}`, Math.min(from, to), Math.max(from, to)), at("thread", to)],
        `${spoken(value)}; then ${near(logistic(to))} in 100`, [text]);
    };
    const head = element("thead", {}, [element("tr", {}, [
      element("th", { scope: "col", className: "first" }, [element("span", { text: "finding" }), element("span", { "aria-hidden": "true", text: "chance in 100" })]),
      element("th", { scope: "col" }, [element("div", { className: "ticks", "aria-hidden": "true" }, ticks.map((tick) => {
        const label = at("", logit(tick / 100));
        label.textContent = tick;
        return label;
      })), element("span", { className: "unseen", text: "chance in 100" })]),
      element("th", { scope: "col", className: "effect", text: cockpit.words.unit }),
    ])]);
    return element("table", { className: "fall", "aria-labelledby": "reasons-heading" }, [head, element("tbody", {}, [
      row("Starting point", [at("dot hollow", start), at("thread", start)], "", [`${of100(logistic(start))} in 100`]),
      ...steps.map(step),
      row("Answer", [...(range.length ? [at("range", ...range)] : []), at("dot", logOdds)], range.length ? intervalText(cockpit.interval) : "", [`${of100(logistic(logOdds))} in 100`], "total"),
    ])]);
  }
}

/** A key of the marks. */
function legend() {
  const item = (mark, text, className = "") => [
    element("span", { className, "aria-hidden": "true", text: mark }), element("span", { text }),
  ];
  return element("div", { className: "key" }, [
    ...item("odds", "cases with the outcome per case without: 80 in 100 is 4 to 1"),
    ...item("▲", "raises the chance: ×2 doubles the odds, 4 to 1 becomes 8 to 1 (89 in 100)", "up"),
    ...item("▼", "lowers the chance: ÷2 halves the odds", "down"),
    ...item("◆", "you are here: the value that you entered", "here"),
    ...item("↔", "overlap of findings: what they say together, beyond or less than each by itself; so factors change when more is known"),
    ...item("?", "not known: an open question, not a “no”"),
  ]);
}
