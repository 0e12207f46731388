// Numbers of the model, unpacked, and sums of logarithms.

/** The bytes that a base64 text stands for. */
function bytesOf(base64) {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Doubles of an array that Python packed; its shape is known to the caller. */
function unpacked(packed) {
  if (packed.list) return Float64Array.from(packed.list);
  const bytes = bytesOf(packed.f8 ?? packed.at);
  const view = new DataView(bytes.buffer);
  if (packed.f8) {
    // DataView rather than Float64Array, whose byte order is the machine's.
    return Float64Array.from({ length: bytes.length / 8 }, (_, i) =>
      view.getFloat64(8 * i, true));
  }
  const values = unpacked(packed.values);
  return Float64Array.from({ length: bytes.length / 2 }, (_, i) =>
    values[view.getUint16(2 * i, true)]);
}

/** Codes of an array that Python packed. */
function unpackedCodes(packed) {
  const bytes = bytesOf(packed.u2);
  const view = new DataView(bytes.buffer);
  return Uint16Array.from({ length: bytes.length / 2 }, (_, i) =>
    view.getUint16(2 * i, true));
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

/**
 * Weights w with ln(sum a / sum b) = sum of w ln(a / b), exactly; members are given by
 * their logarithms.
 */
function logarithmicMeanWeights(logA, logB) {
  const total = logLogarithmicMean(logSumExp(logA), logSumExp(logB));
  return logA.map((a, p) => Math.exp(logLogarithmicMean(a, logB[p]) - total));
}

/** The sum of some numbers. */
function sumOf(values) {
  return values.reduce((sum, value) => sum + value, 0);
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
