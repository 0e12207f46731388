// The answer: a sentence that a person can say, and a hundred of which some are filled.

const PERSON = "M8 1.2a3.1 3.1 0 1 1 0 6.2a3.1 3.1 0 0 1 0-6.2zM3.2 19V12.2a3.6 3.6 0 0 1 3.6-3.6h2.4a3.6 3.6 0 0 1 3.6 3.6V19z";
const [PEOPLE_STEP, PEOPLE_GAP, PEOPLE_PITCH] = [20, 10, 21];
const CLASSES_SHOWN = 8;
const FACTORS_SHOWN = 3;

/** A hundred people in five rows of two tens. */
class Icons {
  constructor() {
    this.people = Array.from({ length: 100 }, (_, i) => {
      const block = Math.floor(i / 10);
      const column = (block % 2) * 10 + (i % 10);
      const x = column * PEOPLE_STEP + (column > 9 ? PEOPLE_GAP : 0) + 2;
      return drawn("path", { d: PERSON, transform: `translate(${x} ${Math.floor(block / 2) * PEOPLE_PITCH})` });
    });
    this.node = drawn("svg", {
      viewBox: `0 0 ${20 * PEOPLE_STEP + PEOPLE_GAP} ${5 * PEOPLE_PITCH}`, class: "people", role: "img",
    }, this.people);
  }

  /** Fill a count; those that the interval leaves uncertain are paler. */
  show(count, text, range) {
    mark(this.node, "aria-label", text);
    const [low, high] = range ? [peopleOf(range.low), peopleOf(range.high)] : [count, count];
    const kind = (i) => (i < count ? (i < low ? "on" : "on likely") : i < high ? "on unlikely" : "");
    this.people.forEach((person, i) => mark(person, "class", `person ${kind(i)}`));
  }
}

/** The interval of a chance, in words. */
function intervalText({ low, high }) {
  return `95 % interval ${of100(low)} to ${of100(high)}`;
}

/** The number of people of a hundred that is drawn, which is never none or all. */
function peopleOf(chance) {
  return Math.min(99, Math.max(1, Math.round(100 * chance)));
}

/** The sentence, the icons, and the classes where there are more than two. */
class Headline {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.icons = new Icons();
    this.line = element("p", { className: "headline" });
    this.facts = element("p", { className: "facts" });
    this.caption = element("p", { className: "caption" });
    this.classes = element("div", { className: "classes" });
    this.below = element("div", {});
    byId("now-body").append(this.line, this.facts, this.icons.node, this.caption, this.classes, this.below);
  }

  show(answer, reasons) {
    const { cockpit } = this;
    const isEmpty = !answer;
    this.icons.node.toggleAttribute("hidden", isEmpty);
    for (const part of [this.facts, this.caption]) part.hidden = isEmpty;
    this.classes.toggleAttribute("hidden", isEmpty || cockpit.outcome.isBinary || answer.logs.length < 2);
    if (isEmpty) {
      this.line.replaceChildren("These findings contradict each other in the model: take one back.");
      return;
    }
    const { outcome, words } = cockpit;
    const { target, chance } = answer;
    const before = cockpit.trial ? cockpit.compute(cockpit.session.evidence).answer : null;
    const isMoved = before && before.target === target && near(before.chance) !== near(chance);
    this.was = isMoved ? ` instead of ${near(before.chance)}` : "";
    fill(this.line, [
      element("strong", {}, [`${about(chance)} in 100`, ...(isMoved ? [element("span", { className: "was", text: this.was })] : [])]),
      this.predicate(target),
    ]);
    this.#facts(answer, reasons);
    const count = peopleOf(chance);
    const label = words.state(outcome.question, target);
    const range = cockpit.interval;
    const within = range ? `; between ${of100(range.low)} and ${of100(range.high)} within the 95 % interval` : "";
    this.icons.show(count, `Of 100 ${words.cases}, ${count} filled in: ${label}${within}.`, range);
    const rest = outcome.isBinary ? words.state(outcome.question, answer.against) : "other";
    const key = (mark, text) => element("span", {}, [element("i", { className: `person-key ${mark}` }), text]);
    fill(this.caption, [
      key("on", `${label}: ${of100(chance)}`), key("", `${rest}: ${restOf100(chance)}`),
      ...(range ? [key("likely", `paler: within the interval, ${of100(range.low)} to ${of100(range.high)}`)] : []),
    ]);
    this.#classes(answer);
  }

  /** The rest of the sentence after the count. */
  predicate(target) {
    const { words, outcome } = this.cockpit;
    const isOpen = this.cockpit.evidence().every((mask) => !mask);
    return `${words.cases} ${isOpen ? "" : "like this "}${words.predicate(outcome.question, target)}.`;
  }

  /** Where the answer started, and the strongest factors. */
  #facts(answer, reasons) {
    const { cockpit } = this;
    const { words, outcome, session } = cockpit;
    const parts = [];
    const evidence = cockpit.evidence();
    const interval = cockpit.interval ? [element("b", { text: intervalText(cockpit.interval) })] : [];
    if (!reasons) {
      parts.push(answer.against < 0 ? "There is only one class."
        : "You entered the outcome itself. Remove it to see reasons.");
    } else if (!reasons.items.length) {
      parts.push(...interval, `${interval.length ? ". " : ""}Nothing entered yet: choose a finding.`);
    } else {
      const start = `${near(outcome.start(answer).chance)} in 100 before anything was known.`;
      parts.push(...interval, interval.length ? `; ${start}` : cap(start));
      const strongest = reasons.items.filter(({ value }) => side(value)).slice(0, FACTORS_SHOWN);
      strongest.forEach(({ variable, value }, i) => {
        const text = words.finding(variable, evidence[variable]);
        parts.push(i ? ", " : element("br"), text, " ", element("b", { className: side(value), text: words.factor(value) }));
      });
      if (strongest.length) parts.push(".");
    }
    const decision = session.loss && session.decision(answer.logs);
    if (session.loss && decision !== argMax(answer.logs)) {
      parts.push(element("br"), `The cheapest decision under the loss matrix: ${words.state(outcome.question, decision)}.`);
    }
    if (session.model.is_rounded) parts.push(element("br"), "From rounded counts: the model's own answer may differ.");
    fill(this.facts, parts);
  }

  /** Of more than two classes, each with its chance; a click makes it the one in question. */
  #classes({ logs, target }) {
    const { outcome, words } = this.cockpit;
    if (this.classes.hidden) return;
    const ranked = [...logs.keys()].sort((a, b) => logs[b] - logs[a] || a - b);
    const shown = ranked.slice(0, CLASSES_SHOWN);
    if (!shown.includes(target)) shown.push(target);
    const key = document.activeElement?.dataset.key;
    const bars = shown.map((state) => {
      const chance = Math.exp(logs[state]);
      const bar = element("span", { className: "fill" });
      bar.style.width = share(chance);
      const button = pressing("", () => this.cockpit.ask(state), {
        className: "class-bar", "aria-pressed": String(state === target), "data-key": `class-${state}`,
      });
      button.append(bar, element("span", { className: "label", dir: "auto", text: words.state(outcome.question, state) }),
        element("span", { className: "value", text: `${of100(chance)} in 100` }));
      return button;
    });
    if (ranked.length > shown.length) {
      bars.push(element("p", { className: "note", text: `${ranked.length - shown.length} less probable classes are not listed.` }));
    }
    fill(this.classes, bars);
    if (key?.startsWith("class-")) this.classes.querySelector(`[data-key="${key}"]`)?.focus();
  }

  /** The interval of the answer; null where nothing is known or both ends read alike. */
  interval(answer, evidence) {
    const range = evidence.some((mask) => mask) ? this.cockpit.outcome.interval(evidence, answer) : null;
    return range && of100(range.low) !== of100(range.high) ? range : null;
  }

  /** The answer as a letter has it. */
  letter(answer) {
    const { cockpit } = this;
    const icons = new Icons();
    icons.show(peopleOf(answer.chance), `${peopleOf(answer.chance)} of 100`, cockpit.interval);
    return [
      element("p", { className: "headline" }, [element("b", { text: `${about(answer.chance)} in 100` }), ` ${this.predicate(answer.target)}`]),
      ...(cockpit.evidence().some((mask) => mask) ? [element("p", { text: `${cockpit.interval ? `${intervalText(cockpit.interval)}. ` : ""}${cap(near(cockpit.outcome.start(answer).chance))} in 100 before anything was known.` })] : []),
      icons.node,
    ];
  }

  /** The answer in a line. */
  short({ target, chance }) {
    const { words, outcome, interval } = this.cockpit;
    return `${words.state(outcome.question, target)}: ${near(chance)} in 100${this.was}${interval ? `, ${intervalText(interval)}` : ""}`;
  }

  /** The answer in a sentence. */
  sentence({ target, chance }) {
    return `${about(chance)} in 100 ${this.predicate(target)}`;
  }

  /** The whole answer as text. */
  text(answer, reasons) {
    const { words, outcome } = this.cockpit;
    const evidence = this.cockpit.evidence();
    const strongest = (reasons?.items ?? []).filter(({ value }) => side(value)).slice(0, FACTORS_SHOWN);
    const why = strongest.map(({ variable, value }) => `${words.finding(variable, evidence[variable])} ${words.factor(value)}`);
    return [
      this.sentence(answer),
      this.cockpit.interval ? `${intervalText(this.cockpit.interval)}.` : "",
      `${cap(near(outcome.start(answer).chance))} in 100 before anything was known.`,
      why.length ? `${why.join(", ")}.` : "",
    ].filter(Boolean).join(" ");
  }
}
