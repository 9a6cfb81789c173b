// Elements from names, properties and children. Texts become text nodes, never markup: names and values of files
// may have anything in them.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

/// Has an element that is no button act as one: by a click, Enter and the space bar.
export function pressable(element, act) {
  element.addEventListener("click", act);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });
}

/// A handler of keys that Escape alone is something to.
export const onEscape = (act) => (event) => {
  if (event.key !== "Escape") return;
  event.preventDefault();
  act();
};

const FOCUSABLE = "button, input, select, textarea, summary, a[href], [tabindex]";

/// Draws anew what is in an element. Who stands in it with the keyboard still stands there afterwards: at what is called the same,
/// or at what has its place.
export function redrawn(holder, draw) {
  const focused = document.activeElement;
  if (focused === holder || !holder.contains(focused)) return draw();
  const all = () => [...holder.querySelectorAll(FOCUSABLE)].filter((one) => !one.disabled && one.checkVisibility());
  const name = (one) => `${one.tagName} ${one.getAttribute("aria-label") ?? one.textContent}`;
  const called = name(focused), form = focused.closest(".editing"), before = all();
  const place = before.findIndex((one) => one === focused || form?.contains(one));
  const turn = before.filter((one) => name(one) === called).indexOf(focused);
  draw();
  if (document.activeElement !== document.body) return;
  const after = all();
  const same = form ? undefined : after.filter((one) => name(one) === called)[turn];
  (same ?? after[Math.min(place, after.length - 1)])?.focus({ preventScroll: true });
}

export const $ = (id) => document.getElementById(id);

export const count = (number) => number.toLocaleString("en");

export function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

export function bytes(number) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    unit += 1;
  }
  return `${unit === 0 || number >= 100 ? Math.round(number) : number.toFixed(1)} ${units[unit]}`;
}

export function milliseconds(number) {
  if (number < 1) return `${Math.max(0.01, number).toFixed(2)} ms`;
  if (number < 1000) return `${number.toFixed(number < 10 ? 1 : 0)} ms`;
  return `${(number / 1000).toFixed(1)} s`;
}

/// Says something for a few seconds; screen readers read it.
export function toast(text, isBad = false) {
  const item = h("div", { class: isBad ? "toast bad" : "toast", role: isBad ? "alert" : undefined, text });
  $("toasts").append(item);
  setTimeout(() => item.remove(), isBad ? 9000 : 4000);
}

export function icon(path) {
  return svg("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, svg("path", { d: path }));
}

export const ICONS = {
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5M7 7v4M9 7v4",
  download: "M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M3 13.5h10",
  bars: "M3 13.5v-4M6.5 13.5v-8M10 13.5v-6M13.5 13.5v-11",
  pencil: "m3 13 .8-3L10.5 3.3l2.2 2.2L6 12.2 3 13Z",
  up: "M8 13V3M4 7l4-4 4 4",
};
