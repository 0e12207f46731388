// Mouse, fingers and keys on the map.

// Pixels that a pointer moves before a press is a drag, and that an arrow key moves.
const DRAG = 5;
const STEP = 80;

/** Pans, zooms and drags boxes of a map. */
class MapPointers {
  constructor(map) {
    this.map = map;
    this.frame = map.frame;
    this.pointers = new Map();
    this.press = null;
    this.frame.addEventListener("pointerdown", (event) => this.#down(event));
    this.frame.addEventListener("pointermove", (event) => this.#move(event));
    for (const kind of ["pointerup", "pointercancel"]) {
      this.frame.addEventListener(kind, (event) => this.pointers.delete(event.pointerId));
    }
    // What ends a drag is no click.
    this.frame.addEventListener("click", (event) => {
      if (this.press?.isDrag) event.stopPropagation();
      this.press = null;
    }, true);
    this.frame.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.frame.addEventListener("keydown", (event) => this.#key(event));
  }

  #down(event) {
    if (this.map.isList || event.target.closest(".state, .more")) return;
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    this.press = {
      node: this.map.nodeOf(event.target.closest(".card")),
      isDrag: false,
      start: [event.clientX, event.clientY],
    };
  }

  #move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    if (this.pointers.size === 2) this.#pinch(event.pointerId, now);
    else if (this.#isDrag(now, event.pointerId)) this.#drag(now[0] - before[0], now[1] - before[1]);
    if (this.pointers.size === 2 || this.press.isDrag) this.pointers.set(event.pointerId, now);
  }

  #isDrag(now, id) {
    const { press } = this;
    const far = Math.hypot(now[0] - press.start[0], now[1] - press.start[1]);
    if (!press.isDrag && far > DRAG) {
      press.isDrag = true;
      this.frame.setPointerCapture(id);
    }
    return press.isDrag;
  }

  #drag(dx, dy) {
    if (this.press.node === null) this.map.pan(dx, dy);
    else this.map.moveBox(this.press.node, dx, dy);
  }

  #pinch(id, now) {
    const before = this.pointers.get(id);
    const [, other] = [...this.pointers].find(([own]) => own !== id);
    const far = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]);
    const { left, top } = this.frame.getBoundingClientRect();
    this.press.isDrag = true;
    this.map.zoom(far(now) / Math.max(1, far(before)),
      [(now[0] + other[0]) / 2 - left, (now[1] + other[1]) / 2 - top]);
  }

  #wheel(event) {
    if (this.map.isList) return;
    event.preventDefault();
    const { left, top } = this.frame.getBoundingClientRect();
    this.map.zoom(Math.exp(-event.deltaY / 500), [event.clientX - left, event.clientY - top]);
  }

  /** The middle of the box that has the focus, in the frame; none without one. */
  #focus() {
    const card = document.activeElement.closest(".card");
    if (!card) return undefined;
    const [box, frame] = [card, this.frame].map((part) => part.getBoundingClientRect());
    return [box.left - frame.left + box.width / 2, box.top - frame.top + box.height / 2];
  }

  #key(event) {
    if (this.map.isList || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const zooms = { "+": 1.25, "=": 1.25, "-": 0.8 };
    if (event.key in moves) this.map.pan(...moves[event.key].map((step) => step * STEP));
    else if (event.key in zooms) this.map.zoom(zooms[event.key], this.#focus());
    else if (event.key === "0") this.map.fit();
    else return;
    event.preventDefault();
  }
}
