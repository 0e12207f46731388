// A scoring program: the terms whose sum is the score of a class, nats.

// The last digit of a number has one of the first 32 characters, others one of the rest.
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const DIGITS = new Map(Array.from(ALPHABET, (character, place) => [character, place]));

/** Integers whose digits of base 32 are characters, else the list itself. */
function shortNumbers(short) {
  if (typeof short !== "string") return short;
  const found = [];
  let number = 0;
  let scale = 1;
  for (const character of short) {
    const digit = DIGITS.get(character);
    number += (digit % 32) * scale;
    scale *= 32;
    if (digit < 32) {
      found.push(number);
      number = 0;
      scale = 1;
    }
  }
  return found;
}

/** A base and terms, which add nats by owner, or have scores; the prior is last. */
class Program {
  /** Kinds are the classes of terms by name. */
  constructor({ cards, base, terms, sharing, numbers, integers }, kinds = {}) {
    this.cards = cards;
    this.integers = integers;
    this.kinds = kinds;
    this.numbers = Float64Array.from(numbers.flatMap((part) => Array.from(unpacked(part))));
    this.base = this.values(base);
    this.nClasses = this.base.length;
    const read = terms.flatMap((term) => this.term(term));
    this.additive = read.filter((term) => term.addTo);
    this.others = read.filter((term) => !term.addTo);
    this.sharing = sharing && this.term(sharing);
  }

  /** Some numbers by first position and size. */
  values([first, size]) {
    return this.numbers.subarray(first, first + size);
  }

  /** A term, or several trees, by kind and parameters. */
  term([kind, ...parameters]) {
    const Kind = this.kinds[kind];
    return Kind.several ? Kind.several(this, ...parameters) : new Kind(this, ...parameters);
  }

  /** The slot of an owner. */
  slot(owner) {
    return owner < 0 ? this.cards.length : owner;
  }

  /** Whether the state of each feature is known. */
  known(codes) {
    return this.cards.map((card, feature) => codes[feature] < card);
  }

  /** What terms count where only some features are known; null where as they are. */
  given(codes) {
    return this.sharing ? this.sharing.given(this.known(codes)) : null;
  }

  /** Nats that additive terms give each owner and class; the base is the prior's. */
  nats(codes, given = this.given(codes)) {
    const nats = Array.from({ length: this.cards.length }, () => new Float64Array(this.nClasses));
    nats.push(Float64Array.from(given?.base ?? this.base));
    for (const term of this.additive) term.addTo(nats, codes, given);
    return nats;
  }

  /** The score of each class. */
  scores(codes) {
    // Sums of features round less than one of all terms.
    const total = this.nats(codes).reduce(added, new Float64Array(this.nClasses));
    return this.others.reduce((sum, term) => added(sum, term.scores(codes)), total);
  }

  /** Terms of the log-odds: one for each feature, and the prior's. */
  odds(codes, target, against, given = this.given(codes)) {
    const odds = this.nats(codes, given).map((own) => own[target] - own[against]);
    return this.others.reduce((sum, term) => added(sum, term.odds(codes, target, against)), odds);
  }

  /** A function that scores a row with some states changed: what they touch is redone. */
  scorer(codes) {
    const given = this.given(codes);
    const touched = this.cards.map((_, feature) =>
      this.additive.filter(({ features }) => features.includes(feature)));
    const totals = new Map(this.additive.map((term) => [term, this.#total(term, codes, given)]));
    const before = [...totals.values()].reduce(added, Float64Array.from(given?.base ?? this.base));
    return (changes) => {
      const changed = codes.slice();
      for (const { variable, to } of changes) changed[variable] = to;
      // All terms count otherwise where other features are known.
      if (this.given(changed) !== given) return this.scores(changed);
      const scores = before.slice();
      for (const term of new Set(changes.flatMap(({ variable }) => touched[variable]))) {
        const now = this.#total(term, changed, given);
        const then = totals.get(term);
        for (let k = 0; k < scores.length; k += 1) scores[k] += now[k] - then[k];
      }
      return this.others.reduce((sum, term) => added(sum, term.scores(changed)), scores);
    };
  }

  /** Nats of one term by class, whoever owns them. */
  #total(term, codes, given) {
    const total = new Float64Array(this.nClasses);
    term.addTo(new Array(this.cards.length + 1).fill(total), codes, given);
    return total;
  }
}

/** The first numbers, to which others were added. */
function added(total, more) {
  for (let k = 0; k < total.length; k += 1) total[k] += more[k];
  return total;
}

/** The first numbers, to which multiples of others were added. */
function addMultiple(total, more, factor) {
  for (let k = 0; k < total.length; k += 1) total[k] += factor * more[k];
  return total;
}
