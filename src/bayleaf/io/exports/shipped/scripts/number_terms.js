// What numbers add to an average's scores beside its tables.

// No piece says more than this, nats.
const MOST_NATS = 50;

/** Linear-Gaussian families: Student t densities of numbers given other numbers. */
class LinearFamilies {
  constructor(shipped, nClasses) {
    Object.assign(this, shipped);
    this.nClasses = nClasses;
    this.nColumns = shipped.features.length;
    this.nPieces = shipped.weights.shape[1];
    this.positions = shipped.positions.map(unpacked);
    for (const name of ["freedom", "scale", "constants", "coefficients", "triangles",
      "means", "variances", "shares", "weights"]) this[name] = unpacked(shipped[name]);
    this.nCoefficients = this.parents.length + this.children.length;
    this.nCorners = this.triangles.length / nClasses;
    let corner = 0;
    this.corners = this.children.map((_, family) => {
      const first = corner;
      const size = this.starts[family + 1] - this.starts[family] + 1;
      corner += (size * (size + 1)) / 2;
      return first;
    });
  }

  /** Adds what each feature says to its nats by class. */
  addTo(terms, codes) {
    const places = this.features.map((feature, column) =>
      this.positions[column][codes[feature]]);
    this.children.forEach((child, family) => {
      if (places[child] === undefined) return;
      const weight = this.shares[family] * this.weights[this.pieces[family]];
      if (!weight) return;
      const term = terms[this.features[child]];
      for (let label = 0; label < this.nClasses; label += 1) {
        term[label] += weight * this.#logDensity(family, label, places);
      }
    });
  }

  #logDensity(family, label, places) {
    const first = this.starts[family];
    const parents = this.parents.slice(first, this.starts[family + 1]);
    const ofClass = label * this.nColumns;
    const deviation = (column) =>
      (places[column] === undefined ? 0 : places[column] - this.means[ofClass + column]);
    const slopes = label * this.nCoefficients + first + family;
    const row = [1, ...parents.map(deviation)];
    let residual = deviation(this.children[family]);
    row.forEach((value, k) => { residual -= this.coefficients[slopes + k] * value; });
    let missing = 0;
    parents.forEach((parent, k) => {
      if (places[parent] !== undefined) return;
      missing += this.coefficients[slopes + 1 + k] ** 2 * this.variances[ofClass + parent];
    });
    const at = family * this.nClasses + label;
    const leverage = this.#leverage(row, label * this.nCorners + this.corners[family]);
    const spread = this.scale[at] * (1 + leverage) + missing;
    const freedom = this.freedom[at];
    // As Python's loops do it: the freedom magnifies how this sum is rounded.
    const far = Math.log(1 + residual ** 2 / (spread * freedom));
    const found = this.constants[at] - Math.log(spread) / 2 - ((freedom + 1) * far) / 2;
    return Math.min(Math.max(found, -MOST_NATS), MOST_NATS);
  }

  /** The squared length of the triangle's product with a row. */
  #leverage(row, corner) {
    let total = 0;
    let place = corner;
    for (let k = 0; k < row.length; k += 1) {
      let product = 0;
      for (let l = k; l < row.length; l += 1) product += this.triangles[place++] * row[l];
      total += product * product;
    }
    return total;
  }
}

/** What each state of some features adds. */
class Curves {
  constructor({ features, curves }, nClasses) {
    this.features = features;
    this.curves = curves.map(unpacked);
    this.nClasses = nClasses;
  }

  addTo(terms, codes) {
    this.features.forEach((feature, k) => {
      for (let label = 0; label < this.nClasses; label += 1) {
        terms[feature][label] += this.curves[k][codes[feature] * this.nClasses + label] ?? 0;
      }
    });
  }
}

/** Trees: every split adds to its feature what it changes for the tree's class. */
class ClassTrees {
  constructor(shipped, cards) {
    Object.assign(this, shipped);
    this.values = unpacked(shipped.values);
    this.cards = cards;
    this.isOrdered = cards.map((_, feature) => shipped.ordered.includes(feature));
  }

  addTo(terms, codes) {
    this.roots.forEach((root, tree) => {
      let node = root;
      while (this.features[node] >= 0) {
        const feature = this.features[node];
        const code = codes[feature];
        if (code >= this.cards[feature]) return;
        const state = this.states[node];
        const isLeft = this.isOrdered[feature] ? code <= state : code === state;
        const child = this.children[node] + (isLeft ? 0 : 1);
        terms[feature][this.classes[tree]] += this.values[child] - this.values[node];
        node = child;
      }
    });
  }
}
