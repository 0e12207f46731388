// What if: the smallest changes of findings that would carry the answer over the line.

// How far beyond the line a change must carry the chance.
const CLEARLY = 0.05;
const PROPOSALS_SHOWN = 3;
// Values are not proposed that fewer cases have, and numbers beyond these quantiles.
const RARE = 0.01;
const TAILS = 0.1;
// States of a feature that take part in pairs of changes.
const PAIRED_STATES = 3;

/** Changes in two groups: what a person can change, and what could have been different. */
class Proposals {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.node = element("div", { className: "proposals" });
    this.stop = () => {};
  }

  /** Search for changes of the case; `trial` does not matter for them. */
  show() {
    this.stop();
    const { cockpit } = this;
    const { session } = cockpit;
    this.node.hidden = !cockpit.trial;
    if (!cockpit.trial) return;
    const answer = cockpit.outcome.answer(session.evidence);
    if (!answer || !openItems(session, session.evidence).length) {
      this.#draw([], true, "Enter some findings that are not fixed to see what would change the answer.");
      return;
    }
    const changes = changesOf(session, session.evidence.slice(), cockpit.decision(answer.logs), {
      decide: (logs) => cockpit.decision(logs), mostPaired: PAIRED_STATES,
    });
    this.stop = runInSlices(changes, (found, isDone) => this.#draw(
      sortCounterfactuals(found.filter(({ logs, changes }) => this.#isClear(logs, answer)
        && changes.every(({ variable, to }) => this.#isUsual(variable, to)))), isDone,
    ));
  }

  /** Whether many cases have a value: names that are not rare, numbers of the middle. */
  #isUsual(variable, state) {
    const { outcome, session } = this.cockpit;
    const weights = outcome.weights(variable);
    const total = sumOf(weights);
    if (!session.model.variables[variable].cuts) return weights[state] >= RARE * total;
    const below = sumOf(weights.slice(0, state)) / total;
    return below < 1 - TAILS && below + weights[state] / total > TAILS;
  }

  /** Whether the answer would lie clearly beyond the line. */
  #isClear(logs, { logs: before, target }) {
    const { cockpit } = this;
    if (!cockpit.outcome.isBinary) {
      const found = cockpit.decision(logs);
      return Math.exp(logs[found]) - Math.exp(logs[cockpit.decision(before)]) > CLEARLY;
    }
    return Math.abs(Math.exp(logs[target]) - cockpit.threshold / 100) > CLEARLY;
  }

  #draw(found, isDone, remark = "") {
    const { cockpit } = this;
    const { session, words, outcome, threshold } = cockpit;
    const answer = outcome.answer(session.evidence);
    const isOver = answer && answer.chance * 100 >= threshold;
    const goal = outcome.isBinary ? `bring this ${isOver ? "below" : "to at least"} ${threshold} in 100` : "lead to another class";
    const canChange = ({ variable }) => session.model.variables[variable].change === "actionable";
    const groups = [
      ["What a person can change", ({ changes }) => changes.every(canChange)],
      ["Had this been different", ({ changes }) => !changes.every(canChange)],
    ];
    const parts = groups.flatMap(([heading, isOf]) => {
      const items = this.#varied(found.filter(isOf)).map((one) => this.#item(one));
      const isNamed = session.model.variables.some(({ change }) => change === "actionable");
      if (heading === groups[0][0] && !isNamed) return [];
      return [element("h3", { text: heading }), items.length ? element("ul", {}, items)
        : element("p", { className: "note", text: isDone ? `No change of one or two of these would clearly ${goal}.` : "Searching …" })];
    });
    keepFocus(this.node, () => this.node.replaceChildren(
      element("h3", { className: "lead", text: `What would ${goal}?` }),
      ...(remark ? [element("p", { className: "note", text: remark })] : parts),
      element("p", { className: "note", text: `This is how the model's answer would change, not what a treatment or decision would do. ${cap(words.cases)} with these values differ in other ways, too.` }),
    ));
  }

  /** The first ones, each for other variables. */
  #varied(found) {
    const seen = new Set();
    return found.filter(({ changes }) => {
      const key = changes.map(({ variable }) => variable).join();
      return !seen.has(key) && seen.add(key);
    }).slice(0, PROPOSALS_SHOWN);
  }

  #item({ changes, logs }) {
    const { cockpit } = this;
    const { words, session, outcome } = cockpit;
    const text = changes.map(({ variable, to }) =>
      `${words.label(variable)}: ${words.value(variable, session.evidence[variable])} → ${words.state(variable, to)}`).join("; ");
    const trial = session.evidence.slice();
    for (const { variable, to } of changes) trial[variable] = hardMask(session.card(variable), to);
    const target = outcome.isBinary ? outcome.chosen : cockpit.decision(logs);
    const range = outcome.interval(trial, { logs, target });
    const read = [
      outcome.isBinary ? "" : `${words.state(outcome.question, target)}, `,
      `${of100(Math.exp(logs[target]))} in 100`,
    ].join("");
    const attempt = pressing("Try", () => {
      cockpit.attempt(trial, changes[0].variable);
    }, { "aria-label": `Try ${text}`, "data-key": `try-${text}` });
    return element("li", {}, [element("span", { dir: "auto", text }), element("span", {}, [
      element("b", { text: read }),
      ...(range ? [element("span", { className: "note", text: ` (${rangeOf100(range)})` })] : []),
    ]), attempt]);
  }
}
