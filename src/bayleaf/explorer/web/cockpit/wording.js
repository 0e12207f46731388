// Words of the cockpit: counts of 100, factors of the odds, names of findings.

const cap = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A chance as a count of 100, which is never 0 or 100. */
function near(chance) {
  if (chance > 0.99) return "more than 99";
  return chance < 0.01 ? "fewer than 1" : String(Math.round(100 * chance));
}

/** A chance as the beginning of a sentence. */
function about(chance) {
  return chance > 0.99 || chance < 0.01 ? cap(near(chance)) : `About ${near(chance)}`;
}

/** A chance as a short count of 100. */
function of100(chance) {
  return chance > 0.99 ? "> 99" : chance < 0.01 ? "< 1" : String(Math.round(100 * chance));
}

/** The rest of a chance as a short count of 100: both together are 100 as written. */
function restOf100(chance) {
  return chance > 0.99 || chance < 0.01 ? of100(1 - chance) : String(100 - Math.round(100 * chance));
}

/** Two chances as a range. */
function rangeOf100({ low, high }) {
  return [low, high].some((p) => p > 0.99 || p < 0.01)
    ? `${of100(low)} to ${of100(high)}` : `${of100(low)}–${of100(high)}`;
}

/** Names in a sentence. */
function listed(items) {
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

// Log-odds that count as no effect: a factor of 1.05.
const NO_EFFECT = Math.log(1.05);

/** "up", "down" or "", by what a term does to the odds. */
function side(nats) {
  return Math.abs(nats) < NO_EFFECT ? "" : nats > 0 ? "up" : "down";
}

/** A sign beside the colour of "up", "down" or "". */
function arrow(own) {
  return element("span", { "aria-hidden": "true", text: { up: "▲ ", down: "▼ ", "": "● " }[own] });
}

/** The factor of the odds of a term, or of its reverse, as a number. */
function timesOf(nats) {
  const factor = Math.exp(Math.abs(nats));
  return factor < 9.95 ? factor.toFixed(1) : factor < 9999 ? factor.toFixed(0) : "> 9999";
}

/** What a term does to the odds, for readers of the screen. */
function spoken(nats) {
  if (!side(nats)) return "no effect on the odds";
  return `${nats > 0 ? "raises" : "lowers"} the odds ${timesOf(nats).replace(">", "more than")} times`;
}

/** An interval of numbers in words, such as "30 to 34"; undefined for other states. */
function plainInterval({ cuts, spans, unnamed, range, missing }, state) {
  if (!cuts?.length || spans || unnamed?.includes(state) || state === missing) return undefined;
  const isInteger = areIntegers({ cuts, range });
  const [low, high] = [cuts[state - 1], cuts[state]];
  if (high === undefined) return isInteger ? `${brief(Math.floor(low) + 1)} or more` : `above ${brief(low)}`;
  const last = isInteger ? Math.floor(high) : high;
  if (low === undefined) return `up to ${brief(last)}`;
  const first = isInteger ? Math.floor(low) + 1 : low;
  return first === last ? brief(first) : `${brief(first)} to ${brief(last)}`;
}

// Names of an outcome that mean nothing to a reader.
const GENERIC_NAMES = ["class", "target", "label", "outcome", "y"];

/** Words of a page: what its cases, variables and states are called. */
class Words {
  constructor(model) {
    this.variables = model.variables;
    const { cases } = model.words ?? {};
    this.cases = cases ?? "cases";
    this.phrases = model.words?.phrases ?? {};
    this.unit = "odds";
    this.hasCosts = model.variables.some(({ words }) => words?.cost !== undefined);
  }

  label(variable) {
    const { name, words } = this.variables[variable];
    return short(words?.label ?? name.replaceAll("_", " "), 80);
  }

  /** A label inside a sentence. */
  short(variable) {
    const { words } = this.variables[variable];
    return words?.short ?? this.label(variable);
  }

  state(variable, state) {
    const { states, words } = this.variables[variable];
    const label = plainInterval(this.variables[variable], state) ?? states[state];
    return short(words?.states?.[label] ?? label, 80);
  }

  unitOf(variable) {
    return this.variables[variable].words?.unit ?? "";
  }

  question(variable) {
    return this.variables[variable].words?.question ?? `${cap(this.label(variable))}?`;
  }

  cost(variable) {
    return this.variables[variable].words?.cost ?? 1;
  }

  /** What is known of a variable: the number as typed, or its states. */
  value(variable, mask) {
    if (mask.entered !== undefined) return mask.entered;
    const states = statesLeft(mask).map((state) => this.state(variable, state));
    if (isSoft(mask)) return "uncertain";
    const outside = mask.length - states.length;
    return outside && outside < states.length && outside < 4
      ? `not ${[...mask.keys()].filter((state) => !mask[state]).map((state) => this.state(variable, state)).join(" or ")}`
      : states.slice(0, 4).join(" or ") + (states.length > 4 ? " or others" : "");
  }

  finding(variable, mask) {
    const text = stated(this.label(variable), this.value(variable, mask)).replace(" = ", ": ");
    return mask.entered === undefined ? text : text.replace(": ", " ");
  }

  /** What has the outcome in question: "have heart disease". */
  predicate(variable, state) {
    const label = this.variables[variable].states[state];
    const name = this.label(variable);
    const isPlain = GENERIC_NAMES.includes(name.toLowerCase());
    return this.phrases[label] ?? `${isPlain ? "are" : `have ${name}`} “${this.state(variable, state)}”`;
  }

  /** An effect in the chosen unit. */
  factor(nats) {
    if (this.unit !== "odds") return signed(nats / (this.unit === "bits" ? LN2 : 1), 2);
    if (!side(nats)) return "×1.0";
    return `${nats > 0 ? "×" : "÷"}${timesOf(nats)}`;
  }
}
