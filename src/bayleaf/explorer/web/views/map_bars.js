// The bars of the map: of many boxes those first that are in view.

class MapBars {
  constructor(map) {
    this.map = map;
    this.stop = () => {};
    this.isPending = false;
  }

  /** Bars of all that is shown; of many boxes those first that are in view. */
  show(posteriors, before, pinned) {
    this.stop();
    this.posteriors = [posteriors, before, pinned];
    const first = this.map.shown.length > MOST_AT_ONCE ? this.#inView() : new Set(this.map.shown);
    first.forEach((node) => this.#showBars(node));
    if (this.map.level === "tables") this.showTables();
    this.isPending = first.size < this.map.shown.length;
    if (!this.isPending) return;
    this.stop = runInSlices(this.#drawing(this.map.shown.filter((node) => !first.has(node))), (_, isDone) => {
      this.isPending = !isDone;
    });
  }

  /** Draw the bars of boxes, one a step. */
  * #drawing(nodes) {
    for (const node of nodes) {
      this.#showBars(node);
      yield null;
    }
  }

  #showBars(node) {
    const { engine } = this.map.session;
    const [now, before, pinned] = this.posteriors.map((found) => found?.[node] ?? null);
    const isShare = !engine.isJoint && node !== engine.question;
    this.map.cards.get(node).show({ now, before, pinned, isShare });
  }

  /** Variables whose boxes, or cards of the list, are in view. */
  #inView() {
    const { left, top, right, bottom } = this.map.frame.getBoundingClientRect();
    const [across, down] = [Math.min(right, window.innerWidth), Math.min(bottom, window.innerHeight)];
    return new Set(this.map.shown.filter((node) => {
      const box = this.map.cards.get(node).card.getBoundingClientRect();
      return box.right > left && box.left < across && box.bottom > Math.max(0, top) && box.top < down;
    }));
  }

  /** Mark what was set or taken back, before it is known what follows. */
  showKnown() {
    for (const node of this.map.shown) this.map.cards.get(node).showKnown();
  }

  /** Tables in the boxes in view. */
  showTables() {
    for (const node of this.#inView()) this.map.cards.get(node).showTable();
  }

  /** Once more, in boxes that were not shown. */
  again() {
    this.show(...this.posteriors);
  }
}
