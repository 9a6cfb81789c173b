// What the table shows as a file: pieces of text from the studio, put together and saved by the browser.

import { h, plural, toast } from "./dom.js";
import { call } from "./api.js";

const PIECE = 1000;
const ATTEMPTS = 3;

export async function exportView(view, format) {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const parts = await pieces(view, format);
    // A commit in between would mix two states.
    if (parts === null) continue;
    const name = `${view.class}.${format}`;
    const type = format === "csv" ? "text/csv" : "application/json";
    const address = URL.createObjectURL(new Blob(parts.texts, { type }));
    const link = h("a", { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
    toast(`${plural(parts.total, "object")} in ${name}`);
    return;
  }
  throw new Error("the file is changed again and again; nothing was exported");
}

/// All of one version; null if there was another before the end.
async function pieces(view, format) {
  const texts = format === "json" ? ["[\n"] : [];
  let from = 0, version = null, total = 0;
  do {
    const answer = await call("export", { ...view, format, from, count: PIECE });
    version ??= answer.version;
    if (answer.version !== version) return null;
    texts.push(answer.text);
    total = answer.total;
    from += answer.count;
    if (answer.count === 0) break;
  } while (from < total);
  if (format === "json") texts.push("\n]\n");
  return { texts, total };
}
