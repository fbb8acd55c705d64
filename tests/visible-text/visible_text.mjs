// Writes the lines of text that a browser shows for fragments of HTML.
//
//     node visible_text.mjs fragments.json generated.json --out visible.json
//
// An input is an array of objects with `source`, `name` and `html`. The output has these and `lines`:
// the element's innerText, split at line breaks, with each run of white space made one space, without
// empty lines. The text of one line may still come from several cells of a table. A picture counts as what it
// becomes: its alternative text, or its URL if it has no `alt`. One of a pixel or inside of a mail is nothing.
//
// Needs an installed Chromium or Chrome, and the package playwright-core where Node.js finds it from this file.

import fs from "node:fs";
import path from "node:path";
import { chromium } from "playwright-core";

/** Names of the browser's program in different distributions. */
const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Characters that cannot be told apart in a diff. They are written as escapes. */
const UNSEEN = /[\u007f-\u00a0\u00ad\u034f\u061c\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/g;

/** Writes an array with one object a line and with sorted keys. */
function write(file, items) {
  const sorted = (item) => Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)));
  const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const line = (item) => JSON.stringify(sorted(item)).replace(UNSEEN, escaped);
  fs.writeFileSync(file, `[\n${items.map(line).join(",\n")}\n]\n`);
}

/** Splits a text into lines that have visible characters. */
function linesOf(text) {
  // The property is what char::is_whitespace of Rust tests. `\s` and trim() take the byte order mark too.
  return text.split("\n").map((line) => line.replace(/\p{White_Space}+/gu, " ").replace(/^ | $/g, "")).filter(Boolean);
}

function findBrowser() {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const found = BROWSERS.flatMap((name) => folders.map((folder) => path.join(folder, name))).find((file) => fs.existsSync(file));
  if (!found) throw new Error("install Chromium or Chrome");
  return found;
}

function readArguments(args) {
  const at = args.indexOf("--out");
  if (at < 0 || !args[at + 1]) throw new Error("usage: node visible_text.mjs <in.json>… --out <visible.json>");
  const inputs = args.filter((_, index) => index !== at && index !== at + 1);
  if (!inputs.length) throw new Error("no input");
  return { inputs, output: args[at + 1] };
}

/** Reads the fragments of all files. A name may be there once for each source. */
function readFragments(files) {
  const fragments = files.flatMap((file) => JSON.parse(fs.readFileSync(file, "utf8")));
  const seen = new Set();
  for (const { source, name, html } of fragments) {
    if (!source || !name || !html) throw new Error(`${source} ${name}: a part is missing`);
    const key = `${source}/${name}`;
    if (seen.has(key)) throw new Error(`${key} is there twice`);
    seen.add(key);
  }
  return fragments.map(({ source, name, html }) => ({ source, name, html }));
}

const { inputs, output } = readArguments(process.argv.slice(2));
const fragments = readFragments(inputs);
const browser = await chromium.launch({ executablePath: findBrowser(), args: ["--no-sandbox", "--disable-gpu"] });
try {
  // What the fragments ask for is not loaded, and nothing in them runs.
  const context = await browser.newContext({ javaScriptEnabled: false, offline: true, viewport: { width: 1280, height: 800 } });
  await context.route("**/*", (route) => route.abort());
  const page = await context.newPage();
  // The doctype matters: without it, a table does not end a paragraph.
  await page.setContent("<!DOCTYPE html><html lang=en><head><meta charset=utf-8></head><body></body></html>");
  const texts = await page.evaluate((list) => list.map((html) => {
    const element = document.createElement("div");
    document.body.replaceChildren(element);
    // Without an element, a text is plain: its line breaks stay.
    if (!/<[a-z/]/i.test(html)) element.style.whiteSpace = "pre-wrap";
    element.innerHTML = html;
    for (const image of element.querySelectorAll("img")) {
      const source = image.getAttribute("src") ?? "";
      const size = ["width", "height"].map((name) => image.getAttribute(name)?.trim());
      const isOnline = /^https?:/.test(source);
      const isUnseen = size.some((length) => length === "0" || length === "1") || (/^[a-z]+:/.test(source) && !isOnline);
      const text = image.getAttribute("alt")?.trim() ?? (isOnline ? source : "");
      image.replaceWith(isUnseen ? "" : text);
    }
    return element.innerText;
  }), fragments.map(({ html }) => html));
  write(output, fragments.map((fragment, index) => ({ ...fragment, lines: linesOf(texts[index]) })));
  console.log(`${fragments.length} fragments, ${browser.version()}`);
} finally {
  await browser.close();
}
