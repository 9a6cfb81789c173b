// The box in which queries are typed: completion of properties and words of the language, and the mistake marked
// under its place.

import { h } from "./dom.js";
import { nameInQuery } from "./values.js";

const WORDS = [
  ["AND", "both"], ["OR", "either"], ["NOT", "negation"], ["BEGINSWITH", "text"], ["ENDSWITH", "text"],
  ["CONTAINS", "text"], ["CONTAINS[c]", "any case"], ["LIKE", "text with ? and *"], ["BETWEEN", "{low, high}"],
  ["IN", "{a, b}"], ["ANY", "of a collection"], ["ALL", "of a collection"], ["NONE", "of a collection"],
  ["SORT(", "order"], ["DISTINCT(", "once each"], ["LIMIT(", "so many"], ["OFFSET(", "behind so many"], ["TRUEPREDICATE", "all"],
  ["SUBQUERY(", "of a collection"], ["null", "no value"], ["true", "bool"], ["false", "bool"],
  ["@links", "objects that link here"], ["TEXT", "full text"],
];
const OF_COLLECTIONS = [["@count", "how many"], ["@size", "how many"], ["@min", "least"], ["@max", "greatest"],
  ["@sum", "sum"], ["@avg", "average"]];
const SHOWN_MAX = 40;

/// A query for what of another's objects a condition is true, in the order of that.
export function narrowed(query, condition) {
  const end = orderStart(query);
  const before = query.slice(0, end).trim(), order = query.slice(end).trim();
  if (before === condition || before.endsWith(` AND ${condition}`)) return query;
  const first = before === "" ? "" : /\bor\b|\|\|/i.test(before) ? `(${before}) AND ` : `${before} AND `;
  return `${first}${condition}${order === "" ? "" : ` ${order}`}`;
}

/// Whether a text of the language has begun, and not ended.
function isInText(query) {
  let quote = null;
  for (let place = 0; place < query.length; place += 1) {
    const letter = query[place];
    if (quote === null) {
      if (letter === '"' || letter === "'") quote = letter;
    } else if (letter === "\\") place += 1;
    else if (letter === quote) quote = null;
  }
  return quote !== null;
}

/// How wide the box draws a text; wide letters are not as wide as digits times two.
function widthIn(input, text) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = getComputedStyle(input).font;
  return context.measureText(text).width;
}

/// Where SORT, DISTINCT and LIMIT begin, behind the conditions.
function orderStart(query) {
  let depth = 0, quote = null;
  for (let place = 0; place < query.length; place += 1) {
    const letter = query[place];
    if (quote !== null) {
      if (letter === "\\") place += 1;
      else if (letter === quote) quote = null;
    } else if (letter === '"' || letter === "'") quote = letter;
    else if ("({[".includes(letter)) depth += 1;
    else if (")}]".includes(letter)) depth -= 1;
    else if (depth === 0 && /^(sort|distinct|limit|offset)\s*\(/i.test(query.slice(place)) && !/[\w.#@]/.test(query[place - 1] ?? " ")) return place;
  }
  return query.length;
}

export class QueryBox {
  /// `on`: run(text); `schema()` gives the classes, `className()` the one that is asked.
  constructor(input, list, problem, { run, schema, className }) {
    Object.assign(this, { input, list, problem, run, schema, className });
    this.choices = [];
    input.addEventListener("input", () => this.complete());
    input.addEventListener("keydown", (event) => this.pressed(event));
    input.addEventListener("blur", () => setTimeout(() => this.close(), 120));
    input.addEventListener("scroll", () => this.placeMark());
    list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const item = event.target.closest("li");
      if (item) this.take(Number(item.dataset.index));
    });
  }

  get text() { return this.input.value; }
  set text(text) {
    this.input.value = text;
    this.close();
    this.well();
  }

  // -- Mistakes -------------------------------------------------------------------------------------

  wrong(error) {
    this.input.setAttribute("aria-invalid", "true");
    this.problem.hidden = false;
    this.mark = null;
    const parts = [];
    if (error.at !== undefined) {
      this.mark = h("span", { class: "mark", "aria-hidden": "true" });
      this.markAt = error.at;
      const width = widthIn(this.input, this.text.slice(error.at, error.at + error.length)) / widthIn(this.input, "^");
      this.mark.textContent = "^".repeat(Math.max(1, Math.min(Math.round(width), 80)));
      parts.push(this.mark);
    }
    parts.push(h("span", { text: error.message }));
    this.problem.replaceChildren(...parts);
    this.placeMark();
  }

  /// Under the characters that are meant, also when the text is longer than the box.
  placeMark() {
    if (!this.mark) return;
    this.mark.style.marginLeft = `${widthIn(this.input, this.text.slice(0, this.markAt)) - this.input.scrollLeft}px`;
  }

  well() {
    this.input.removeAttribute("aria-invalid");
    this.problem.hidden = true;
    this.mark = null;
  }

  // -- Completion -----------------------------------------------------------------------------------

  /// The path before the caret: `owner.address.str` is asked among the properties that `owner.address`
  /// leads to.
  complete() {
    const end = this.input.selectionStart;
    const before = this.input.value.slice(0, end);
    const path = before.match(/[@\p{L}_][\p{L}\p{N}_.@-]*$/u)?.[0] ?? "";
    if (isInText(before) || path === "") return this.close();
    const steps = path.split(".");
    const word = steps.pop();
    const found = this.candidates(steps).filter(([name]) =>
      name.toLowerCase().startsWith(word.toLowerCase()) && name !== word);
    this.start = end - word.length;
    this.end = end;
    this.choices = found.slice(0, SHOWN_MAX);
    if (this.choices.length === 0) return this.close();
    this.chosen = 0;
    this.list.replaceChildren(...this.choices.map(([name, hint], index) => h("li", {
      role: "option", id: `completion-${index}`, "data-index": index, "aria-selected": index === 0 ? "true" : "false",
    }, h("span", { text: name }), h("span", { text: hint }))));
    this.list.hidden = false;
    this.list.style.left = `min(${36 + widthIn(this.input, before.slice(0, this.start)) - this.input.scrollLeft}px, calc(100% - 250px))`;
    this.input.setAttribute("aria-expanded", "true");
    this.point();
  }

  candidates(steps) {
    const classes = this.schema();
    let owner = classes.find((one) => one.name === this.className());
    let isCollection = false;
    for (const step of steps) {
      const property = owner?.properties.find((one) => one.name === step);
      isCollection = property !== undefined && (property.collection !== "none" || property.type === "linkingObjects");
      owner = property?.target ? classes.find((one) => one.name === property.target) : undefined;
    }
    const names = (owner?.properties ?? []).map((one) => [one.name, one.description, nameInQuery(one.name)]);
    if (steps.length === 0) return [...names, ...WORDS];
    return isCollection ? [...names, ...OF_COLLECTIONS] : names;
  }

  point() {
    [...this.list.children].forEach((item, index) => {
      item.setAttribute("aria-selected", index === this.chosen ? "true" : "false");
      if (index === this.chosen) item.scrollIntoView({ block: "nearest" });
    });
    this.input.setAttribute("aria-activedescendant", `completion-${this.chosen}`);
  }

  close() {
    this.choices = [];
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  take(index) {
    const [word, , written = word] = this.choices[index];
    this.input.setRangeText(written, this.start, this.end, "end");
    this.close();
    this.input.focus();
  }

  pressed(event) {
    const isOpen = this.choices.length > 0;
    switch (event.key) {
      case "ArrowDown": case "ArrowUp":
        if (!isOpen) return event.key === "ArrowDown" ? this.complete() : undefined;
        this.chosen = (this.chosen + (event.key === "ArrowDown" ? 1 : -1) + this.choices.length) % this.choices.length;
        this.point();
        break;
      case "Tab":
        if (!isOpen) return;
        this.take(this.chosen);
        break;
      case "Escape":
        if (isOpen) this.close();
        else if (this.text !== "") {
          this.text = "";
          this.run("");
        }
        break;
      case "Enter":
        this.close();
        this.run(this.text);
        break;
      default: return;
    }
    event.preventDefault();
  }
}
