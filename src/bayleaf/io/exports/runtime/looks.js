/** A table by the joint state of a few features; joint states without entry add zero. */
class Look {
  /** Entries have a size, and their numbers begin at some position. */
  constructor(
    program, owner, features, maps, keys, rows, gate = -1, first = 0, size = program.nClasses,
  ) {
    this.slot = program.slot(owner);
    this.reads = features;
    this.maps = maps.map((place) => program.integers[place]);
    this.radices = this.maps.map((states) => Math.max(...states) + 1);
    this.gate = program.integers[gate];
    this.features = this.gate ? [...features, owner] : features;
    const states = program.integers[keys];
    const values = program.values(rows);
    this.rows = new Map(states.map((key, k) => {
      const row = new Float64Array(size);
      for (let at = k, output = first; at < values.length; at += states.length) {
        row[output] = values[at];
        output += 1;
      }
      return [key, row];
    }));
  }

  /** The entry of a row, if there is one. */
  entry(codes) {
    if (this.gate && !this.gate[codes[this.slot]]) return undefined;
    return this.rows.get(this.reads.reduce((sum, feature, k) =>
      sum * this.radices[k] + this.maps[k][codes[feature]], 0));
  }

  addTo(nats, codes, given) {
    const row = this.entry(codes);
    if (row) addMultiple(nats[this.slot], row, given?.scales[this.slot] ?? 1);
  }
}
