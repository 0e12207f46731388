// Texts as the numbers that they spell.

// Codes, such as those of post offices, may begin with zeros that numbers lose.
const CODE = /^[^\d.,]*0\d|^\d+E\d|^\+\d{8,}$/;
// Digits in groups, whose sign is the first or second group, or with decimals alone.
const GROUPED = new RegExp("^(?:[1-9]\\d?\\d?([., '])\\d{3}(?:\\1\\d{3})*(?:(?!\\1)[.,]\\d*)?"
  + "|[1-9]\\d?(?:(,)\\d\\d)+,\\d{3}(?:\\.\\d*)?|\\d+(?:[.,]\\d*)?|[.,]\\d+)$");

/** Reads texts that spell numbers. */
class Numbers {
  constructor(patterns) {
    this.pattern = new RegExp(patterns.number, "u");
  }

  /** The number that a text spells as a column's texts do; null if it spells none. */
  value(text, { text: form }) {
    const plain = text.replace(/[\xa0\u2007\u2009\u202f]/g, " ").replace(/\u2019/g, "'");
    const parts = this.pattern.exec(plain)?.groups;
    const body = parts && GROUPED.exec(parts.body.replace(/[/=\u2013\u2014-]+$/, ""));
    if (!body || CODE.test(plain)) return null;
    const signs = ["open", "before", "inner", "after"].map((name) => parts[name] ?? "").join("");
    const isOdd = signs.length > 1 || signs.includes("(") === !parts.close || (parts.unit && parts.last_unit);
    if (isOdd || (parts.last_unit === "%" && form.unit !== "%")) return null;
    let digits = body[0];
    let group = body[1] ?? body[2];
    if ((group === "." || group === ",") && digits.at(-4) === group
      && digits.indexOf(group) === digits.length - 4) {
      // Decimals or thousands, as the form has it.
      if (group === (form.decimal ?? ".")) group = null;
      else if (group !== form.thousands) return null;
    }
    if (group) digits = digits.replaceAll(group, "");
    const number = Number(digits.replace(",", ".") + (parts.exponent ?? ""));
    return signs && signs !== "+" ? -number : number;
  }
}
