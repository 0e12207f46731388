// What is written on the map and below it: whole names, how much it shows, its marks.

/** Whether the list names a variable in the line below it only. */
function isFolded({ session }, node) {
  return isConstant(session.model.variables[node]) && node !== session.engine.question;
}

/** The variables that may take any value, a click away. */
function constantsOf(map) {
  const { variables } = map.session.model;
  const folded = map.graph.nodes.filter((node) => isFolded(map, node));
  return folded.length ? [element("span", {}, ["any value: ", ...folded.flatMap((node, i) => [
    i ? ", " : "",
    pressing(short(variables[node].name, 30), () => map.handlers.choose(node), { className: "link", dir: "auto" }),
  ])])] : [];
}

/** Write it. */
function writeNote(map) {
  const { arcs, left_out: leftOut, marked } = map.about;
  const { model } = map.session;
  const nNodes = map.graph.nodes.length;
  const parts = [[counted(nNodes, "variable"), ...(map.isList ? [] : [counted(arcs.length, "arrow")])].join(", ")];
  const nShown = map.drawing.boxes.size;
  if (nShown < map.graph.nodes.length) parts.push(`${nShown} of them shown`);
  if (map.isList) parts.push(...constantsOf(map));
  // A legend begins with a picture of what it explains.
  const legend = (kind, text) => element("span", { className: `legend ${kind}`, text });
  if (!map.isList) {
    parts.push(legend("asked", "variable asked for"));
    if (marked.length && !map.withClass) {
      parts.push(legend("edge", `depend on ${short(model.variables[model.class].name, 30)}, whose arrows are not drawn`));
    }
    if (leftOut) parts.push(`${counted(leftOut, "weak arrow")} left out`);
    if (model.weights && arcs.some(([, , weight]) => weight !== null)) {
      parts.push(legend("wide", `wider: more ${model.weights}`));
    }
    if (model.drawing_note) parts.push(model.drawing_note);
  }
  byId("drawing-note").replaceChildren(...parts.flatMap((part, i) => (i ? ["; ", part] : [part])));
}

/** Next to the box with the pointer or the focus its whole name, where it may be cut. */
function writeName({ isList, cards, named, level, frame }) {
  const place = byId("whole-name");
  const { card, about, locked, isShortened, isNameCut } = (!isList && cards.get(named)) || {};
  const isFar = FAR.includes(level);
  place.hidden = !card || !(isFar || isShortened || isNameCut);
  if (place.hidden) return;
  place.textContent = `${visible(about.name)}${isFar && !locked ? ": click to set a value" : ""}`;
  const [around, box] = [frame, card].map((part) => part.getBoundingClientRect());
  const top = box.top - around.top - place.offsetHeight;
  place.style.left = `${Math.max(0, Math.min(box.left - around.left, frame.clientWidth - place.offsetWidth))}px`;
  place.style.top = `${top < 0 ? box.bottom - around.top : top}px`;
}
