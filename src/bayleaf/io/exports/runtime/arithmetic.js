// Numbers of the model, unpacked, and sums of logarithms.

/** The bytes that a base64 text stands for. */
function bytesOf(base64) {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The numbers of a kind of array, Float64 or Uint16, that a base64 text stands for. */
function arrayOf(base64, kind) {
  // DataView rather than the array itself, whose byte order is the machine's.
  const { BYTES_PER_ELEMENT: size } = kind;
  const view = new DataView(bytesOf(base64).buffer);
  const numbers = new kind(view.byteLength / size);
  // Plain loops: a function per number takes a page's start several times as long.
  for (let i = 0; i < numbers.length; i += 1) {
    numbers[i] = size === 8 ? view.getFloat64(8 * i, true) : view.getUint16(2 * i, true);
  }
  return numbers;
}

/** Doubles of an array that Python packed; its shape is known to the caller. */
function unpacked(packed) {
  if (packed.list) return Float64Array.from(packed.list);
  if (packed.f8) return arrayOf(packed.f8, Float64Array);
  const values = unpacked(packed.values);
  const places = arrayOf(packed.at, Uint16Array);
  const numbers = new Float64Array(places.length);
  for (let i = 0; i < places.length; i += 1) numbers[i] = values[places[i]];
  return numbers;
}

/** Codes of an array that Python packed. */
function unpackedCodes(packed) {
  return arrayOf(packed.u2, Uint16Array);
}

/** The document in the page, inflated if it was compressed. */
async function readDocument(text) {
  const document = JSON.parse(text);
  if (!document.deflate) return document;
  const source = new Blob([bytesOf(document.deflate)]).stream();
  const plain = source.pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(plain).text());
}

/** Logarithm of the sum of exponentials; minus infinity for none. */
function logSumExp(values) {
  let highest = -Infinity;
  for (const value of values) if (value > highest) highest = value;
  if (highest === -Infinity) return highest;
  let total = 0;
  for (const value of values) total += Math.exp(value - highest);
  return highest + Math.log(total);
}

/** Log scores shifted so that their exponentials sum to one; null if all are -inf. */
function logNormalized(scores) {
  const total = logSumExp(scores);
  return total === -Infinity ? null : scores.map((score) => score - total);
}

/** Position of the largest value, leaving one position out; the first among equals. */
function argMax(values, except = -1) {
  let best = -1;
  for (let i = 0; i < values.length; i += 1) {
    if (i !== except && (best < 0 || values[i] > values[best])) best = i;
  }
  return best;
}

/** ln of the logarithmic mean of exp(a) and exp(b). */
function logLogarithmicMean(a, b) {
  const high = Math.max(a, b);
  const low = Math.min(a, b);
  if (high === low) return high;
  if (low === -Infinity) return -Infinity;
  const gap = high - low;
  return high + Math.log(-Math.expm1(-gap)) - Math.log(gap);
}

/** Log of the sum of members' exponentials, by class; minus infinity for none. */
function sumByClass(members, nClasses) {
  return Float64Array.from({ length: nClasses }, (_, label) =>
    logSumExp(members.map((own) => own[label])));
}

/**
 * What members' sum owes to each owner: their log-odds by weights w with ln(sum a / sum b)
 * = sum of w ln(a / b), exactly. Members have log scores by class, and split their odds.
 */
function oddsOfSum(members, nTerms, target, against) {
  const sides = [target, against].map((label) => members.map(({ scores }) => scores[label]));
  const total = logLogarithmicMean(...sides.map(logSumExp));
  const sums = new Array(nTerms).fill(0);
  members.forEach(({ odds }, m) => {
    const weight = Math.exp(logLogarithmicMean(sides[0][m], sides[1][m]) - total);
    // Members without weight may have no finite terms.
    if (weight) added(sums, odds(target, against).map((term) => weight * term));
  });
  return sums;
}

/** The sum of some numbers. */
function sumOf(values) {
  let sum = 0;
  for (let k = 0; k < values.length; k += 1) sum += values[k];
  return sum;
}

/** Weights as shares of their sum. */
function normalized(weights) {
  const total = sumOf(weights);
  return weights.map((weight) => weight / total);
}

/** How many increasing numbers are below a number. */
function countBelow(numbers, value) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A text without the blanks that Python strips, which are not quite JavaScript's. */
function trimmed(text) {
  const blank = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029"
    + "\\u202f\\u205f\\u3000]+";
  return text.replace(new RegExp(`^${blank}`), "").replace(new RegExp(`${blank}$`), "");
}
