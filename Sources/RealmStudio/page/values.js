// Values as the studio sends them (ValueOutput.swift) to what people read.

import { h, count, bytes } from "./dom.js";

export const typeOf = (value) =>
  value === null ? "null" : typeof value === "boolean" ? "bool" : Array.isArray(value) ? value[0] : "null";

const NUMBERS = new Set(["int", "float", "double", "decimal"]);
export const isNumber = (type) => NUMBERS.has(type);

// Words that the query language never takes for a name.
const RESERVED = new RegExp("^(any|some|all|none|and|or|not|true|false|null|nil|inf|infinity|nan|yes|no|self|in|obj|text|geo[a-z]+"
  + "|truepredicate|falsepredicate|subquery|[blot]\\d*)$", "i");

/// The name of a property as a query has it.
export const nameInQuery = (name) => /^[A-Za-z_]\w*$/.test(name) && !RESERVED.test(name) ? name
  : `#"${name.replace(/[\\"]/g, "\\$&")}"`;

/// A point in time with a blank between day and time. Of years that have not four digits it is `T` and seconds, and stays so.
export const timeOf = (text) => text.replace(/(?<=\d)T/, " ").replace(/Z$/, "");

/// One line of text for a value: in tables, in previews of collections, for the clipboard.
export function textOf(value) {
  switch (typeOf(value)) {
    case "null": return "null";
    case "bool": return value ? "true" : "false";
    case "string": return value.length > 2 ? value[1] + "…" : value[1];
    case "binary": return value[2] === 0 ? "empty" : value[1].slice(0, 16) + (value[2] > 8 ? "…" : "");
    case "timestamp": return timeOf(value[1]);
    case "link": return value[1];
    case "list": case "set": case "dictionary": return previewOf(value);
    default: return value[1];
  }
}

/// The first elements of a collection and how many there are.
function previewOf([type, total, elements]) {
  if (total === 0) return type === "dictionary" ? "{ }" : "[ ]";
  const shown = [];
  const step = type === "dictionary" ? 2 : 1;
  for (let index = 0; index + step <= elements.length; index += step) {
    shown.push(step === 2 ? `${elements[index]}: ${textOf(elements[index + 1])}` : textOf(elements[index]));
  }
  if (shown.length === 0) return type === "dictionary" ? "{ … }" : "[ … ]";
  return shown.join(", ") + (total > shown.length ? ", …" : "");
}

/// Puts a value into a cell of a table, whose content it replaces.
export function fillCell(cell, value, isLong = false) {
  const type = typeOf(value);
  cell.className = `cell t-${type}${isNumber(type) ? " number" : ""}`;
  switch (type) {
    case "bool":
      cell.replaceChildren(h("span", { class: value ? "yes" : "no", text: value ? "true" : "false" }));
      return;
    case "list": case "set": case "dictionary":
      cell.replaceChildren(
        h("span", { class: "size", text: count(value[1]) }), h("span", { class: "preview", text: previewOf(value) }));
      return;
    case "binary":
      cell.replaceChildren(
        h("span", { class: "size", text: bytes(value[2]) }), h("span", { class: "preview", text: value[1] }));
      return;
    case "link":
      cell.replaceChildren(h("span", {
        class: value[4] ? "inner" : "link", text: value[1], title: `${value[2]} #${value[3]}`,
      }));
      return;
    default:
      cell.textContent = isLong && type === "string" ? value[1] : textOf(value);
  }
}
