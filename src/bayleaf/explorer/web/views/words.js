// Names, numbers and evidence in words.

// Letters written from right to left, and signs that turn the direction.
const OTHER_DIRECTION = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/;
const LN2 = Math.log(2);

/** A name as it is; in quotes if it would not be seen without. */
function visible(text) {
  return text.trim() ? text : `'${text}'`;
}

/** A name short enough for a sentence, whose direction it leaves alone. */
function short(text, longest = 60) {
  const characters = Array.from(visible(text));
  const isLong = characters.length > longest;
  const cut = isLong ? `${characters.slice(0, longest - 1).join("")}…` : visible(text);
  return OTHER_DIRECTION.test(cut) ? `\u2068${cut}\u2069` : cut;
}

/** A probability as a percentage. */
function percent(p) {
  // The spaces do not break, so that no line begins with the sign.
  if (p > 0 && p < 0.0005) return "<\u00a00.1\u00a0%";
  // Sums of what is certain may lack the last digits of one.
  if (p < 1 - 1e-12 && p > 0.9995) return ">\u00a099.9\u00a0%";
  return `${(100 * p).toFixed(1)}\u00a0%`;
}

/** A probability as the length of a bar; a thousandth of its place is seen by nobody. */
function share(p) {
  return `${(100 * p).toFixed(1)}%`;
}

/** A number with its sign. */
function signed(value, digits = 3) {
  if (value === Infinity) return "+∞";
  if (value === -Infinity) return "−∞";
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

/** Log-odds in bits, with their sign. */
const inBits = (nats) => signed(nats / LN2);

/** What log-odds multiply odds by, or divide them by. */
function timesOdds(nats) {
  const factor = Number(Math.exp(Math.abs(nats)).toPrecision(3));
  return `${nats < 0 && factor > 1 ? "÷" : "×"}${String(factor).replace("Infinity", "∞")}`;
}

/** Log-odds of two states in a clause. */
function likelier(nats, target, against) {
  const [more, less] = nats < 0 ? [against, target] : [target, against];
  return Number.isFinite(nats) ? `${more} is ${timesOdds(Math.abs(nats)).slice(1)} times as likely as ${less}` : `${less} is impossible`;
}

/** A number in few digits. */
function brief(value) {
  return String(Number(value.toPrecision(5))).replace("-", "−");
}

/** A number of things. */
function counted(n, noun) {
  return `${brief(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/** The name of an interval next to a number in it. */
function inBrackets(label) {
  return label.startsWith("(") ? label : `(${label})`;
}

/** That a variable has a state, as a reader would say it. */
function stated(name, label) {
  if (label.startsWith("<= ") || label.startsWith("> ")) return `${name} ${label}`;
  return label.startsWith("(") && label.endsWith("]") ? `${name} in ${label}`
    : `${name} = ${label}`;
}

/** What is known of a variable, in words. */
function knownText(variable, mask, longest = 60) {
  const name = short(variable.name, longest);
  const labels = (states) => states.map((state) => short(variable.states[state], longest));
  if (isSoft(mask)) {
    const most = statesLeft(mask).sort((a, b) => mask[b] - mask[a]).slice(0, 3);
    if (most.length === 2 && mask[most[1]] < mask[most[0]]) {
      const odds = Number((mask[most[0]] / mask[most[1]]).toPrecision(2));
      return `${name} uncertain: ${short(variable.states[most[0]], longest)} favoured ${odds} : 1`;
    }
    const weights = most.map((state) =>
      `${short(variable.states[state], longest)} ${Number(mask[state].toPrecision(2))}`);
    return `${name} uncertain: ${weights.join(", ")}`;
  }
  const inside = labels(statesLeft(mask));
  const outside = labels([...mask.keys()].filter((state) => !mask[state]));
  if (inside.length === 1 && mask.entered !== undefined) {
    return `${name} ${short(mask.entered)} ${inBrackets(inside[0])}`;
  }
  if (inside.length === 1) return stated(name, inside[0]);
  if (outside.length === 1) return `${name} ≠ ${outside[0]}`;
  return outside.length < inside.length
    ? `${name} not in {${outside.join(", ")}}` : `${name} in {${inside.join(", ")}}`;
}

/** Whether a variable has a single state, such as "any value", and so carries no evidence. */
function isConstant({ states }) {
  return states.length === 1;
}
