// Histograms of numbers: their axis, bins, bars and ticks.

/** The ends of all intervals, those of the outer ones as far as training rows reach. */
function endsOf({ cuts, range }) {
  const [first, last] = [cuts[0] ?? 0, cuts.at(-1) ?? 0];
  const inner = cuts.length > 1 ? (last - first) / (cuts.length - 1) : Math.abs(first) / 2 || 1;
  const [low, high] = range ?? [first - inner, last + inner];
  return [Math.min(low, first - inner / 10), ...cuts, Math.max(high, last + inner / 10)];
}

/** Intervals of a variable of numbers with the state that stands for each, and its weight. */
function intervalsOf(about, weights) {
  const ends = endsOf(about);
  return ends.slice(1).map((high, i) => {
    const [first, state, last] = about.spans?.[i] ?? [i, i, i];
    return { low: ends[i], high, state, weight: sumOf(weights.slice(first, last + 1)) };
  });
}

// Share of the rows beyond an end of an axis that may be cut off, and the least gain.
const TAIL = 0.015;
const TAIL_WIDTH = 0.3;

/** Ends of the axis of a variable of numbers: a long tail of few rows is cut off. */
function axisOf(intervals) {
  let low = intervals[0].low;
  let high = intervals.at(-1).high;
  const total = sumOf(intervals.map(({ weight }) => weight));
  if (!total) return { low, high };
  let below = 0;
  const bounds = intervals.map((own) => ({ ...own, below: (below += own.weight) / total }));
  const last = bounds.find((own) => own.below >= 1 - TAIL).high;
  const first = bounds.findLast((own) => own.below - own.weight / total <= TAIL).low;
  if (high - last > TAIL_WIDTH * (high - low)) high = last;
  if (first - low > TAIL_WIDTH * (high - low)) low = first;
  return { low, high };
}

// Bars of a histogram.
const MOST_BINS = 32;

/** Intervals on an axis, of which narrow neighbours are one bin. */
function binsOf(intervals, axis) {
  const least = (axis.high - axis.low) / MOST_BINS;
  const bins = [];
  for (const { low, high, weight } of intervals) {
    if (low >= axis.high || high <= axis.low) continue;
    const last = bins.at(-1);
    const end = Math.min(high, axis.high);
    if (last && (last.high - last.low < least || end - last.low < least)) {
      last.high = end;
      last.weight += weight;
    } else bins.push({ low: Math.max(low, axis.low), high: end, weight });
  }
  return bins;
}

/** Rows per unit of bins as rectangles; `x` maps a number to the drawing. */
function densityBars(bins, x, base, height) {
  const density = ({ low, high, weight }) => weight / Math.max(high - low, 1e-300);
  const most = Math.max(...bins.map(density)) || 1;
  return bins.map((bin) => {
    const tall = bin.weight && Math.max(1.5, (height * density(bin)) / most);
    return drawn("rect", {
      x: x(bin.low), y: base - tall, height: tall, class: "bin",
      width: Math.max(0.6, x(bin.high) - x(bin.low) - 0.4),
    });
  });
}

/** Mark the bar in which a number lies. */
function markBar(bars, bins, value) {
  const on = value === undefined || value === null ? -1 : bins.findIndex(({ high }) => value <= high);
  bars.forEach((bar, i) => mark(bar, "class", i === on ? "bin on" : "bin"));
}

/** Round numbers on an axis. */
function ticksOf({ low, high }, most) {
  const raw = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((own) => own * power).find((own) => own >= raw);
  const first = Math.ceil(low / step);
  const count = Math.floor(high / step) - first + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) => Number(((first + i) * step).toPrecision(10)));
}

const [BOX_WIDTH, BOX_HEIGHT] = [200, 40];

/** A variable of numbers in a box of the map or the list: its distribution, and what is set. */
class BoxHistogram {
  constructor(session, variable) {
    Object.assign(this, { session, variable, about: session.model.variables[variable] });
    this.drawing = drawn("svg", { viewBox: `0 0 ${BOX_WIDTH} ${BOX_HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" });
    this.ends = ["low", "high"].map(() => element("span", {}));
    this.node = element("div", { className: "distribution" }, [this.drawing, element("p", {}, this.ends)]);
  }

  /** Probabilities of the states, and what is known: then what was probable before stays. */
  show(now, mask) {
    if (!now || (this.now === now && this.mask === mask)) return;
    if (!mask || !this.weights) this.weights = mask ? this.session.initial[this.variable] : now;
    Object.assign(this, { now, mask });
    const intervals = intervalsOf(this.about, this.weights);
    if (!this.axis) {
      this.axis = axisOf(intervals);
      this.ends.forEach((end, i) => { end.textContent = brief([this.axis.low, this.axis.high][i]); });
    }
    const { low, high } = this.axis;
    const bins = binsOf(intervals, this.axis);
    const bars = densityBars(bins, (value) => (BOX_WIDTH * (value - low)) / (high - low), BOX_HEIGHT, BOX_HEIGHT - 2);
    const isLeft = (bin) => intervals.some((own) => mask[own.state] && own.high > bin.low && own.low < bin.high);
    if (mask) bars.forEach((bar, i) => bar.classList.toggle("on", isLeft(bins[i])));
    this.drawing.replaceChildren(...bars);
  }
}
