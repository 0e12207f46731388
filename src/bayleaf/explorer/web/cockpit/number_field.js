// A number: a slider on a histogram, and a box that takes the number as text.

const [FIELD_WIDTH, FIELD_HEIGHT] = [200, 36];
// How long a number that lies outside the data may be half typed (milliseconds).
const TYPING = 700;

/** A slider and a box for a variable of numbers. */
class NumberField {
  constructor({ session, words, outcome }, variable, change, settle) {
    Object.assign(this, { session, variable, change });
    const about = session.model.variables[variable];
    this.intervals = outcome.intervals(variable);
    this.axis = axisOf(this.intervals);
    this.step = stepOf(about, this.axis);
    const name = words.label(variable) + (words.unitOf(variable) ? `, ${words.unitOf(variable)}` : "");
    this.slider = element("input", {
      type: "range", min: this.axis.low, max: this.axis.high, step: "any", "aria-label": `${name}, slider`,
      // Its keys are those of the box, which is the stop of both.
      tabindex: "-1",
    });
    // Keypads of telephones for decimals have no sign.
    const isPlain = this.axis.low >= 0 && !about.time;
    this.box = element("input", {
      type: "text", inputmode: isPlain ? "decimal" : "text", autocomplete: "off", placeholder: "–", "aria-label": name,
    });
    const x = (value) => (FIELD_WIDTH * (value - this.axis.low)) / (this.axis.high - this.axis.low);
    this.bins = binsOf(this.intervals, this.axis);
    this.bars = densityBars(this.bins, x, FIELD_HEIGHT, 34);
    this.drawing = drawn("svg", {
      viewBox: `0 0 ${FIELD_WIDTH} ${FIELD_HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true",
    }, this.bars);
    this.slide = element("div", { className: "slide" }, [this.drawing, this.slider]);
    this.node = element("div", { className: "number-field" }, [
      this.slide, element("div", { className: "typed" }, [this.box, element("span", { text: words.unitOf(variable) })]),
    ]);
    this.remark = element("p", { className: "warning", role: "status" });
    this.remark.hidden = true;
    this.node.append(this.remark);
    let isDragging = false;
    // Where a finger came down that may be about to scroll; null once it slides or is up.
    let pressedAt = null;
    const slide = () => {
      if (pressedAt !== null) return;
      this.#enter(this.#rounded(Number(this.slider.value)), !isDragging, true);
      isDragging = true;
    };
    const release = () => {
      pressedAt = null;
      slide();
    };
    this.slider.addEventListener("pointerdown", (event) => { pressedAt = event.pointerType === "touch" ? event.clientX : null; });
    this.slider.addEventListener("pointermove", ({ clientX }) => { if (pressedAt !== null && Math.abs(clientX - pressedAt) > DRAG) release(); });
    this.slider.addEventListener("pointerup", () => { if (pressedAt !== null) release(); });
    this.slider.addEventListener("pointercancel", () => {
      if (pressedAt !== null) this.slider.value = String(this.shown);
      pressedAt = null;
    });
    this.slider.addEventListener("input", slide);
    this.slider.addEventListener("change", () => {
      isDragging = false;
      settle();
    });
    // The knob of a number that is not set is in the middle: there a click moves nothing.
    this.slider.addEventListener("click", () => { if (!this.isSet) this.#enter(this.#rounded(Number(this.slider.value))); });
    this.slider.addEventListener("keydown", (event) => this.#steps(event));
    this.box.addEventListener("keydown", (event) => { if (!/Left|Right/.test(event.key)) this.#steps(event); });
    this.box.addEventListener("input", () => this.#wait());
    this.box.addEventListener("change", () => this.#read());
    this.isSet = null;
  }

  #rounded(value) {
    const text = (Math.round(value / this.step) * this.step).toPrecision(12);
    return String(Number(text));
  }

  /** Arrow keys move by a step; in the box those to the sides move in the text. */
  #steps(event) {
    const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!steps) return;
    event.preventDefault();
    const value = Number(this.slider.value) + steps * this.step;
    const held = Math.min(this.axis.high, Math.max(this.axis.low, value));
    this.slider.value = String(held);
    this.box.value = this.#rounded(held);
    this.#enter(this.box.value, !event.repeat);
  }

  /** A number half typed, such as 1 of 132, must not shake the answer. */
  #wait() {
    clearTimeout(this.timer);
    const value = Number(this.box.value.replace(",", "."));
    const isPlausible = value >= this.axis.low && value <= this.axis.high;
    if (!this.box.value.trim() || isPlausible) this.#read();
    else this.timer = setTimeout(() => this.#read(), TYPING);
  }

  #read() {
    clearTimeout(this.timer);
    const text = this.box.value.trim();
    if (text) this.#enter(text);
    else if (this.isSet) this.change(null);
  }

  #enter(text, isStep = true, isSliding = false) {
    const decimal = text.includes(".") ? text : text.replace(",", ".");
    const mask = readEntered(this.session, this.variable, text)
      ?? readEntered(this.session, this.variable, decimal);
    if (mask) {
      this.box.removeAttribute("aria-invalid");
      this.change(mask, isStep, isSliding);
    } else {
      this.box.setAttribute("aria-invalid", "true");
      this.#warn("Type a number, such as " + this.#rounded((this.axis.low + this.axis.high) / 2) + ".");
    }
  }

  /** The number that evidence stands for: as typed, else the middle of its interval. */
  valueOf(mask) {
    const state = onlyState(mask);
    const typed = mask?.entered === undefined ? NaN : Number(mask.entered.replace(",", "."));
    if (Number.isFinite(typed)) return typed;
    const own = this.intervals.find((interval) => interval.state === state);
    return own && (own.low + own.high) / 2;
  }

  /** A number that stands for an interval, with few digits. */
  typical(state) {
    const own = this.intervals.find((interval) => interval.state === state);
    const [low, high] = [Math.max(own.low, this.axis.low), Math.min(own.high, this.axis.high)];
    const middle = low < high ? (low + high) / 2 : (own.low + own.high) / 2;
    const rounded = this.#rounded(middle);
    const number = Number(rounded);
    return number > own.low && number <= own.high ? rounded : String(Number(middle.toPrecision(6)));
  }

  /** Show what is known; text that is being typed stays. */
  show(mask) {
    const value = mask ? this.valueOf(mask) : undefined;
    this.isSet = Boolean(mask);
    this.slide.classList.toggle("unset", value === undefined);
    const middle = (this.axis.low + this.axis.high) / 2;
    this.shown = value ?? middle;
    if (document.activeElement !== this.slider || value === undefined) this.slider.value = String(this.shown);
    mark(this.slider, "aria-valuetext", mask ? mask.entered ?? this.#named(mask) : "not known");
    if (document.activeElement !== this.box || !mask) {
      this.box.value = mask?.entered ?? "";
      this.box.removeAttribute("aria-invalid");
    }
    if (this.box.getAttribute("aria-invalid") !== "true") this.#warn(this.#outside(mask));
    mark(this.box, "placeholder", mask && mask.entered === undefined ? this.#named(mask) : "–");
    markBar(this.bars, this.bins, value);
  }

  #warn(text) {
    this.remark.toggleAttribute("hidden", !text);
    write(this.remark, text);
  }

  /** A remark on a number that no training row comes near. */
  #outside(mask) {
    const { range } = this.session.model.variables[this.variable];
    const value = mask?.entered === undefined ? NaN : this.valueOf(mask);
    if (!range || !(value < range[0] || value > range[1])) return "";
    return `Is this right? Training rows go from ${brief(range[0])} to ${brief(range[1])}; it counts as ${brief(value < range[0] ? range[0] : range[1])}.`;
  }

  #named(mask) {
    const state = onlyState(mask);
    return state < 0 ? "several" : `≈ ${this.typical(state)}`;
  }
}
