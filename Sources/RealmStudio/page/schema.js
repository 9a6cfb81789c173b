// New classes and properties: what is wanted, what the file would do about it, then doing it.

import { h } from "./dom.js";
import { call } from "./api.js";

const TYPES = ["string", "int", "double", "float", "bool", "timestamp", "decimal", "uuid", "objectId", "binary", "mixed", "link"];

/// Asks for a property, of a class that is there or of a new one; `done` gets the schema that the file has then.
export function askForProperty({ file, classes, className, done, failed }) {
  const isNew = className === null;
  const title = isNew ? "New class" : `New property of ${className}`;
  const field = (label, input) => h("label", { class: "line" }, h("span", { text: label }), input);
  const name = h("input", { type: "text", spellcheck: "false", required: true });
  const class_ = isNew && h("input", { type: "text", spellcheck: "false", required: true });
  const isEmbedded = h("input", { type: "checkbox" });
  const type = h("select", {}, TYPES.map((one) => h("option", { text: one, value: one })));
  const collection = h("select", {}, ["none", "list", "set", "dictionary"].map((one) => h("option", { value: one, text: one === "none" ? "one value" : one })));
  const target = h("select", {}, classes.map((one) => h("option", { text: one.name, value: one.name })));
  const isNullable = h("input", { type: "checkbox" });
  const isIndexed = h("input", { type: "checkbox" });
  const isKey = h("input", { type: "checkbox" });
  const targetLine = field("links to", target);
  const outcome = h("div", { class: "outcome", role: "status" });
  const change = h("button", { type: "button", class: "main", text: "Change the file", disabled: true });
  const request = () => ({
    file, class: isNew ? class_.value : className, isNew, isEmbedded: isNew && isEmbedded.checked,
    property: {
      name: name.value, type: type.value, collection: collection.value, target: target.value, nullable: isNullable.checked,
      indexed: isIndexed.checked, primaryKey: isNew && isKey.checked,
    },
  });
  let turn = 0;
  const preview = async () => {
    const mine = turn += 1;
    change.disabled = true;
    if (name.value === "" || (isNew && class_.value === "")) return outcome.replaceChildren();
    try {
      const found = await call("preview", request());
      // What was typed since has an answer of its own.
      if (mine !== turn) return;
      if (found.refusal) return outcome.replaceChildren(h("p", { class: "wrong", text: found.refusal }));
      outcome.replaceChildren(
        h("p", { text: `The file goes from schema version ${found.from} to ${found.to}:` }),
        h("ul", {}, found.changes.map((text) => h("li", { text }))),
        h("p", { class: "where", text: "Programs that open it with the version before are refused until they know the new one. This can't be undone here." }));
      change.disabled = false;
    } catch (error) {
      if (mine !== turn) return;
      outcome.replaceChildren(h("p", { class: "wrong", text: error.message }));
    }
  };
  const update = () => {
    targetLine.hidden = type.value !== "link";
    preview();
  };
  const form = h("form", { onsubmit: (event) => event.preventDefault(), oninput: update },
    h("h2", { text: title }),
    isNew && field("class", class_), isNew && field("embedded in others", isEmbedded),
    field(isNew ? "first property" : "name", name), field("type", type), targetLine, field("holds", collection),
    field("may be null", isNullable), field("indexed", isIndexed), isNew && field("primary key", isKey), outcome,
    h("div", { class: "buttons" }, h("button", { type: "button", text: "Cancel", onclick: () => box.close() }), change));
  const box = h("dialog", { class: "card", "aria-label": title, onclose: () => box.remove() }, form);
  change.addEventListener("click", async () => {
    change.disabled = true;
    try {
      done(await call("migrate", request()), request().class);
      box.close();
    } catch (error) {
      // Outside of the dialog nothing can be read now.
      if (error.kind === "locked") {
        box.close();
        return failed(error);
      }
      await preview();
      outcome.append(h("p", { class: "wrong", role: "alert", text: error.message }));
    }
  });
  document.body.append(box);
  box.showModal();
  update();
}
