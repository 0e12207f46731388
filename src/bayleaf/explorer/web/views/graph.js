// Who is whose parent in the map, and what is near what.

/** The graph over the variables that are drawn. */
class Graph {
  constructor({ nodes, arcs }) {
    this.nodes = nodes;
    this.parents = new Map(nodes.map((node) => [node, []]));
    this.children = new Map(nodes.map((node) => [node, []]));
    for (const [parent, child] of arcs) {
      this.parents.get(child).push(parent);
      this.children.get(parent).push(child);
    }
  }

  /** Parents, children and the children's other parents of a node. */
  relations(node) {
    const parents = this.parents.get(node);
    const children = this.children.get(node);
    const others = children.flatMap((child) => this.parents.get(child))
      .filter((other) => other !== node && !parents.includes(other) && !children.includes(other));
    return { parents, children, others: [...new Set(others)] };
  }

  /** A node to begin with: the best connected of the largest part where it has no arc. */
  centreFor(node) {
    if (!this.nodes.length || this.distances(node).size > 1) return node;
    const nArcs = (other) => this.parents.get(other).length + this.children.get(other).length;
    const left = new Set(this.nodes);
    let largest = new Map();
    for (const other of left) {
      const part = this.distances(other);
      for (const member of part.keys()) left.delete(member);
      if (part.size > largest.size) largest = part;
    }
    return [...largest.keys()].reduce((best, other) => (nArcs(other) > nArcs(best) ? other : best));
  }

  /** The distance from a node, at least 1, within which there are at most some nodes. */
  distanceOf(from, most) {
    const found = [...this.distances(from).values()];
    let distance = 1;
    while (found.filter((d) => d <= distance + 1).length <= most && distance < Math.max(...found)) distance += 1;
    return distance;
  }

  /** Distance of every node from one along arcs in either direction. */
  distances(from) {
    const found = new Map([[from, 0]]);
    const waiting = [from];
    for (const node of waiting) {
      for (const next of [...this.parents.get(node), ...this.children.get(node)]) {
        if (!found.has(next)) {
          found.set(next, found.get(node) + 1);
          waiting.push(next);
        }
      }
    }
    return found;
  }
}

/** Nodes of boxes from the top to the bottom, and from the left to the right. */
function inVisualOrder(boxes) {
  return [...boxes.keys()].sort((a, b) =>
    boxes.get(a)[1] - boxes.get(b)[1] || boxes.get(a)[0] - boxes.get(b)[0]);
}

/** A map without the arcs that an edit has removed, and with curves for those it has added. */
function editedMap(map, { learned, parents }) {
  const isRemoved = ([parent, child]) =>
    learned[child]?.includes(parent) && !parents[child].includes(parent);
  const kept = [...map.arcs.keys()].filter((arc) => !isRemoved(map.arcs[arc]));
  const added = parents.flatMap((own, child) =>
    own.filter((parent) => !learned[child].includes(parent)).map((parent) => [parent, child, null]));
  const place = new Map(map.nodes.map((node, i) => [node, i]));
  const redrawn = (drawing) => {
    const boxOf = (node) => drawing.boxes[place.get(node)];
    return { ...drawing, ways: [
      ...kept.map((arc) => drawing.ways[arc]),
      ...added.map(([parent, child]) => aroundBoxes(boxOf(parent), boxOf(child), drawing.boxes)),
    ] };
  };
  const drawings = Object.entries(map.drawings).map(([form, drawing]) => [form, redrawn(drawing)]);
  return {
    ...map, arcs: [...kept.map((arc) => map.arcs[arc]), ...added], drawings: Object.fromEntries(drawings),
  };
}

// The most that a drawing is stretched one way to fill a window.
const MOST_STRETCHED = 1.5;

/** A drawing whose boxes and ways are wider or taller, as a window of the shape allows. */
function stretched(drawing, shape) {
  const within = (factor) => Math.min(MOST_STRETCHED, Math.max(1, factor));
  const own = drawing.width / drawing.height;
  const [across, down] = [within(shape / own), within(own / shape)];
  return {
    boxes: new Map([...drawing.boxes].map(([node, [x, y, width, height]]) =>
      [node, [x * across, y * down, width * across, height * down]])),
    ways: drawing.ways.map((one) => ({
      ...one, way: one.way.map((place, k) => place * (k % 2 ? down : across)),
    })),
    width: drawing.width * across,
    height: drawing.height * down,
    across,
  };
}

/**
 * A map that narrows the gaps between spans to a width, and what lies beyond all of them
 * to half of it, and leaves the spans as they are.
 */
function withoutGaps(spans, widest) {
  const sorted = spans.slice().sort((a, b) => a[0] - b[0]);
  const first = sorted[0]?.[0] ?? 0;
  const gaps = [];
  let end = first;
  for (const [low, high] of sorted) {
    if (low - end > widest) gaps.push([end, low]);
    end = Math.max(end, high);
  }
  const beyond = (far) => (0.5 * widest * far) / (widest + far);
  return (place) => gaps.reduce((now, [from, to]) => {
    const share = Math.min(1, Math.max(0, (place - from) / (to - from)));
    return now - share * (to - from - widest);
  }, Math.min(end, Math.max(first, place)) - first)
    + beyond(Math.max(0, place - end)) - beyond(Math.max(0, first - place));
}

/**
 * Places of some nodes of a drawing and ways of the arcs among them, moved together
 * where the others have left gaps: their order stays.
 */
function drawingOf(drawing, { nodes, arcs }, chosen) {
  const boxes = new Map(nodes.map((node, i) => [node, drawing.boxes[i]]));
  const shown = nodes.filter((node) => chosen.has(node));
  const ways = arcs.flatMap(([parent, child], arc) =>
    (chosen.has(parent) && chosen.has(child) && drawing.ways[arc]
      ? [{ arc, parent, child, way: drawing.ways[arc] }] : []));
  if (shown.length === nodes.length) {
    return { boxes, ways, width: drawing.width, height: drawing.height, across: 1 };
  }
  // Arcs need no room of their own: where no box stands, their lanes only come nearer.
  const spans = (axis, size) => shown.map((node) => {
    const box = boxes.get(node);
    return [box[axis], box[axis] + box[size]];
  });
  const across = withoutGaps(spans(0, 2), 26);
  const down = withoutGaps(spans(1, 3), 44);
  const moved = new Map(shown.map((node) => {
    const [x, y, width, height] = boxes.get(node);
    return [node, [across(x), down(y), width, height]];
  }));
  return {
    boxes: moved,
    ways: ways.map((one) => ({
      ...one, way: one.way.map((place, k) => (k % 2 ? down(place) : across(place))),
    })),
    width: Math.max(...[...moved.values()].map(([x, , width]) => x + width)),
    height: Math.max(...[...moved.values()].map(([, y, , height]) => y + height)),
    across: 1,
  };
}
