// The distribution of a number: a histogram in numeric order, with its interval.

const [DENSITY_WIDTH, DENSITY_HEIGHT, DENSITY_BASE] = [360, 104, 74];

/** Draws probabilities of the cells of a target's range, on one axis for all cases. */
class DensityPicture {
  constructor(session) {
    const nothing = session.evidence.map(() => null);
    this.engine = session.engine;
    const { low, high } = axisOf(this.engine.density(nothing));
    // A number that never varies has room on both sides.
    const room = low < high ? 0 : Math.abs(low) / 10 || 1;
    this.axis = { low: low - room, high: high + room };
  }

  /** The distribution under evidence, and the interval between two quantiles. */
  draw(evidence, { low, median, high }) {
    const { axis } = this;
    const x = (value) => 8 + ((DENSITY_WIDTH - 16) * (Math.min(axis.high, Math.max(axis.low, value)) - axis.low)) / (axis.high - axis.low);
    const bins = binsOf(this.engine.density(evidence), axis);
    const bars = densityBars(bins, x, DENSITY_BASE, DENSITY_BASE - 6);
    bars.forEach((bar, i) => {
      const isInside = bins[i].high > low && bins[i].low < high;
      bar.setAttribute("class", isInside ? "bin inside" : "bin");
    });
    const ticks = ticksOf(axis, 4).filter((tick) => x(tick) > 24 && x(tick) < DENSITY_WIDTH - 24).flatMap((tick) => {
      const text = drawn("text", { x: x(tick), y: DENSITY_HEIGHT - 3, "text-anchor": "middle" });
      text.textContent = brief(tick);
      return [drawn("line", { x1: x(tick), x2: x(tick), y1: DENSITY_BASE, y2: DENSITY_BASE + 4, class: "zero" }), text];
    });
    return drawn("svg", { viewBox: `0 0 ${DENSITY_WIDTH} ${DENSITY_HEIGHT}`, class: "shape", "aria-hidden": "true" }, [
      ...bars,
      drawn("line", { x1: 8, x2: DENSITY_WIDTH - 8, y1: DENSITY_BASE, y2: DENSITY_BASE, class: "zero" }),
      ...ticks,
      drawn("line", { x1: x(low), x2: x(high), y1: DENSITY_BASE + 9, y2: DENSITY_BASE + 9, class: "within" }),
      drawn("path", { d: `M${x(median)} ${DENSITY_BASE + 3}l6 6l-6 6l-6 -6z`, class: "mine" }),
    ]);
  }
}
