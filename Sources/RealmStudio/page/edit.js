// Changing things: values where they stand, elements of collections, objects. Each change is a transaction of its own,
// which can be undone.

import { $, h, onEscape, pressable, toast, icon, ICONS } from "./dom.js";
import { call } from "./api.js";
import { nameInQuery, timeOf, typeOf } from "./values.js";

const TYPES = ["string", "int", "double", "float", "bool", "timestamp", "decimal", "uuid", "objectId", "binary"];
const OF_PROPERTY = { decimal128: "decimal" };
const typeOfProperty = (property) => OF_PROPERTY[property.type] ?? property.type;

/// A typed text with the ends of lines that it had before: those of fields are all one letter.
function withEndsOf(before, typed) {
  if (!before.includes("\r")) return typed;
  const had = before.match(/\r\n|[^]/g);
  const isEnd = (one) => one === "\r\n" || one === "\r" || one === "\n";
  const shown = had.map((one) => isEnd(one) ? "\n" : one);
  const most = Math.min(shown.length, typed.length);
  let start = 0, end = 0;
  while (start < most && shown[start] === typed[start]) start += 1;
  while (end < most - start && shown.at(-1 - end) === typed.at(-1 - end)) end += 1;
  const middle = typed.slice(start, typed.length - end).replaceAll("\n", had.find(isEnd));
  return had.slice(0, start).join("") + middle + had.slice(had.length - end).join("");
}

/// What an edit by a position says of what the page shows there: it is refused where something else stands there by now.
const shownAt = ({ path, version }, value) => path.slice(1).some((step) => typeof step === "number") ? { version, was: value } : {};

export class Editor {
  /// `on`: file(), classes(), changed(answer), failed(error), removed(key).
  constructor(on) {
    this.on = on;
    $("undo").addEventListener("click", () => this.step("undo"));
    $("redo").addEventListener("click", () => this.step("redo"));
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      // Texts that are being typed have their own way back.
      if (/^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName)) return;
      event.preventDefault();
      this.step(event.shiftKey ? "redo" : "undo");
    });
  }

  /// Makes changes, all or none; gives the answer, or null if it did not work, which `failed` is told.
  async commit(label, edits, failed = this.on.failed) {
    try {
      const answer = await call("edit", { file: this.on.file(), label, edits });
      if (!answer.undoable) toast(`Done. “${label}” was too large to be kept, and can't be undone.`);
      await this.on.changed(answer);
      return answer;
    } catch (error) {
      failed(error);
      return null;
    }
  }

  /// Makes a change at a place of an object, where `value` is shown, and has its field ended if it worked; gives whether it did.
  async change(edit, value, place, detail, more = "", failed = undefined) {
    const { object, path } = place;
    const done = await this.commit(`${path.join(" ")} of ${object.label}${more}`, [
      { class: object.class, key: object.key, path, ...shownAt(place, value), ...edit },
    ], failed);
    if (done) detail.ended(path[0]);
    return done !== null;
  }

  async step(verb) {
    if ($(verb).disabled) return;
    try {
      const answer = await call(verb, { file: this.on.file() });
      toast(verb === "undo" ? `Undone: ${answer.redo.at(-1) ?? ""}` : `Done again: ${answer.undo.at(-1) ?? ""}`);
      await this.on.changed(answer);
    } catch (error) {
      this.on.failed(error);
      this.on.changed();
    }
  }

  showHistory({ undo, redo }) {
    for (const [name, steps] of [["undo", undo], ["redo", redo]]) {
      $(name).disabled = steps.length === 0;
      $(name).title = steps.length > 0 ? `${name === "undo" ? "Undo" : "Do again"}: ${steps.at(-1)}` : "";
    }
  }

  // -- Values where they stand ----------------------------------------------------------------------

  /// Makes a value of the detail pane one that a click changes.
  makeEditable(holder, value, place, detail) {
    const { property, path } = place;
    if (property.type === "linkingObjects") return;
    const isElement = path.length > 1;
    if (isElement) holder.append(this.removeButton(place, value, detail));
    if (property.primaryKey || Array.isArray(value) && ["list", "set", "dictionary"].includes(value[0])) {
      if (property.type === "mixed" && property.collection === "none" && !isElement) holder.append(this.jsonButton(place, detail));
      return;
    }
    if (property.type === "object") {
      holder.append(...this.linkButtons(holder, value, place, detail));
      return;
    }
    // Only the beginning is here: what is saved would be cut.
    if (Array.isArray(value) && (value[0] === "string" && value.length > 2 || value[0] === "binary" && value[1].length < value[2] * 2)) return;
    const shown = holder.querySelector(".value");
    if (!shown) return;
    shown.classList.add("can");
    shown.tabIndex = 0;
    shown.setAttribute("role", "button");
    shown.setAttribute("aria-label", `${path.join(" ")}: ${shown.textContent}. Change`);
    pressable(shown, () => this.field(holder, property, value,
      (typed) => this.change({ do: "set", value: typed }, value, place, detail), () => detail.ended(path[0])));
    if (property.type === "mixed" && property.collection === "none" && !isElement) holder.append(this.jsonButton(place, detail));
  }

  /// A field for a value; `save` gets what was typed and says whether it worked.
  field(holder, property, value, save, cancel) {
    let type = property.type === "mixed" ? (value === null ? "string" : typeOf(value)) : typeOfProperty(property);
    const kind = property.type === "mixed" && h("select", { "aria-label": "Type" }, TYPES.map((one) =>
      h("option", { value: one, text: one, selected: one === type })));
    const box = h("span", { class: "box" });
    const draw = () => {
      const text = value === null ? "" : typeof value === "boolean" ? String(value)
        : value[0] === "timestamp" ? timeOf(value[1]) : value[1];
      const common = { "aria-label": `Value of ${property.name}`, class: "typed" };
      const field = type === "bool"
        ? h("select", common, ["true", "false"].map((one) => h("option", { text: one, value: one, selected: one === text })))
        : type === "string"
          ? h("textarea", { ...common, rows: Math.min(8, Math.max(1, Math.ceil(text.length / 40), text.split("\n").length)) })
          : h("input", { ...common, type: "text", spellcheck: "false" });
      if (type !== "bool") field.value = text;
      box.replaceChildren(field);
      return field;
    };
    let input = draw();
    kind && kind.addEventListener("change", () => {
      type = kind.value;
      input = draw();
      input.focus();
    });
    let isDone = false;
    const finish = async (typed) => {
      if (isDone) return;
      isDone = true;
      isDone = await save(typed);
      if (!isDone) input.focus();
    };
    const canBeNull = property.nullable || property.type === "mixed";
    const form = h("form", {
      class: "editing",
      onsubmit: (event) => {
        event.preventDefault();
        const isText = type === "string" && value?.[0] === "string";
        finish({ type, text: isText ? withEndsOf(value[1], input.value) : input.value });
      },
      onkeydown: (event) => {
        if (event.key === "Escape") {
          event.preventDefault();
          cancel();
        } else if (event.key === "Enter" && !event.shiftKey && event.target.tagName === "TEXTAREA") {
          event.preventDefault();
          form.requestSubmit();
        }
      },
    }, kind || null, box, h("span", { class: "group" },
      h("button", { type: "submit", class: "main", text: "Save" }),
      h("button", { type: "button", text: "Cancel", onclick: cancel }),
      canBeNull && h("button", { type: "button", text: "null", title: "No value", onclick: () => finish(null) })));
    holder.replaceChildren(form);
    input.focus();
    input.select?.();
  }

  // -- Links, collections, nested values ------------------------------------------------------------

  linkButtons(holder, value, place, detail) {
    const { property, path } = place;
    const target = this.on.classes().find((one) => one.name === property.target);
    const change = (edit) => this.change(edit, value, place, detail);
    const buttons = [];
    if (target?.kind === "embedded") {
      if (value === null && path.length === 1) {
        buttons.push(h("button", { class: "small", text: "Create", onclick: () => change({ do: "embed" }) }));
      }
    } else {
      buttons.push(h("button", {
        class: "small", "aria-label": `Choose another ${property.target}`, title: "Choose another",
        onclick: () => this.chooseTarget(holder, place, detail, (typed) => change({ do: "set", value: typed })),
      }, icon(ICONS.pencil)));
    }
    if (value !== null && path.length === 1) {
      buttons.push(h("button", {
        class: "small", "aria-label": "Remove the link", title: "Remove the link", onclick: () => change({ do: "set", value: null }),
      }, icon(ICONS.close)));
    }
    return buttons;
  }

  /// A field in which an object of the class is looked for, by its key or by a text that begins with what is typed.
  chooseTarget(holder, place, detail, take) {
    const target = this.on.classes().find((one) => one.name === place.property.target);
    const field = h("input", { type: "text", class: "typed", "aria-label": `Find a ${target.name}`, placeholder: `Find a ${target.name} …` });
    const found = h("ul", { class: "found" });
    const texts = target.properties.filter((one) => one.type === "string" && one.collection === "none");
    let turn = 0, answered = null;
    const look = async () => {
      const mine = turn += 1, typed = field.value;
      const word = typed.replace(/\\/g, "\\\\").replace(/"/g, '\\"');
      const query = word === "" ? "" : texts.map((one) => `${nameInQuery(one.name)} CONTAINS[c] "${word}"`)
        .concat(/^-?\d+$/.test(word) ? target.properties.filter((one) => one.primaryKey && one.type === "int").map((one) => `${nameInQuery(one.name)} == ${word}`) : [])
        .join(" OR ");
      // Where nothing can be asked for nothing is found; an empty query would find all.
      const none = () => found.replaceChildren(h("li", { class: "where", text: "There is none." }));
      if (word !== "" && query === "") {
        answered = typed;
        return none();
      }
      try {
        const answer = await call("find", { file: this.on.file(), class: target.name, query, count: 8 });
        // What was typed since has an answer of its own.
        if (mine !== turn) return;
        answered = typed;
        found.replaceChildren(...answer.links.map((link) => h("li", {},
          h("button", { type: "button", text: link[1], title: `#${link[3]}`, onclick: () => take({ class: link[2], key: link[3] }) }))));
        if (answer.links.length === 0) none();
      } catch (error) {
        if (mine === turn) this.on.failed(error);
      }
    };
    let timer;
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(look, 120);
    });
    holder.replaceChildren(h("form", {
      class: "editing",
      onsubmit: async (event) => {
        event.preventDefault();
        // What is listed may be of what was typed before.
        if (answered !== field.value) await look();
        if (answered === field.value) found.querySelector("button")?.click();
      },
      onkeydown: onEscape(() => detail.ended(place.path[0])),
    }, field, found, h("button", { type: "button", text: "Cancel", onclick: () => detail.ended(place.path[0]) })));
    field.focus();
    look();
  }

  removeButton(place, value, detail) {
    return h("button", {
      class: "small", "aria-label": `Remove ${place.path.join(" ")}`, title: "Remove",
      onclick: () => this.change({ do: "remove" }, value, place, detail, ", removed"),
    }, icon(ICONS.close));
  }

  /// Below the elements of a collection: one more.
  addButton(items, type, total, place, detail) {
    const { property, path } = place;
    if (property.type === "linkingObjects") return;
    items.querySelector(":scope > .add")?.remove();
    const target = this.on.classes().find((one) => one.name === property.target);
    const line = h("li", { class: "add" });
    const commit = (edit) => this.change(edit, undefined, place, detail, ", one more");
    const ask = (at) => {
      const what = h("span", { class: "what" });
      line.replaceChildren(what);
      if (target?.kind === "embedded") return commit({ do: "embed", at });
      if (property.type === "object") {
        return this.chooseTarget(what, place, detail, (typed) => commit({ do: "add", at, value: typed }));
      }
      this.field(what, property, property.type === "bool" ? true : null, (typed) => commit({ do: "add", at, value: typed }), () => detail.ended(path[0]));
    };
    const begin = () => {
      if (type !== "dictionary") return ask();
      const key = h("input", { type: "text", class: "typed", "aria-label": "Key of the new element", placeholder: "Key" });
      line.replaceChildren(h("form", {
        class: "editing",
        onsubmit: (event) => { event.preventDefault(); ask(key.value); },
        onkeydown: onEscape(() => detail.ended(path[0])),
      }, key, h("button", { type: "submit", class: "main", text: "Next" })));
      key.focus();
    };
    line.append(h("button", { class: "more", onclick: begin }, icon(ICONS.plus), "Add"));
    items.append(line);
  }

  /// Mixed values of any shape are typed as JSON.
  jsonButton(place, detail) {
    const { object, property } = place;
    return h("button", {
      class: "small", text: "JSON …", title: "Any value, lists and dictionaries too, as JSON",
      onclick: () => this.dialog(`${property.name} of ${object.label}`, "A value as JSON: a text in quotes, a number, true, null, [ … ] or { … }.", "", "Save",
        (text, failed) => this.change({ do: "json", json: text }, undefined, place, detail, "", failed)),
    });
  }

  // -- Objects --------------------------------------------------------------------------------------

  objectTools(object) {
    const class_ = this.on.classes().find((one) => one.name === object.class);
    if (class_.kind === "embedded") return null;
    return h("button", {
      class: "quiet", "aria-label": "Delete this object", title: "Delete this object", onclick: () => this.remove(object.class, object.key, object.label),
    }, icon(ICONS.trash));
  }

  async remove(className, key, label) {
    const done = await this.commit(`${label ?? `#${key}`}, deleted`, [{ do: "delete", class: className, key }]);
    if (!done) return;
    toast(`${className} ${label ?? `#${key}`} was deleted. Undo brings it back.`);
    this.on.removed(key);
  }

  /// Asks for a new object as JSON, with what it needs written down already.
  create(class_) {
    const examples = {
      int: "0", bool: "false", float: "0.0", double: "0.0", string: '""', binary: '""', decimal128: '"0"', mixed: "null",
      timestamp: `"${new Date().toISOString()}"`, objectId: '"000000000000000000000000"', uuid: `"${crypto.randomUUID()}"`,
    };
    const lines = class_.properties.filter((one) => one.type !== "linkingObjects").map((one) => {
      const value = one.collection === "dictionary" ? "{}" : one.collection !== "none" ? "[]"
        : one.nullable && !one.primaryKey ? "null" : examples[one.type] ?? "null";
      return `  ${JSON.stringify(one.name)}: ${value}`;
    });
    this.dialog(`New ${class_.name}`, "As JSON; linked objects by their primary key.", `{\n${lines.join(",\n")}\n}`, "Create",
      async (text, failed) => {
        const done = await this.commit(`New ${class_.name}`, [{ do: "create", class: class_.name, json: text }], failed);
        if (done) this.on.created(done.class, done.key);
        return done !== null;
      });
  }

  /// A text is asked for; `save` says whether it was good. What was wrong stands in the dialog: nothing outside of it can be read then.
  dialog(title, hint, text, action, save) {
    const area = h("textarea", { rows: Math.min(20, Math.max(5, text.split("\n").length + 1)), spellcheck: "false", "aria-label": title });
    area.value = text;
    const problem = h("p", { class: "wrong", role: "alert" });
    const failed = (error) => {
      if (error.kind !== "locked") return problem.replaceChildren(error.message);
      box.close();
      this.on.failed(error);
    };
    const box = h("dialog", { class: "card", "aria-label": title, onclose: () => box.remove() },
      h("form", { onsubmit: async (event) => { event.preventDefault(); if (await save(area.value, failed)) box.close(); } },
        h("h2", { text: title }), h("p", { text: hint }), area, problem,
        h("div", { class: "buttons" },
          h("button", { type: "button", text: "Cancel", onclick: () => box.close() }),
          h("button", { type: "submit", class: "main", text: action }))));
    document.body.append(box);
    box.showModal();
    area.focus();
  }
}
