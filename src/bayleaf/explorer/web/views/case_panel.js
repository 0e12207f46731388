// Cases: one pasted, one picked from the rows of the page, one pinned to compare with.

class CasePanel {
  constructor(session, say) {
    this.session = session;
    this.say = say;
    this.text = byId("case-text");
    this.compared = byId("compared");
    this.pinButton = byId("pin");
    byId("case-take").addEventListener("click", () => say(takeCase(session, this.text.value)));
    this.pinButton.addEventListener("click", () =>
      session.pin(session.pinned ? null : session.evidence));
    byId("swap").addEventListener("click", () => {
      const { evidence } = session.pinned;
      session.pinned = { evidence: session.evidence, posteriors: session.posteriors() };
      session.replace(evidence);
    });
    this.#rows();
  }

  /** A choice among the rows that came with the page. */
  #rows() {
    const { rows } = this.session.model;
    byId("case-rows").hidden = !rows;
    if (!rows) return;
    const field = byId("case-row");
    field.max = String(rows.n);
    byId("case-row-count").textContent = `of ${rows.n}`;
    const go = (line) => {
      const row = Math.min(rows.n, Math.max(1, Math.round(line) || 1));
      field.value = String(row);
      const { evidence, label } = shippedCase(this.session, row - 1);
      this.session.replace(evidence);
      this.say(label < 0 ? "" : this.#recorded(label));
    };
    field.addEventListener("change", () => go(Number(field.value)));
    byId("case-before").addEventListener("click", () => go(Number(field.value || 2) - 1));
    byId("case-next").addEventListener("click", () => go(Number(field.value || 0) + 1));
  }

  /** What the row has, beside what the model predicts of it. */
  #recorded(label) {
    const { session } = this;
    const { states } = session.model.variables[session.model.class];
    const outcome = `Recorded outcome: ${short(states[label], 40)}.`;
    const { logs } = session.answer();
    if (!logs || session.engine.distribution) return outcome;
    return `${outcome} The model was ${session.decision(logs) === label ? "right" : "wrong"} here.`;
  }

  /** The answer of this case beside that of the pinned one, and what differs. */
  show(posteriors) {
    const { session } = this;
    const { pinned } = session;
    this.pinButton.textContent = pinned ? "Unpin case B" : "Pin as case B";
    byId("swap").hidden = !pinned;
    this.compared.replaceChildren();
    if (!pinned) return;
    const { variables } = session.model;
    const said = (mask, v) => (mask ? knownText(variables[v], mask, 40) : "open");
    const differing = variables.map((_, v) => v).filter((v) =>
      said(session.evidence[v], v) !== said(pinned.evidence[v], v));
    const question = variables[session.engine.question];
    const own = posteriors?.[session.engine.question];
    const other = pinned.posteriors?.[session.engine.question];
    const row = (cells) => element("tr", {}, cells.map((text, i) =>
      element(i ? "td" : "th", { ...(i ? {} : { scope: "row" }), dir: "auto", text })));
    this.compared.append(element("table", { "aria-label": "Case A beside case B" }, [
      element("thead", {}, [element("tr", {}, ["", "A (now)", "B (pinned)"].map((text) =>
        (text ? element("th", { scope: "col", text }) : element("td"))))]),
      element("tbody", {}, [
        ...question.states.slice(0, 6).map((label, state) => row([
          short(label, 40), own ? percent(own[state]) : "–", other ? percent(other[state]) : "–",
        ])),
        ...differing.slice(0, 20).map((v) => row([
          short(variables[v].name, 40), said(session.evidence[v], v), said(pinned.evidence[v], v),
        ])),
      ]),
    ]));
  }
}
