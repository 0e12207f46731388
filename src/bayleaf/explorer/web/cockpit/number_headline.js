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
    const { mean, low, high } = answer;
    this.line.replaceChildren(element("strong", { text: `About ${scale.total(mean)}` }), this.#rest());
    const evidence = this.cockpit.evidence();
    const parts = [element("b", { text: scale.intervalText(answer) })];
    if (!reasons.items.length) parts.push(". Nothing entered yet: choose a finding.");
    else parts.push(`; ${scale.total(outcome.start().mean)} before anything was known.`);
    reasons.items.filter(({ value }) => scale.side(value)).slice(0, FACTORS_SHOWN).forEach(({ variable, value }, i) => {
      const text = words.finding(variable, evidence[variable]);
      parts.push(i ? ", " : element("br"), text, " ", element("b", { className: scale.side(value), text: scale.change(value) }));
    });
    this.facts.replaceChildren(...parts);
    const drawing = scale.density.draw(evidence, { low, median: mean, high });
    drawing.removeAttribute("aria-hidden");
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", `Distribution of ${scale.heading}: ${scale.intervalText(answer)}, expected ${scale.total(mean)}`);
    this.drawing.replaceChildren(drawing);
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
    return `${scale.heading}: ${scale.total(answer.mean)}, ${scale.intervalText(answer)}`;
  }

  sentence(answer) {
    return `About ${this.cockpit.scale.total(answer.mean)} ${this.#rest()}`;
  }
}

/** How good the model is: what left-out training rows were given. */
class NumberQuality {
  constructor({ session, scale, words }) {
    const { crps, coverage } = session.model.quality ?? {};
    const lines = coverage === undefined ? [`Not measured: bayleaf evaluate TABLE --target ${scale.heading} --model regressor tests such a model on rows that it has not seen.`] : [
      `The 90 % interval contained the number for ${of100(coverage)} of 100 ${words.cases} when each was left out of learning, all its findings known. With fewer known, that was not measured.`,
      `Numbers were ${scale.total(crps)} away from the distribution that was given, on average (continuous ranked probability score).`,
      "Each row was left out of the counts alone, so new cases are predicted a little worse, those of other places or times perhaps much worse.",
    ];
    byId("right").append(element("section", { id: "quality", "aria-labelledby": "quality-heading" }, [
      element("h2", { id: "quality-heading", text: "How good is this model?" }),
      element("ul", {}, lines.map((text, i) => element("li", { text, className: i < 2 ? "" : "note" }))),
    ]));
  }
}
