// The values of a row as codes of the model's variables.

const TRUTHS = new Map([["true", 1], ["True", 1], ["TRUE", 1],
  ["false", 0], ["False", 0], ["FALSE", 0]]);
const NUMBER = /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|(inf(inity)?))$/i;
// Codes, such as those of post offices, may begin with zeros that numbers lose.
const PADDED = /^[+-]?0\p{Nd}/u;
const MOMENT = new RegExp("^(\\d{4})-(\\d\\d)-(\\d\\d)(?:[T ](\\d\\d):(\\d\\d)"
  + "(?::(\\d\\d)(?:[.,](\\d{1,9}))?)?(?:Z|[+-]\\d\\d(?::?\\d\\d)?)?)?$");
const TIME = /^(\d\d):(\d\d)(?::(\d\d))?$/;
// In microseconds.
const DAY = 86400000000;
const HOUR = 3600000000;
const UNITS = { days: DAY, hours: HOUR, minutes: 60000000, seconds: 1000000 };

/** A name or value in quotes, as messages tell it. */
function inQuotes(value) {
  return JSON.stringify(value) ?? String(value);
}

/** How a column of the row becomes the code of a variable. */
class Cell {
  constructor(shipped) {
    Object.assign(this, shipped);
    if (this.values) {
      this.codeOf = new Map(this.values.map((value, place) =>
        [typeof value === "boolean" ? Number(value) : value, this.codes[place]]));
    }
  }

  /** What the column held in training; nothing where it held both or neither. */
  get held() {
    return this.cuts ? "numbers" : this.sort;
  }

  code(value) {
    if (value === null || value === undefined || Number.isNaN(value)) {
      return this.#allowed(this.missing, "is missing, which the model refuses");
    }
    const known = this.form === "date" || this.form === "duration"
      ? this.#ofTime(value) : this.#plain(value);
    if (this.cuts) return countBelow(this.cuts, known);
    const code = this.codeOf.get(known) ?? this.unknown;
    return this.#allowed(code, "holds a value that training did not contain");
  }

  #allowed(code, what) {
    if (code !== null) return code;
    throw new Error(`column ${inQuotes(this.column)} ${what}; give another value`);
  }

  #differs(held, was) {
    return new Error(`column ${inQuotes(this.column)} held ${was} in training but holds `
      + `${held} now; convert it to ${was}`);
  }

  /** A value as text or a number, whichever training saw; booleans are 1 and 0. */
  #plain(value) {
    if (value instanceof Date) throw this.#differs("dates or times", this.held || "text");
    if (!["string", "number", "boolean", "bigint"].includes(typeof value)) {
      throw new Error(`column ${inQuotes(this.column)} holds a ${typeof value}; give text, `
        + "a number, a boolean or null");
    }
    const found = typeof value === "string" ? this.#spelled(value) : Number(value);
    if (found === Infinity || found === -Infinity) {
      throw new Error(`column ${inQuotes(this.column)} holds infinity; replace it by a `
        + "number or null");
    }
    const now = typeof found === "string" ? "text" : "numbers";
    if (this.held && now !== this.held) throw this.#differs(now, this.held);
    return found;
  }

  /** The number or boolean that a text spells where training saw such, or the text. */
  #spelled(text) {
    const word = trimmed(text);
    if (this.form === "truths") return TRUTHS.get(word) ?? text;
    if (this.form !== "numbers") return text;
    const plain = withPlainDigits(word);
    const spelled = NUMBER.exec(plain);
    if (!spelled || PADDED.test(word)) return text;
    return spelled[4] ? Infinity : Number(plain);
  }

  /** A part of a date, or a duration as a number of its unit. */
  #ofTime(value) {
    const isDate = this.form === "date";
    const found = isDate ? momentOf(value) : durationOf(value);
    if (found === null) {
      const isText = typeof value === "string";
      const other = isDate ? isText && durationOf(value) : momentOf(value);
      const now = isText ? "text" : "numbers";
      const times = isDate ? "durations" : "dates";
      throw this.#differs(other === null || other === false ? now : times, isDate ? "dates" : "durations");
    }
    if (!isDate) return found / UNITS[this.unit];
    if (this.part === "days") return (found - this.origin) / DAY;
    if (this.part === "hour") return remainder(Math.floor(found / HOUR), 24);
    // The first day of 1970 was a Thursday.
    if (this.part === "weekday") return remainder(Math.floor(found / DAY) + 3, 7);
    const moment = new Date(Math.floor(found / 1000));
    return this.part === "year" ? moment.getUTCFullYear() : moment.getUTCMonth();
  }
}

/** A text without the blanks that Python strips, which are not quite JavaScript's. */
function trimmed(text) {
  const blank = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029"
    + "\\u202f\\u205f\\u3000]+";
  return text.replace(new RegExp(`^${blank}`), "").replace(new RegExp(`${blank}$`), "");
}

/** A text with the digits of all scripts, which come in runs from zero to nine, as ours. */
function withPlainDigits(text) {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.codePointAt(0);
    let zero = code;
    while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1;
    return String((code - zero) % 10);
  });
}

/** Remainder of at least zero. */
function remainder(value, divisor) {
  return ((value % divisor) + divisor) % divisor;
}

/**
 * Microseconds since 1970 by the clock that a text shows, its zone left out, or of a
 * Date by the clock of Greenwich; null for no date.
 */
function momentOf(value) {
  if (value instanceof Date) {
    return Number.isNaN(value.getTime()) ? null : value.getTime() * 1000;
  }
  const found = typeof value === "string" ? MOMENT.exec(trimmed(value)) : null;
  if (!found) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) =>
    Number(part ?? 0));
  const moment = new Date(0);
  moment.setUTCFullYear(year, month - 1, day);
  moment.setUTCHours(hour, minute, second);
  const isReal = year > 0 && moment.getUTCMonth() === month - 1
    && moment.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  if (!isReal) return null;
  return moment.getTime() * 1000 + Number((found[7] ?? "").padEnd(6, "0").slice(0, 6));
}

/**
 * Microseconds since midnight that a text shows, or of a number of milliseconds, as the
 * difference of two Dates is; null for neither.
 */
function durationOf(value) {
  if (typeof value === "number" && Number.isFinite(value)) return Math.round(value * 1000);
  const found = typeof value === "string" ? TIME.exec(trimmed(value)) : null;
  if (!found) return null;
  const [hours, minutes, seconds] = found.slice(1).map((part) => Number(part ?? 0));
  if (hours > 23 || minutes > 59 || seconds > 59) return null;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000000;
}
