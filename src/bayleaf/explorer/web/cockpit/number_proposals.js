// What if, where the answer is a number: changes that carry it below, above or between.

class NumberProposals extends Proposals {
  marks() {
    return `In brackets: where 90 of 100 such ${this.cockpit.words.cases} lie; “not sure” where the expected number would be hardly over the line.`;
  }

  goalLine() {
    const field = (name, label) => {
      const own = element("input", { type: "number", step: "any", "aria-label": label });
      own.addEventListener("change", () => this.#choose(name, own));
      this[name] = own;
      return own;
    };
    const between = element("span", {}, [" and ", field("end", "Goal, to")]);
    this.between = between;
    return element("h3", { className: "lead" }, [
      "What would bring this ", this.ways([["below", "below"], ["least", "to at least"], ["within", "to between"]]),
      " ", element("span", {}, [field("line", "Goal"), between, " ?"]),
    ]);
  }

  /** Take over a number of the goal; a range that would be turned round is moved. */
  #choose(name, field) {
    const { way, line, end } = this.shown;
    const number = field.value.trim() ? Number(field.value) : NaN;
    if (!Number.isFinite(number)) this.cockpit.say("The goal must be a number.");
    else {
      const ends = { line, end, [name]: number };
      if (ends.line >= ends.end) ends[name === "line" ? "end" : "line"] = number + (name === "line" ? 1 : -1) * (end - line);
      this.chosen = { ...this.chosen, way, ...(way === "within" ? ends : { line: number }) };
    }
    this.show();
  }

  showGoal(goal) {
    this.shown = goal;
    this.way.value = goal.way;
    this.line.value = String(goal.line);
    this.end.value = String(goal.end);
    this.between.hidden = goal.way !== "within";
  }

  /** The goal: that of the reader, else the number expected before anything was known. */
  target({ mean }) {
    const { outcome, scale, session } = this.cockpit;
    const start = outcome.start().mean;
    // A quarter of the standard deviation.
    const further = 5 * scale.least;
    const way = this.chosen.way ?? (mean >= start ? "below" : "least");
    const line = this.chosen.line ?? scale.rounded({
      below: mean < start ? mean - further : start,
      least: mean > start ? mean + further : start,
      within: start - further,
    }[way]);
    // A tenth of the standard deviation, where that is less.
    const nearer = { below: Math.max(line, mean - 2 * scale.least), least: Math.min(line, mean + 2 * scale.least) }[way];
    const end = this.chosen.end ?? Math.max(line + scale.step, scale.rounded(start + further));
    // How far a number is from the goal, which is negative inside.
    const leftOf = (number) => ({
      below: number - line, least: line - number, within: Math.max(line - number, number - end),
    })[way];
    const isIn = (number) => (way === "below" ? leftOf(number) < 0 : leftOf(number) <= 0);
    let latest = {};
    const meanOf = (known) => {
      if (latest.known !== known) latest = { known, mean: session.engine.moments(known).mean };
      return latest.mean;
    };
    const numbers = way === "within" ? `${scale.total(line)} and ${scale.total(end)}` : scale.total(line);
    return {
      way, line, end, nearer: way === "within" ? undefined : scale.rounded(nearer), now: 0, isThere: isIn(mean), distance: leftOf,
      text: `bring this ${{ below: "below", least: "to at least", within: "to between" }[way]} ${numbers}`,
      goal: (_, known) => Number(isIn(meanOf(known))),
      leftOf: (_, known) => leftOf(meanOf(known)),
    };
  }

  /** The number after a change, its interval, and whether it is well over the line. */
  grade(one, trial, goal) {
    const { outcome, scale } = this.cockpit;
    const { mean, low, high } = outcome.answer(trial);
    return {
      isOver: true, isClear: goal.distance(mean) <= -scale.least, read: scale.total(mean), range: scale.range({ low, high }),
    };
  }
}
