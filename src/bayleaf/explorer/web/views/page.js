// The page: what is clicked, and what is shown then.

// The least time between two changes of the address (milliseconds).
const WRITING = 200;

/** Everything on the page, around one session. */
class Page {
  constructor(session) {
    const { model } = session;
    this.model = model;
    this.session = session;
    this.stop = () => {};
    // The shortest inference so far (milliseconds): others waited for other programs.
    this.fastest = 0;
    this.message = byId("message");
    byId("title").append(...breakable(short(model.title, 200)));
    // A message is about what was done last; that a link was refused holds in all views.
    for (const kind of ["pointerdown", "keydown"]) {
      window.addEventListener(kind, ({ target }) => {
        const stays = this.message.textContent === this.refusal && target.closest?.("[role=tab]");
        if (!stays) this.message.textContent = "";
      }, true);
    }
    const say = (text) => { this.message.textContent = text; };
    const choose = (variable) => this.choose(variable);
    this.ruleOutButton = byId("rule-out");
    const isRulingOut = () => this.ruleOutButton.getAttribute("aria-pressed") === "true";
    this.map = new NetworkMap(this.session, {
      isRulingOut, say, choose, changed: () => this.#mapButtons(),
    });
    this.answer = new AnswerPanel(this.session);
    this.chosen = new ChosenVariable(this.session, {
      isRulingOut, say, choose, graph: this.map.graph,
    });
    this.find = new Find(this.session, this.map, { say, choose });
    this.cases = new CasePanel(this.session, say);
    this.edit = model.editing ? new EditPanel(this.session, (changes) => this.#adopt(changes)) : null;
    this.why = new WhyPanel(this.session);
    this.panels = [
      ["why", this.why],
      ["what-if", new WhatIfPanel(this.session)],
      ["ask-next", new AskNextPanel(this.session, choose)],
      ["most-probable", new MostProbablePanel(this.session)],
      ["sensitivity", new SensitivityPanel(this.session)],
    ];
    const hasCockpit = ["class", "target"].includes(model.variables[model.class]?.role);
    this.cockpit = hasCockpit ? new Cockpit(this.session, say) : null;
    this.#remarks();
    this.#tabs();
    this.#buttons();
    this.#mapTools();
    this.#question();
    this.session.listeners.push(() => {
      this.message.textContent = "";
      this.update();
    });
    window.addEventListener("hashchange", () => this.#restore(window.location.hash));
  }

  /** Show the first answer, or that of the evidence of the address. */
  begin() {
    // The first update writes the address again.
    const { hash } = window.location;
    this.update();
    this.#restore(hash);
    this.session.history.length = 0;
    this.#steps();
    this.chosen.set(this.session.engine.question);
    this.edit?.set(this.session.engine.question);
  }

  /** The views that the model has; each is brought up to date when it is shown. */
  #tabs() {
    const { engine } = this.session;
    const isClassifier = this.cockpit && !this.cockpit.outcome.isNumber;
    const hasExpert = engine.mostProbable || engine.familySums;
    byId("units").hidden = Boolean(engine.expectation) || Boolean(this.cockpit && !isClassifier);
    byId("unit").addEventListener("change", () => {
      if (this.cockpit) this.cockpit.words.unit = byId("unit").value;
      this.update();
    });
    this.tabs = new Tabs([...(this.cockpit ? ["cockpit"] : []), "map", ...(hasExpert ? ["expert"] : [])], () => this.update());
    byId("skip-findings").hidden = !this.cockpit;
    byId("skip-findings").addEventListener("click", () => {
      this.tabs.show("cockpit");
      this.cockpit.begin();
    });
    byId("skip").addEventListener("click", () => {
      byId(this.tabs.current === "cockpit" ? "now" : "answer").focus();
    });
  }

  /** Go on with an edited model, or with the one that was learned. */
  #adopt(changes) {
    const isEdited = changes.fingerprint === "edited";
    const { map, session } = this;
    session.adopt(changes, () => {
      map.adopt();
      this.chosen.graph = map.graph;
      this.chosen.set(this.edit.variable);
    });
    byId("answer-heading").textContent = isEdited ? "Prediction of the edited model" : "Prediction";
    // The form of findings and the rows of the page have the states of the learned model.
    byId("tab-cockpit").disabled = isEdited;
    byId("tab-cockpit").title = isEdited ? "The cockpit shows the model as learned: take the edits back first" : "";
    byId("case-rows").hidden = isEdited || !session.model.rows;
  }

  /** Look at a variable. */
  choose(variable) {
    const panel = byId("variable");
    panel.open = true;
    // What is pressed in another panel is scrolled out of sight, with the focus on it.
    const focused = document.activeElement;
    const isLeft = panel.parentNode.contains(focused) && !panel.contains(focused);
    this.chosen.set(variable);
    this.edit?.set(variable);
    this.map.look(variable);
    panel.scrollIntoView({ block: "nearest" });
    if (isLeft) panel.querySelector("summary").focus({ preventScroll: true });
  }

  /** Compute and show everything; the time it took is kept for who measures it. */
  update() {
    const start = performance.now();
    const { session } = this;
    this.stop();
    this.isWorking = false;
    // What is being computed for the findings of before must not delay the next paint.
    for (const [, panel] of this.panels) panel.stop?.();
    this.#steps();
    this.#writeFragment();
    if (this.tabs.current === "cockpit") {
      this.cockpit.update();
      this.updateMilliseconds = performance.now() - start;
      return;
    }
    if (this.tabs.current === "map") this.map.begin();
    const work = this.#work();
    if (this.fastest > SLICE) {
      // What was chosen is painted before anything is computed.
      this.map.bars.showKnown();
      this.chosen.showKnown();
    } else {
      work.next();
    }
    this.updateMilliseconds = performance.now() - start;
    this.isWorking = true;
    this.stop = runInSlices(work, (_, isOver) => { this.isWorking = !isOver; });
  }

  /** Whether something is still to be shown. */
  get isPending() {
    return this.isWorking || this.map.bars.isPending;
  }

  /** Compute and show, the answer and the bars in the first step; then explain it. */
  * #work() {
    const { session } = this;
    const start = performance.now();
    const { logs } = session.answer();
    const posteriors = session.posteriors();
    this.inferenceMilliseconds = performance.now() - start;
    this.fastest = Math.min(this.fastest || Infinity, this.inferenceMilliseconds);
    const before = this.posteriors;
    const pinned = session.pinned?.posteriors;
    this.posteriors = posteriors;
    this.map.bars.show(posteriors, before, pinned);
    this.answer.show(logs, before?.[session.engine.question]);
    byId("expert-answer").textContent = byId("verdict").textContent;
    this.chosen.show(posteriors, before, pinned);
    this.cases.show(posteriors);
    yield null;
    this.answer.explain(logs);
    // Panels that are open; the others wait until they are.
    for (const [id, panel] of this.panels) {
      yield null;
      const details = byId(id);
      if (!details.hidden && details.open) panel.show();
    }
  }

  /** Take back the last step of the case or, where an edit came after it, that edit. */
  #undo() {
    if (this.session.history.length) this.session.undo();
    else if (this.edit?.editing?.isEdited) this.edit.undo();
  }

  #steps() {
    const open = { undo: this.session.history.length || this.edit?.editing?.isEdited, redo: this.session.future.length };
    const { id } = document.activeElement;
    for (const step of ["undo", "redo"]) byId(step).toggleAttribute("disabled", !open[step]);
    // A button that can no longer be pressed would lose the focus.
    if (id in open && !open[id]) byId(open.undo ? "undo" : open.redo ? "redo" : "reset").focus();
  }

  #remarks() {
    const { about, remarks, is_rounded: isRounded } = this.model;
    const shown = about ?? (isRounded ? remarks : []);
    byId("remarks").append(...shown.map((text) => element("li", { text, dir: "auto" })));
    if (about) byId("about-heading").textContent = "How good is this model?";
    if (remarks.length && shown !== remarks) byId("programs").append(forProgrammers(remarks));
    byId("about").hidden = !shown.length && !remarks.length;
    const { engine } = this.session;
    // A number has no other answer to lead to.
    const isNumber = Boolean(engine.distribution);
    byId("what-if").hidden = isNumber;
    byId("ask-next").hidden = isNumber;
    byId("most-probable").hidden = !engine.mostProbable;
    byId("sensitivity").hidden = !engine.familySums;
    if (!engine.isJoint) {
      byId("variables-note").querySelector(".far").before("Pale bars are shares of the training rows. ");
    }
    for (const button of document.querySelectorAll("#jumps button")) {
      button.hidden = this.#part(button)?.hidden ?? true;
    }
  }

  /** The part that a button leads to; how good a model with a cockpit is, is written there. */
  #part({ dataset: { to } }) {
    return byId(to === "about" && this.cockpit && !byId("tab-cockpit").disabled ? "quality" : to);
  }

  #buttons() {
    byId("undo").addEventListener("click", () => this.#undo());
    byId("redo").addEventListener("click", () => this.session.redo());
    byId("reset").addEventListener("click", () => this.session.reset());
    byId("print").addEventListener("click", () => window.print());
    window.addEventListener("beforeprint", () => this.stop.finish?.());
    openOnPaper(this.panels);
    this.ruleOutButton.addEventListener("click", () => {
      const isOn = toggled(this.ruleOutButton);
      byId("menu-name").textContent = isOn ? "Menu: ruling out" : "Menu";
    });
    foldMenu(byId("menu"));
    byId("copy-link").addEventListener("click", () => this.#copyLink());
    for (const [id, panel] of this.panels) {
      byId(id).addEventListener("toggle", () => {
        if (byId(id).open && !byId(id).hidden) panel.show();
      });
    }
    // An address with another fragment would lose the evidence, so these are no links.
    for (const button of document.querySelectorAll("#jumps button")) {
      button.addEventListener("click", () => {
        const part = this.#part(button);
        if (part.id === "quality") this.tabs.show("cockpit");
        if (part.tagName === "DETAILS") part.open = true;
        part.scrollIntoView();
        (part.querySelector("summary, h2") ?? part).focus({ preventScroll: true });
      });
    }
    document.addEventListener("keydown", (event) => {
      const isUndo = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey);
      // In a text field the browser has an undo of its own.
      if (!isUndo || event.target.matches("input:not([type=radio], [type=range], [type=checkbox]), textarea")) return;
      event.preventDefault();
      if (event.shiftKey) this.session.redo();
      else this.#undo();
    });
    switchTheme(byId("theme"));
    stopWhereWide(document.querySelector(".side"));
    keepBelow([byId("in-sight"), byId("modes")], [document.documentElement, byId("findings")]);
  }

  /** Buttons that change how the map is drawn. */
  #mapTools() {
    const { map } = this;
    byId("list").addEventListener("click", () => map.setList(!map.isList));
    byId("class-arcs").addEventListener("click", () => map.setClassArcs(!map.withClass));
    byId("zoom-in").addEventListener("click", () => map.zoom(1.25));
    byId("zoom-out").addEventListener("click", () => map.zoom(0.8));
    byId("fit").addEventListener("click", () => map.fit());
    byId("tidy").addEventListener("click", () => map.tidy());
    const slider = byId("distance");
    slider.addEventListener("input", () => {
      const distance = Number(slider.value);
      map.setDistance(distance > map.farthest ? Infinity : distance);
    });
    this.#mapButtons();
  }

  #mapButtons() {
    const { map } = this;
    const press = (id, isOn) => byId(id).setAttribute("aria-pressed", String(isOn));
    press("list", map.isList);
    press("class-arcs", map.withClass);
    const isBare = map.isList;
    for (const id of ["zoom-in", "zoom-out", "fit", "tidy"]) byId(id).hidden = isBare;
    byId("tidy").disabled = !map.moved.size;
    byId("class-arcs").hidden = isBare || !map.about.drawings["wide+class"];
    byId("distance-line").hidden = !map.isLarge;
    const slider = byId("distance");
    slider.max = String(map.farthest + 1);
    slider.value = String(Math.min(map.distance, map.farthest + 1));
    const isAll = map.distance > map.farthest;
    byId("distance-said").textContent = isAll ? "all variables" : `${counted(map.distance, "step")} around`;
    slider.setAttribute("aria-valuetext", byId("distance-said").textContent);
  }

  /** A choice of the variable asked for, where the model has no class. */
  #question() {
    if (this.model.class !== null) return;
    byId("answer-heading").textContent = "Answer";
    byId("ask-line").hidden = false;
    this.select = byId("ask");
    this.model.variables.forEach(({ name, role }, variable) => {
      if (role === "cells") return;
      this.select.append(element("option", { value: variable, text: short(name, 80) }));
    });
    this.select.value = String(this.session.engine.question);
    this.select.addEventListener("change", () => {
      const question = Number(this.select.value);
      this.session.ask(question);
      // Without scrolling to it: on a telephone that would be past all variables to be set.
      this.chosen.set(question);
      this.edit?.set(question);
      this.map.attend(question);
    });
  }

  #copyLink() {
    const link = window.location.href;
    const said = (text) => { this.message.textContent = text; };
    const copied = navigator.clipboard
      ? navigator.clipboard.writeText(link) : Promise.reject(new Error("no clipboard"));
    copied.then(
      () => said("The link was copied, with what is known so far."),
      () => said(`Copy the link from the address line: ${short(link, 300)}`),
    );
  }

  #writeFragment() {
    const fragment = fragmentOf(this.session);
    if (fragment === window.location.hash) return;
    clearTimeout(this.writing);
    // Browsers refuse addresses that change with every step of a slider.
    const wait = WRITING - (performance.now() - this.written);
    if (wait > 0 && this.tabs.current === "cockpit") {
      this.writing = setTimeout(() => this.#writeFragment(), wait);
      return;
    }
    this.written = performance.now();
    const bare = window.location.href.split("#")[0];
    try {
      window.history.replaceState(null, "", bare + fragment);
    } catch {
      // A page without an address of its own, such as one in a frame, has no links.
    }
  }

  /** Take the evidence of an address over. */
  #restore(hash) {
    if (hash === fragmentOf(this.session)) return;
    const said = restoreFragment(this.session, hash);
    if (this.select) this.select.value = String(this.session.engine.question);
    this.refusal = said;
    this.message.textContent = said;
  }
}

/** Press a button that stays pressed, or release it; whether it is pressed now. */
function toggled(button) {
  const isOn = button.getAttribute("aria-pressed") === "true";
  button.setAttribute("aria-pressed", String(!isOn));
  return !isOn;
}

/** Show the page, and let tests and those who like to look behind get at it. */
function open(page) {
  page.begin();
  const { model } = page;
  window.bayleaf = {
    page,
    session: page.session,
    ...(model.editing ? { Editing, LatentEditing } : {}),
    turnedDecisions: (...given) => [...turnedDecisions(...given)].filter(Boolean),
    allCounterfactuals: () => allCounterfactuals(page.session),
    ask: (name) => ({
      information: () => [...expectedReductions(page.session)].filter(Boolean),
      conflict: () => [...conflictOf(page.session)].at(-1) ?? null,
      leastToTakeBack: () => [...leastToTakeBack(page.session)].filter(Boolean),
      mostProbable: () => page.session.engine.mostProbable(page.session.evidence),
      tornado: () => byWidth([...tornado(page.session, argMax(page.session.answer().logs))].filter(Boolean)),
    })[name](),
  };
  document.documentElement.dataset.ready = "yes";
}

// Steps of their own, between which the browser sees to what is waiting.
readDocument(byId("model").textContent).then((model) => afterOthers(() => {
  const session = new Session(model);
  afterOthers(() => {
    const page = new Page(session);
    afterOthers(() => open(page));
  });
}));
