// Pictures: where the bytes of a file are, how its classes link to one another, how the values of a column are spread. Each
// has its figures as text, too.

import { h, svg, count, bytes, plural, pressable } from "./dom.js";
import { call } from "./api.js";
import { nameInQuery, textOf } from "./values.js";

const PARTS = [["rows", "rows"], ["values", "large values"], ["collections", "collections"], ["indexes", "indexes"]];

// -- Where the bytes are ----------------------------------------------------------------------------

export async function fileMap(file) {
  const found = await call("statistics", { file });
  const classes = found.classes.map((one) => ({ ...one, bytes: PARTS.reduce((sum, [name]) => sum + one[name], 0) }))
    .sort((a, b) => b.bytes - a.bytes);
  const known = classes.reduce((sum, one) => sum + one.bytes, 0) + found.free + found.held + found.log;
  const rest = Math.max(0, found.bytes - known);
  const pieces = [
    ...classes.map((one, index) => ({ name: one.name, bytes: one.bytes, hue: index })),
    { name: "change log", bytes: found.log, mark: "log" }, { name: "structure", bytes: rest, mark: "rest" },
    { name: "held for readers", bytes: found.held, mark: "held" }, { name: "free", bytes: found.free, mark: "free" },
  ].filter((one) => one.bytes > 0);
  const part = (number) => `${((number / Math.max(found.bytes, 1)) * 100).toFixed(1)} %`;
  const most = Math.max(1, ...classes.map((one) => one.bytes));
  return h("div", { class: "picture" },
    h("h2", { text: "File map" }),
    h("div", { class: "facts" },
      fact(bytes(found.bytes), "in the file"), fact(bytes(found.free), "free for the next commits"),
      fact(bytes(found.held), "held for readers"), fact(count(found.versions), "live versions")),
    h("div", { class: "strips", role: "img", "aria-label": pieces.map((one) => `${one.name} ${part(one.bytes)}`).join(", ") },
      pieces.map((one) => {
        const strip = h("i", { class: one.mark ?? `hue h${one.hue % 8}`, title: `${one.name}: ${bytes(one.bytes)}, ${part(one.bytes)}` });
        strip.style.flexGrow = one.bytes;
        return strip;
      })),
    h("div", { class: "legend" }, pieces.map((one) => h("span", {},
      h("i", { class: one.mark ?? `hue h${one.hue % 8}` }), one.name, h("small", { text: ` ${part(one.bytes)}` })))),
    h("table", { class: "figures" },
      h("thead", {}, h("tr", {}, ["class", "objects", ...PARTS.map(([, name]) => name), "in all", "share"].map((text) => h("th", { scope: "col", text })))),
      h("tbody", {}, classes.map((one, index) => {
        const bar = h("i", { class: `hue h${index % 8}` });
        bar.style.width = `${(one.bytes / most) * 100}%`;
        return h("tr", {}, h("th", { scope: "row", text: one.name }), h("td", { text: count(one.objects) }),
          PARTS.map(([name]) => h("td", { text: one[name] === 0 ? "–" : bytes(one[name]) })), h("td", { text: bytes(one.bytes) }),
          h("td", { class: "meter" }, bar));
      }))));
}

const fact = (value, name) => h("div", { class: "fact" }, h("b", { text: value }), h("span", { text: name }));

// -- Links between classes --------------------------------------------------------------------------

/// Classes on a circle, an arrow for each property that links; `choose` is called with a class.
export async function linkGraph(file, classes, choose) {
  const found = await call("statistics", { file });
  const entries = new Map(found.classes.map((one) => [one.name, one.links]));
  // As large as keeps neighbours apart, wherever on the circle; beyond a dozen the picture scrolls.
  const radii = classes.length <= 12 ? [320, Math.max(150, 60 + classes.length * 17)] : [classes.length * 28, classes.length * 21];
  const width = 2 * radii[0] + 300, height = 2 * radii[1] + 120;
  const centre = [width / 2, height / 2];
  const places = new Map(classes.map((one, index) => {
    const angle = (index / classes.length) * 2 * Math.PI - Math.PI / 2;
    return [one.name, classes.length === 1 ? centre : [centre[0] + Math.cos(angle) * radii[0], centre[1] + Math.sin(angle) * radii[1]]];
  }));
  const links = [];
  for (const one of classes) {
    for (const property of one.properties) {
      if (property.type === "object" && property.target) {
        links.push({ from: one.name, to: property.target, name: property.name, kind: property.collection, number: entries.get(one.name)?.[property.name] });
      }
    }
  }
  const used = new Map();
  // Those of a class to itself stand above it, one above the other, beyond the picture if it is the first.
  let top = 0;
  const lines = links.map((link) => {
    const a = places.get(link.from), b = places.get(link.to);
    if (!a || !b) return null;
    const pair = [link.from, link.to].sort().join("\0");
    const turn = used.get(pair) ?? 0;
    used.set(pair, turn + 1);
    const label = link.name + (link.kind === "none" ? "" : ` (${link.kind})`) + (link.number === undefined ? "" : ` · ${count(link.number)}`);
    if (link.from === link.to) {
      const high = a[1] - 100 - 29 * turn;
      const path =
        `M${a[0] - 30} ${a[1] - 22} C ${a[0] - 70} ${high}, ${a[0] + 70} ${high}, ${a[0] + 30} ${a[1] - 22}`;
      top = Math.min(top, a[1] - 100 - 22 * turn);
      return svg("g", { class: "edge" }, svg("path", { d: path, "marker-end": "url(#tip)" }), text(a[0], a[1] - 84 - 22 * turn, label));
    }
    const dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy);
    const bend = (turn % 2 === 0 ? 1 : -1) * (18 + 26 * Math.floor(turn / 2)) * (link.from < link.to ? 1 : -1);
    const middle = [(a[0] + b[0]) / 2 - (dy / length) * bend, (a[1] + b[1]) / 2 + (dx / length) * bend];
    const start = edge(a, middle), end = edge(b, middle);
    const half = [(start[0] + 2 * middle[0] + end[0]) / 4, (start[1] + 2 * middle[1] + end[1]) / 4];
    return svg("g", { class: "edge" },
      svg("path", { d: `M${start[0]} ${start[1]} Q ${middle[0]} ${middle[1]} ${end[0]} ${end[1]}`, "marker-end": "url(#tip)" }),
      text(half[0], half[1] + 4, label));
  });
  const boxes = classes.map((one) => {
    const [x, y] = places.get(one.name);
    const name = one.name.length > 18 ? `${one.name.slice(0, 17)}…` : one.name;
    const node = svg("g", { class: `node ${one.kind}`, tabindex: "0", role: "button", "aria-label": `${one.name}, ${plural(one.count, "object")}` },
      svg("rect", { x: x - 74, y: y - 23, width: 148, height: 46, rx: 10 }), text(x, y - 2, name, "name"),
      text(x, y + 14, `${count(one.count)}${one.kind === "embedded" ? " embedded" : ""}`, "small"));
    pressable(node, () => choose(one.name));
    return node;
  });
  const graph = svg("svg", { class: "graph", viewBox: `0 ${top} ${width} ${height - top}` },
    svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 10 10", refX: "9", refY: "5", markerWidth: "7", markerHeight: "7", orient: "auto-start-reverse" },
      svg("path", { d: "M0 1 L9 5 L0 9 z" }))), lines.filter(Boolean), boxes);
  if (classes.length > 12) graph.style.width = `${width}px`;
  return h("div", { class: "picture" }, h("h2", { text: "Links" }),
    h("p", { class: "where", text: links.length === 0 ? "No class links to another." : "Each arrow is a property; the number says how many links it has." }),
    h("div", { class: "wide" }, graph));
}

function text(x, y, content, name = "") {
  return svg("text", { x, y, class: name, "text-anchor": "middle", text: content });
}

/// Where a line from the centre of a box towards a point leaves it.
function edge([x, y], [toX, toY]) {
  const dx = toX - x, dy = toY - y;
  const scale = Math.min(78 / Math.max(Math.abs(dx), 0.01), 27 / Math.max(Math.abs(dy), 0.01));
  return [x + dx * Math.min(1, scale), y + dy * Math.min(1, scale)];
}

// -- Spread of values -------------------------------------------------------------------------------

/// Bars for the values of a property among what the table shows; `filter` is called with a condition for one bar.
export async function histogram(view, property, filter) {
  const found = await call("histogram", { ...view, property: property.name });
  const notes = [];
  if (found.nulls > 0) notes.push(`${count(found.nulls)} null`);
  if (found.others > 0) notes.push(`${count(found.others)} ${found.kind === "values" ? "others" : "not finite"}`);
  if (found.kind === "values") {
    const most = Math.max(1, ...found.values.map(([, number]) => number));
    const rows = found.values.map(([value, number, condition]) => {
      const bar = h("i");
      bar.style.width = `${(number / most) * 100}%`;
      // What is too long for a query has none.
      return h("li", {}, h("button", { class: "pick", title: textOf(value), disabled: condition === null, onclick: () => filter(condition) },
        h("span", { class: "name", text: textOf(value) || "empty text" }),
        h("span", { class: "meter" }, bar), h("span", { class: "count", text: count(number) })));
    });
    return [title(property, [`${count(found.distinct)} different`, ...notes]), h("ol", { class: "frequencies" }, rows)];
  }
  if (found.counts.length === 0) return [title(property, notes), h("p", { class: "where", text: "No values." })];
  const counts = found.counts, range = found.high - found.low;
  const most = Math.max(1, ...counts);
  // From one end of the doubles to the other is no number.
  const width = found.isWhole ? 1 : Number.isFinite(range) ? range / counts.length
    : found.high / counts.length - found.low / counts.length;
  const name = (number) => found.kind === "times" ? dayAndTime(number)
    : Math.abs(number) >= 1e15 ? String(Number(number.toPrecision(6))) : Number(number.toPrecision(6)).toLocaleString("en");
  const bars = counts.map((number, index) => {
    const low = found.low + width * index, high = low + width;
    const label = `${found.isWhole ? name(low) : `${name(low)} to ${name(high)}`}: ${plural(number, "object")}`;
    const bar = h("i");
    bar.style.height = `${number === 0 ? 0 : Math.max(2, (number / most) * 100)}%`;
    const column = h("button", { class: "column", title: label, "aria-label": label, disabled: number === 0, onclick: () => {
      const isLast = index === counts.length - 1;
      const it = nameInQuery(property.name);
      if (found.kind === "times") {
        // Seconds with a fraction say less than nanoseconds: the ends are open.
        const ends = [index > 0 && `${it} >= ${instant(low)}`, !isLast && `${it} < ${instant(high)}`].filter(Boolean);
        filter(ends.join(" AND ") || `${it} != NULL`);
        return;
      }
      filter(found.isWhole ? `${it} == ${low}` : `${it} >= ${low} AND ${it} ${isLast ? "<=" : "<"} ${isLast ? found.high : high}`);
    } }, bar);
    return column;
  });
  return [title(property, notes), h("div", { class: "bars" }, bars),
    h("div", { class: "scale" }, h("span", { text: name(found.low) }), h("span", { text: name(found.high) }))];
}

/// Seconds since 1970 as people read them; beyond the days that JavaScript has (a hundred million), as a literal.
const dayAndTime = (seconds) => Math.abs(seconds) > 8.64e12 ? `T${Math.trunc(seconds)}`
  : new Date(seconds * 1000).toISOString().replace(/:\d\d\.\d+Z$/, "").replace("T", " ");

/// Seconds since 1970 as a literal of the query language.
const instant = (seconds) => `T${Math.trunc(seconds)}:${Math.round((seconds - Math.trunc(seconds)) * 1e9)}`;

const title = (property, notes) => h("div", { class: "title" }, h("b", { text: property.name }), h("span", { class: "where", text: ` ${notes.join(", ")}` }));
