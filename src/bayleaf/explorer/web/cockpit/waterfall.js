// Why: how each finding moves the answer from the start, on an axis of chances.

// Findings with a line of their own.
const LINES_SHOWN = 6;
// Least distance of labels of the axis, in hundredths of its width.
const LABELS_APART = 20;

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
    else this.body.replaceChildren(element("p", { className: "note", text: this.cockpit.scale.hint }), ...(this.cockpit.rows?.starts() ?? []), this.#legend(true));
  }

  /** A key of the marks, which stays open or closed as the reader left it. */
  #legend(isOpen) {
    const details = element("details", { className: "legend-of-marks" }, [element("summary", { text: "What the marks mean" }), legend(this.cockpit.scale.key)]);
    details.open = this.isLegendOpen ?? isOpen;
    details.firstChild.addEventListener("click", () => { this.isLegendOpen = !details.open; });
    return details;
  }

  /** Of more than two classes, which two the odds are of. */
  #lead({ target, against }) {
    const { outcome, words } = this.cockpit;
    if (outcome.isBinary || outcome.isNumber) return [];
    const [one, other] = [target, against].map((state) => words.state(outcome.question, state));
    return [element("p", { className: "note", text: `${one} rather than ${other}, the most probable other class. Chances here are of these two alone, so they differ from those above.` })];
  }

  /** Lines of the table: the strongest findings, all others together, and what findings share. */
  #steps({ start, items, rest }) {
    const { scale, session: { model: { variables } } } = this.cockpit;
    const strongest = items.filter(({ value }) => scale.side(value)).slice(0, LINES_SHOWN);
    // What no one can change, such as sex, is never hidden among the others.
    const shown = items.filter((item) => strongest.includes(item) || variables[item.variable].change === "immutable");
    const others = items.filter((item) => !shown.includes(item));
    const steps = shown.map(({ variable, value }) => ({ variable, value }));
    const sum = others.reduce((all, { value }) => all + value, 0);
    // An overlap without a line of its own is named where the others read otherwise with it.
    const isJoined = !scale.isShown(rest) && others.length > 0;
    const name = counted(others.length, shown.length ? "other" : "finding");
    if (others.length) steps.push({ others: isJoined && scale.change(sum + rest) !== scale.change(sum) ? `${name}, ${OVERLAP}` : name, value: isJoined ? sum + rest : sum });
    if (scale.isShown(rest)) steps.push({ others: OVERLAP, value: rest });
    let at = start;
    return steps.map((step) => {
      const from = at;
      at += step.value;
      return { ...step, from, to: at };
    });
  }

  #table(steps, { start, end }) {
    const { cockpit } = this;
    const { scale } = cockpit;
    const evidence = cockpit.evidence();
    const { line, range } = scale.marks();
    const { low, high, ticks } = scale.axis([start, end, line, ...range, ...steps.map(({ to }) => to)].filter(Number.isFinite));
    const x = (value) => (100 * (Math.min(high, Math.max(low, value)) - low)) / (high - low);
    let last = -Infinity;
    const labelled = ticks.filter((tick) => x(tick.at) - last >= LABELS_APART && ((last = x(tick.at)) || true));
    const at = (className, value, to) => {
      const mark = element("i", { className });
      mark.style.left = `${x(value)}%`;
      if (to !== undefined) mark.style.width = `${x(to) - x(value)}%`;
      return mark;
    };
    const lane = (...marks) => element("div", { className: "lane", "aria-hidden": "true" }, [
      ...ticks.map((tick) => at("grid", tick.at)),
      ...(line === null ? [] : [at("line", line)]), ...marks,
    ]);
    const row = (head, marks, read, text, className = "") => element("tr", { className }, [
      element("th", { scope: "row" }, [head]),
      element("td", {}, [lane(...marks), element("span", { className: "unseen", text: read })]),
      element("td", { className: "effect" }, text),
    ]);
    const step = ({ variable, others, value, from, to }) => {
      const name = others === undefined ? pressing(cockpit.words.finding(variable, evidence[variable]), () => cockpit.look(variable), { className: "plain-link", dir: "auto", "data-key": `why-${variable}` })
        : element("span", { text: others });
      const text = element("span", { className: scale.side(value), "aria-hidden": "true" }, [arrow(scale.side(value)), scale.change(value)]);
      return row(name, [at(`segment ${value < 0 ? "down" : "up"}`, Math.min(from, to), Math.max(from, to)), at("thread", to)],
        `${scale.spoken(value)}; then ${scale.total(to)}`, [text]);
    };
    const head = element("thead", {}, [element("tr", {}, [
      element("th", { scope: "col", className: "first" }, [element("span", { text: "finding" }), element("span", { "aria-hidden": "true", text: scale.heading })]),
      element("th", { scope: "col" }, [element("div", { className: "ticks", "aria-hidden": "true" }, labelled.map((tick) => {
        const label = at("", tick.at);
        label.textContent = tick.text;
        return label;
      })), element("span", { className: "unseen", text: scale.heading })]),
      element("th", { scope: "col", className: "effect", text: scale.unit }),
    ])]);
    return element("table", { className: "fall", "aria-labelledby": "reasons-heading" }, [head, element("tbody", {}, [
      row("Starting point", [at("dot hollow", start), at("thread", start)], "", [scale.total(start)]),
      ...steps.map(step),
      row("Answer", [...(range.length ? [at("range", ...range)] : []), at("dot", end)], range.length ? scale.intervalText(cockpit.interval) : "", [scale.total(end)], "total"),
    ])]);
  }
}

/** A key of the marks. */
function legend(ofScale) {
  const item = (mark, text, className = "") => [
    element("span", { className, "aria-hidden": "true", text: mark }), element("span", { text }),
  ];
  return element("div", { className: "key" }, [
    ...ofScale.flatMap((own) => item(...own)),
    ...item("◆", "you are here: the value that you entered", "here"),
    ...item("↔", "overlap of findings: their effect together, beyond or less than each by itself; so factors change when more is known"),
    ...item("?", "not known: an open question, not a “no”"),
  ]);
}
