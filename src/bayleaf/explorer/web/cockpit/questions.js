// What to ask next: three questions below the answer, or one question at a time.

// Questions that are listed below the answer.
const NEXT_SHOWN = 3;
// The page stops asking when open answers would turn the decision of fewer in 100.
const TURNED_OF_100 = 5;
// How long a question waits until it is known whether to ask it (milliseconds).
const PATIENCE = 250;

/** The part of the uncertainty that an answer is expected to remove. */
function removed(gain, uncertainty) {
  return `${Math.round(100 * partOf(gain, uncertainty))} %`;
}

/** Questions and whether open answers could turn the decision, found in slices. */
class OpenQuestions {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.stop = () => {};
  }

  /** Look for questions; `tell` gets them, most telling first, and the uncertainty now. */
  find(tell) {
    this.stop();
    const { outcome, session } = this.cockpit;
    const { answer } = this.cockpit.compute(session.evidence);
    if (!answer || session.evidence[outcome.question]) {
      tell([], 0);
      return;
    }
    const doubt = outcome.doubt(answer);
    this.stop = runInSlices(outcome.reductions(), (found, isDone) => {
      if (isDone) tell(worthAsking(found, doubt, undefined, outcome.measure), doubt, found);
    });
  }

  /** In how many of 100 such cases the answers to some features would turn the decision. */
  findTurned(features, tell) {
    this.stop();
    const { decide } = this.cockpit.turning();
    this.stop = runInSlices(turnedDecisions(this.cockpit.session, features, decide, TURNED_OF_100 / 100), (found, isDone) => {
      if (isDone) tell((100 * found.filter(({ isTurned }) => isTurned).length) / found.length);
    });
  }

  /** How often the open answers turn the decision. */
  often(turned) {
    return `knowing all the rest would ${this.cockpit.turning().text} for ${turned < 1 ? "1 or fewer" : `about ${Math.round(turned)}`} in 100 such ${this.cockpit.words.cases}`;
  }
}

/** The most useful questions, with the chances that their answers lead to. */
class NextQuestions {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.search = new OpenQuestions(cockpit);
    this.node = element("div", { className: "next", tabindex: "-1" });
  }

  show(answer) {
    this.search.stop();
    this.node.hidden = Boolean(this.cockpit.trial) || !answer;
    this.node.setAttribute("aria-busy", String(!this.node.hidden));
    if (this.node.hidden) return;
    if (!this.node.childElementCount) this.node.append(element("p", { className: "note", text: "Looking for the most useful questions …" }));
    this.search.find((found, uncertainty, all) => {
      keepFocus(this.node, () => this.#draw(found, uncertainty, answer));
      this.node.setAttribute("aria-busy", "false");
      if (found.length) this.search.findTurned(all.map(({ variable }) => variable), (turned) => this.#remark(turned));
    });
  }

  #draw(found, uncertainty, answer) {
    const { cockpit } = this;
    const { outcome, scale } = cockpit;
    if (!found.length) {
      this.node.replaceChildren(element("p", { className: "note", text: openVariables(cockpit.session).length
        ? "No further question is likely to change this." : "Everything is known; there is nothing left to ask." }));
      return;
    }
    const items = found.slice(0, NEXT_SHOWN).map((question) => {
      const { variable, [outcome.measure]: gain } = question;
      const meter = element("span", { className: "meter", "aria-hidden": "true" }, [element("i")]);
      meter.firstChild.style.width = share(partOf(gain, uncertainty));
      return element("li", {}, [
        pressing(cockpit.words.label(variable), () => cockpit.enter(variable), { className: "link", dir: "auto", "data-key": `next-${variable}` }),
        meter, element("span", { text: removed(gain, uncertainty) }), element("span", { text: scale.range(outcome.reach(question, answer)) }),
      ]);
    });
    this.node.replaceChildren(
      element("h3", { text: "Most useful next" }),
      element("p", { className: "note", text: `How much of the uncertainty each removes on average, and what the answer could become${scale.per}.` }),
      element("ol", {}, items),
    );
  }

  /** Where Ask me would stop, the list is not read as a request for more. */
  #remark(turned) {
    if (turned >= TURNED_OF_100) return;
    this.node.append(element("p", { className: "note", text: `You may know enough: ${this.search.often(turned)}.` }));
  }
}

/** One question at a time, until open answers would hardly turn the decision. */
class Questionnaire {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.search = new OpenQuestions(cockpit);
    this.node = element("div", { className: "question" });
    // A second press must not answer a question again; disabled, buttons would lose the focus.
    this.node.addEventListener("click", (event) => { if (this.node.hasAttribute("aria-busy")) event.stopPropagation(); }, true);
    this.order = cockpit.words.hasCosts ? "cheap first" : "most telling first";
    this.reset();
  }

  reset() {
    this.skipped = new Set();
    this.trail = [];
    this.asked = null;
    this.isStopped = false;
    this.goesOn = false;
    this.isEnough = false;
    this.isBegun = true;
  }

  /** Look for the question to ask; what is shown stays until it is found. */
  show() {
    const { outcome, session, words } = this.cockpit;
    clearTimeout(this.waiting);
    this.shown = null;
    if (!this.node.childElementCount) this.node.append(element("p", { className: "note", text: "Looking for the best question …" }));
    if (this.asked !== null && session.evidence[this.asked]) this.asked = null;
    this.trail = this.trail.filter(({ variable, isSkipped }) => isSkipped || session.evidence[variable]);
    this.node.setAttribute("aria-busy", "true");
    const costOf = this.order === "cheap first" ? (variable) => words.cost(variable) : undefined;
    this.search.find((_, uncertainty, all = []) => {
      const open = all.filter(({ variable }) => !this.skipped.has(variable));
      const useful = worthAsking(open, uncertainty, costOf, outcome.measure);
      const again = all.find(({ variable }) => variable === this.asked);
      const best = again ?? useful[0];
      const decide = (turned) => {
        clearTimeout(this.waiting);
        this.turned = turned;
        this.isEnough = turned < TURNED_OF_100 && !this.goesOn;
        const isEnd = !useful.length || this.isStopped || this.isEnough;
        // A question that is being read is not taken away.
        if (this.shown === best && useful.length) this.#tellTurned(turned);
        else if (isEnd && !again) this.#end(useful, turned, worthAsking(all, uncertainty, costOf, outcome.measure));
        else this.#ask(best, useful, uncertainty, turned);
      };
      if (!useful.length || this.isStopped) {
        decide(useful.length ? this.turned : 0);
        return;
      }
      // Whoever answers at once need not wait until it is known whether that matters,
      // unless it hardly mattered before.
      if (!this.isEnough) this.waiting = setTimeout(() => this.#ask(best, useful, uncertainty), PATIENCE);
      this.search.findTurned(open.map(({ variable }) => variable), decide);
    });
  }

  /** The same next to a question: in sight where it is a reason to stop, else with what else there is to say. */
  #tellTurned(turned) {
    this.enough.hidden = !this.isEnough;
    this.most.hidden = this.isEnough;
    write(this.enough, this.isEnough ? `That is enough, you can stop here: ${this.search.often(turned)}.` : "");
    write(this.note, this.isEnough ? "" : turned === undefined ? `Computing how often knowing all the rest would ${this.cockpit.turning().text.replace(/,$/, "")} …`
      : `${cap(this.search.often(turned))}; the questions end when it is fewer than ${TURNED_OF_100}.`);
  }

  /** What is behind a question, which stays open or closed as the reader left it. */
  #more(question, uncertainty) {
    const { outcome, scale } = this.cockpit;
    const text = `Its answer removes ${removed(question[outcome.measure], uncertainty)} of the uncertainty on average, now ${scale.uncertainty(uncertainty)}.`;
    const more = element("details", {}, [element("summary", { text: "More" }), element("p", { className: "note", text }), this.note]);
    more.open = Boolean(this.isMoreOpen);
    more.firstChild.addEventListener("click", () => { this.isMoreOpen = !more.open; });
    return more;
  }

  #ask(question, useful, uncertainty, turned) {
    const { cockpit } = this;
    const { words, session } = cockpit;
    const { variable } = question;
    const isNew = this.asked !== variable;
    this.asked = variable;
    const about_ = session.model.variables[variable];
    const enter = (mask) => {
      this.trail.push({ variable });
      this.asked = null;
      this.isMoved = true;
      cockpit.put(variable, mask);
    };
    const cost = words.hasCosts ? ` · cost ${brief(words.cost(variable))}` : "";
    const group = about_.words?.group ? ` · ${about_.words.group}` : "";
    this.most = element("span", { text: `, at most ${useful.length} more` });
    const parts = [
      element("p", { className: "note" }, [`Question ${this.trail.length + 1}`, this.most, `${group}${cost}`]),
      element("h3", { id: "question-heading", tabindex: "-1", dir: "auto", text: words.question(variable) }),
      ...(about_.words?.help ? [element("p", { className: "note", text: about_.words.help })] : []),
    ];
    const skip = pressing("Skip", () => this.#skip(variable), { "aria-label": "Skip: not known" });
    const stop = pressing("Stop here", () => { this.isStopped = true; this.asked = null; this.isMoved = true; this.show(); });
    const buttons = [skip, this.#back(), stop];
    if (about_.cuts) {
      let latest = null;
      const next = pressing("Next", () => enter(latest), { disabled: "", className: "main" });
      const field = new NumberField(cockpit, variable, (mask) => {
        latest = mask;
        next.disabled = !mask;
        field.show(mask);
      });
      field.box.addEventListener("keydown", (event) => { if (event.key === "Enter" && !next.disabled) next.click(); });
      field.show(null);
      parts.push(field.node);
      buttons.unshift(next);
    } else {
      parts.push(element("div", { className: "answers", role: "group", "aria-labelledby": "question-heading" },
        about_.states.map((_, state) => pressing(cap(words.state(variable, state)), () => enter(hardMask(about_.states.length, state)), { className: "pick", dir: "auto" }))));
    }
    const range = cockpit.scale.range(cockpit.outcome.reach(question, cockpit.outcome.answer(session.evidence)));
    this.shown = question;
    this.turned = turned;
    this.enough = element("p", {});
    this.note = element("p", { className: "note" });
    this.#tellTurned(turned);
    const why = element("p", { className: "note", text: `Why this question? With it the answer could become ${range}${cockpit.scale.per}.` });
    parts.push(element("div", { className: "buttons" }, buttons), this.enough, why, this.#more(question, uncertainty));
    if (isNew) cockpit.touched = variable;
    this.#fill(parts);
    if (isNew) cockpit.showPicture();
  }

  #skip(variable) {
    this.skipped.add(variable);
    this.trail.push({ variable, isSkipped: true });
    this.asked = null;
    this.isMoved = true;
    this.show();
  }

  /** A button that takes the last answer back. */
  #back() {
    const back = pressing("Back", () => {
      const { variable, isSkipped } = this.trail.pop();
      this.isStopped = false;
      this.asked = variable;
      this.isMoved = true;
      if (isSkipped) {
        this.skipped.delete(variable);
        this.show();
      } else this.cockpit.session.put(variable, null);
    });
    back.disabled = !this.trail.length;
    return back;
  }

  /** Where the questions end; what was skipped may still matter. */
  #end(useful, turned, relevant) {
    const { cockpit } = this;
    const { outcome, session } = cockpit;
    const answer = outcome.answer(session.evidence);
    this.asked = null;
    const isStopped = this.isStopped && !this.isEnough;
    const isSkipped = !useful.length && relevant.length > 0;
    const skipped = listed(relevant.map(({ variable }) => cockpit.words.label(variable)));
    const why = isStopped ? "Stopped on request." : useful.length ? `${cap(this.search.often(turned))}.`
      : isSkipped ? `You skipped what could still change this: ${skipped}.` : "No further question is likely to change this.";
    this.#fill([
      element("h3", { id: "question-heading", tabindex: "-1", text: isStopped ? "Stopped" : isSkipped ? "No more questions" : "That is enough" }),
      element("p", { text: why }),
      element("p", { text: answer ? cockpit.headline.sentence(answer) : "" }),
      element("div", { className: "buttons" }, [
        pressing("Write the letter", () => cockpit.letter.open(), { className: "main" }),
        ...(useful.length ? [pressing("Ask on anyway", () => { this.goesOn = true; this.isStopped = false; this.isMoved = true; this.show(); })] : []),
        this.#back(),
      ]),
    ]);
  }

  /** Show a step, with the order of questions and what is known so far. */
  #fill(parts) {
    const { cockpit } = this;
    const { words, session } = cockpit;
    const options = [];
    if (words.hasCosts) {
      const order = element("select", {}, ["cheap first", "most telling first"].map((text) => element("option", { value: text, text })));
      order.value = this.order;
      order.addEventListener("change", () => { this.order = order.value; this.asked = null; this.show(); });
      options.push(element("label", { className: "note" }, ["Order ", order]));
    }
    const known = tableVariables(session).filter((v) => session.evidence[v]);
    const change = (variable) => pressing(words.finding(variable, session.evidence[variable]), () => {
      this.trail = this.trail.filter((step) => step.variable !== variable);
      this.asked = variable;
      this.isStopped = false;
      this.isMoved = true;
      session.put(variable, null);
    }, { className: "pick", dir: "auto" });
    if (known.length) options.push(element("p", { className: "note", text: "Known so far; choose one to change it" }), element("div", { className: "picks" }, known.map(change)));
    this.node.replaceChildren(...parts, ...options);
    this.node.removeAttribute("aria-busy");
    const heading = this.node.querySelector("#question-heading");
    if (this.isMoved) heading.focus({ preventScroll: true });
    // What is asked is not left behind by answers that were longer.
    if (this.isMoved || this.isBegun) heading.scrollIntoView({ block: "nearest" });
    this.isMoved = this.isBegun = false;
  }
}
