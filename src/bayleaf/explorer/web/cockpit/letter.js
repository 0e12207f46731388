// A letter of one page: the answer, what it rests on, and what is not known.

class Letter {
  constructor(cockpit) {
    this.cockpit = cockpit;
    this.search = new OpenQuestions(cockpit);
    this.dialog = byId("letter");
    this.sheet = byId("sheet");
    byId("letter-close").addEventListener("click", () => this.dialog.close());
    // Also next to the letter, where the dialog itself is what is pressed.
    this.dialog.addEventListener("click", ({ target }) => { if (target === this.dialog) this.dialog.close(); });
    byId("letter-print").addEventListener("click", () => window.print());
    byId("letter-copy").addEventListener("click", () => this.#copy());
    byId("write-letter").addEventListener("click", () => this.open());
    const write = () => {
      if (byId("view-cockpit").hidden) return;
      const search = new OpenQuestions(cockpit);
      this.#write(this.sheet, search);
      search.stop.finish?.();
    };
    window.addEventListener("beforeprint", write);
    // Also where a page is shown as on paper.
    window.matchMedia("print").addEventListener("change", ({ matches }) => { if (matches) write(); });
  }

  open() {
    this.#write(byId("letter-body"));
    this.dialog.showModal();
  }

  /** Write the letter, and once more when it is known what to ask next. */
  #write(place, search = this.search) {
    place.replaceChildren(this.#text(null));
    search.find((found) => place.replaceChildren(this.#text(found)));
  }

  #copy() {
    const { answer, reasons } = this.cockpit;
    const text = answer ? this.cockpit.headline.text(answer, reasons) : "";
    const button = byId("letter-copy");
    button.style.minWidth = `${button.offsetWidth}px`;
    const copied = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(new Error("no clipboard"));
    copied.then(() => { button.textContent = "Copied"; }, () => { this.cockpit.say(text); });
  }

  #text(questions) {
    const { cockpit } = this;
    const { session, words, outcome, headline, scale } = cockpit;
    const evidence = cockpit.evidence();
    const answer = outcome.answer(evidence);
    const reasons = answer && outcome.reasons(evidence, answer);
    const date = new Date().toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
    const open = tableVariables(session).filter((v) => !evidence[v]).map((v) => words.label(v));
    const next = (questions ?? []).slice(0, NEXT_SHOWN).map((own) =>
      `${words.label(own.variable)} (the answer could become ${scale.range(outcome.reach(own, answer))}${scale.per})`);
    const row = (name, text, value) => element("tr", {}, [
      element("th", { scope: "row", dir: "auto", text: name }), element("td", { dir: "auto", text }),
      element("td", { className: `number ${scale.side(value)}` }, [arrow(scale.side(value)), scale.change(value)]),
    ]);
    const line = ({ variable, value }) =>
      row(words.label(variable), [words.value(variable, evidence[variable]), words.unitOf(variable)].filter(Boolean).join(" "), value);
    const head = ["finding", "value", scale.unit].map((text, i) => element("th", { scope: "col", text, className: i > 1 ? "number" : "" }));
    const findings = reasons?.items.length ? element("table", {}, [
      element("thead", {}, [element("tr", {}, head)]), element("tbody", {}, [...reasons.items.map(line), ...(scale.isShown(reasons.rest) ? [row(OVERLAP, "", reasons.rest)] : [])]),
    ]) : element("p", { text: "None entered." });
    const part = (heading, text) => [element("h3", { text: heading }), element("p", { dir: "auto", text })];
    return element("article", { className: "letter" }, [
      element("p", { className: "head-line" }, [element("b", { dir: "auto", text: session.model.title }), date]),
      element("p", { className: "who" }, ["Name", "Date of birth", "Prepared by"].map((text) => element("span", { text }))),
      ...(cockpit.isTrying ? [element("p", { className: "warning", text: "Tried in What if: not all of these findings are those of the case." })] : []),
      ...(answer ? headline.letter(answer) : []),
      element("div", { className: "two" }, [
        element("div", {}, [element("h3", { text: "Findings, most telling first" }), findings]),
        element("div", {}, [
          ...part("How to read this", scale.reading),
          ...part("How good the model is", cockpit.quality.facts(answer).join(" ")),
          ...part("Not known", open.length ? `${listed(open)}.` : "Nothing; all findings were entered."),
          ...(cockpit.isTrying || !open.length ? [] : part("What would sharpen this", !questions ? "Computing …" : next.length ? `${cap(listed(next))}.` : "No further question is likely to change this.")),
        ]),
      ]),
      element("p", { className: "fine", text: `The ${scale.terms} describe cases of the past, not what a treatment or a decision would do. Computed on this device; nothing was sent.` }),
    ]);
  }
}
