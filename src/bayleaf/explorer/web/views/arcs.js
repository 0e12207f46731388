// The arcs of the map as curves with tips.

const THINNEST = 1;
const WIDEST = 4.5;

/** Points of Bezier curves as the data of a path. */
function pathOf(way) {
  const pieces = [`M${way[0]} ${way[1]}`];
  for (let k = 2; k < way.length; k += 6) pieces.push(`C${way.slice(k, k + 6).join(" ")}`);
  return pieces.join("");
}

/** A single curve from one box to another. */
function bow([x1, y1, w1, h1], [x2, y2, w2, h2]) {
  const isDown = y1 + h1 <= y2;
  const start = [x1 + w1 / 2, isDown ? y1 + h1 : y1];
  const end = [x2 + w2 / 2, isDown ? y2 : y2 + h2];
  const bend = (end[1] - start[1]) / 2;
  return [...start, start[0], start[1] + bend, end[0], end[1] - bend, ...end];
}

/** The layer of arcs below the boxes. */
class Arcs {
  constructor(svg, weights) {
    this.svg = svg;
    this.weights = weights;
    this.paths = new Map();
    const tip = (id) => drawn("marker", {
      id, viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 9, markerHeight: 9,
      markerUnits: "userSpaceOnUse", orient: "auto-start-reverse",
    }, [drawn("path", { d: "M0 0L10 5L0 10z", class: id })]);
    this.svg.append(drawn("defs", {}, [tip("tip"), tip("tip-on")]));
    this.group = drawn("g");
    this.svg.append(this.group);
  }

  /** Draw the arcs of a drawing; those of the class step back behind the others. */
  draw({ ways, width, height }, top) {
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    this.paths.clear();
    this.group.replaceChildren(...ways.map(({ arc, parent, child, way }) => {
      const weight = this.weights[arc];
      const path = drawn("path", {
        class: parent === top ? "arc common" : "arc", d: pathOf(way), "marker-end": "url(#tip)",
      });
      path.style.strokeWidth = weight === null ? 1.4
        : (THINNEST + (WIDEST - THINNEST) * weight).toFixed(2);
      this.paths.set(arc, { path, parent, child });
      return path;
    }));
  }

  /** Draw the arcs of a box that was moved as single bows. */
  follow(node, boxes) {
    for (const { path, parent, child } of this.paths.values()) {
      if (parent !== node && child !== node) continue;
      path.setAttribute("d", pathOf(bow(boxes.get(parent), boxes.get(child))));
    }
  }

  /** Let the arcs of one node stand out; none for null. */
  mark(node) {
    for (const { path, parent, child } of this.paths.values()) {
      const isOn = node !== null && (parent === node || child === node);
      if (path.classList.contains("on") === isOn) continue;
      path.classList.toggle("on", isOn);
      path.setAttribute("marker-end", isOn ? "url(#tip-on)" : "url(#tip)");
    }
  }
}
