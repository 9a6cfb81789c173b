// One object with all its values: links lead on, collections and nested values unfold.

import { h, count, plural, redrawn, icon, ICONS } from "./dom.js";
import { call } from "./api.js";
import { fillCell, typeOf } from "./values.js";

const FETCHED = 100;

export class Detail {
  /// `on`: file(), classes(), close(), failed(error), editor (or null where nothing can be changed).
  constructor(pane, on) {
    this.pane = pane;
    this.on = on;
    this.trail = [];
    /// Collections that were unfolded and folded by hand, by object and path.
    this.open = new Set();
    this.closed = new Set();
    pane.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.defaultPrevented) this.close();
    });
  }

  get current() { return this.trail.at(-1); }
  get isOpen() { return !this.pane.hidden; }
  isAt(className, key) { return this.current?.className === className && this.current.key === key; }

  close() {
    this.pane.hidden = true;
    this.trail = [];
    this.on.closed();
  }

  /// Shows an object; with `follows` the one before stays reachable.
  async show(className, key, { follows = false, property = null, edits = false, focuses = false } = {}) {
    if (!follows) {
      this.trail = [];
      this.open = new Set();
      this.closed = new Set();
    }
    this.trail.push({ className, key });
    await this.load(property);
    if (!this.isAt(className, key)) return;
    const field = property && [...this.pane.querySelectorAll(".field")].find((one) => one.dataset.name === property);
    field?.scrollIntoView({ block: "nearest" });
    if (edits) field?.querySelector(".can")?.click();
    else if (focuses) this.pane.querySelector("h3")?.focus();
  }

  /// The field of a property is no longer being changed.
  ended(property) {
    for (const form of this.pane.querySelectorAll(".field .editing")) {
      if (form.closest(".field").dataset.name === property) form.classList.add("ended");
    }
    return this.load();
  }

  /// Shows the object as it is now, `property` marked. Fields in which somebody types stay as they are.
  load(property = null) {
    if (!this.current) return;
    this.turn = (this.turn ?? 0) + 1;
    this.loading = this.fetch(this.current, property, this.turn);
    return this.loading;
  }

  async fetch({ className, key }, property, turn) {
    let object;
    try {
      object = await call("object", { file: this.on.file(), class: className, key });
    } catch (error) {
      if (this.turn !== turn) return this.loading;
      if (!this.isAt(className, key)) return;
      if (error.kind !== "missing") return this.on.failed(error);
      this.gone(error);
      return;
    }
    // Asked again meanwhile: that answer is the one to show.
    if (this.turn !== turn) return this.loading;
    if (!this.isAt(className, key)) return;
    this.current.label = object.label;
    const kept = new Map();
    if (this.drawn === `${className} ${key}`) {
      for (const form of this.pane.querySelectorAll(".field .editing:not(.ended)")) {
        const field = form.closest(".field");
        kept.set(field.dataset.name, field);
      }
    }
    const isSame = this.drawn === `${className} ${key}`;
    this.drawn = `${className} ${key}`;
    if (isSame) redrawn(this.pane, () => this.draw(object, property, kept));
    else this.draw(object, property, kept);
  }

  /// After a commit; what is being typed stays.
  refresh() {
    if (this.isOpen) this.load();
  }

  gone(error) {
    this.pane.hidden = false;
    this.pane.replaceChildren(this.header(this.current.className, "", null),
      h("div", { class: "empty" }, h("b", { text: "It is not there any more" }), error.message));
  }

  header(className, label, object) {
    const tools = object && this.on.editor?.objectTools(object);
    return h("header", {},
      h("div", {}, h("h3", { tabindex: "-1", text: label }), h("div", { class: "where", text: `${className} #${this.current.key}` })),
      h("span", { class: "push" }), tools ?? null,
      h("button", { class: "quiet", "aria-label": "Close", title: "Close", onclick: () => this.close() }, icon(ICONS.close)));
  }

  draw(object, focused, kept) {
    const class_ = this.on.classes().find((one) => one.name === object.class);
    const parts = [this.header(object.class, object.label, object)];
    const back = this.trail.slice(0, -1);
    const links = back.map((place, index) => h("span", {},
      h("button", { text: place.label ?? `#${place.key}`, title: place.className, onclick: () => this.backTo(index) }), " ›"));
    if (object.owner) {
      links.push(h("span", {}, "in ", h("button", {
        text: `${object.owner[2]} ${object.owner[1]}`, onclick: () => this.show(object.owner[2], object.owner[3], { focuses: true }),
      })));
    }
    if (links.length > 0) parts.push(h("nav", { class: "trail", "aria-label": "Way here" }, links));
    // What moves into the new list loses the focus.
    const typing = [...kept.values()].some((one) => one.contains(document.activeElement)) ? document.activeElement : null;
    const fields = class_.properties.map((property, index) =>
      kept.get(property.name) ?? this.field(object, property, object.values[index], focused));
    parts.push(h("dl", { class: "fields" }, fields));
    const top = this.pane.scrollTop;
    this.pane.hidden = false;
    this.pane.replaceChildren(...parts);
    this.pane.scrollTop = top;
    typing?.focus({ preventScroll: true });
  }

  backTo(index) {
    const place = this.trail[index];
    this.trail.length = index;
    this.show(place.className, place.key, { follows: true, focuses: true });
  }

  field(object, property, value, focused) {
    const what = h("dd");
    const place = { object, property, path: [property.name], holder: what, version: object.version };
    this.put(what, value, place);
    return h("div", { class: "field" + (focused === property.name ? " focus" : ""), "data-name": property.name },
      h("dt", {}, h("span", { text: property.name }), h("span", { class: "type", text: property.description })), what);
  }

  // -- Values ---------------------------------------------------------------------------------------

  put(holder, value, place) {
    const type = typeOf(value);
    if (type === "list" || type === "set" || type === "dictionary") {
      holder.replaceChildren(this.inside(value, place));
    } else if (type === "link") {
      holder.replaceChildren(this.link(value, place));
    } else {
      const shown = h("span");
      fillCell(shown, value, true);
      shown.classList.remove("cell", "number");
      shown.classList.add("value");
      if (type === "string" && value[1] === "") {
        shown.textContent = "empty text";
        shown.classList.add("t-null");
      }
      const more = type === "string" && value.length > 2
        ? h("div", { class: "where", text: `… ${count(value[2])} bytes in all` })
        : type === "binary" && value[2] > value[1].length / 2 ? h("div", { class: "where", text: "only the beginning" }) : null;
      holder.replaceChildren(shown, more ?? "");
    }
    this.on.editor?.makeEditable(holder, value, place, this);
  }

  link(value, place) {
    const [, label, className, key, isEmbedded] = value;
    const button = h("button", {
      class: "value", text: label, title: `${className} #${key}`,
      onclick: () => this.show(className, key, { follows: true, focuses: true }),
    });
    return h("span", {}, button, h("span", { class: "where", text: isEmbedded ? `  embedded ${className}` : `  ${className}` }));
  }

  /// A collection, which unfolds; its elements are fetched then, a hundred at a time.
  inside(value, place) {
    const [type, total, first] = value;
    const name = JSON.stringify([place.object.class, place.object.key, ...place.path]);
    const items = h("ul", { class: "items" });
    const summary = h("summary", {}, h("span", { class: "size", text: count(total) }),
      h("span", { text: total === 0 ? `empty ${type}` : `${type} of ${plural(total, "element")}` }));
    const box = h("details", { class: "inside", open: this.open.has(name) }, summary, items);
    let isFilled = false;
    const unfold = () => {
      (box.open ? this.open : this.closed).add(name);
      (box.open ? this.closed : this.open).delete(name);
      if (!box.open || isFilled) return;
      isFilled = true;
      const step = type === "dictionary" ? 2 : 1;
      if (first.length / step === total) this.addItems(items, type, total, 0, first, place);
      else this.fetchItems(items, 0, place);
    };
    box.addEventListener("toggle", unfold);
    // Small ones are worth more open than closed.
    if (total > 0 && total <= 5 && place.path.length === 1 && !this.closed.has(name)) box.open = true;
    if (box.open) unfold();
    return box;
  }

  async fetchItems(items, from, place) {
    try {
      const answer = await call("elements", {
        file: this.on.file(), class: place.object.class, key: place.object.key, path: place.path, from, count: FETCHED,
      });
      this.addItems(items, answer.type, answer.count, from, answer.elements, { ...place, version: answer.version });
    } catch (error) {
      this.on.failed(error);
    }
  }

  addItems(items, type, total, from, elements, place) {
    items.querySelector(":scope > .rest")?.remove();
    const isDictionary = type === "dictionary";
    const step = isDictionary ? 2 : 1;
    for (let index = 0; index < elements.length / step; index += 1) {
      const at = isDictionary ? elements[index * 2] : from + index;
      const what = h("span", { class: "what" });
      this.put(what, elements[index * step + step - 1], { ...place, path: [...place.path, at], holder: what, of: type });
      items.append(h("li", {}, type === "set" ? null : h("span", { class: "at", text: String(at) }), what));
    }
    const shown = from + elements.length / step;
    if (shown < total) {
      items.append(h("li", { class: "rest" }, h("button", {
        class: "more", text: `${plural(total - shown, "more element")} …`, onclick: () => this.fetchItems(items, shown, place),
      })));
    }
    this.on.editor?.addButton(items, type, total, place, this);
  }
}
