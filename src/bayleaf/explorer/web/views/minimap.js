// The whole map in small, on the screen with the part that is seen, or on paper.

// Width and height that it may have.
const MOST_PIXELS = [200, 130];
// Width and height of the map on paper, in pixels of its pages.
const PAPER = [650, 480];

/** A sheet of paper shows all of the drawing. */
function fitPaper({ style }, { width, height }) {
  const scale = Math.min(1, PAPER[0] / width, PAPER[1] / height);
  style.setProperty("--print-scale", scale.toFixed(4));
  style.setProperty("--print-left", `${Math.floor(Math.max(0, (PAPER[0] - width * scale) / 2))}px`);
  style.setProperty("--print-height", `${Math.ceil(height * scale)}px`);
}

class Minimap {
  constructor(svg, moveTo) {
    this.svg = svg;
    this.frame = drawn("rect", { class: "frame" });
    this.boxes = drawn("g");
    this.svg.append(this.boxes, this.frame);
    const move = (event) => {
      if (!(event.buttons & 1)) return;
      const place = this.svg.getBoundingClientRect();
      moveTo(
        ((event.clientX - place.left) / place.width) * this.width,
        ((event.clientY - place.top) / place.height) * this.height,
      );
    };
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      event.stopPropagation();
      move(event);
    });
    this.svg.addEventListener("pointermove", move);
  }

  draw({ boxes, width, height }) {
    this.width = width;
    this.height = height;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const scale = Math.min(MOST_PIXELS[0] / width, MOST_PIXELS[1] / height);
    this.svg.style.width = `${width * scale}px`;
    this.svg.style.height = `${height * scale}px`;
    this.boxes.replaceChildren(...[...boxes.values()].map(([x, y, w, h]) =>
      drawn("rect", { x, y, width: w, height: h })));
  }

  /** The part of the map that is seen; where that is all of it, the minimap is hidden. */
  show(x, y, width, height) {
    const isAll = x < 1 && y < 1 && x + width > this.width - 1 && y + height > this.height - 1;
    this.svg.classList.toggle("unused", isAll);
    const place = { x, y, width, height };
    for (const [name, value] of Object.entries(place)) this.frame.setAttribute(name, value);
  }
}
