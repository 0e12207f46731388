// The views of the page, of which one is shown; all have one session.

class Tabs {
  /** Views by name, of those that the model has; `changed` gets the name of the new one. */
  constructor(names, changed) {
    this.names = names;
    this.changed = changed;
    this.current = names[0];
    byId("tabs").hidden = names.length < 2;
    for (const button of document.querySelectorAll("#tabs button")) {
      const name = button.id.slice("tab-".length);
      button.hidden = !names.includes(name);
      button.addEventListener("click", () => this.show(name));
    }
    if (names.length > 1) {
      for (const name of names) {
        const view = byId(`view-${name}`);
        view.setAttribute("role", "tabpanel");
        view.setAttribute("aria-labelledby", `tab-${name}`);
      }
    }
    byId("tabs").addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const place = names.indexOf(this.current) + step + names.length;
      this.show(names[place % names.length]);
      byId(`tab-${this.current}`).focus();
    });
    this.#draw();
  }

  show(name) {
    if (name === this.current || byId(`tab-${name}`).disabled) return;
    this.current = name;
    this.#draw();
    this.changed(name);
  }

  #draw() {
    document.body.dataset.view = this.current;
    for (const name of ["cockpit", "map", "expert"]) {
      const isOn = name === this.current;
      byId(`view-${name}`).hidden = !isOn;
      byId(`tab-${name}`).setAttribute("aria-selected", String(isOn));
      byId(`tab-${name}`).tabIndex = isOn ? 0 : -1;
    }
  }
}

/** While a view is printed its parts are open, with what they have to show. */
function openOnPaper(panels) {
  let opened = [];
  window.addEventListener("beforeprint", () => {
    const view = document.querySelector("main > :not([hidden])");
    opened = [...view.querySelectorAll(".panel:not([open], #case, #edit)")];
    for (const details of opened) details.open = true;
    for (const [id, panel] of panels) {
      if (!view.contains(byId(id)) || byId(id).hidden) continue;
      panel.show();
      panel.stop?.finish?.();
    }
  });
  window.addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
}
