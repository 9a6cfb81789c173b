// A table of any number of rows, of which those are there that are seen. The pane with the rows stands still
// while the area behind it scrolls; which rows it shows follows from how far that is. Rows come in pages of
// a hundred, fetched as they are needed, kept while they are near.
//
// Browsers have no elements higher than some 30 million pixels: beyond, the area scrolls on a smaller scale, and
// the wheel moves row by row nevertheless.

import { h } from "./dom.js";
import { fillCell, isNumber, textOf } from "./values.js";

const ROW = 31;
const HEAD = 44;
const PAGE = 100;
const PAGES_KEPT = 40;
const HEIGHT_MAX = 16_000_000;

export class Table {
  /// `source`: rows(from, count) → {total, rows, version}; `on`: open(key, column), sort(name), select(row).
  constructor(grid, source, on) {
    this.grid = grid;
    this.source = source;
    this.on = on;
    this.head = h("div", { class: "head", role: "row", "aria-rowindex": "1" });
    this.rows = h("div", { class: "rows", role: "rowgroup" });
    this.pane = h("div", { class: "pane", role: "presentation" },
      h("div", { role: "rowgroup" }, this.head), this.rows);
    this.sizer = h("div", { class: "sizer", role: "presentation" }, this.pane);
    grid.replaceChildren(this.sizer);
    this.pool = [];
    this.active = { row: 0, column: 0 };
    this.columns = [];
    this.clear();
    grid.addEventListener("scroll", () => this.scrolled());
    grid.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    grid.addEventListener("keydown", (event) => this.pressed(event));
    grid.addEventListener("focus", () => this.draw());
    grid.addEventListener("blur", () => this.draw());
    this.rows.addEventListener("click", (event) => this.clicked(event));
    this.rows.addEventListener("dblclick", (event) => this.clicked(event, true));
    new ResizeObserver(() => this.measure()).observe(grid);
  }

  clear() {
    this.total = 0;
    this.first = 0;
    this.pages = new Map();
    this.stale = new Map();
    this.asked = new Map();
    this.generation = (this.generation ?? 0) + 1;
    this.selectedKey = null;
    this.old = new Map();
  }

  // -- What is shown --------------------------------------------------------------------------------

  /// Shows another view from its beginning.
  show(columns, total, sort) {
    const same = JSON.stringify(columns) === JSON.stringify(this.columns);
    // Who orders by the keyboard stands on the head of a column, and may turn the order round from there.
    const isAtHead = same && this.total > 0 && this.active.row === -1;
    this.clear();
    this.total = total;
    this.columns = columns;
    this.sort = sort;
    if (!same) {
      this.widths = columns.map(headWidth);
      this.isFitted = false;
      this.rows.replaceChildren();
      this.pool = [];
      this.active.column = 0;
      this.grid.scrollLeft = 0;
    }
    this.active.row = total === 0 || isAtHead ? -1 : 0;
    this.drawHead();
    this.grid.setAttribute("aria-colcount", columns.length);
    this.grid.scrollTop = 0;
    this.measure();
    // At once: a click before the next frame would fall on a row of the view before.
    this.drawNow();
  }

  /// Something was committed: what is seen is fetched again, cells that differ light up.
  refresh(total) {
    this.total = total;
    // They stay to be seen until the new ones are there; of those that were left long ago, the last.
    const seen = new Map([...this.stale, ...this.pages]);
    this.stale = new Map([...seen].slice(-PAGES_KEPT));
    this.old = new Map([...this.stale.values()].flat().map((row) => [row[0], row]));
    this.pages = new Map();
    this.asked = new Map();
    this.generation += 1;
    this.active.row = Math.min(this.active.row, total - 1);
    this.measure();
  }

  select(key) {
    this.selectedKey = key;
    this.draw();
  }

  reveal(row) {
    if (row < this.first + 1 || row > this.first + this.visible() - 2) {
      this.moveTo(Math.max(0, row - Math.floor(this.visible() / 3)));
    }
    this.active.row = row;
    this.draw();
  }

  rowAt(index) {
    const page = Math.floor(index / PAGE);
    return (this.pages.get(page) ?? this.stale.get(page))?.[index % PAGE];
  }

  drawHead() {
    this.head.replaceChildren(...this.columns.map((column, index) => {
      const isSorted = this.sort?.name === column.name;
      const direction = !isSorted ? "none" : this.sort.descending ? "descending" : "ascending";
      const cell = h("div", {
        class: "cell" + (column.isNumber ? " number" : ""), role: "columnheader", id: `column-${index}`,
        "aria-colindex": index + 1, "aria-sort": direction, title: `${column.name}: ${column.description}`,
        onclick: () => column.canSort && this.on.sort(column.name),
      },
      h("span", { class: "name" },
        column.isKey && h("span", { class: "keymark", title: "primary key", text: "●" }),
        h("span", { class: "label", text: column.name }),
        isSorted && h("span", { class: "arrow", "aria-hidden": "true", text: this.sort.descending ? "↓" : "↑" })),
      h("span", { class: "type", text: column.description }));
      cell.style.width = `${this.widths[index]}px`;
      cell.append(this.handle(index, cell));
      return cell;
    }));
  }

  /// The right edge of a column, by which it becomes wider.
  handle(index, cell) {
    const grip = h("span", { class: "grip", "aria-hidden": "true", onclick: (event) => event.stopPropagation() });
    grip.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      grip.setPointerCapture(event.pointerId);
      const start = event.clientX - this.widths[index];
      const move = (next) => {
        this.widths[index] = Math.max(56, Math.min(900, next.clientX - start));
        cell.style.width = `${this.widths[index]}px`;
        for (const line of this.pool) line.cells[index].style.width = cell.style.width;
        this.measure();
      };
      grip.addEventListener("pointermove", move);
      grip.addEventListener("pointerup", () => grip.removeEventListener("pointermove", move), { once: true });
    });
    return grip;
  }

  /// Columns as wide as what they have on the first page, within reason.
  fit(rows) {
    this.isFitted = true;
    this.widths = this.columns.map((column, index) => {
      const texts = rows.map((row) => textOf(row[index + 1]));
      const longest = Math.max(0, ...texts.map((text) => Math.min(48, text.length)));
      const isCollection = rows.some((row) => Array.isArray(row[index + 1]) && row[index + 1].length === 3);
      return Math.round(Math.max(headWidth(column), Math.min(340, longest * 7.3 + 28 + (isCollection ? 34 : 0))));
    });
    this.drawHead();
    for (const line of this.pool) line.cells.forEach((cell, index) => { cell.style.width = `${this.widths[index]}px`; });
    this.measure();
  }

  // -- Where it stands ------------------------------------------------------------------------------

  visible() {
    return Math.max(1, (this.grid.clientHeight - HEAD) / ROW);
  }

  measure() {
    const width = this.widths?.reduce((sum, one) => sum + one, 0) ?? 0;
    this.height = Math.min(HEAD + this.total * ROW, HEIGHT_MAX);
    this.isScaled = HEAD + this.total * ROW > HEIGHT_MAX;
    this.sizer.style.height = `${Math.max(this.height, this.grid.clientHeight)}px`;
    this.sizer.style.width = `${width}px`;
    this.pane.style.height = `${this.grid.clientHeight}px`;
    this.grid.setAttribute("aria-rowcount", this.total + 1);
    this.first = Math.max(0, Math.min(this.first, this.total - this.visible()));
    this.draw();
  }

  lastFirst() {
    return Math.max(0, this.total - this.visible());
  }

  scrolled() {
    if (this.isScaled) {
      // Of this table's own doing: the place is known better than the area has it.
      if (Math.abs(this.grid.scrollTop - this.setTop) < 2) return this.draw();
      const range = this.height - this.grid.clientHeight;
      this.first = (this.grid.scrollTop / range) * this.lastFirst();
    } else {
      this.first = this.grid.scrollTop / ROW;
    }
    this.draw();
  }

  wheeled(event) {
    if (!this.isScaled || event.ctrlKey || event.deltaY === 0) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? event.deltaY : event.deltaMode === 2 ? event.deltaY * this.visible()
      : event.deltaY / ROW;
    this.moveTo(this.first + lines);
    this.grid.scrollLeft += event.deltaX;
  }

  moveTo(row) {
    this.first = Math.max(0, Math.min(row, this.lastFirst()));
    this.setTop = this.isScaled
      ? (this.first / this.lastFirst()) * (this.height - this.grid.clientHeight) : this.first * ROW;
    this.grid.scrollTop = this.setTop;
    this.draw();
  }

  // -- Drawing --------------------------------------------------------------------------------------

  draw() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.drawNow();
    });
  }

  line() {
    const cells = this.columns.map((column, index) => {
      const cell = h("div", { class: "cell", role: "gridcell", "aria-colindex": index + 1 });
      cell.style.width = `${this.widths[index]}px`;
      return cell;
    });
    const element = h("div", { class: "row", role: "row" }, cells);
    this.rows.append(element);
    return { element, cells, shown: null, texts: [] };
  }

  drawNow() {
    const start = Math.floor(this.first);
    const end = Math.min(this.total, Math.ceil(this.first + this.visible()) + 1);
    this.rows.style.transform = `translateY(${-(this.first - start) * ROW}px)`;
    while (this.pool.length < end - start) this.pool.push(this.line());
    let activeCell = null;
    const hasFocus = document.activeElement === this.grid;
    this.pool.forEach((line, offset) => {
      const index = start + offset;
      line.element.hidden = index >= end;
      if (index >= end) return;
      const row = this.rowAt(index);
      line.element.setAttribute("aria-rowindex", index + 2);
      line.index = index;
      if (line.shown !== row || row === undefined) this.fill(line, row, index);
      line.element.classList.toggle("selected", row !== undefined && row[0] === this.selectedKey);
      if (row !== undefined) line.element.setAttribute("aria-selected", row[0] === this.selectedKey);
      line.cells.forEach((cell, column) => {
        const isActive = index === this.active.row && column === this.active.column;
        cell.classList.toggle("active", isActive && hasFocus);
        if (isActive) {
          cell.id = "active-cell";
          activeCell = cell;
        } else if (cell.id) {
          cell.removeAttribute("id");
        }
      });
    });
    for (const [index, cell] of [...this.head.children].entries()) {
      cell.classList.toggle("active", hasFocus && this.active.row === -1 && this.active.column === index);
    }
    const pointed = this.active.row === -1 ? `column-${this.active.column}` : activeCell ? "active-cell" : null;
    if (pointed) this.grid.setAttribute("aria-activedescendant", pointed);
    else this.grid.removeAttribute("aria-activedescendant");
    this.fetchPages(start, end);
  }

  fill(line, row, index) {
    line.shown = row;
    line.element.classList.toggle("waiting", row === undefined);
    if (row === undefined) {
      // What stood there last is another row's; better nothing for a moment.
      for (const cell of line.cells) {
        cell.className = "cell";
        cell.textContent = "";
      }
      line.texts = [];
      return;
    }
    const before = this.old.get(row[0]);
    line.cells.forEach((cell, column) => {
      const value = JSON.stringify(row[column + 1]);
      // What is the same stays as it is, with what is selected in it and points to it.
      if (line.texts[column] !== value) {
        line.texts[column] = value;
        fillCell(cell, row[column + 1]);
        if (this.columns[column].isNumber) cell.classList.add("number");
      } else {
        cell.classList.remove("changed");
      }
      if (before && JSON.stringify(before[column + 1]) !== value) cell.classList.add("changed");
    });
  }

  // -- Fetching -------------------------------------------------------------------------------------

  fetchPages(start, end) {
    if (this.total === 0) return;
    const needed = [];
    for (let page = Math.floor(start / PAGE); page <= Math.floor(Math.max(start, end - 1) / PAGE); page += 1) {
      if (!this.pages.has(page) && !this.asked.has(page)) needed.push(page);
    }
    if (needed.length === 0) return;
    // While somebody drags through a million rows only where they stop is fetched.
    clearTimeout(this.timer);
    const wait = this.asked.size > 2 ? 60 : 0;
    this.timer = setTimeout(() => { for (const page of needed) this.fetchPage(page); }, wait);
  }

  async fetchPage(page) {
    if (this.pages.has(page) || this.asked.has(page)) return;
    const generation = this.generation;
    this.asked.set(page, true);
    try {
      const answer = await this.source.rows(page * PAGE, PAGE);
      if (generation !== this.generation) return;
      this.asked.delete(page);
      this.pages.set(page, answer.rows);
      this.stale.delete(page);
      if (this.pages.size > PAGES_KEPT) this.pages.delete(this.pages.keys().next().value);
      if (!this.isFitted) this.fit(answer.rows);
      if (answer.total !== this.total) {
        this.total = answer.total;
        this.measure();
      }
      this.draw();
    } catch (error) {
      if (generation !== this.generation) return;
      // Asked again when it is drawn again, not at once.
      setTimeout(() => this.asked.delete(page), 1000);
      this.on.failed(error);
    }
  }

  // -- Hands ----------------------------------------------------------------------------------------

  clicked(event, isDouble = false) {
    const line = this.pool.find((one) => one.element.contains(event.target));
    if (!line || line.shown === undefined) return;
    const column = line.cells.findIndex((cell) => cell.contains(event.target));
    this.active = { row: line.index, column: Math.max(0, column) };
    this.draw();
    const value = line.shown[column + 1];
    if (!isDouble && event.target.classList.contains("link") && Array.isArray(value)) {
      return this.on.follow(value[2], value[3]);
    }
    this.on.open(line.shown[0], this.columns[column]?.name, isDouble);
  }

  pressed(event) {
    if (event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.visible()) - 1);
    const last = this.total - 1;
    let { row, column } = this.active;
    switch (event.key) {
      case "ArrowDown": row = Math.min(last, row + 1); break;
      case "ArrowUp": row = Math.max(-1, row - 1); break;
      case "PageDown": row = Math.min(last, row + page); break;
      case "PageUp": row = Math.max(0, row - page); break;
      case "ArrowRight": column = Math.min(this.columns.length - 1, column + 1); break;
      case "ArrowLeft": column = Math.max(0, column - 1); break;
      case "Home": event.ctrlKey ? (row = 0) : (column = 0); break;
      case "End": event.ctrlKey ? (row = last) : (column = this.columns.length - 1); break;
      case "Enter": case "F2": case " ": case "Delete": {
        event.preventDefault();
        if (row === -1) {
          const name = this.columns[column];
          if (name?.canSort) this.on.sort(name.name);
          return;
        }
        const shown = this.rowAt(row);
        if (shown === undefined) return;
        if (event.key === "Delete") this.on.remove(shown[0]);
        else this.on.open(shown[0], this.columns[column].name, event.key === "F2", true);
        return;
      }
      default: return;
    }
    event.preventDefault();
    this.active = { row, column };
    if (row >= 0) {
      if (row < this.first) this.moveTo(row);
      else if (row > this.first + this.visible() - 1) this.moveTo(row - this.visible() + 1);
    }
    this.intoView(column);
    this.draw();
  }

  intoView(column) {
    const left = this.widths.slice(0, column).reduce((sum, one) => sum + one, 0);
    const right = left + this.widths[column];
    if (left < this.grid.scrollLeft) this.grid.scrollLeft = left;
    else if (right > this.grid.scrollLeft + this.grid.clientWidth) {
      this.grid.scrollLeft = right - this.grid.clientWidth;
    }
  }
}

const headWidth = (column) =>
  Math.round(Math.min(260, Math.max(column.name.length * 8.2, column.description.length * 6.2) + (column.isKey ? 50 : 38)));

export function columnsOf(properties) {
  return properties.map((property) => ({
    name: property.name,
    type: property.type,
    collection: property.collection,
    description: property.description,
    isKey: property.primaryKey,
    isNumber: property.collection === "none" && isNumber(property.type === "decimal128" ? "decimal" : property.type),
    canSort: property.collection === "none" && !["object", "linkingObjects", "binary"].includes(property.type),
  }));
}
