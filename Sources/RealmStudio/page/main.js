// The page: which file, class and object are shown, and what is done when something else is chosen or the file
// changes.

import { $, h, count, plural, milliseconds, redrawn, toast, icon, ICONS } from "./dom.js";
import { call } from "./api.js";
import { Table, columnsOf } from "./table.js";
import { QueryBox, narrowed } from "./query.js";
import { Detail } from "./detail.js";
import { Editor } from "./edit.js";
import { exportView } from "./export.js";
import { fileMap, linkGraph, histogram } from "./pictures.js";
import { askForProperty } from "./schema.js";

const state = {
  file: 0, files: [], readOnly: false, classes: [], className: null, query: "", sort: null, version: 0,
  /// The query and the order of what the table shows.
  found: null,
  /// Goes up with each file that is shown: answers for one before are not for this page any more.
  visit: 0,
};

const failed = (error) => {
  if (error.kind === "locked") return askForKey(error);
  toast(error.message, true);
};

// -- The parts --------------------------------------------------------------------------------------

const view = () => ({
  file: state.file, class: state.className, query: state.query, sort: state.sort?.name, descending: state.sort?.descending ?? false,
});

const table = new Table($("grid"), {
  rows: (from, count) => call("rows", { ...view(), from, count }),
}, {
  open: (key, property, edits, focuses) => {
    table.select(key);
    detail.show(state.className, key, { property, edits, focuses }).catch(failed);
  },
  follow: (className, key) => detail.show(className, key, { focuses: true }).catch(failed),
  sort: (name) => {
    const isSame = state.sort?.name === name;
    state.sort = isSame && state.sort.descending ? null : { name, descending: isSame };
    show();
  },
  remove: (key) => { if (editor) editor.remove(state.className, key).catch(failed); },
  failed,
});

const detail = new Detail($("detail"), {
  file: () => state.file,
  classes: () => state.classes,
  closed: () => {
    table.select(null);
    $("grid").focus();
  },
  failed,
  get editor() { return editor; },
});

/// Null where nothing can be changed.
let editor = null;

function makeEditor() {
  editor = new Editor({
    file: () => state.file,
    classes: () => state.classes,
    changed: async (answer) => {
      if (answer) editor.showHistory(answer);
      await update();
    },
    created: (className, key) => detail.show(className, key, { focuses: true }).catch(failed),
    removed: (key) => { if (detail.current?.key === key) detail.close(); },
    failed,
  });
  $("history").hidden = false;
  $("grid").removeAttribute("aria-readonly");
}

const box = new QueryBox($("query"), $("completion"), $("problem"), {
  run: (text) => {
    state.query = text;
    show();
  },
  schema: () => state.classes,
  className: () => state.className,
});

/// Tells later whether the page still asks for the table that it asks for now.
function asking() {
  const visit = state.visit, asked = JSON.stringify(view());
  return () => visit === state.visit && asked === JSON.stringify(view());
}

// -- A file -----------------------------------------------------------------------------------------

async function start() {
  const answer = await call("files");
  state.files = answer.files;
  state.readOnly = answer.readOnly;
  $("readonly").hidden = !state.readOnly;
  if (!state.readOnly) makeEditor();
  $("files").replaceChildren(...state.files.map((path, index) => h("button", {
    role: "tab", title: path, text: path.split("/").at(-1), onclick: () => choose(index),
  })));
  await choose(0);
}

async function choose(index) {
  state.file = index;
  state.visit += 1;
  document.title = `${state.files[index].split("/").at(-1)} · realm studio`;
  for (const [place, tab] of [...$("files").children].entries()) tab.setAttribute("aria-selected", place === index);
  if (detail.isOpen) detail.close();
  state.className = null;
  await open("");
}

/// Opens the file, with a key if it needs one; the key is handed on and forgotten.
async function open(key) {
  const visit = state.visit;
  try {
    const schema = await call("open", { file: state.file, key });
    if (visit !== state.visit) return;
    $("gate").hidden = true;
    $("work").hidden = false;
    take(schema);
    // The class with most objects is what a file is about, more often than not.
    const first = [...state.classes].sort((a, b) => (a.kind === "embedded") - (b.kind === "embedded") || b.count - a.count)[0];
    await chooseClass(state.className ?? first?.name ?? null);
    follow(visit);
  } catch (error) {
    if (visit !== state.visit) return;
    if (error.kind === "locked") return askForKey(error, key !== "");
    showGate(h("div", { class: "card" },
      h("h2", { text: "The file can't be opened" }), h("p", { text: state.files[state.file] }),
      h("p", { class: "wrong", role: "alert", text: error.message }),
      h("div", { class: "buttons" }, h("button", { class: "main", text: "Try again", onclick: () => open("") }))));
  }
}

/// Shows a card in place of the file.
function showGate(card) {
  $("work").hidden = true;
  $("gate").hidden = false;
  $("gate").replaceChildren(card);
}

function askForKey(error, wasGiven = false) {
  const field = h("input", {
    id: "key", type: "password", autocomplete: "off", spellcheck: "false", placeholder: "128 hexadecimal digits",
    "aria-describedby": "key-problem",
  });
  const problem = h("p", { class: "wrong", id: "key-problem", role: "alert", text: wasGiven ? error.message : "" });
  const choice = h("input", { type: "file", "aria-label": "Key file", hidden: true });
  const give = () => {
    const key = field.value.trim();
    field.value = "";
    open(key);
  };
  choice.addEventListener("change", async () => {
    const content = new Uint8Array(await choice.files[0].slice(0, 65).arrayBuffer());
    choice.value = "";
    if (content.length !== 64) {
      problem.textContent = "A key file has 64 bytes; this one has " + (content.length > 64 ? "more." : `${content.length}.`);
      return;
    }
    open([...content].map((byte) => byte.toString(16).padStart(2, "0")).join(""));
  });
  showGate(h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); give(); } },
    h("h2", { text: "This file is encrypted" }),
    h("p", { text: state.files[state.file] }),
    h("label", { for: "key", text: "Encryption key" }), field, choice, problem,
    h("p", { text: "The key opens the file and is kept nowhere: not in the page, not in the browser, not by the studio." }),
    h("div", { class: "buttons" },
      h("button", { type: "button", text: "From a file …", onclick: () => choice.click() }),
      h("button", { class: "main", type: "submit", text: "Open" }))));
  field.focus();
}

function take(schema) {
  state.classes = schema.classes;
  state.version = schema.version;
  editor?.showHistory(schema);
  $("version").textContent = `version ${count(schema.version)}`;
  drawClasses();
}

function drawClasses() {
  const lines = state.classes.map((one) => h("li", {},
    h("button", {
      "aria-current": one.name === state.className ? "true" : "false", title: `${one.name}: ${plural(one.count, "object")}`,
      onclick: () => chooseClass(one.name),
    },
    h("span", { class: "name", text: one.name }),
    one.kind === "embedded" && h("span", { class: "kind", text: "embedded" }),
    h("span", { class: "count", text: count(one.count) }))));
  if (editor) {
    lines.push(h("li", {}, h("button", { class: "quiet", onclick: () => changeSchema(null) }, icon(ICONS.plus), "New class …")));
  }
  redrawn($("classes"), () => $("classes").replaceChildren(...lines));
}

function changeSchema(className) {
  askForProperty({
    file: state.file, classes: state.classes, className, failed,
    done: (schema, name) => {
      take(schema);
      toast(`The file has schema version ${schema.schemaVersion} now.`);
      chooseClass(name);
    },
  });
}

const currentClass = () => state.classes.find((one) => one.name === state.className);

async function chooseClass(name) {
  chooseView("data");
  state.className = name;
  state.sort = null;
  state.query = "";
  state.found = null;
  closeStrip();
  box.text = "";
  drawClasses();
  drawTools();
  await show();
}

// -- The table --------------------------------------------------------------------------------------

/// Finds what the query and the order say, and shows it from the beginning.
async function show() {
  const class_ = currentClass();
  if (!class_) return;
  const isCurrent = asking();
  $("total").textContent = "…";
  try {
    const found = await call("view", view());
    if (!isCurrent()) return;
    state.found = { query: state.query, sort: state.sort, total: found.total };
    if (box.text === state.query) box.well();
    describe(found);
    table.show(columnsOf(class_.properties), found.total, state.sort);
    drawStrip();
  } catch (error) {
    if (!isCurrent()) return;
    $("total").textContent = state.found ? plural(state.found.total, "object") : "";
    if (error.kind !== "engine" || state.query === "") return failed(error);
    // The table stays as it is, and is what scrolling, export and pictures are about.
    state.query = state.found?.query ?? "";
    state.sort = state.found?.sort ?? null;
    box.wrong(error);
  }
}

function describe(found) {
  $("total").textContent = plural(found.total, "object");
  $("plan-button").hidden = false;
  $("plan-button").textContent = `${milliseconds(found.milliseconds)} · plan`;
  $("plan").textContent = found.plan;
  $("grid").hidden = found.total === 0;
  $("empty").hidden = found.total > 0;
  $("empty").replaceChildren(h("b", { text: state.query ? "No object satisfies the query" : "No objects" }),
    state.query ? "Escape in the query box empties it." : `The class ${state.className} has none yet.`);
}

$("plan-button").addEventListener("click", () => {
  const isShown = $("plan").hidden;
  $("plan").hidden = !isShown;
  $("plan-button").setAttribute("aria-expanded", isShown);
});

// -- What can be done with the table ------------------------------------------------------------------

function drawTools() {
  const choice = h("select", { id: "strip-choice", "aria-label": "Values of a column", class: "plain" },
    h("option", { value: "", text: "Values of …" }),
    (currentClass()?.properties ?? []).filter((one) => one.collection === "none" && one.type !== "linkingObjects")
      .map((one) => h("option", { value: one.name, text: one.name, selected: one.name === strip })));
  choice.addEventListener("change", () => {
    strip = choice.value || null;
    drawStrip();
  });
  const formats = h("select", { "aria-label": "Export", class: "plain" }, h("option", { value: "", text: "Export …" }),
    h("option", { value: "json", text: "JSON" }), h("option", { value: "csv", text: "CSV" }));
  formats.addEventListener("change", () => {
    const format = formats.value;
    formats.value = "";
    if (format) exportView(view(), format).catch(failed);
  });
  $("tools").replaceChildren(choice, formats,
    editor && h("button", { class: "quiet", onclick: () => changeSchema(state.className) }, icon(ICONS.plus), "Property"),
    editor && h("button", { class: "main", id: "new-object", onclick: () => editor.create(currentClass()) }, icon(ICONS.plus), "New object"));
}

/// The property whose values are counted above the table.
let strip = null;

function closeStrip() {
  strip = null;
  if ($("strip-choice")) $("strip-choice").value = "";
  $("strip").hidden = true;
}

async function drawStrip() {
  const property = currentClass()?.properties.find((one) => one.name === strip);
  if (!property) return closeStrip();
  const asked = JSON.stringify([view(), strip]);
  try {
    const parts = await histogram(view(), property, (condition) => {
      state.query = narrowed(state.query, condition);
      box.text = state.query;
      show();
    });
    if (asked !== JSON.stringify([view(), strip])) return;
    const close = h("button", { class: "quiet close", "aria-label": "Close", onclick: closeStrip }, icon(ICONS.close));
    redrawn($("strip"), () => $("strip").replaceChildren(close, ...parts));
    $("strip").hidden = false;
  } catch (error) {
    failed(error);
    closeStrip();
  }
}

// -- Other views --------------------------------------------------------------------------------------

const VIEWS = [
  ["data", "Objects", "M2.5 3.5h11v9h-11zM2.5 6.5h11M6 6.5v6"],
  ["map", "File map", "M2.5 3.5h11v9h-11zM8 3.5v9M8 8h5.5"],
  ["links", "Links", "M5 8h6M3.5 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zM12.5 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z"],
];

$("views").replaceChildren(...VIEWS.map(([name, label, path]) => h("button", {
  role: "tab", id: `view-${name}`, "aria-selected": name === "data" ? "true" : "false", onclick: () => chooseView(name),
}, icon(path), label)));

async function chooseView(name) {
  for (const [other] of VIEWS) $(`view-${other}`).setAttribute("aria-selected", other === name ? "true" : "false");
  $("data").hidden = name !== "data";
  $("other").hidden = name === "data";
  const isAgain = state.view === name;
  state.view = name;
  if (name === "data") return $("other").replaceChildren();
  const visit = state.visit;
  if (!isAgain) $("other").replaceChildren(h("div", { class: "empty", text: "…" }));
  try {
    const picture = name === "map" ? await fileMap(state.file) : await linkGraph(state.file, state.classes, chooseClass);
    if (visit === state.visit && state.view === name) redrawn($("other"), () => $("other").replaceChildren(picture));
  } catch (error) {
    failed(error);
  }
}

// -- Commits of others ------------------------------------------------------------------------------

/// Waits for versions as long as the file is shown.
async function follow(visit) {
  if (state.following === visit) return;
  state.following = visit;
  $("live").classList.add("on");
  while (visit === state.visit) {
    try {
      const { version } = await call("wait", { file: state.file, version: state.version });
      if (visit !== state.visit) return;
      if (version !== state.version) await update();
    } catch (error) {
      if (visit !== state.visit) return;
      $("live").classList.remove("on");
      if (error.kind === "locked") {
        state.following = null;
        return askForKey(error);
      }
      await new Promise((resolve) => setTimeout(resolve, 2000));
      continue;
    }
    $("live").classList.add("on");
  }
}

/// Shows what the file has now.
export async function update() {
  const visit = state.visit;
  const schema = await call("schema", { file: state.file });
  if (visit !== state.visit) return;
  const before = JSON.stringify(currentClass()?.properties);
  take(schema);
  $("live").classList.remove("beat");
  requestAnimationFrame(() => $("live").classList.add("beat"));
  if (state.view === "map" || state.view === "links") chooseView(state.view);
  if (!currentClass()) return chooseClass(state.classes[0]?.name ?? null);
  if (JSON.stringify(currentClass().properties) !== before) {
    if (!currentClass().properties.some((one) => one.name === state.sort?.name)) state.sort = null;
    drawTools();
    detail.refresh();
    return show();
  }
  const isCurrent = asking();
  try {
    const found = await call("view", view());
    if (!isCurrent()) return;
    if (state.found) state.found.total = found.total;
    describe(found);
    table.refresh(found.total);
    detail.refresh();
    drawStrip();
  } catch (error) {
    if (isCurrent()) failed(error);
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName)) {
    event.preventDefault();
    $("query").focus();
  }
});

start().catch((error) => {
  showGate(h("div", { class: "card" },
    h("h2", { text: "The studio does not answer" }), h("p", { class: "wrong", role: "alert", text: error.message })));
});
