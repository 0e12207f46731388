// The answer, what it rests on, and what does not fit together.

// States of the answer that are listed.
const ANSWERS_SHOWN = 4;
// Nats from which on a conflict is told: values half as probable together as alone.
const TELLING_CONFLICT = LN2;
// Ways to make impossible evidence possible that are offered.
const WAYS_SHOWN = 5;

/** The posterior of the question, in a sentence and in bars. */
class AnswerPanel {
  constructor(session) {
    this.session = session;
    this.verdict = byId("verdict");
    this.bars = byId("answer-bars");
    this.known = byId("known");
    this.conflict = byId("conflict");
    this.effect = byId("effect");
    this.stop = () => {};
    this.density = session.engine.density ? new DensityPicture(session) : null;
  }

  show(logs, before) {
    this.stop();
    this.#showKnown();
    this.conflict.replaceChildren();
    this.effect.textContent = "";
    const { model, engine } = this.session;
    const { name, states } = model.variables[engine.question];
    this.bars.replaceChildren();
    if (!logs) {
      this.verdict.textContent = "This evidence is impossible in the model: take "
        + "something back.";
      return;
    }
    const p = logs.map(Math.exp);
    const ranked = p.map((_, state) => state).sort((a, b) => p[b] - p[a] || a - b);
    const [best] = ranked;
    const said = (state) => `${short(states[state])} ${percent(p[state])}`;
    const decision = this.session.decision(logs);
    const cheapest = decision === best ? ""
      : ` The cheapest decision under the loss matrix is ${short(states[decision])}.`;
    this.verdict.textContent = engine.distribution ? this.#range(name)
      : `${short(name)}: ${said(best)}`
        + `${ranked.length > 1 ? `, then ${said(ranked[1])}` : ""}.${cheapest}`;
    if (this.density) {
      const [low, median, high] = this.quantiles;
      this.bars.append(this.density.draw(this.session.evidence, { low, median, high }));
      return;
    }
    const pinned = this.session.pinned?.posteriors?.[engine.question];
    // In the order that they have everywhere.
    for (const state of ranked.slice(0, ANSWERS_SHOWN).sort((a, b) => a - b)) {
      this.bars.append(this.#bar(states[state], p[state], before?.[state], pinned?.[state]));
    }
  }

  #bar(label, p, before, pinned) {
    const fill = element("span", { className: "fill" });
    fill.style.width = `${100 * p}%`;
    const ghost = (className, at) => {
      const made = element("span", { className });
      made.style.left = `${100 * at}%`;
      return made;
    };
    const wasElsewhere = before !== undefined && Math.abs(before - p) > 0.002;
    return element("div", { className: "answer-bar", "aria-hidden": "true" }, [
      fill,
      ...(wasElsewhere ? [ghost("before", before)] : []),
      ...(pinned === undefined ? [] : [ghost("pinned", pinned)]),
      element("span", { text: visible(label), className: "label", dir: "auto" }),
      element("span", { text: percent(p), className: "value" }),
    ]);
  }

  /** Where a number is expected to lie. */
  #range(name) {
    const { mean, quantiles } = this.session.engine
      .distribution(this.session.evidence, [0.05, 0.5, 0.95]);
    this.quantiles = quantiles;
    const [low, median, high] = quantiles.map(brief);
    return `${short(name)} is expected to be ${brief(mean)}; median ${median}, `
      + `with 90\u00a0% between ${low} and ${high}.`;
  }

  /** What is set, each with a button that takes it back. */
  #showKnown() {
    const { session } = this;
    const chips = knownVariables(session.evidence).map((variable) => {
      const text = knownText(session.model.variables[variable], session.evidence[variable]);
      const back = pressing("", () => {
        session.put(variable, null);
        byId("undo").focus();
      }, { className: "chip", "aria-label": `Take back ${text}` });
      back.append(element("bdi", {}, breakable(text)), " ×");
      return element("li", {}, [back]);
    });
    this.known.replaceChildren(chips.length
      ? element("ul", { className: "chips", "aria-label": "Known so far" }, chips)
      : element("p", { className: "note", text: "Nothing entered yet: choose a finding." }));
  }

  /** What of the evidence is in conflict or hardly matters, or what would make it possible. */
  explain(logs) {
    this.stop();
    this.effect.textContent = logs ? this.#hardly(logs) : "";
    this.stop = logs ? runAtOnce(conflictOf(this.session), ([found]) => this.#tellConflict(found))
      : runAtOnce(leastToTakeBack(this.session), (sets) => this.#offer(sets));
  }

  /** That the findings move no state's odds by a tenth; empty if they do. */
  #hardly(logs) {
    const { engine, evidence, model } = this.session;
    const { question } = engine;
    const { length } = knownVariables(evidence);
    if (!length || evidence[question] || engine.distribution) return "";
    const { logs: start } = this.session.answer(evidence.map(() => null));
    const [now, before] = [logs, start].map((own) => own.map(Math.exp));
    // Up to what percentages of one digit can show.
    if (now.some((p, s) => Math.abs(p - before[s]) > 0.1 * before[s] * (1 - before[s]) + 0.0005)) return "";
    const { name, states } = model.variables[question];
    const best = argMax(now);
    const [findings, them] = length > 1 ? ["These findings hardly change", "them"] : ["This finding hardly changes", "it"];
    return `${findings} ${short(name)}: ${short(states[best])} ${percent(now[best])} with ${them}, ${percent(before[best])} without.`;
  }

  #tellConflict(found) {
    if (!found || found.total < TELLING_CONFLICT) return;
    const { variables } = this.session.model;
    const times = (nats) => `${brief(Number(Math.exp(nats).toPrecision(2)))} times`;
    const items = found.items.filter(({ nats }) => Math.exp(nats).toPrecision(2) > 1).slice(0, 3).map(({ variable, nats }) =>
      `${knownText(variables[variable], this.session.evidence[variable], 40)} (${times(nats)})`);
    this.conflict.append(element("p", { className: "warning", text: "These findings hardly fit together: "
      + `${times(found.total)} less probable than if they had nothing to do with each other. Most at odds `
      + `with the rest: ${items.join(", ")}.` }));
  }

  #offer(sets) {
    const { session } = this;
    if (!sets.length) return;
    const { variables } = session.model;
    const buttons = sets.slice(0, WAYS_SHOWN).map((taken) => pressing(
      taken.map((v) => knownText(variables[v], session.evidence[v], 30)).join(" and "),
      () => session.replace(without(session.evidence, taken)),
      { className: "chip" },
    ));
    this.conflict.append(
      element("p", { className: "warning", text: "The least to take back, any of:" }),
      element("div", { className: "chips" }, buttons),
    );
  }
}
