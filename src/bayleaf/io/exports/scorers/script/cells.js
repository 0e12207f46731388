// The values of a row as codes of the model's variables.

const TRUTHS = new Map([["true", 1], ["false", 0]]);
/** A name or value in quotes, as messages tell it. */
function inQuotes(value) {
  return JSON.stringify(value) ?? String(value);
}

/** How a column of the row becomes the code of a variable. */
class Cell {
  constructor(shipped, readers, empty, markers) {
    Object.assign(this, { text: {} }, shipped);
    Object.assign(this, { readers, empty, markers });
    if (this.values) {
      this.codeOf = new Map(this.values.map((value, place) =>
        [typeof value === "boolean" ? Number(value) : value, this.codes[place]]));
    }
  }

  code(value) {
    if (value === null || value === undefined || Number.isNaN(value) || this.#isEmpty(value)) {
      return this.#allowed(this.missing, "is missing, which the model refuses");
    }
    const isTime = this.form === "date" || this.form === "duration";
    const known = isTime ? this.readers.Times.value(value, this) : this.#plain(value);
    if (isTime && typeof known === "string" && typeof value === "string"
      && this.unknown !== null) {
      return this.#allowed(this.missing, "holds a text that is none of those");
    }
    if (isTime && typeof known === "string") throw this.#differs(known, `${this.form}s`);
    if (this.cuts) return countBelow(this.cuts, known);
    const code = this.codeOf.get(known) ?? this.unknown;
    return this.#allowed(code, "holds a value that training did not contain");
  }

  /** Why a value is not taken as it is; empty if it is. */
  note(value, code, states) {
    if (code >= (this.missing ?? states.length)) {
      const words = [...this.empty.slice(1), ...this.text.missing ?? []];
      const isBlank = typeof value === "string" ? words.includes(trimmed(value))
        : Number.isNaN(value ?? NaN);
      return isBlank ? "missing" : "unknown";
    }
    const isOther = this.nearest && this.#plain(value) !== Number(states[code]);
    return isOther ? `nearest ${states[code]}` : "";
  }

  /** Whether a text stands for an empty cell. */
  #isEmpty(value) {
    if (typeof value !== "string") return false;
    const word = trimmed(value);
    const markers = this.form === "numbers" || this.form === "truths" ? this.markers : [];
    return [markers, this.text.missing ?? []].some((texts) => texts.includes(word))
      || this.empty.includes(value);
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
    if (value instanceof Date) throw this.#differs("dates or times", this.sort || "text");
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
    if (this.sort && now !== this.sort) throw this.#differs(now, this.sort);
    return found;
  }

  /** The number or boolean that a text spells where training saw such, or the text. */
  #spelled(text) {
    const word = trimmed(text);
    if (this.form === "truths") return TRUTHS.get(word.toLowerCase()) ?? text;
    if (this.form !== "numbers" && this.sort !== "numbers") return text;
    return this.readers.Numbers.value(word, this) ?? text;
  }
}
