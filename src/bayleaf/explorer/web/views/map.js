// The map: boxes with bars and arcs between them, to be moved about; or a plain list.

// Above this the map opens on what is near the question, with a slider for distance.
const MOST_AT_ONCE = 60;
// Boxes on the map when it opens so, about.
const FIRST_BOXES = 40;
// What boxes show, and the scale from which on there is room for it: names, bars of the
// states, bars with labels, or tables as well. Below the least scale of names they are bare.
const LEVELS = [["names", 0], ["bars", 0.3], ["labels", 0.6], ["tables", TABLES_FROM]];
const FAR = ["names", "bars"];
const LEAST_NAMED = 0.2;
// A map opens with bars and with few names cut, or so near that Python left room for them.
const [LEAST_OPENED, MOST_CUT, NEAR] = [LEVELS[1][1], 0.25, 0.61];
// Bounds of scales.
const SCALES = [0.01, 4];
// Pixels of the frame that stay free beside what is fitted in.
const MARGIN = 24;

/** Variables on a plane that is panned and zoomed, or below one another. */
class NetworkMap {
  constructor(session, handlers) {
    this.session = session;
    this.handlers = handlers;
    this.about = session.model.map;
    this.graph = new Graph(this.about);
    this.frame = byId("drawing");
    this.world = byId("world");
    this.place = byId("monitors");
    this.cards = new Map();
    this.shown = [];
    this.arcs = new Arcs(byId("graph"), this.about.arcs.map(([, , weight]) => weight));
    this.minimap = new Minimap(byId("minimap"), (x, y) => this.#centreOn(x, y));
    this.withClass = false;
    this.found = null;
    this.centre = this.graph.centreFor(session.engine.question);
    this.distance = this.isLarge ? this.graph.distanceOf(this.centre, FIRST_BOXES) : Infinity;
    this.isFirst = true;
    this.moved = new Map();
    this.bars = new MapBars(this);
    this.at = { x: 0, y: 0, scale: 1 };
    this.isList = window.matchMedia("(max-width: 599.98px)").matches || !this.graph.nodes.length;
    this.isBegun = false;
  }

  /** Lay the map out when it is first shown: hidden, it has no size to be fitted to. */
  begin() {
    if (this.isBegun) return;
    this.isBegun = true;
    this.#place();
    new MapPointers(this);
    this.#open();
    this.handlers.changed();
    new ResizeObserver(() => this.#resized()).observe(this.frame);
  }

  // ---- what is on the map

  /** In a window of another shape boxes that were not moved are laid out again; paper shows the map of before. */
  #resized() {
    if (window.matchMedia("print").matches) return;
    if (this.isFitted && !this.moved.size && !this.isList) {
      this.#place();
      this.fit();
    } else this.#transform();
  }

  get isLarge() {
    return this.graph.nodes.length > MOST_AT_ONCE && this.farthest > 0;
  }

  /** The largest distance from the centre. */
  get farthest() {
    return Math.max(...this.graph.distances(this.centre).values());
  }

  #chosen() {
    if (this.distance === Infinity) return new Set(this.graph.nodes);
    const distances = this.graph.distances(this.centre);
    return new Set(this.graph.nodes.filter((node) => distances.get(node) <= this.distance || node === this.looked));
  }

  /** Of the drawings for windows of several shapes that which can be shown largest. */
  #drawn() {
    const { drawings } = this.about;
    const chosen = this.#chosen();
    const { clientWidth, clientHeight } = this.frame;
    const shape = Math.max(1, clientWidth - MARGIN) / Math.max(1, clientHeight - MARGIN);
    const own = Object.keys(drawings).filter((form) => form.endsWith("+class") === this.withClass);
    const all = own.map((form) => drawingOf(drawings[form], this.about, chosen));
    const scales = all.map((drawing) => this.#fitting(drawing));
    const best = all[argMax(scales)];
    return Math.max(...scales) < 1 ? stretched(best, shape) : best;
  }

  /** Show another model in the same places: its arcs, and boxes of states that changed. */
  adopt() {
    const { model } = this.session;
    this.about = model.map;
    this.graph = new Graph(model.map);
    this.arcs.weights = model.map.arcs.map(([, , weight]) => weight);
    for (const [node, card] of this.cards) {
      if (card.about !== model.variables[node]) this.cards.delete(node);
    }
    this.#place();
    this.#transform();
  }

  /** Put boxes and arcs to their places, for what is chosen of the map. */
  #place() {
    this.drawing = this.#drawn();
    for (const [node, [x, y]] of this.moved) {
      const box = this.drawing.boxes.get(node);
      if (box) this.drawing.boxes.set(node, [x, y, box[2], box[3]]);
    }
    const section = byId("network");
    section.classList.toggle("list", this.isList);
    this.shown = this.isList ? this.#listed() : inVisualOrder(this.drawing.boxes);
    // A box that is put in again, as after a change of size, would lose the focus.
    const { activeElement } = document;
    this.place.replaceChildren(...this.shown.map((node) => this.#card(node).card));
    if (this.place.contains(activeElement)) activeElement.focus({ preventScroll: true });
    for (const node of this.shown) this.#put(node);
    this.level = null;
    const marked = new Set(this.withClass ? [] : this.about.marked);
    for (const [node, { card }] of this.cards) {
      card.classList.toggle("marked", marked.has(node));
      card.classList.toggle("looked", node === this.looked);
    }
    if (!this.isList) {
      this.arcs.draw(this.drawing, this.session.model.class);
      this.minimap.draw(this.drawing);
      for (const node of this.moved.keys()) this.arcs.follow(node, this.drawing.boxes);
    }
    fitPaper(this.frame, this.drawing);
    writeNote(this);
  }

  /** Move a box; its arcs follow. */
  moveBox(node, dx, dy) {
    const [x, y, width, height] = this.drawing.boxes.get(node);
    const to = [x + dx / this.at.scale, y + dy / this.at.scale, width, height];
    this.drawing.boxes.set(node, to);
    this.moved.set(node, to);
    this.#put(node);
    this.arcs.follow(node, this.drawing.boxes);
    writeName(this);
    byId("tidy").disabled = false;
  }

  /** The variable of a card; null for none. */
  nodeOf(card) {
    return this.shown.find((node) => this.cards.get(node).card === card) ?? null;
  }

  #put(node) {
    const { style } = this.#card(node).card;
    const box = this.isList ? null : this.drawing.boxes.get(node);
    ["left", "top", "width", "height"].forEach((side, i) => {
      style[side] = box ? `${box[i]}px` : "";
    });
    if (box) style.setProperty("--height", box[3]);
  }

  /** Every variable, the class and latent ones first. */
  #listed() {
    const { variables } = this.session.model;
    const rank = { class: 0, target: 0, latent: 1, variable: 2, feature: 2 };
    const chosen = this.isLarge ? this.#chosen() : new Set(this.graph.nodes);
    return this.graph.nodes.filter((node) => chosen.has(node) && !isFolded(this, node))
      .sort((a, b) => rank[variables[a].role] - rank[variables[b].role] || a - b);
  }

  #card(node) {
    let card = this.cards.get(node);
    if (!card) {
      const { isRulingOut, say, choose } = this.handlers;
      const { drawings, nodes, wrapped } = this.about;
      const letters = Math.floor(drawings.wide.boxes[nodes.indexOf(node)][2] / 16);
      card = new VariableCard(this.session, node, { id: `variable-${node}`, letters, wrapped: wrapped[node], isRulingOut, say, choose });
      card.card.classList.toggle("edited", Boolean(this.session.model.variables[node].isEdited));
      card.card.addEventListener("mouseenter", () => this.#relate(node));
      card.card.addEventListener("mouseleave", () => this.#relate(null));
      card.card.addEventListener("focusin", () => {
        this.reveal(node);
        this.#relate(node);
      });
      card.card.addEventListener("focusout", () => this.#relate(null));
      this.cards.set(node, card);
    }
    return card;
  }

  /** Let a variable's parents, children and Markov blanket stand out; none for null. */
  #relate(node) {
    const kinds = new Map();
    if (node !== null) {
      const { parents, children, others } = this.graph.relations(node);
      others.forEach((other) => kinds.set(other, "is-blanket"));
      children.forEach((child) => kinds.set(child, "is-child"));
      parents.forEach((parent) => kinds.set(parent, "is-parent"));
    }
    for (const [other, { card }] of this.cards) {
      for (const kind of ["is-parent", "is-child", "is-blanket"]) {
        card.classList.toggle(kind, kinds.get(other) === kind);
      }
    }
    this.arcs.mark(node);
    this.named = node;
    writeName(this);
  }

  /** Lay the map out again, and fill it. */
  #again() {
    if (!this.isBegun) return;
    this.#place();
    this.bars.again();
    // What the list hides is on the map.
    this.markFound(this.found);
    this.#open();
    this.handlers.changed();
  }

  setList(isList) {
    this.isList = isList;
    this.#again();
  }

  setClassArcs(withClass) {
    this.withClass = withClass;
    this.moved.clear();
    this.#again();
  }

  setDistance(distance) {
    this.distance = distance;
    this.isFirst = false;
    this.moved.clear();
    this.#again();
  }

  /** Boxes that were moved go back. */
  tidy() {
    this.moved.clear();
    this.#again();
  }

  /** Mark the box of the variable that is looked at, and bring it into sight if it is shown. */
  look(node) {
    this.cards.get(this.looked)?.card.classList.remove("looked");
    this.looked = node;
    this.cards.get(node)?.card.classList.add("looked");
    if (this.shown.includes(node)) this.reveal(node);
  }

  /** Bring a variable into sight, if need be on a map of what is around it. */
  attend(node) {
    this.look(node);
    if (this.shown.includes(node)) return;
    this.centre = this.graph.centreFor(node);
    this.#again();
    if (this.isBegun) this.reveal(node);
  }

  /** Bring a variable's card into view and into focus, on the map or in the list. */
  focus(node) {
    this.attend(node);
    const card = this.cards.get(node);
    if (this.isList) card.card.scrollIntoView({ block: "center" });
    else if (!this.#isRead) this.#lookAt(node);
    card.focus();
  }

  /** Mark what was found; in the list it comes first, and the rest is hidden. */
  markFound(found) {
    this.found = found;
    byId("network").classList.toggle("finding", found !== null);
    for (const [node, { card }] of this.cards) {
      const isFound = found === null || found.includes(node);
      card.classList.toggle("found", found !== null && isFound);
      card.hidden = this.isList && !isFound;
    }
    const order = (found ?? this.shown).filter((node) => this.shown.includes(node));
    this.place.prepend(...order.map((node) => this.cards.get(node).card));
  }

  // ---- where one looks

  #fitting({ width, height }) {
    const { clientWidth, clientHeight } = this.frame;
    return Math.min((clientWidth - MARGIN) / width, (clientHeight - MARGIN) / height);
  }

  /** Whether bars and most names can be read. */
  get #isRead() {
    return this.at.scale >= LEAST_OPENED
      && this.shown.filter((node) => this.cards.get(node).isNameCut).length <= MOST_CUT * this.shown.length;
  }

  /** All of the map if it can be read so, else what is around the question. */
  #open() {
    this.fit();
    if (this.isList) return;
    while (this.isFirst && this.isLarge && this.distance > 1 && !this.#isRead) {
      this.distance -= 1;
      this.#place();
      this.fit();
    }
    this.isFirst = false;
    if (!this.#isRead) this.#lookAt(this.centre);
  }

  /** Zoom in on a box until its name and bars can be read. */
  #lookAt(node) {
    this.zoom(Math.max(LEAST_OPENED, NEAR / this.drawing.across) / this.at.scale);
    const [x, y, width, height] = this.drawing.boxes.get(node);
    this.#centreOn(x + width / 2, y + height / 2);
    // No part of the frame stays empty that the map could fill.
    const { scale } = this.at;
    const inside = (start, room, size) => (size <= room ? (room - size) / 2
      : Math.min(MARGIN / 2, Math.max(room - size - MARGIN / 2, start)));
    this.at.x = inside(this.at.x, this.frame.clientWidth, this.drawing.width * scale);
    this.at.y = inside(this.at.y, this.frame.clientHeight, this.drawing.height * scale);
    this.#transform();
  }

  /** All of the map in its middle. */
  fit() {
    const scale = Math.min(1, Math.max(SCALES[0], this.#fitting(this.drawing)));
    const { clientWidth, clientHeight } = this.frame;
    this.at = {
      scale,
      x: (clientWidth - this.drawing.width * scale) / 2,
      y: Math.max(12, (clientHeight - this.drawing.height * scale) / 2),
    };
    this.#transform();
    this.isFitted = true;
  }

  /** Boxes show what can be read at a scale, in letters of at least 11 pixels. */
  #showLevel() {
    const { scale } = this.at;
    if (scale !== this.drawnScale) this.world.style.setProperty("--scale", scale.toFixed(4));
    this.drawnScale = scale;
    byId("network").classList.toggle("tiny", !this.isList && scale < LEAST_NAMED);
    const level = this.isList ? "list" : LEVELS.findLast(([, least]) => scale >= least)[0];
    if (level === this.level) return;
    this.level = level;
    byId("network").dataset.level = level;
    for (const node of this.shown) this.cards.get(node).setReadable(!FAR.includes(level));
  }

  #transform() {
    this.isFitted = false;
    this.#showLevel();
    const { x, y, scale } = this.at;
    this.world.style.transform = this.isList ? "" : `translate(${x}px, ${y}px) scale(${scale})`;
    if (this.level === "tables") this.bars.showTables();
    writeName(this);
    const { clientWidth, clientHeight } = this.frame;
    this.minimap.show(-x / scale, -y / scale, clientWidth / scale, clientHeight / scale);
  }

  #centreOn(x, y) {
    const { clientWidth, clientHeight } = this.frame;
    this.at.x = clientWidth / 2 - x * this.at.scale;
    this.at.y = clientHeight / 2 - y * this.at.scale;
    this.#transform();
  }

  pan(dx, dy) {
    this.at.x += dx;
    this.at.y += dy;
    this.#transform();
  }

  /** Zoom about a point of the frame, by default its middle. */
  zoom(factor, [x, y] = [this.frame.clientWidth / 2, this.frame.clientHeight / 2]) {
    const scale = Math.min(SCALES[1], Math.max(SCALES[0], this.at.scale * factor));
    const real = scale / this.at.scale;
    this.at = { scale, x: x - (x - this.at.x) * real, y: y - (y - this.at.y) * real };
    this.#transform();
  }

  /** Move the map until a box can be seen. */
  reveal(node) {
    const box = this.drawing.boxes.get(node);
    if (this.isList || !box) return;
    const { clientWidth, clientHeight } = this.frame;
    const { scale } = this.at;
    const needed = (start, size, room) => {
      if (start < 8) return 8 - start;
      return start + size > room - 8 ? Math.max(8 - start, room - 8 - start - size) : 0;
    };
    const dx = needed(this.at.x + box[0] * scale, box[2] * scale, clientWidth);
    const dy = needed(this.at.y + box[1] * scale, box[3] * scale, clientHeight);
    if (dx || dy) this.pan(dx, dy);
  }
}
