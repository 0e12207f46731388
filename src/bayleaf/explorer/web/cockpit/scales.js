// In what the cockpit counts: factors of the odds of a class, or units of a number.

// One scale for all pictures of effects on the odds: a factor of 11 to either side.
const SPAN = Math.log(11);
const FACTORS = [10, 5, 2, 1, 1 / 2, 1 / 5, 1 / 10];
const TICKS = [1, 5, 20, 50, 80, 95, 99];
const logit = (chance) => Math.log(chance / (1 - chance));
const logistic = (logOdds) => 1 / (1 + Math.exp(-logOdds));

/** The chance of a class: terms are log-odds, axes have chances. */
class OddsScale {
  constructor(cockpit) {
    Object.assign(this, { cockpit, low: -SPAN, high: SPAN, base: 0 });
    this.ends = ["▲ raises the odds", "▼ lowers"];
    this.heading = "chance in 100";
    this.per = " in 100";
    this.terms = "effects";
    this.hint = "Enter findings, or let the page ask you. Each one then shows here by how much it moves the answer.";
  }

  /** What the marks mean, in the unit of effects. */
  get key() {
    const [double, half] = this.#examples();
    return [
      ["odds", "cases with the outcome per case without: 80 in 100 is 4 to 1"],
      ["▲", `raises the chance: ${double} doubles the odds, 4 to 1 becomes 8 to 1 (89 in 100)`, "up"],
      ["▼", `lowers the chance: ${half} halves the odds`, "down"],
    ];
  }

  #examples() {
    const { unit } = this;
    return [Math.LN2, -Math.LN2].map((nats) => `${this.change(nats)}${unit === "odds" ? "" : `\u00a0${unit}`}`);
  }

  /** How to read a list of effects. */
  get reading() {
    const [double, half] = this.#examples();
    return `The estimate starts at the share before anything was known, and each finding moves it. ▲ ${double} doubles the odds, ▼ ${half} halves them. Findings that overlap share their weight.`;
  }

  side(nats) {
    return side(nats);
  }

  /** Whether a change is other than none as it is written. */
  isShown(nats) {
    return Boolean(side(nats));
  }

  /** Effects are relative to what is known otherwise by themselves. */
  startFrom() {}

  change(nats) {
    return this.cockpit.words.factor(nats);
  }

  spoken(nats) {
    return spoken(nats);
  }

  /** An effect, as pictures show it. */
  effect(nats) {
    return element("span", { className: side(nats) }, [arrow(side(nats)), this.change(nats)]);
  }

  /** The ticks of pictures. */
  ticks() {
    const { unit } = this.cockpit.words;
    const text = (factor) => (unit === "odds" ? factor < 1 ? `÷${Math.round(1 / factor)}` : `×${factor}`
      : brief(Number((Math.log(factor) / (unit === "bits" ? LN2 : 1)).toFixed(1))));
    return FACTORS.map((factor) => ({ at: Math.log(factor), text: text(factor) }));
  }

  /** Ends of the intervals of effects; null without. */
  band({ values, widths }) {
    if (!widths.some((width) => width > 0)) return null;
    return { lows: values.map((own, i) => own - widths[i]), highs: values.map((own, i) => own + widths[i]) };
  }

  lead(isGiven, mark, isCurve) {
    return `Effect on the odds, ${isGiven ? "given what else is known" : "on its own"}${mark ? `; ${mark}: 95 % interval` : ""}${isGiven && isCurve ? "; dotted: on its own" : ""}.`;
  }

  get unit() {
    return this.cockpit.words.unit;
  }

  /** The line to act from, and the interval of the answer, on the axis of Why. */
  marks() {
    const { outcome, interval, threshold } = this.cockpit;
    if (!outcome.isBinary) return { line: null, range: [] };
    return { line: logit(threshold / 100), range: interval ? [interval.low, interval.high].map(logit) : [] };
  }

  /** The axis of Why, around some ends. */
  axis(ends) {
    const low = Math.max(-12, Math.min(-1.6, ...ends)) - 0.25;
    const high = Math.min(12, Math.max(1.6, ...ends)) + 0.25;
    const ticks = TICKS.map((tick) => ({ at: logit(tick / 100), text: String(tick) }));
    return { low, high, ticks: ticks.filter(({ at }) => at > low && at < high) };
  }

  total(logOdds) {
    return `${of100(logistic(logOdds))} in 100`;
  }

  intervalText(range) {
    return intervalText(range);
  }

  /** Two answers, between which others lie. */
  range(range) {
    return rangeOf100(range);
  }

  /** The entropy of the class with its scale. */
  uncertainty(uncertainty) {
    return `${(uncertainty / LN2).toFixed(2)} bits (0 is certainty, 1 a tossed coin)`;
  }
}

// Places of numbers to either side of their point, beyond which they are powers of ten.
const MOST_PLACES = 6;

/** A number: terms and axes are in its units. */
class NumberScale {
  constructor(cockpit) {
    const { outcome, session, words } = cockpit;
    this.cockpit = cockpit;
    this.density = new DensityPicture(session);
    Object.assign(this, this.density.axis, { base: outcome.start().mean, heading: words.label(outcome.question), unit: "adds", unitOfTarget: words.unitOf(outcome.question) });
    // Differences below a twentieth of the standard deviation count as none.
    this.least = session.engine.scale / 20;
    this.power = Math.floor(Math.log10(session.engine.scale / 100));
    this.step = 10 ** this.power;
    this.ends = ["▲ more", "▼ less"];
    this.per = "";
    this.hint = "Enter findings, or let the page ask you. Each one then shows here by how much it moves the answer.";
    this.reading = "The estimate starts at the number expected before anything was known, and each finding adds to it or takes away from it. The interval contains the number for 90 of 100 such cases. Findings that overlap share their weight.";
    this.terms = "amounts";
    this.key = [
      ["▲", "adds to the expected number", "up"], ["▼", "takes away from it", "down"],
    ];
  }

  side(amount) {
    return Math.abs(amount) < this.least ? "" : amount > 0 ? "up" : "down";
  }

  isShown(amount) {
    return this.rounded(amount) !== 0;
  }

  /** Pictures compare with what is expected under the evidence. */
  startFrom(evidence) {
    this.base = this.cockpit.outcome.answer(evidence).mean;
  }

  /** A number with as many digits as the spread of the target gives a meaning. */
  rounded(number) {
    return Number((Math.round(number / this.step) * this.step).toPrecision(12));
  }

  total(number) {
    const rounded = this.rounded(number);
    const isShort = Math.abs(this.power) <= MOST_PLACES;
    const digits = isShort ? Math.max(0, -this.power) : 0;
    const text = (isShort || !rounded ? rounded.toLocaleString("en-GB", { minimumFractionDigits: digits, maximumFractionDigits: digits })
      : rounded.toExponential(Math.max(0, Math.floor(Math.log10(Math.abs(rounded))) - this.power))).replace(/-/g, "−");
    return this.unitOfTarget ? `${text}\u00a0${this.unitOfTarget}` : text;
  }

  change(amount) {
    return `${amount < 0 ? "−" : "+"}${this.total(Math.abs(amount))}`;
  }

  spoken(amount) {
    if (!this.side(amount)) return "hardly any effect";
    return `${amount > 0 ? "adds" : "takes away"} ${this.total(Math.abs(amount))}`;
  }

  /** A number that is expected, as pictures show it. */
  effect(number) {
    const own = this.side(number - this.base);
    return element("span", { className: own }, [arrow(own), this.total(number)]);
  }

  ticks() {
    return ticksOf(this, 6).map((at) => ({ at, text: brief(at) }));
  }

  band({ lows, highs }) {
    return { lows, highs };
  }

  lead(isGiven, mark, isCurve) {
    return `Expected ${this.heading}, ${isGiven ? `given what else is known; without this finding ${this.total(this.base)}` : "on its own"}; ${mark}: 90 % of cases${isGiven && isCurve ? "; dotted: on its own" : ""}.`;
  }

  marks() {
    const { low, high } = this.cockpit.interval;
    return { line: null, range: [low, high] };
  }

  axis(ends) {
    const room = (Math.max(...ends) - Math.min(...ends)) / 20 || this.least;
    const own = { low: Math.min(...ends) - room, high: Math.max(...ends) + room };
    return { ...own, ticks: ticksOf(own, 3).map((at) => ({ at, text: brief(at) })) };
  }

  intervalText(range) {
    return `90 % interval ${this.range(range)}`;
  }

  range({ low, high }) {
    return `${this.total(low)} to ${this.total(high)}`;
  }

  /** The variance of the number, of which questions take shares. */
  uncertainty() {
    const { engine, evidence } = this.cockpit.session;
    return `a variance of (${this.total(Math.sqrt(engine.moments(evidence).variance))})²`;
  }
}
