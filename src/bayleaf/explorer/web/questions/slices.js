// Work that takes long is done in slices of time, so that the page stays quick.

// Length of a slice, milliseconds.
const SLICE = 12;

/**
 * Run a generator in slices; `tell` gets all that it has yielded, without nulls, and
 * whether that is the end. Returns a function that stops it.
 */
function runInSlices(work, tell) {
  const found = [];
  let timer = 0;
  const step = () => {
    const end = performance.now() + SLICE;
    let next = work.next();
    while (!next.done) {
      if (next.value) found.push(next.value);
      if (performance.now() >= end) break;
      next = work.next();
    }
    tell(found, next.done);
    if (!next.done) timer = setTimeout(step, 0);
  };
  timer = setTimeout(step, 0);
  return () => clearTimeout(timer);
}
