/** A table by the joint state of a few features; joint states without entry add zero. */
class Look {
  constructor(program, owner, features, maps, keys, rows, gate = -1) {
    this.slot = program.slot(owner);
    this.reads = features;
    this.maps = maps.map((place) => program.integers[place]);
    this.radices = this.maps.map((states) => Math.max(...states) + 1);
    this.gate = program.integers[gate];
    this.features = this.gate ? [...features, owner] : features;
    const states = program.integers[keys];
    const values = program.values(rows);
    this.rows = new Map(states.map((key, k) =>
      [key, Float64Array.from(program.base, (_, label) => values[label * states.length + k])]));
  }

  addTo(nats, codes, given) {
    if (this.gate && !this.gate[codes[this.slot]]) return;
    const key = this.reads.reduce((sum, feature, k) =>
      sum * this.radices[k] + this.maps[k][codes[feature]], 0);
    const row = this.rows.get(key);
    if (row) addMultiple(nats[this.slot], row, given?.scales[this.slot] ?? 1);
  }
}
