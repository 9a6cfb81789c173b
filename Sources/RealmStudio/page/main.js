// The page: which file, class and object are shown, and what is done when something else is chosen or the file
// changes.

import { $, h, count, plural, milliseconds, toast } from "./dom.js";
import { call } from "./api.js";
import { Table, columnsOf } from "./table.js";
import { QueryBox } from "./query.js";
import { Detail } from "./detail.js";

const state = {
  file: 0, files: [], readOnly: false, classes: [], className: null, query: "", sort: null, version: 0,
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
  remove: () => {},
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
  editor: null,
});

const box = new QueryBox($("query"), $("completion"), $("problem"), {
  run: (text) => {
    state.query = text;
    show();
  },
  schema: () => state.classes,
  className: () => state.className,
});

// -- A file -----------------------------------------------------------------------------------------

async function start() {
  const answer = await call("files");
  state.files = answer.files;
  state.readOnly = answer.readOnly;
  $("readonly").hidden = !state.readOnly;
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
    $("work").hidden = true;
    $("gate").hidden = false;
    $("gate").replaceChildren(h("div", { class: "card" },
      h("h1", { text: "The file can't be opened" }), h("p", { text: state.files[state.file] }),
      h("p", { class: "wrong", role: "alert", text: error.message }),
      h("div", { class: "buttons" }, h("button", { class: "main", text: "Try again", onclick: () => open("") }))));
  }
}

function askForKey(error, wasGiven = false) {
  $("work").hidden = true;
  $("gate").hidden = false;
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
  $("gate").replaceChildren(h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); give(); } },
    h("h1", { text: "This file is encrypted" }),
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
  $("version").textContent = `version ${count(schema.version)}`;
  drawClasses();
}

function drawClasses() {
  $("classes").replaceChildren(...state.classes.map((one) => h("li", {},
    h("button", {
      "aria-current": one.name === state.className ? "true" : "false", title: `${one.name}: ${plural(one.count, "object")}`,
      onclick: () => chooseClass(one.name),
    },
    h("span", { class: "name", text: one.name }),
    one.kind === "embedded" && h("span", { class: "kind", text: "embedded" }),
    h("span", { class: "count", text: count(one.count) })))));
}

const currentClass = () => state.classes.find((one) => one.name === state.className);

async function chooseClass(name) {
  state.className = name;
  state.sort = null;
  state.query = "";
  box.text = "";
  drawClasses();
  await show();
}

// -- The table --------------------------------------------------------------------------------------

/// Finds what the query and the order say, and shows it from the beginning.
async function show() {
  const class_ = currentClass();
  if (!class_) return;
  const visit = state.visit;
  const asked = JSON.stringify(view());
  $("total").textContent = "…";
  try {
    const found = await call("view", view());
    if (visit !== state.visit || asked !== JSON.stringify(view())) return;
    box.well();
    describe(found);
    table.show(columnsOf(class_.properties), found.total, state.sort);
  } catch (error) {
    if (visit !== state.visit || asked !== JSON.stringify(view())) return;
    $("total").textContent = "";
    $("plan-button").hidden = true;
    $("plan").hidden = true;
    if (error.kind === "engine" && state.query !== "") return box.wrong(error);
    failed(error);
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
  if (!currentClass()) return chooseClass(state.classes[0]?.name ?? null);
  if (JSON.stringify(currentClass().properties) !== before) return show();
  try {
    const found = await call("view", view());
    if (visit !== state.visit) return;
    describe(found);
    table.refresh(found.total);
    detail.refresh();
  } catch (error) {
    if (state.query === "") failed(error);
  }
}

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName)) {
    event.preventDefault();
    $("query").focus();
  }
});

start().catch((error) => {
  $("gate").hidden = false;
  $("gate").replaceChildren(h("div", { class: "card" },
    h("h1", { text: "The studio does not answer" }), h("p", { class: "wrong", role: "alert", text: error.message })));
});
