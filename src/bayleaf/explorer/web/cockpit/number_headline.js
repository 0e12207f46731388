// The answer where it is a number: a sentence, its distribution and its interval.

class NumberHeadline {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.line = element("p", { className: "headline" });
    this.facts = element("p", { className: "facts" });
    this.drawing = element("div", {});
    this.caption = element("p", { className: "caption" }, [
      element("span", {}, [element("i", { className: "person-key on" }), "90 % of such cases"]),
      element("span", { text: "◆ expected" }),
    ]);
    byId("now-body").append(this.line, this.facts, this.drawing, this.caption);
  }

  show(answer, reasons) {
    const { scale, words, outcome } = this.cockpit;
    const { trial, session } = this.cockpit;
    const before = trial ? scale.total(outcome.answer(session.evidence).mean) : "";
    const isMoved = before && before !== scale.total(answer.mean);
    this.was = isMoved ? ` instead of ${before}` : "";
    fill(this.line, [
      element("strong", {}, [`About ${scale.total(answer.mean)}`, ...(isMoved ? [element("span", { className: "was", text: this.was })] : [])]),
      this.#rest(),
    ]);
    const evidence = this.cockpit.evidence();
    const parts = [element("b", { text: scale.intervalText(answer) })];
    if (!reasons.items.length) parts.push(". Nothing entered yet: choose a finding.");
    else parts.push(`; ${this.#start()}`);
    const strongest = this.#strongest(reasons);
    strongest.forEach(({ variable, value }, i) => {
      const text = words.finding(variable, evidence[variable]);
      parts.push(i ? ", " : element("br"), text, " ", element("b", { className: scale.side(value), text: scale.change(value) }));
    });
    if (strongest.length) parts.push(".");
    fill(this.facts, parts);
    this.drawing.replaceChildren(this.#distribution(answer));
  }

  #start() {
    const { scale, outcome } = this.cockpit;
    return `${scale.total(outcome.start().mean)} before anything was known.`;
  }

  #strongest({ items }) {
    return items.filter(({ value }) => this.cockpit.scale.side(value)).slice(0, FACTORS_SHOWN);
  }

  /** A picture of the distribution. */
  #distribution(answer) {
    const { scale } = this.cockpit;
    const { mean, low, high } = answer;
    const drawing = scale.density.draw(this.cockpit.evidence(), { low, median: mean, high });
    drawing.removeAttribute("aria-hidden");
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", `Distribution of ${scale.heading}: ${scale.intervalText(answer)}, expected ${scale.total(mean)}`);
    return drawing;
  }

  /** The answer as a letter has it. */
  letter(answer) {
    const { scale } = this.cockpit;
    const isEntered = this.cockpit.evidence().some((mask) => mask);
    return [
      element("p", { className: "headline" }, [element("b", { text: `About ${scale.total(answer.mean)}` }), ` ${this.#rest()}`]),
      element("p", { text: `${scale.intervalText(answer)}. ${isEntered ? this.#start() : ""}` }),
      this.#distribution(answer),
    ];
  }

  /** The whole answer as text. */
  text(answer, reasons) {
    const { scale, words } = this.cockpit;
    const evidence = this.cockpit.evidence();
    const why = this.#strongest(reasons).map(({ variable, value }) => `${words.finding(variable, evidence[variable])} ${scale.change(value)}`);
    return [
      this.sentence(answer), `${scale.intervalText(answer)}.`, this.#start(), why.length ? `${why.join(", ")}.` : "",
    ].filter(Boolean).join(" ");
  }

  #rest() {
    const { scale, words } = this.cockpit;
    const isOpen = this.cockpit.evidence().every((mask) => !mask);
    return `is the ${scale.heading} expected of ${words.cases}${isOpen ? "" : " like this"}.`;
  }

  /** The interval of the answer. */
  interval(answer) {
    return { low: answer.low, high: answer.high };
  }

  /** The answer in a line. */
  short(answer) {
    const { scale } = this.cockpit;
    return `${scale.heading}: ${scale.total(answer.mean)}${this.was}, ${scale.intervalText(answer)}`;
  }

  sentence(answer) {
    return `About ${this.cockpit.scale.total(answer.mean)} ${this.#rest()}`;
  }
}

/** How good the model is: what left-out training rows were given. */
class NumberQuality {
  constructor({ session, scale, words }) {
    const { crps, coverage } = session.model.quality ?? {};
    const isKnown = coverage !== undefined;
    this.sentences = !isKnown ? ["How well it predicts new cases has not been measured."] : [
      `The 90 % interval contained the number for ${of100(coverage)} of 100 ${words.cases} when each was left out of learning, all its findings known. With fewer known, that was not measured.`,
      `Its distributions missed the number by ${scale.total(crps)} on average (continuous ranked probability score).`,
      "Each row was left out of the counts alone, so new cases are predicted a little worse, those of other places or times perhaps much worse.",
    ];
    byId("right").append(element("section", { id: "quality", "aria-labelledby": "quality-heading" }, [
      element("h2", { id: "quality-heading", tabindex: "-1", text: "How good is this model?" }),
      element("ul", {}, this.sentences.map((text, i) => element("li", { text, className: i < 2 ? "" : "note" }))),
      ...(isKnown ? [] : [forProgrammers([`bayleaf evaluate TABLE --target ${scale.heading} --model regressor tests such a model on rows that it has not seen.`])]),
    ]));
  }

  /** How often the interval contains the number, and how far answers are from it. */
  facts() {
    return this.sentences.slice(0, 2);
  }
}
