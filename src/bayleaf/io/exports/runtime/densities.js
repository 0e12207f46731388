// Bound of a log density, above and below, nats.
const MOST_NATS = 50;

/** A number's Student t density given others, linear in each class. */
class Density {
  constructor(program, weight, features, positions, columns) {
    this.weight = weight;
    this.features = features;
    this.positions = positions.map((span) => program.values(span));
    // By class: means and variances of the features, slopes, the triangle, and squared
    // scale, freedom and constant.
    this.classes = Array.from(program.base, (_, label) =>
      columns.map((column) => column.map((span) => program.values(span)[label])));
  }

  addTo(nats, codes, given) {
    const numbers = this.features.map((feature, k) => this.positions[k][codes[feature]]);
    if (numbers[0] === undefined) return;
    const [owner] = this.features;
    const own = nats[owner];
    const weight = this.weight * (given ? given.scales[owner] : 1);
    this.classes.forEach((members, label) => {
      own[label] += weight * logDensity(numbers, ...members);
    });
  }
}

/** The log of the child's density in a class; missing parents are at the mean. */
function logDensity(numbers, means, variances, slopes, triangle, [scale, freedom, constant]) {
  const row = numbers.map((x, k) => (x === undefined ? 0 : x - means[k]));
  let residual = row[0];
  row[0] = 1;
  row.forEach((value, k) => { residual -= slopes[k] * value; });
  const missing = numbers.reduce((sum, x, k) =>
    (x === undefined ? sum + slopes[k] ** 2 * variances[k] : sum), 0);
  let leverage = 0;
  let corner = 0;
  for (let k = 0; k < row.length; k += 1) {
    let product = 0;
    for (let l = k; l < row.length; l += 1) product += triangle[corner++] * row[l];
    leverage += product * product;
  }
  const spread = scale * (1 + leverage) + missing;
  // As Python's loops do it: the freedom magnifies how this sum is rounded.
  const far = Math.log(1 + residual ** 2 / (spread * freedom));
  const found = constant - Math.log(spread) / 2 - ((freedom + 1) * far) / 2;
  return Math.min(Math.max(found, -MOST_NATS), MOST_NATS);
}
