// The view for people who have a case: findings, the answer, and a picture of a finding.

// How long after the last change the answer is read out (milliseconds).
const READ_OUT = 600;
// Answers that are kept.
const MOST_COMPUTED = 500;
const MODES = ["form", "ask", "what-if"];

/** Findings on the left, the answer and why in the middle, one finding on the right. */
class Cockpit {
  constructor(session, say) {
    Object.assign(this, { session, say });
    this.narrow = window.matchMedia("(max-width: 760px)");
    this.words = new Words(session.model);
    const isNumber = Boolean(session.engine.distribution);
    this.outcome = isNumber ? new NumberOutcome(session) : new Outcome(session);
    this.scale = isNumber ? new NumberScale(this) : new OddsScale(this);
    this.threshold = isNumber ? 50 : this.outcome.line();
    this.touched = null;
    // The findings of What if, which are not those of the case.
    this.trial = null;
    this.headline = isNumber ? new NumberHeadline(this) : new Headline(this);
    this.waterfall = new Waterfall(this);
    this.picture = new Picture(this);
    this.findings = new Findings(this);
    this.next = new NextQuestions(this);
    this.questionnaire = new Questionnaire(this);
    this.proposals = isNumber ? new NumberProposals(this) : new Proposals(this);
    this.letter = new Letter(this);
    this.rows = session.model.rows ? new (isNumber ? NumberRowPanel : RowPanel)(this) : null;
    this.quality = isNumber ? new NumberQuality(this) : new Quality(this);
    byId("reasons").append(this.next.node);
    byId("reasons").before(this.proposals.node);
    this.#paste();
    this.#strip();
    this.#jumps();
    byId("act-line").hidden = !this.outcome.isBinary;
    byId("act").value = String(this.threshold);
    byId("act").addEventListener("change", () => {
      const line = Number(byId("act").value);
      if (Number.isInteger(line) && line >= 1 && line <= 99) this.threshold = line;
      else this.say(`The line to act from must be a whole number from 1 to 99, got ${byId("act").value || "nothing"}.`);
      byId("act").value = String(this.threshold);
      this.rows?.judge();
      this.update();
    });
    // What is typed replaces the number.
    byId("act").addEventListener("focus", () => byId("act").select());
    const fields = byId("findings-body");
    fields.addEventListener("focusout", ({ relatedTarget }) => { if (relatedTarget && !fields.contains(relatedTarget)) this.leave(); });
    for (const mode of MODES) byId(`mode-${mode}`).addEventListener("click", () => this.setMode(mode));
    this.narrow.addEventListener("change", () => this.#arrange());
    for (const event of ["pointerdown", "focusin"]) {
      window.addEventListener(event, ({ target }) => { this.pressed = target; }, true);
    }
    this.mode = "form";
    this.stop = () => {};
    this.computed = new Map();
    window.addEventListener("beforeprint", () => this.settle());
    this.findings.build();
    this.#showMode();
    this.#arrange();
    let { innerWidth } = window;
    window.addEventListener("resize", () => {
      if (window.innerWidth !== innerWidth && !byId("view-cockpit").hidden) this.update();
      innerWidth = window.innerWidth;
    });
  }

  /** What is known: of the case, or of what is tried. */
  evidence() {
    return this.trial ?? this.session.evidence;
  }

  /** Whether What if shows other findings than those of the case. */
  get isTrying() {
    return Boolean(this.trial) && this.session.evidence.some((mask, v) => this.trial[v] !== mask);
  }

  /** The class that is decided for: over the line the one in question. */
  decision(logs) {
    const { outcome } = this;
    if (!outcome.isBinary) return this.session.decision(logs);
    const target = outcome.chosen;
    return 100 * Math.exp(logs[target]) >= this.threshold ? target : 1 - target;
  }

  /** What it is for open answers to turn the decision: a rule, and it in words. */
  turning() {
    const { outcome, scale, session, threshold } = this;
    if (!outcome.isNumber) {
      const text = outcome.isBinary ? `carry the answer across the line of ${threshold} in 100` : "lead to another class";
      return { decide: (logs) => this.decision(logs), text };
    }
    const [low, high] = session.engine.distribution(session.evidence, [0.25, 0.75]).quantiles;
    return {
      decide: (_, evidence) => outcome.side({ low, high }, evidence),
      text: `carry the expected number out of ${scale.range({ low, high })}, where half of such ${this.words.cases} lie,`,
    };
  }

  /** Enter findings, be asked for them, or try others. */
  setMode(mode) {
    this.mode = mode;
    this.tried = this.session.evidence;
    this.trial = mode === "what-if" ? this.tried.slice() : null;
    this.questionnaire.reset();
    this.#showMode();
    this.update();
    byId("findings-body").scrollTop = 0;
    if (mode === "what-if") this.proposals.node.focus({ preventScroll: true });
    if (!this.narrow.matches) return;
    const findings = byId("findings");
    if (mode === "what-if") this.proposals.node.scrollIntoView();
    else if (findings.getBoundingClientRect().top < 0) findings.scrollIntoView();
  }

  #showMode() {
    for (const mode of MODES) byId(`mode-${mode}`).setAttribute("aria-pressed", String(mode === this.mode));
    byId("findings-body").replaceChildren(this.mode === "ask" ? this.questionnaire.node : this.findings.node);
    this.#place();
  }

  /** Try findings that are not those of the case. */
  attempt(trial, variable = this.touched) {
    this.trial = trial;
    this.touched = variable;
    this.update();
  }

  /** Fix a finding, or let it change, in What if. */
  keep(variable, isKept) {
    const { kept } = this.session;
    if (isKept) kept.add(variable);
    else kept.delete(variable);
    this.attempt(this.trial.with(variable, isKept ? this.session.evidence[variable] : this.trial[variable]), variable);
  }

  /** Go to the field of a feature. */
  enter(variable) {
    if (this.mode !== "form") this.setMode("form");
    this.look(variable);
    this.findings.focus(variable);
  }

  /** Put the focus on the first field or the question. */
  begin() {
    if (this.mode === "ask") byId("question-heading")?.focus();
    else this.findings.focus(this.findings.visible[0]);
  }

  /**
   * Show the picture of the feature whose field the keyboard came to, which costs no key
   * there; what was just entered stays in sight at the field after it.
   */
  attend(variable) {
    if (this.narrow.matches || variable === this.touched) return;
    if (this.isEntered) {
      this.isEntered = false;
      return;
    }
    this.touched = this.attended = variable;
    this.findings.show(this.terms);
    this.showPicture();
  }

  /** Where the keyboard leaves the fields, the picture is again that of what was acted on. */
  leave() {
    if (this.acted === undefined || this.touched !== this.attended) return;
    this.touched = this.acted;
    this.findings.show(this.terms);
    this.showPicture();
  }

  /** Enter a finding, or take it back; a slider that moves has no time for more than the answer. */
  put(variable, mask, isStep = true, isSliding = false) {
    if (variable !== this.touched) this.isLooking = false;
    Object.assign(this, { touched: variable, acted: variable, isSliding, isEntered: true });
    const { session } = this;
    const trial = this.trial?.with(variable, mask);
    const refused = trial ? session.refusal(trial) : session.put(variable, mask, isStep);
    if (trial && !refused) this.trial = trial;
    if (trial || refused) {
      this.update();
      this.say(refused);
    }
    this.isSliding = false;
  }

  /** Do at once what waits for a paint: the slider rests, or the page is printed. */
  settle() {
    this.stop.finish?.();
  }

  /** Show the picture of a feature. */
  look(variable) {
    this.isLooking = !(this.narrow.matches && this.isLooking && variable === this.touched);
    this.touched = this.acted = variable;
    this.update();
  }

  /** Ask for the chance of a class. */
  ask(state) {
    this.outcome.chosen = state;
    this.update();
  }

  /** A function that scrolls what was pressed or typed into back to where it is now. */
  #anchor() {
    const { pressed } = this;
    const topOf = (part) => part.getBoundingClientRect().top;
    const top = pressed?.isConnected && topOf(pressed);
    const { style } = byId("now");
    style.minHeight = "";
    return () => {
      // What was drawn again has the focus again.
      const held = pressed?.isConnected ? pressed : this.pressed;
      if (top === false || !held?.isConnected || topOf(held) === top) return;
      for (let part = held.parentElement; part; part = part.parentElement) part.scrollTop += topOf(held) - top;
      // Where nothing is left to scroll, the answer keeps its height.
      if (topOf(held) < top) style.minHeight = `${byId("now").offsetHeight + top - topOf(held)}px`;
    };
  }

  /** The answer, its reasons and its interval, kept as sliders and other parts ask for them again. */
  compute(evidence) {
    const { outcome, computed } = this;
    const key = `${outcome.chosen} ${evidence.map((mask) => mask ?? "").join(";")}`;
    if (!computed.has(key)) {
      if (computed.size >= MOST_COMPUTED) computed.clear();
      const answer = outcome.answer(evidence);
      const reasons = answer && outcome.reasons(evidence, answer);
      computed.set(key, { answer, reasons, interval: answer && this.headline.interval(answer, evidence) });
    }
    return computed.get(key);
  }

  /** Show the answer and what explains it; while a slider moves that follows the paint. */
  update() {
    this.stop();
    const hold = this.#anchor();
    // What is tried is of one case.
    if (this.trial && this.session.evidence !== this.tried) {
      this.trial = null;
      this.mode = "form";
      this.#showMode();
    }
    const evidence = this.evidence();
    const { answer, reasons } = Object.assign(this, this.compute(evidence));
    this.terms = new Map(reasons?.items.map(({ variable, value }) => [variable, value]));
    this.touched ??= reasons?.items[0]?.variable ?? this.findings.byStrength[0] ?? null;
    this.headline.show(answer, reasons);
    write(this.strip, answer ? this.headline.short(answer) : "");
    if (this.isSliding) {
      const mask = evidence[this.touched];
      this.findings.row(this.touched).show(mask, this.terms.get(this.touched));
      if (this.picture.variable === this.touched) this.picture.follow?.(mask);
      hold();
      this.stop = runInSlices(this.#follow(), () => {});
      return;
    }
    this.#explain();
    this.#place();
    // Before the picture, which reads the same layout, and is below what is pressed.
    hold();
    this.showPicture();
    this.#advise();
  }

  /** What follows the paint of a step of a slider. */
  * #follow() {
    const hold = this.#anchor();
    this.#explain();
    this.#place();
    hold();
    yield null;
    this.showPicture();
    yield null;
    this.#advise();
  }

  /** Show what each finding does, and rows like the case. */
  #explain() {
    const { answer, reasons } = this;
    if (this.mode !== "ask") this.findings.show(this.terms);
    keepFocus(byId("reasons-body"), () => this.waterfall.show(answer, reasons));
    this.rows?.show(answer, reasons);
  }

  /** Show what to ask or to change, and how good such answers are. */
  #advise() {
    const { answer, mode } = this;
    this.next.show(mode === "ask" ? null : answer);
    if (mode === "ask") this.questionnaire.show();
    this.proposals.show();
    this.quality.show?.(answer);
    this.#readOut(answer);
  }

  /** Show what the values of the feature that was touched do. */
  showPicture() {
    this.#place();
    this.picture.show(this.answer);
  }

  /** On a telephone a line at the bottom keeps the answer in view. */
  #strip() {
    const now = byId("now");
    this.strip = pressing("", () => {
      now.scrollIntoView();
      now.focus({ preventScroll: true });
    }, { className: "strip", "aria-describedby": "now-heading" });
    this.strip.hidden = true;
    byId("view-cockpit").append(this.strip);
    new IntersectionObserver(([{ isIntersecting }]) => {
      this.strip.hidden = isIntersecting || !this.narrow.matches;
    }).observe(now);
  }

  /** Ways from the answer to what follows it: on a telephone, and where the keyboard comes to them. */
  #jumps() {
    const go = (part, focused) => {
      part.scrollIntoView();
      focused.focus({ preventScroll: true });
    };
    const targets = [
      ["Why", () => go(byId("reasons"), byId("reasons-heading"))],
      ["What would change it", () => this.setMode("what-if")],
      ["Most useful next", () => {
        if (this.mode !== "form") this.setMode("form");
        go(this.next.node, this.next.node);
      }],
      ["How good is this model?", () => go(byId("quality"), byId("quality-heading"))],
    ];
    byId("now-body").append(element("p", { className: "jumps" }, targets.map(([text, jump]) => pressing(text, jump, { className: "link" }))));
  }

  /** A field for a line of a table. */
  #paste() {
    const text = element("textarea", { rows: 3, spellcheck: "false", "aria-label": "A line of a table, with or without names above it" });
    this.findings.node.firstChild.append(element("details", { className: "pad paste" }, [
      element("summary", { text: "Paste a case" }),
      element("p", { className: "note", text: "A line of a table, with or without names above it." }),
      text, pressing("Enter this case", () => this.say(takeCase(this.session, text.value))),
    ]));
  }

  #readOut(answer) {
    clearTimeout(this.timer);
    const text = answer ? this.headline.sentence(answer) : "";
    if (this.latest !== undefined && text !== this.latest) {
      this.timer = setTimeout(() => { byId("live").textContent = text; }, READ_OUT);
    }
    this.latest = text;
  }

  /** On a telephone the answer comes first, and the order of reading is that of focus. */
  #arrange() {
    const first = this.narrow.matches ? byId("view-cockpit") : byId("reasons").parentNode;
    first.prepend(byId("now"));
    this.#place();
  }

  /** On a telephone the picture is below its feature. */
  #place() {
    const row = this.isLooking && this.narrow.matches && this.mode !== "ask" && this.touched !== null && this.findings.rows.get(this.touched)?.node;
    const { section } = this.picture;
    if (row && row.isConnected) row.append(section);
    else if (section.parentNode !== byId("right")) byId("right").prepend(section);
  }
}
