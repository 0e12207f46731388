// The arcs of the map as curves with tips.

const THINNEST = 1;
const WIDEST = 4.5;
// How near a curve may come to a box (pixels).
const CLEAR = 3;
// How far the ends of a curve pull it out of its row or column of boxes.
const BENDS = [20, 60, 120, 240, 480];
// How far aside they pull it by that.
const SLANTS = [-1, 0, 1];

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

/** Curves from each side of one box to each of another, that leave and enter them upright or aslant. */
function sideways(from, to) {
  const sides = ([x, y, w, h]) =>
    [[x + w / 2, y, 0, -1], [x + w / 2, y + h, 0, 1], [x, y + h / 2, -1, 0], [x + w, y + h / 2, 1, 0]];
  const bent = ([x, y, right, down]) => BENDS.flatMap((bend) => SLANTS.map((slant) =>
    [x, y, x + (right + slant * down) * bend, y + (down + slant * right) * bend]));
  const ends = sides(to).flatMap(bent).map(([x, y, ...bend]) => [...bend, x, y]);
  return sides(from).flatMap(bent).flatMap((start) => ends.map((end) => [...start, ...end]));
}

/** How many of some points of a single curve are in boxes, or close to them. */
function pointsInBoxes([x0, y0, x1, y1, x2, y2, x3, y3], boxes) {
  const at = (t, a, b, c, d) =>
    (1 - t) ** 3 * a + 3 * t * (1 - t) ** 2 * b + 3 * t ** 2 * (1 - t) * c + t ** 3 * d;
  const shares = Array.from({ length: 39 }, (_, k) => (k + 1) / 40);
  return sumOf(shares.map((t) => {
    const [px, py] = [at(t, x0, x1, x2, x3), at(t, y0, y1, y2, y3)];
    return Number(boxes.some(([x, y, w, h]) => px > x - CLEAR && px < x + w + CLEAR && py > y - CLEAR && py < y + h + CLEAR));
  }));
}

/** The single curve from one box to another that is least hidden by boxes, the shortest of these. */
function aroundBoxes(from, to, boxes) {
  const ways = [bow(from, to), ...sideways(from, to)];
  const length = ([x0, y0, x1, y1, x2, y2, x3, y3]) =>
    Math.hypot(x1 - x0, y1 - y0) + Math.hypot(x2 - x1, y2 - y1) + Math.hypot(x3 - x2, y3 - y2);
  return ways[argMax(ways.map((way) => -pointsInBoxes(way, boxes) - 1e-6 * length(way)))];
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
      path.style.setProperty("--wide", weight === null ? 1.4
        : (THINNEST + (WIDEST - THINNEST) * weight).toFixed(2));
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
