// Evidence as the fragment of an address, which a link carries.

/** The evidence on one variable in a few characters. */
function linkItem(mask, variable) {
  if (isSoft(mask)) {
    // Four digits of a likelihood are more than anybody means.
    return `${variable}~${Array.from(mask, (weight) => Number(weight.toPrecision(4))).join("_")}`;
  }
  if (mask.entered !== undefined) return `${variable}:${encodeURIComponent(mask.entered)}`;
  const inside = statesLeft(mask);
  const outside = [...mask.keys()].filter((state) => !mask[state]);
  const isShort = inside.length === 1 || inside.length <= outside.length;
  return `${variable}${isShort ? "=" : "!"}${(isShort ? inside : outside).join(".")}`;
}

/** The evidence as the fragment of an address. */
function fragmentOf(session) {
  const { model, engine } = session;
  const items = session.evidence.flatMap((mask, variable) =>
    (mask ? [linkItem(mask, variable)] : []));
  if (model.class === null && engine.question !== model.question) {
    items.unshift(`ask=${engine.question}`);
  }
  return items.length ? `#${model.fingerprint}&${items.join("&")}` : "";
}

/** A part of an address as text; empty if it is not encoded as one. */
function decodedText(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** What an item of a fragment says of a variable; null if that means nothing. */
function readLinkItem(session, item) {
  const states = /^(\d+)([=!])(\d+(?:\.\d+)*)$/.exec(item);
  const weights = /^(\d+)~(\d[\d._e-]*)$/.exec(item);
  const entered = /^(\d+):(.+)$/.exec(item);
  const variable = Number((states ?? weights ?? entered)?.[1]);
  if (!(variable < session.evidence.length) || session.locked(variable)) return null;
  const card = session.card(variable);
  if (entered) {
    const mask = readEntered(session, variable, decodedText(entered[2]));
    return mask && { variable, mask };
  }
  if (weights) {
    const mask = Float64Array.from(weights[2].split("_"), Number);
    const isSound = mask.length === card && mask.every((w) => w >= 0 && w <= 1) && mask.includes(1);
    return isSound ? { variable, mask } : null;
  }
  const isInside = states[2] === "=";
  const mask = new Uint8Array(card).fill(isInside ? 0 : 1);
  for (const state of states[3].split(".").map(Number)) {
    if (state < card) mask[state] = isInside ? 1 : 0;
  }
  const tells = mask.includes(1) && (mask.includes(0) || card === 1);
  return tells ? { variable, mask } : null;
}

/**
 * Take the evidence of a fragment over. Returns a sentence if it does not fit; parts
 * that mean nothing are left out.
 */
function restoreFragment(session, fragment) {
  const { model } = session;
  const [fingerprint, ...items] = fragment.replace(/^#/, "").split("&");
  if (fingerprint && fingerprint !== model.fingerprint) {
    return "This link belongs to another model; its evidence was not taken over.";
  }
  const evidence = session.evidence.map(() => null);
  let { question } = model;
  for (const item of items) {
    const asked = /^ask=(\d+)$/.exec(item);
    const isQuestion = asked && model.variables[Number(asked[1])]?.role === "variable";
    if (isQuestion && model.class === null) question = Number(asked[1]);
    const found = readLinkItem(session, item);
    if (found) evidence[found.variable] = found.mask;
  }
  const refused = session.refusal(evidence);
  if (refused) return refused;
  if (question !== session.engine.question) session.engine.ask(question);
  session.replace(evidence);
  return "";
}
