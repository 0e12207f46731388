// Elements of the page, made from text that is never read as markup.

/** An element with text, classes and attributes. */
function element(tag, { text, className, ...attributes } = {}, children = []) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** An element of a drawing. */
function drawn(tag, attributes = {}, children = []) {
  const made = document.createElementNS(byId("graph").namespaceURI, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A button with a text, which may be broken at words, and what a click does. */
function pressing(text, onClick, attributes = {}) {
  const made = element("button", { type: "button", ...attributes }, breakable(text));
  made.addEventListener("click", onClick);
  return made;
}

/** What only programmers can use, folded. */
function forProgrammers(texts) {
  return element("details", {}, [
    element("summary", { text: "For programmers" }), element("ul", {}, texts.map((text) => element("li", { text, dir: "auto" }))),
  ]);
}

/** The element with an id. */
const byId = (id) => document.getElementById(id);

/** Set an element's text, if it is another: what stays the same is not painted again. */
function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}

/** Set an attribute, if it is another. */
function mark(place, name, value) {
  if (place.getAttribute(name) !== value) place.setAttribute(name, value);
}

/** Set the children of an element; those that stay equal are not laid out again. */
function fill(place, children) {
  const made = document.createDocumentFragment();
  made.append(...children);
  const [before, after] = [place, made].map(({ childNodes }) => [...childNodes]);
  if (before.length !== after.length) place.replaceChildren(made);
  else before.forEach((old, i) => { if (!old.isEqualNode(after[i])) old.replaceWith(after[i]); });
}

/**
 * A text whose names may be broken between the words they are joined of, and no numbers;
 * if it is one word longer than a line, into even pieces, so that no letter is left alone.
 */
function breakable(text, longest = Infinity) {
  const n = Array.from(text).length;
  const length = Math.ceil(n / Math.ceil(n / longest));
  const places = n > longest && /^\p{L}+$/u.test(text) && !/\p{Ll}\p{Lu}/u.test(text) ? new RegExp(`(?<=^(?:.{${length}})+)(?!$)`, "u")
    : /(?<=[_/]|\p{L}[.-])|(?<=\p{Ll})(?=\p{Lu})/u;
  return text.split(places).flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));
}

/** Draw a part of the page again; what had the focus gets it back. */
function keepFocus(part, draw) {
  const { key } = part.contains(document.activeElement) ? document.activeElement.dataset : {};
  draw();
  if (key) part.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/** Keep what is scrolled to, or has the focus, below the bar that sticks above it. */
function keepBelow(bars, parts) {
  const watch = new ResizeObserver(() => {
    const height = Math.max(...bars.map((bar) => bar.offsetHeight));
    // A custom property would have the browser style everything below it again.
    for (const part of parts) part.style.scrollPaddingTop = `calc(${height}px + 1rem)`;
  });
  for (const bar of bars) watch.observe(bar);
}

/** Actions that are rarely used; a choice, Escape or a click elsewhere closes them. */
function foldMenu(menu) {
  document.addEventListener("click", ({ target }) => {
    if (!target.closest("#menu-name, #units")) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

/** A stop of Tab where it scrolls by itself; below the map it would begin out of sight. */
function stopWhereWide(part) {
  const wide = window.matchMedia("(min-width: 900px)");
  const set = () => { part.tabIndex = wide.matches ? 0 : -1; };
  wide.addEventListener("change", set);
  set();
}

/** Light or dark: the system's choice until the button says otherwise. */
function switchTheme(button) {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
  });
  system.addEventListener("change", name);
  name();
}
