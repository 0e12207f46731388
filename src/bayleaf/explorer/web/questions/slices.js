// Work that takes long is done in slices of time, so that the page stays quick.

// Length of a slice, how long to wait for a frame, and how long printing waits at most
// (milliseconds).
const SLICE = 12;
const UNPAINTED = 100;
const PRINTING = 4000;

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

/** Call a function once nothing else is to be done, where the browser can tell. */
function whenIdle(call) {
  if (!window.requestIdleCallback) return afterOthers(call);
  const request = window.requestIdleCallback(() => call());
  return () => window.cancelIdleCallback(request);
}

/** Call a function once what has changed is painted, at the latest when nothing is. */
function afterPaint(call) {
  let isOver = false;
  let stop = () => {};
  const once = () => {
    if (isOver) return;
    isOver = true;
    // Whoever waits for the same paint, or for a key, goes first.
    stop = afterOthers(() => { stop = afterOthers(call); });
  };
  window.requestAnimationFrame(once);
  // A page in the background has no frames.
  const late = setTimeout(once, UNPAINTED);
  return () => {
    isOver = true;
    clearTimeout(late);
    stop();
  };
}

/** What a generator returns at its end. */
function resultOf(work) {
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value;
}

/**
 * Run a generator in slices; `tell` gets all that it has yielded, without nulls, whether
 * that is the end, and the number of steps. Returns a function that stops it, whose
 * `finish` does what is left at once: a sheet of paper does not change later. What
 * no reader waits for goes on `whenIdle`.
 */
function runInSlices(work, tell, goOn = afterOthers) {
  const found = [];
  let stop = () => {};
  let nSteps = 0;
  const step = (end = performance.now() + SLICE) => {
    let next = work.next();
    for (; !next.done; nSteps += 1) {
      if (next.value) found.push(next.value);
      if (performance.now() >= end) break;
      next = work.next();
    }
    tell(found, next.done, nSteps);
    stop = next.done ? () => {} : goOn(step);
  };
  stop = afterPaint(step);
  const halt = () => stop();
  halt.finish = () => {
    stop();
    step(performance.now() + PRINTING);
  };
  return halt;
}

/**
 * Run a generator at once if it ends within a slice, else on in slices; `done` gets what
 * it has yielded. Returns a function that stops it.
 */
function runAtOnce(work, done) {
  const found = [];
  const end = performance.now() + SLICE;
  for (let next = work.next(); !next.done; next = work.next()) {
    if (next.value) found.push(next.value);
    if (performance.now() < end) continue;
    return runInSlices(work, (more, isDone) => { if (isDone) done([...found, ...more]); });
  }
  done(found);
  return () => {};
}
