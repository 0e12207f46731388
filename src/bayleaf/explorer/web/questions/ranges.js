// Numbers and bounds as evidence, written as age=40, age=30..50, age<=50 or age>30.

const NUMBER = "[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?";

/** What a text says of a variable; null if it has no such form or names none. */
function readBounds(text, variables) {
  const range = text.match(new RegExp(`^(.+?)\\s*=\\s*(${NUMBER})\\.\\.(${NUMBER})$`));
  const one = text.match(new RegExp(`^(.+?)\\s*(<=|>=|<|>|=)\\s*(${NUMBER})$`));
  const found = range ?? one;
  if (!found) return null;
  const variable = variables.findIndex(({ name }) => plainName(name) === plainName(found[1]));
  if (variable < 0) return null;
  if (range) return { variable, low: Number(range[2]), high: Number(range[3]), open: false };
  const bound = Number(one[3]);
  if (one[2] === "=") return { variable, low: bound, high: bound, open: false };
  const isUpper = one[2].startsWith("<");
  return {
    variable,
    low: isUpper ? -Infinity : bound,
    high: isUpper ? bound : Infinity,
    open: !one[2].endsWith("="),
  };
}

/** The cut point that a bound is the text of, such as 1.7 of 1.7000000000000002. */
function writtenCut({ cuts, spans, states }, bound) {
  if (!cuts || spans) return bound;
  const at = cuts.findIndex((_, i) => Number(states[i].match(/(?:^<= |, )(\S+?)\]?$/)?.[1]) === bound);
  return at < 0 ? bound : cuts[at];
}

/** States of a variable that hold a value within bounds; null if it holds no numbers. */
function statesWithin(variable, bounds) {
  const { cuts, numbers, spans } = variable;
  const { open } = bounds;
  const isPoint = bounds.low === bounds.high;
  const [low, high] = [bounds.low, bounds.high].map((bound) => (isPoint ? bound : writtenCut(variable, bound)));
  const openLow = open && low > -Infinity;
  const openHigh = open && high < Infinity;
  if (cuts) {
    const ends = [-Infinity, ...cuts, Infinity];
    const within = [...Array(cuts.length + 1).keys()].filter((interval) => {
      const last = ends[interval + 1];
      // An interval leaves its lower end out.
      return (openLow ? last > low : last >= low) && ends[interval] < high;
    });
    if (!spans) return within;
    // Where cut points are withheld, an interval has several states.
    if (low === high) return within.map((interval) => spans[interval][1]);
    return within.flatMap((interval) => {
      const [first, , last] = spans[interval];
      return Array.from({ length: last - first + 1 }, (_, k) => first + k);
    });
  }
  if (!numbers) return null;
  return [...numbers.keys()].filter((state) => {
    const value = numbers[state];
    // A number that the page does not name lies within no bounds.
    return value !== null && (openLow ? value > low : value >= low) && (openHigh ? value < high : value <= high);
  });
}
