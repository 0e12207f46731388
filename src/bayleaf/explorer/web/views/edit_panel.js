// Editing the chosen variable, with the left-out log-loss before and after.

// Standard errors within which a gain may be chance.
const ERRORS_OF_CHANCE = 2;

class EditPanel {
  constructor(session, adopt) {
    this.session = session;
    this.adopt = adopt;
    this.details = byId("edit");
    this.details.hidden = !session.model.editing;
    this.line = byId("edit-line");
    this.place = byId("edit-list");
    if (this.details.hidden) return;
    byId("edit-undo").addEventListener("click", () => this.undo());
    byId("edit-reset").addEventListener("click", () => this.#after(() => this.editing.reset()));
    byId("edit-download").addEventListener("click", () => this.#download());
    this.details.addEventListener("toggle", () => { if (this.details.open) this.show(); });
  }

  /** Look at another variable. */
  set(variable) {
    this.variable = variable;
    if (!this.details.hidden && this.details.open) this.show();
  }

  show() {
    this.editing ??= editingOf(this.session.model);
    const { editing, variable } = this;
    this.line.textContent = this.#gain() + this.#takenBack();
    byId("edit-undo").disabled = !editing.isEdited;
    byId("edit-reset").disabled = !editing.isEdited;
    const about = this.session.model.variables[variable];
    if (editing.latentOf ? !editing.latentOf.has(variable) : variable >= editing.nFeatures) {
      this.place.replaceChildren(element("p", {
        className: "note",
        text: editing.latentOf ? "Choose a latent variable on the map to merge or split its states."
          : "Choose a feature on the map to edit its cut points and arcs.",
      }));
      return;
    }
    if (editing.latentOf) {
      this.place.replaceChildren(...this.#partition(variable));
      return;
    }
    this.place.replaceChildren(
      element("h3", { text: short(about.name, 60), dir: "auto" }),
      ...this.#cuts(variable), ...this.#arcs(variable),
    );
  }

  /** What the edits gain on left-out rows, and whether that is more than chance. */
  #gain() {
    const { editing } = this;
    const losses = editing.losses();
    const gains = losses.map((loss, i) => editing.lossesBefore[i] - loss);
    const [gain, error] = [weightedMean(gains, editing.weights), standardError(gains, editing.weights)];
    const learned = `Log-loss of left-out training rows: ${(editing.before / LN2).toFixed(4)} bits as learned`;
    if (!editing.isEdited) return `${learned}.`;
    const edited = `${(weightedMean(losses, editing.weights) / LN2).toFixed(4)} as edited`;
    const verdict = Math.abs(gain) < ERRORS_OF_CHANCE * error ? "no difference beyond chance"
      : gain > 0 ? "the edited model is better" : "the edited model is worse";
    return `${learned}, ${edited}: a gain of ${inBits(gain)}, standard error ${(error / LN2).toFixed(3)}; ${verdict}.`;
  }

  /** The findings that an edit took away with their states. */
  #takenBack() {
    const { model, takenBack } = this.session;
    const names = [...takenBack.keys()].map((v) => short(model.variables[v].name, 40));
    return names.length ? ` No longer set, because the states changed: ${names.join(", ")}.` : "";
  }

  /** Let the page go on with the edited model. */
  #follow() {
    const { editing } = this;
    const { model } = this.session;
    this.learned ??= {
      network: model.network, order: model.order, variables: model.variables,
      map: model.map, fingerprint: model.fingerprint,
    };
    this.adopt(editing.isEdited ? {
      ...editing.network(), map: editing.map(this.learned.map), fingerprint: "edited",
    } : this.learned);
  }

  /** Take the last edit back. */
  undo() {
    this.#after(() => this.editing.undo());
  }

  /** Do an edit and show what it leads to; what was pressed, or is in its place, has the focus. */
  #after(edit) {
    const controls = () => [...this.place.querySelectorAll("button, select")];
    const name = (control) => control.getAttribute("aria-label") ?? control.textContent;
    const active = document.activeElement;
    const place = controls().indexOf(active);
    edit();
    this.#follow();
    this.show();
    if (place < 0 && !active.disabled) return;
    const now = controls();
    const again = now.find((control) => name(control) === name(active)) ?? now[place];
    (again ?? this.details.querySelector("summary")).focus();
  }

  #cuts(variable) {
    const { editing } = this;
    const cuts = editing.cuts[variable];
    if (!cuts) return [];
    const name = short(this.session.model.variables[variable].name, 40);
    const rows = cuts.map((cut, place) => {
      const step = (text, by, what) => pressing(text, () =>
        this.#after(() => editing.moveCut(variable, place, by)), {
        "aria-label": `${what} cut point ${place + 1} of ${name}`,
      });
      return element("li", {}, [
        step("◂", -1, "Lower"), element("span", { text: ` ${brief(cut)} ` }), step("▸", 1, "Raise"), " ",
        pressing("Remove", () => this.#after(() => editing.removeCut(variable, place)), {
          "aria-label": `Remove cut point ${place + 1} of ${name}`,
        }),
      ]);
    });
    const open = Array.from(editing.possible[variable]).filter((cut) => !cuts.includes(cut));
    const choice = this.#choice(`New cut point of ${name}`, open, brief);
    return [
      element("p", { text: cuts.length ? "Cut points" : "No cut points" }),
      element("ul", { className: "edits" }, rows),
      ...(open.length ? [element("p", {}, [choice, " ", pressing("Add cut point", () =>
        this.#after(() => editing.addCut(variable, open[Number(choice.value)])))])] : []),
    ];
  }

  #arcs(variable) {
    const { editing } = this;
    const { variables } = this.session.model;
    const rows = editing.parents[variable].map((parent) => element("li", {}, [
      element("span", { text: `${short(variables[parent].name, 40)} → `, dir: "auto" }),
      pressing("Remove arrow", () => this.#after(() => editing.removeArc(parent, variable)), {
        "aria-label": `Remove the arrow from ${short(variables[parent].name, 40)}`,
      }),
    ]));
    const open = editing.possibleParents(variable);
    const choice = this.#choice("New parent", open, (v) => short(variables[v].name, 40));
    return [
      element("p", { text: rows.length ? "Arrows from other features" : "No arrow from another feature" }),
      element("ul", { className: "edits" }, rows),
      ...(open.length ? [element("p", {}, [choice, " ", pressing("Add arrow", () =>
        this.#after(() => editing.addArc(open[Number(choice.value)], variable)))])] : []),
    ];
  }

  /** The cells of a latent variable, each with its state, and states to merge. */
  #partition(variable) {
    const { editing } = this;
    const latent = editing.latentOf.get(variable);
    const own = editing.latents[latent];
    const { name } = this.session.model.variables[variable];
    const card = editing.card(editing.nFeatures + latent);
    const [rows, columns] = [own.left, own.right].map((node) => this.#statesOf(node));
    const numbers = Array.from({ length: card }, (_, state) => String(state + 1));
    const cell = (i, j) => {
      const at = i * own.columns + j;
      const choice = element("select", {
        className: "cell", "aria-label": `State of ${short(name, 30)} where ${rows[i]} and ${columns[j]}`,
      }, [...numbers, "new"].map((text, state) => element("option", { value: state, text })));
      choice.value = String(own.states[at]);
      choice.addEventListener("change", () =>
        this.#after(() => editing.moveCell(latent, at, Number(choice.value))));
      return element("td", {}, [choice]);
    };
    const table = element("table", { className: "cpd" }, [
      element("thead", {}, [element("tr", {}, [element("td"), ...columns.map((text) =>
        element("th", { scope: "col", text }))])]),
      element("tbody", {}, rows.map((text, i) => element("tr", {}, [
        element("th", { scope: "row", text }), ...columns.map((_, j) => cell(i, j)),
      ]))),
    ]);
    const from = this.#choice(`State of ${short(name, 30)} to merge`, numbers, (text) => text);
    const to = this.#choice("State that it is merged into", numbers, (text) => text);
    from.value = String(card - 1);
    to.value = "0";
    return [
      element("h3", { text: short(name, 60), dir: "auto" }),
      element("p", { className: "note", text: "The state of each pair of values; \"new\" splits a state." }),
      element("div", { className: "scroll", tabindex: "0", role: "group", "aria-label": `Cells of ${short(name)}` }, [table]),
      ...(card > 2 ? [element("p", {}, ["Merge ", from, " into ", to, " ", pressing("Merge", () =>
        this.#after(() => editing.merge(latent, Number(from.value), Number(to.value))))])] : []),
    ];
  }

  /** Names of the states of a feature, or numbers of those of a latent variable. */
  #statesOf(node) {
    const { editing } = this;
    const { variables } = this.session.model;
    if (node < editing.nFeatures) {
      return variables[node].states.map((label) => stated(short(variables[node].name, 20), short(label, 20)));
    }
    const [page] = [...editing.latentOf].find(([, latent]) => latent === node - editing.nFeatures);
    return Array.from({ length: editing.card(node) }, (_, state) =>
      `${short(variables[page].name, 20)} = ${state + 1}`);
  }

  #choice(label, items, write) {
    const made = element("select", { "aria-label": label },
      items.map((item, place) => element("option", { value: place, text: write(item) })));
    made.value = String(Math.floor(items.length / 2));
    return made;
  }

  #download() {
    this.editing ??= editingOf(this.session.model);
    const link = element("a", { download: "edited.json" });
    link.href = URL.createObjectURL(new Blob([this.editing.file()], { type: "application/json" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }
}

/** What is edited of a model: its latent variables, or its cut points and arcs. */
function editingOf(model) {
  return model.editing.document.model.type === "network" ? new Editing(model)
    : new LatentEditing(model);
}
