// Work that takes long is done in slices of time, so that the page stays quick.

// Length of a slice, milliseconds.
const SLICE = 20;

/** Call a function once the browser has seen to what is waiting, without delay. */
function afterOthers(call) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    call();
  };
  port2.postMessage(null);
  return () => port1.close();
}

/**
 * Run a generator in slices; `tell` gets all that it has yielded, without nulls, whether
 * that is the end, and the number of steps. Returns a function that stops it.
 */
function runInSlices(work, tell) {
  const found = [];
  let stop = () => {};
  let nSteps = 0;
  const step = () => {
    const end = performance.now() + SLICE;
    let next = work.next();
    for (; !next.done; nSteps += 1) {
      if (next.value) found.push(next.value);
      if (performance.now() >= end) break;
      next = work.next();
    }
    tell(found, next.done, nSteps);
    if (!next.done) stop = afterOthers(step);
  };
  stop = afterOthers(step);
  return () => stop();
}
