// What if: the smallest changes of findings that would carry the answer over a line.

const PROPOSALS_SHOWN = 3;
const OPEN_SHOWN = 8;
// Changes whose intervals are computed, the smallest and most probable ones.
const GRADED = 24;
// Of those, most that change the same features.
const ALIKE_GRADED = 4;
// Names are not proposed that fewer cases have where the other findings are the same.
const RARE = 0.01;

/** Changes in groups: what a person can change, what could be different, what is open. */
class Proposals {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.node = element("section", { className: "proposals", "aria-label": "What if", tabindex: "-1" });
    this.found = element("div", {});
    this.node.append(this.goalLine(), this.found);
    this.stop = () => {};
  }

  /** What is written next to a proposal. */
  marks() {
    const { outcome, session } = this.cockpit;
    const hasIntervals = session.engine.hasIntervals;
    const doubt = !outcome.isBinary ? "the class of the case would hardly be less probable"
      : hasIntervals ? "it reaches over the line" : "the answer would be hardly over the line";
    return `${hasIntervals ? "In brackets: 95 % interval; “not" : "“Not"} sure” where ${doubt}.`;
  }

  /** What the changes are to reach, which the reader sets. */
  goalLine() {
    const { outcome, words } = this.cockpit;
    this.line = element("input", { type: "number", min: 1, max: 99, step: 1, "aria-label": "Goal in 100" });
    this.ways(outcome.isBinary ? [["below", "below"], ["least", "to at least"]]
      : [["", "any other class"], ...outcome.states.map((_, state) => [state, words.state(outcome.question, state)])]);
    this.line.addEventListener("change", () => {
      const line = Number(this.line.value);
      if (Number.isInteger(line) && line >= 1 && line <= 99) this.chosen = { ...this.chosen, line, missed: "" };
      else this.cockpit.say(`The goal must be a whole number from 1 to 99, got ${this.line.value || "nothing"}.`);
      this.show();
    });
    return element("h3", { className: "lead" }, outcome.isBinary ? ["What would bring this ", this.way, " ", element("span", {}, [this.line, " in 100?"])] : ["What would lead to ", element("span", {}, [this.way, " ?"])]);
  }

  /** A list of ways to reach the goal; the side stays, numbers are those of one case. */
  ways(options) {
    this.way = element("select", { "aria-label": "Goal" }, options.map(([value, text]) => element("option", { value, text })));
    this.way.addEventListener("change", () => { this.chosen = { case: this.cockpit.session.evidence, way: this.way.value }; this.show(); });
    return this.way;
  }

  /** Write the goal down in its fields. */
  showGoal({ way, line }) {
    this.way.value = way;
    if (this.cockpit.outcome.isBinary) this.line.value = String(line);
  }

  /** The goal: that of the reader or of the words, else the other side of the line to act from. */
  target(answer) {
    const { cockpit } = this;
    const { wanted } = cockpit.session.model.words ?? {};
    if (!cockpit.outcome.isBinary) {
      const now = cockpit.decision(answer.logs);
      const way = this.chosen.way ?? wanted ?? "";
      const goal = way === "" ? null : Number(way);
      return {
        way, now, text: "lead to this", isThere: goal === now,
        goal: (logs) => (goal === null || cockpit.decision(logs) === goal ? cockpit.decision(logs) : now),
      };
    }
    const count = Math.round(100 * answer.chance);
    const isHigh = wanted === undefined ? count < cockpit.threshold : wanted === answer.target;
    const way = this.chosen.way ?? (isHigh ? "least" : "below");
    const isUp = way === "least";
    const isOver = (line, n = count) => (isUp ? n >= line : n < line);
    // The next ten where the line to act from is reached already.
    const further = isUp ? Math.min(99, 10 * Math.ceil((count + 1) / 10)) : Math.max(1, 10 * Math.floor(Math.min(count, 99) / 10));
    const line = this.chosen.line ?? (isOver(cockpit.threshold) ? further : cockpit.threshold);
    const { target } = answer;
    const [now, other] = isUp ? [1 - target, target] : [target, 1 - target];
    return {
      way, line, now, isUp, nearer: further, isThere: isOver(line), text: `bring this ${isUp ? "to at least" : "below"} ${line} in 100`,
      goal: (logs) => (isOver(line, Math.round(100 * Math.exp(logs[target]))) ? other : now),
    };
  }

  /** Search for changes of the case; `trial` does not matter for them: what was found stays. */
  show() {
    const { cockpit } = this;
    const { session } = cockpit;
    this.node.hidden = !cockpit.trial;
    const answer = cockpit.trial && cockpit.outcome.answer(session.evidence);
    const last = this.search;
    this.search = null;
    if (!answer) this.stop();
    if (!cockpit.trial) return;
    if (!answer) {
      this.#draw([], true, null, "These findings contradict each other in the model: take one back.");
      return;
    }
    // A nearer goal than the line to act from is that of this line.
    const isStale = this.chosen?.missed && this.chosen.threshold !== cockpit.threshold;
    if (isStale || this.chosen?.case !== session.evidence) this.chosen = { case: session.evidence, way: this.chosen?.way };
    const target = this.target(answer);
    this.showGoal(target);
    const key = [target.way, target.line, target.end, target.now, cockpit.outcome.chosen, ...session.kept].join();
    if (last?.key === key && last.evidence === session.evidence) {
      this.search = last;
      this.#draw(last.found, last.isDone, target);
      return;
    }
    this.stop();
    if (target.isThere) {
      this.#draw([], true, target, "It is there already. Choose another goal above.");
      return;
    }
    this.known = new Map();
    this.openShares = null;
    this.found.setAttribute("aria-busy", "true");
    const open = this.#open();
    if (!open.length && !openItems(session, session.evidence).length) {
      this.#draw([], true, target, "Everything is fixed. Untick “fixed” next to a finding that could change.");
      return;
    }
    const changes = changesOf(session, session.evidence.slice(), target.now, {
      decide: target.goal, leftOf: target.leftOf, mostPaired: PAIRED_STATES, open,
      isUsual: (own) => own.every((change) => this.#isUsual(change, this.#with(own))),
      isPaired: (change) => [session.evidence, cockpit.outcome.nothing].some((others) => this.#isUsual(change, this.#with([change], others))),
    });
    this.search = { key, evidence: session.evidence, found: [], isDone: false };
    this.stop = runInSlices(changes, (found, isDone) => {
      Object.assign(this.search, { found, isDone });
      const isMissed = isDone && !found.length && this.chosen.line === undefined && ![undefined, target.line].includes(target.nearer);
      if (!isMissed) {
        this.#draw(found, isDone, target);
        return;
      }
      // Where nothing reaches the goal, a nearer one is better than no proposal.
      this.chosen = { ...this.chosen, threshold: cockpit.threshold, line: target.nearer, missed: `No change of one or two findings would ${target.text}; the goal is now a nearer one.` };
      this.show();
    });
  }

  /** Features that are not known, with all their values. */
  #open() {
    const { session } = this.cockpit;
    return tableVariables(session).filter((v) => !session.evidence[v] && !session.kept.has(v)).map((variable) => {
      const { missing, states } = session.model.variables[variable];
      return { variable, from: -1, others: [...Array(missing ?? states.length).keys()] };
    });
  }

  /** The evidence of the case with changes. */
  #with(changes, others = this.cockpit.session.evidence) {
    return changes.reduce((evidence, { variable, to }) =>
      evidence.with(variable, hardMask(this.cockpit.session.card(variable), to)), others);
  }

  /** How probable each value of a feature is where the others are as in some evidence. */
  #shares(variable, evidence) {
    const key = [variable, ...evidence.map((mask, v) => (v === variable || !mask ? "" : onlyState(mask)))].join();
    if (!this.known.has(key)) this.known.set(key, statesGiven(this.cockpit.session, variable, evidence));
    return this.known.get(key);
  }

  /** The same of a feature that is open; networks find those of all features at once. */
  #openShares(variable) {
    const { engine, evidence } = this.cockpit.session;
    if (!engine.jointScores) return this.#shares(variable, evidence);
    this.openShares ??= engine.posteriors(evidence);
    return this.openShares[variable];
  }

  /**
   * Whether cases with such other findings have a value: one that contradicts none of
   * them, and is neither a rare name nor an outer number. Open features have them all.
   */
  #isUsual({ variable, from, to }, evidence) {
    const { engine, model } = this.cockpit.session;
    if (engine.isContradicted?.(variable, evidence)) return false;
    if (from < 0) return true;
    const shares = this.#shares(variable, evidence);
    if (!model.variables[variable].cuts) return shares[to] >= RARE;
    const below = sumOf(shares.slice(0, to));
    return below < 1 - RARE_ANSWER && below + shares[to] > RARE_ANSWER;
  }

  /**
   * What open features may turn out to be: of each the most probable value, if as many
   * cases reach the goal as count for the range of a question.
   */
  #likely(found) {
    const likely = new Map();
    for (const one of found.filter(({ changes }) => changes[0].from < 0)) {
      const [{ variable, to }] = one.changes;
      one.share = this.#openShares(variable)[to];
      const { best, all } = likely.get(variable) ?? { best: one, all: 0 };
      likely.set(variable, { best: one.share > best.share ? one : best, all: all + one.share });
    }
    return [...likely.values()].filter(({ all }) => all >= RARE_ANSWER)
      .sort((a, b) => b.all - a.all).slice(0, OPEN_SHOWN).map(({ best }) => best);
  }

  /** The chance after a change, its interval, and whether all of it is over the line. */
  grade(one, trial, { isUp, line, now }) {
    const { cockpit } = this;
    const { outcome, words } = cockpit;
    const target = outcome.isBinary ? outcome.chosen : cockpit.decision(one.logs);
    const chance = Math.exp(one.logs[target]);
    const range = outcome.interval(trial, { logs: one.logs, target });
    const { low, high } = range ?? { low: chance - CLEARLY, high: chance + CLEARLY };
    const isClear = !outcome.isBinary ? chance - Math.exp(one.logs[now]) > CLEARLY
      : isUp ? 100 * low >= line : 100 * high < line;
    const isOver = outcome.isBinary ? line !== cockpit.threshold || Math.abs(chance - line / 100) >= HARDLY : Boolean(cockpit.session.loss) || chance - Math.exp(one.logs[now]) >= HARDLY;
    const label = outcome.isBinary ? "" : `${words.state(outcome.question, target)}, `;
    return { isOver, isClear, read: `${label}${of100(chance)} in 100`, range: range && rangeOf100(range) };
  }

  /** What a change leads to, and the evidence with it. */
  #graded(one, goal) {
    if (!one.grade) {
      const trial = this.cockpit.session.evidence.slice();
      for (const { variable, to } of one.changes) trial[variable] = this.#mask(variable, to);
      one.grade = { trial, ...this.grade(one, trial, goal) };
    }
    return one.grade;
  }

  /** A value as evidence: numbers as one that stands for their interval. */
  #mask(variable, state) {
    const { session, findings } = this.cockpit;
    const { number } = findings.row(variable);
    const mask = number && readEntered(session, variable, number.typical(state));
    return mask && onlyState(mask) === state ? mask : hardMask(session.card(variable), state);
  }

  #draw(found, isDone, target, remark = "") {
    const { cockpit } = this;
    const { session, words } = cockpit;
    const isOpen = ({ changes }) => changes[0].from < 0;
    const changed = sortCounterfactuals(found.filter((one) => !isOpen(one)));
    const graded = [...varied(changed, ALIKE_GRADED).slice(0, GRADED), ...this.#likely(found)]
      .filter((one) => this.#graded(one, target).isOver);
    const ordered = [true, false].flatMap((isClear) => graded.filter((one) => this.#graded(one, target).isClear === isClear));
    const canChange = (one) => !isOpen(one) && one.changes.every(({ variable }) => session.model.variables[variable].change === "actionable");
    const isNamed = session.model.variables.some(({ change }) => change === "actionable");
    const isEntered = session.evidence.some((mask) => mask);
    const groups = [
      ...(isNamed ? [["What a person can change", canChange]] : []),
      ["Had this been different", (one) => !isOpen(one) && !canChange(one)],
      ["Not known yet: if it turned out to be", isOpen],
    ];
    const parts = groups.map(([heading, isOf]) => [heading, varied(ordered.filter(isOf)).slice(0, isOf === isOpen ? OPEN_SHOWN : PROPOSALS_SHOWN).map((one) => this.#item(one, target))])
      // Where nothing is entered, nothing could have been different.
      .filter(([heading, items]) => items.length || (heading === groups[0][0] && (isEntered || !graded.length))).flatMap(([heading, items]) => [
        element("h4", { text: heading }), items.length ? element("ul", {}, items)
          : element("p", { className: "note", text: isDone ? `No change of one or two of these would clearly ${target?.text}.` : "Searching …" })]);
    this.found.setAttribute("aria-busy", String(!isDone));
    const back = pressing("Back to the case", () => {
      const tried = this.found.querySelector('[aria-pressed="true"]')?.dataset.key;
      cockpit.attempt(session.evidence.slice());
      (this.found.querySelector(`[data-key="${CSS.escape(tried)}"]`) ?? this.node).focus({ preventScroll: true });
    }, { "data-key": "untry" });
    // The way to the modes leads past all findings, and on a telephone up.
    const close = pressing("Close What if", () => {
      cockpit.setMode("form");
      byId("now").focus();
    }, { "data-key": "close" });
    keepFocus(this.found, () => this.found.replaceChildren(
      ...[remark || this.chosen?.missed].filter(Boolean).map((text) => element("p", { className: "note", text })),
      ...(remark ? [] : parts),
      element("p", { className: "buttons" }, [close, ...(cockpit.isTrying ? [back] : [])]),
      element("p", { className: "note", text: `${isDone ? "" : "Searching on … "}This is how the model's answer would change, not what a treatment or decision would do: ${words.cases} with these values differ in other ways, too. ${remark ? "" : `${this.marks()} `}What is ticked as fixed stays as it is.` }),
    ));
  }

  #item(one, goal) {
    const { cockpit } = this;
    const { words, session } = cockpit;
    const { trial, read, range, isClear } = this.#graded(one, goal);
    const text = one.changes.map(({ variable, from }) => {
      const to = words.value(variable, trial[variable]);
      return `${words.label(variable)}: ${from < 0 ? to : `${words.value(variable, session.evidence[variable])} → ${to}`}`;
    }).join("; ");
    const isTried = trial.every((mask, v) => (mask && onlyState(mask)) === (cockpit.trial[v] && onlyState(cockpit.trial[v])));
    const attempt = pressing(isTried ? "Tried" : "Try", () => {
      cockpit.attempt(trial, one.changes[0].variable);
    }, { "aria-label": `Try ${text}`, "data-key": `try-${text}`, "aria-pressed": String(isTried) });
    const doubt = isClear ? "" : "not sure";
    return element("li", {}, [
      element("span", { dir: "auto" }, [...breakable(text), ...(doubt ? [element("span", { className: "note", text: ` – ${doubt}` })] : [])]),
      element("span", {}, [
        element("b", { text: read }),
        ...(range ? [element("span", { className: "note", text: ` (${range})` })] : []),
      ]), attempt]);
  }
}
