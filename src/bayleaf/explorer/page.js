// The page: what is clicked, and what is shown then.

// Inference that takes this long (ms) would make explanations a noticeable wait.
const SLOW = 30;

/** Everything on the page, around one session. */
class Page {
  constructor(model) {
    this.model = model;
    this.session = new Session(model);
    this.message = document.getElementById("message");
    document.getElementById("title").textContent = short(model.title, 200);
    this.monitors = new Monitors(
      this.session,
      document.getElementById("monitors"),
      () => this.ruleOutButton.getAttribute("aria-pressed") === "true",
      (text) => { this.message.textContent = text; },
    );
    this.drawing = new Drawing(
      model,
      document.getElementById("graph"),
      document.getElementById("drawing-note"),
      (variable) => this.monitors.focus(variable),
    );
    this.answer = new AnswerPanel(this.session);
    this.why = new WhyPanel(this.session);
    this.whatIf = new WhatIfPanel(this.session);
    this.#remarks();
    this.#buttons();
    this.#question();
    this.session.listeners.push(() => this.update());
    window.addEventListener("hashchange", () => this.#restore(window.location.hash));
    // The first update writes the address anew.
    const { hash } = window.location;
    this.update();
    this.#restore(hash);
    this.session.history.length = 0;
    this.undoButton.disabled = true;
  }

  /** Compute and show everything; the time it took is kept for who measures it. */
  update() {
    const start = performance.now();
    const { session } = this;
    this.message.textContent = "";
    const { logs } = session.answer();
    const posteriors = session.posteriors();
    this.inferenceMilliseconds = performance.now() - start;
    this.monitors.show(posteriors);
    this.drawing.show(session.evidence, posteriors);
    this.answer.show(logs);
    this.undoButton.disabled = !session.history.length;
    this.#writeFragment();
    clearTimeout(this.later);
    const explain = () => {
      this.why.show();
      this.whatIf.show();
    };
    // Where inference takes long, the bars are painted before anything is explained.
    if (this.inferenceMilliseconds < SLOW) explain();
    else this.later = setTimeout(explain, 0);
    this.updateMilliseconds = performance.now() - start;
  }

  #remarks() {
    const { remarks } = this.model;
    document.getElementById("remarks").replaceChildren(
      ...remarks.map((text) => element("li", { text, dir: "auto" })),
    );
    document.getElementById("about").hidden = !remarks.length;
    // A number has no other answer to lead to.
    const isNumber = Boolean(this.session.engine.distribution);
    document.getElementById("what-if").hidden = isNumber;
    document.querySelector('#jumps [data-to="what-if-heading"]').hidden = isNumber;
    if (!this.session.engine.canRuleOut) {
      const note = document.getElementById("variables-note");
      note.textContent = `Choose a state to set it, once more to take it back. ${remarks[0]}`;
    }
  }

  #buttons() {
    const byId = (id) => document.getElementById(id);
    this.undoButton = byId("undo");
    this.ruleOutButton = byId("rule-out");
    this.undoButton.addEventListener("click", () => this.session.undo());
    byId("reset").addEventListener("click", () => this.session.reset());
    this.ruleOutButton.addEventListener("click", () => {
      const isOn = this.ruleOutButton.getAttribute("aria-pressed") === "true";
      this.ruleOutButton.setAttribute("aria-pressed", String(!isOn));
    });
    byId("copy-link").addEventListener("click", () => this.#copyLink());
    // An address with another fragment would lose the evidence, so these are no links.
    for (const button of document.querySelectorAll("#jumps button")) {
      button.addEventListener("click", () => byId(button.dataset.to).focus());
    }
    byId("find").addEventListener("input", (event) => {
      this.monitors.filter(event.target.value);
    });
    byId("find").addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      const bounds = readBounds(event.target.value.trim(), this.model.variables);
      if (!bounds) return;
      const said = this.session.chooseWithin(bounds);
      event.target.value = "";
      this.monitors.filter("");
      this.message.textContent = said;
    });
    const hasNumbers = this.model.variables.some(({ cuts, numbers }) => cuts?.length || numbers);
    byId("find-line").hidden = this.model.variables.length < 8 && !hasNumbers;
    document.addEventListener("keydown", (event) => {
      const isUndo = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey);
      // In a text field the browser has an undo of its own.
      if (!isUndo || event.shiftKey || event.target.matches("input, select")) return;
      event.preventDefault();
      this.session.undo();
    });
    this.#theme(byId("theme"));
    // What sticks below the answer, or is scrolled to, must not lie under it.
    const answer = byId("answer");
    new ResizeObserver(() => {
      const height = `${answer.offsetHeight}px`;
      document.documentElement.style.setProperty("--answer", height);
    }).observe(answer);
  }

  /** Light or dark: the system's choice until the button says otherwise. */
  #theme(button) {
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const root = document.documentElement;
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
    const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      name();
    });
    system.addEventListener("change", name);
    name();
  }

  /** A choice of the variable asked for, where the model has no class. */
  #question() {
    if (this.model.class !== null) return;
    document.getElementById("answer-heading").textContent = "Answer";
    document.getElementById("ask-line").hidden = false;
    this.select = document.getElementById("ask");
    this.model.variables.forEach(({ name, role }, variable) => {
      if (role === "cells") return;
      this.select.append(element("option", { value: variable, text: short(name, 80) }));
    });
    this.select.value = String(this.session.engine.question);
    this.select.addEventListener("change", () => {
      this.session.ask(Number(this.select.value));
    });
  }

  #copyLink() {
    const link = window.location.href;
    const said = (text) => { this.message.textContent = text; };
    const copied = navigator.clipboard
      ? navigator.clipboard.writeText(link) : Promise.reject(new Error("no clipboard"));
    copied.then(
      () => said("The link with what is set was copied."),
      () => said(`Copy the link from the address line: ${short(link, 300)}`),
    );
  }

  #writeFragment() {
    const fragment = this.session.fragment();
    if (fragment === window.location.hash) return;
    const bare = window.location.href.split("#")[0];
    try {
      window.history.replaceState(null, "", bare + fragment);
    } catch {
      // A page without an address of its own, such as one in a frame, has no links.
    }
  }

  /** Take the evidence of an address over. */
  #restore(hash) {
    if (hash === this.session.fragment()) return;
    const said = this.session.restore(hash);
    if (this.select) this.select.value = String(this.session.engine.question);
    this.message.textContent = said;
  }
}

readDocument(document.getElementById("model").textContent).then((model) => {
  const page = new Page(model);
  // For tests and for those who like to look behind.
  window.bayleaf = {
    page,
    session: page.session,
    allCounterfactuals: () => allCounterfactuals(page.session),
  };
  document.documentElement.dataset.ready = "yes";
});
