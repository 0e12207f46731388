// Dates and durations as numbers.

// In microseconds.
const DAY = 86400000000;
const HOUR = 3600000000;
const UNITS = { days: DAY, hours: HOUR, minutes: 60000000, seconds: 1000000 };

/** Reads dates and durations. */
class Times {
  constructor(patterns) {
    this.patterns = Object.fromEntries(Object.entries(patterns).map(
      ([name, pattern]) => [name, new RegExp(`^(?:${pattern})$`, "u")]));
  }

  /** A part of a date, or a duration in its unit; else the word for what a value is. */
  value(value, cell) {
    const isDate = cell.form === "date";
    const times = [this.#momentOf(value, cell.text), this.#durationOf(value)];
    const [found, other] = isDate ? times : times.reverse();
    if (found === null) {
      if (typeof value === "number") return "numbers";
      return other === null ? "text" : isDate ? "durations" : "dates";
    }
    if (!isDate) return found / UNITS[cell.unit];
    if (cell.part === "days") return (found - cell.origin) / DAY;
    if (cell.part === "hour") return remainder(Math.floor(found / HOUR), 24);
    // The first day of 1970 was a Thursday.
    if (cell.part === "weekday") return remainder(Math.floor(found / DAY) + 3, 7);
    const moment = new Date(Math.floor(found / 1000));
    return cell.part === "year" ? moment.getUTCFullYear() : moment.getUTCMonth();
  }

  /**
   * Microseconds since 1970 by the clock of training, or of Greenwich for a Date where
   * training had no time zones; null for no such date.
   */
  #momentOf(value, form) {
    if (value instanceof Date) {
      if (Number.isNaN(value.getTime())) return null;
      const offset = form.zone === undefined ? null : 0;
      return byClock(value.getTime() * 1000, offset, form.zone);
    }
    const found = this.#parts(form.order ?? "y-m-d", value);
    return found && ofCalendar(found, form);
  }

  /**
   * Microseconds since midnight that a text shows, or of a number of milliseconds, as the
   * difference of two Dates is; null for neither.
   */
  #durationOf(value) {
    if (typeof value === "number" && Number.isFinite(value)) return Math.round(value * 1000);
    const found = this.#parts("time", value);
    return found && ofClock(found);
  }

  /** The parts of a text by name; null if it does not fit the pattern. */
  #parts(pattern, value) {
    if (typeof value !== "string") return null;
    return this.patterns[pattern].exec(trimmed(value))?.groups ?? null;
  }
}

/** Remainder of at least zero. */
function remainder(value, divisor) {
  return ((value % divisor) + divisor) % divisor;
}

/** Microseconds since 1970 of the parts of a date, by the clock of a zone, or null. */
function ofCalendar(parts, form) {
  let year = Number(parts.y ?? parts.n.replace("\u5143", "1"));
  if (parts.era) year += form.eras[parts.era];
  else if (parts.y.length === 2) year += year > 68 ? 1900 : 2000;
  let month = parts.b ? form.months[parts.b.toLowerCase()] ?? 0 : Number(parts.m ?? 1);
  if (parts.q) month = 3 * Number(parts.q) - 2;
  if (parts.s) month = 6 * Number(parts.s) - 5;
  if (parts.e && (year + 1) % 10 ** parts.e.length !== Number(parts.e)) return null;
  // The fourth of January is in the first week.
  const day = parts.w ? 4 : Number(parts.d ?? 1);
  const moment = new Date(0);
  moment.setUTCFullYear(year, month - 1, day);
  const time = ofClock(parts);
  const isReal = year > 0 && moment.getUTCMonth() === month - 1 && moment.getUTCDate() === day;
  if (!isReal || time === null) return null;
  if (parts.w) {
    // A week is of the year of its Thursday.
    moment.setUTCDate(day + 7 * (Number(parts.w) - 1) + 4 - (moment.getUTCDay() || 7));
    if (moment.getUTCFullYear() !== year) return null;
    moment.setUTCDate(moment.getUTCDate() + Number(parts.k ?? 1) - 4);
  }
  let offset = null;
  if (parts.zone) {
    const ahead = parts.zone.replace(/[A-Z:]/g, "");
    const minutes = Number(ahead.slice(1, 3)) * 60 + Number(ahead.slice(3));
    offset = (ahead[0] === "-" ? -minutes : minutes) * 60000000;
  }
  return byClock(moment.getTime() * 1000 + time, offset, form.zone);
}

/**
 * A moment by the clock of a zone; null if only one of both has a zone. The moment, and
 * the offset of its own clock before UTC, are microseconds.
 */
function byClock(moment, offset, zone) {
  if (zone === "written") return moment;
  if (zone === undefined || offset === null) {
    return zone === undefined && offset === null ? moment : null;
  }
  const instant = moment - offset;
  if (typeof zone === "number") return instant + zone * 60000000;
  const options = { timeZone: zone, hourCycle: "h23", era: "short" };
  for (const name of ["year", "month", "day", "hour", "minute", "second"]) {
    options[name] = "numeric";
  }
  const whole = Math.floor(instant / 1000000);
  const shown = new Intl.DateTimeFormat("en-US", options).formatToParts(new Date(whole * 1000));
  const own = Object.fromEntries(shown.map(({ type, value }) => [type, Number(value)]));
  const local = Date.UTC(own.year, own.month - 1, own.day, own.hour, own.minute, own.second);
  return local * 1000 + (instant - whole * 1000000);
}

/** Microseconds since midnight of the parts of a text; null for no such time. */
function ofClock(parts) {
  const { days, hour, minute, second, half, part } = parts;
  const [shown, minutes, seconds] = [hour, minute, second].map((own) => Number(own ?? 0));
  let hours = shown;
  if (half) {
    if (hours < 1 || hours > 12) return null;
    hours = (hours % 12) + (/^p/i.test(half) ? 12 : 0);
  }
  const isLong = "days" in parts && second && !half && !days;
  if ((hours > 23 && !isLong) || minutes > 59 || seconds > 59) return null;
  hours += 24 * Number(days ?? 0);
  const fraction = Number((part ?? "").padEnd(6, "0").slice(0, 6));
  return ((hours * 60 + minutes) * 60 + seconds) * 1000000 + fraction;
}
