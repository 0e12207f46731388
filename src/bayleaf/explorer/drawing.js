// The graph in layers: parents above their children.

const NODE_WIDTH = 116;
const NODE_HEIGHT = 34;
const GAP_ACROSS = 18;
const GAP_DOWN = 46;
// Sweeps over the layers that bring linked nodes near each other.
const SWEEPS = 8;
// Nodes side by side on the narrowest screen.
const LEAST_ACROSS = 3;
// Larger graphs are not drawn.
const MOST_NODES = 300;

/** Nodes that are drawn, and arcs between them; cells of latents are passed over. */
function drawnGraph(model) {
  const hidden = model.variables.map((variable) => variable.role === "cells");
  const parents = model.variables.map(() => []);
  for (const [parent, child] of model.edges) parents[child].push(parent);
  const above = (node) => parents[node].flatMap((parent) =>
    (hidden[parent] ? above(parent) : [parent]));
  const nodes = model.variables.map((_, node) => node).filter((node) => !hidden[node]);
  const arcs = nodes.flatMap((node) =>
    [...new Set(above(node))].map((parent) => [parent, node]));
  return { nodes, arcs };
}

/** Rows of nodes: each stands below all its parents; wide rows are broken. */
function layersOf({ nodes, arcs }, widest) {
  const parents = new Map(nodes.map((node) => [node, []]));
  for (const [parent, child] of arcs) parents.get(child).push(parent);
  const depth = new Map();
  const depthOf = (node) => {
    if (!depth.has(node)) {
      // The arcs of several networks together may close a cycle; it is cut here.
      depth.set(node, 0);
      depth.set(node, Math.max(-1, ...parents.get(node).map(depthOf)) + 1);
    }
    return depth.get(node);
  };
  nodes.forEach(depthOf);
  const layers = [];
  for (const node of nodes) (layers[depth.get(node)] ??= []).push(node);
  sortLayers(layers, arcs);
  return layers.flatMap((layer) => {
    const nRows = Math.ceil(layer.length / widest);
    const size = Math.ceil(layer.length / nRows);
    return Array.from({ length: nRows }, (_, row) =>
      layer.slice(row * size, (row + 1) * size));
  });
}

/** Order each layer by the mean place of its nodes' neighbours, downwards and back. */
function sortLayers(layers, arcs) {
  const near = new Map();
  for (const [parent, child] of arcs) {
    near.set(parent, [...(near.get(parent) ?? []), child]);
    near.set(child, [...(near.get(child) ?? []), parent]);
  }
  const place = new Map();
  const number = (layer) => layer.forEach((node, i) =>
    place.set(node, (i + 0.5) / layer.length));
  layers.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const layer of sweep % 2 ? layers.slice().reverse() : layers) {
      const mean = new Map(layer.map((node) => {
        const others = near.get(node) ?? [];
        const sum = others.reduce((total, other) => total + place.get(other), 0);
        return [node, others.length ? sum / others.length : place.get(node)];
      }));
      layer.sort((a, b) => mean.get(a) - mean.get(b) || a - b);
      number(layer);
    }
  }
}

/** The drawing of a model's graph, with its evidence. */
class Drawing {
  constructor(model, svg, note, jumpTo) {
    this.model = model;
    this.svg = svg;
    this.boxes = new Map();
    const graph = drawnGraph(model);
    const told = `${graph.nodes.length} variables, ${graph.arcs.length} arcs`;
    note.textContent = [told, model.drawing_note ?? ""].join("");
    if (graph.nodes.length > MOST_NODES) {
      note.textContent = `${told}: too many to draw`;
      svg.parentNode.hidden = true;
      return;
    }
    const fitting = Math.floor(svg.parentNode.clientWidth / (NODE_WIDTH + GAP_ACROSS));
    const rows = layersOf(graph, Math.max(LEAST_ACROSS, fitting));
    const points = this.#place(rows);
    this.#marker();
    for (const [parent, child] of graph.arcs) {
      const arc = this.#arc(points.get(parent), points.get(child));
      // The class is nearly everybody's parent: its arcs step back behind the others.
      if (parent === model.class) arc.classList.add("common");
      this.svg.append(arc);
    }
    for (const node of graph.nodes) this.#node(node, points.get(node), jumpTo);
  }

  #make(tag, attributes) {
    const made = document.createElementNS(this.svg.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  #place(rows) {
    const step = NODE_WIDTH + GAP_ACROSS;
    const width = Math.max(...rows.map((row) => row.length)) * step;
    const height = rows.length * (NODE_HEIGHT + GAP_DOWN) - GAP_DOWN + 8;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    const points = new Map();
    rows.forEach((row, r) => row.forEach((node, i) => {
      const left = (width - row.length * step) / 2;
      // Rows that a wide layer was broken into are shifted, so that arcs pass between.
      points.set(node, {
        x: left + (i + 0.5) * step,
        y: 4 + r * (NODE_HEIGHT + GAP_DOWN),
      });
    }));
    return points;
  }

  #marker() {
    const marker = this.#make("marker", {
      id: "tip", viewBox: "0 0 10 10", refX: 9, refY: 5,
      markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse",
    });
    marker.append(this.#make("path", { d: "M0 0L10 5L0 10z", class: "tip" }));
    const definitions = this.#make("defs", {});
    definitions.append(marker);
    this.svg.append(definitions);
  }

  #arc(from, to) {
    const y1 = from.y + NODE_HEIGHT;
    const bend = (to.y - y1) / 2;
    return this.#make("path", {
      class: "arc",
      "marker-end": "url(#tip)",
      d: `M${from.x} ${y1}C${from.x} ${y1 + bend} ${to.x} ${to.y - bend} ${to.x} ${to.y}`,
    });
  }

  #node(node, { x, y }, jumpTo) {
    const { name, role } = this.model.variables[node];
    const group = this.#make("g", { class: `node ${role}` });
    const title = this.#make("title", {});
    title.textContent = short(name, 300);
    const label = this.#make("text", { x, y: y + 15, class: "node-name" });
    label.textContent = short(name, 15);
    const state = this.#make("text", { x, y: y + 28, class: "node-state" });
    group.append(title, this.#make("rect", {
      x: x - NODE_WIDTH / 2, y, width: NODE_WIDTH, height: NODE_HEIGHT,
      rx: role === "latent" ? NODE_HEIGHT / 2 : 5,
    }), label, state);
    group.addEventListener("click", () => jumpTo(node));
    this.svg.append(group);
    this.boxes.set(node, { group, state });
  }

  /** What is known or most probable of each node. */
  show(evidence, posteriors) {
    for (const [node, { group, state }] of this.boxes) {
      const { states } = this.model.variables[node];
      const mask = evidence[node];
      const only = onlyState(mask);
      const found = posteriors ? posteriors[node] : null;
      group.classList.toggle("known", Boolean(mask));
      if (only >= 0) {
        state.textContent = `= ${short(states[only], 16)}`;
      } else if (found) {
        const best = argMax(found);
        state.textContent = `${short(states[best], 11)} ${Math.round(100 * found[best])} %`;
      } else {
        state.textContent = "";
      }
    }
  }
}
