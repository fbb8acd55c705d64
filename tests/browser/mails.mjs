// Checks the samples of all mails: mail programs support their HTML and CSS, they are small enough, accessible, and fit
// into phones in both themes. Pictures of all are in `screenshots/mails/`.
//
//     node mails.mjs [--short] <the browser> <the folder of the samples>
//
// Which program supports what is said by the data of caniemail.com. The short form takes no pictures.

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { caniemail } from "caniemail";
import { chromium } from "playwright-core";
import { runAxe } from "./accessibility.mjs";
import { BROWSER_OPTIONS } from "./service.mjs";

const isShort = process.argv.includes("--short");
const [browserPath, samples] = process.argv.slice(2).filter((argument) => argument !== "--short");
const pictures = path.join(path.dirname(fileURLToPath(import.meta.url)), "screenshots", "mails");

const CLIENTS = ["gmail.*", "outlook.*", "apple-mail.*"];

/** Gmail cuts mails of more than 102 kB; with its encoding, a part of this size stays below it. */
const MAX_BYTES = 60_000;

const WIDTHS = [390, 700];

/** What some program supports only in part or not at all, and why mails use it all the same. Each must be in use. */
const ACCEPTED = {
  // Without them a mail is in the light theme and in the order of its texts, and looks plainer.
  "<style> element": "the dark theme, and the margins of people's texts: everything else is inline",
  "@media": "the dark theme: without it a program shows the light one, or its own inversion",
  "Class selector": "the dark theme",
  "Descendant combinator": "the margins of people's texts",
  "Type selector": "the margins of people's texts",
  "color-scheme meta tag": "tells Apple Mail that there is a dark theme; others ignore it",
  "border-radius": "corners are square in Outlook for Windows",
  "max-width": "Outlook for Windows gets a table of 560 px in a conditional comment",
  "white-space": "long lines of code break; without it they are one line, as in a text",
  "role attribute": "tells screen readers that a table is for layout; one program removes it",
  // Only uses that these mails do not have are unsupported.
  "<body> element": "becomes a div: its colour is on a table, too",
  "<ul>, <ol> and <dl>": "people's lists are neither reversed nor numbered by hand",
  "align attribute": "only `center`, which works",
  "background": "only colours",
  "border": "of 1 px, on cells; on quotations one that may be missing",
  "dir attribute": "of cells and blocks, not of links; Gmail's mobile web page decides itself",
  "display": "only `inline-block` of buttons, whose cell has the colour and the padding as well",
  "font-size": "in px",
  "font-weight": "only `bold` and `normal`",
  "height attribute": "in px, of the logo",
  "height property": "of the logo and `auto`, not of blocks",
  "line-height": "in px, never smaller than the text",
  "margin": "positive, between blocks; the colour behind them is the same",
  "padding": "of cells; of a link it is repeated for Outlook by `mso-padding-alt`",
  "text-decoration": "only `none`",
  "width attribute": "in px, or of tables",
  "width property": "of the cover and of pictures, which have an attribute, too",
};

const failures = [];
const used = new Set();

/** Checks what mail programs support. */
function checkSupport(name, html) {
  const { issues } = caniemail({ clients: CLIENTS, html });
  for (const found of [issues.errors, issues.warnings]) {
    for (const [client, features] of found) {
      for (const { title, notes } of features) {
        used.add(title);
        if (!ACCEPTED[title]) failures.push(`${name}: ${title} in ${client}: ${notes.join(" ") || "not supported"}`);
      }
    }
  }
}

/** Shows a sample with pictures of one size in place of all, and returns what it asked for. */
async function show(page, html) {
  const asked = [];
  await page.unrouteAll();
  await page.route("**/*", (route) => {
    asked.push(route.request().url());
    const box = '<svg xmlns="http://www.w3.org/2000/svg" width="1120" height="480"><rect width="1120" height="480" fill="#7a8b99"/></svg>';
    return route.fulfill({ contentType: "image/svg+xml", body: box });
  });
  await page.setContent(html, { waitUntil: "load" });
  return asked;
}

async function checkLook(page, { name, html, theme, width }) {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: theme });
  const asked = await show(page, html);
  const what = `${name}, ${theme}, ${width} px`;
  const own = (url) => url.startsWith("https://lumen.example.com/");
  failures.push(...asked.filter((url) => !own(url)).map((url) => `${what}: asks for ${url}`));
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (overflow > 0) failures.push(`${what}: ${overflow} px too wide`);
  const { violations, undecided } = await runAxe(page);
  failures.push(...violations.concat(undecided).map((text) => `${what}: axe: ${text}`));
  if (isShort) return;
  const file = path.join(pictures, `${name.replace("/", ".")}.${theme}.${width}.png`);
  await page.screenshot({ path: file, fullPage: true });
}

const names = fs.readdirSync(samples).flatMap((language) =>
  fs.readdirSync(path.join(samples, language)).filter((file) => file.endsWith(".html")).map((file) => `${language}/${file}`));
fs.rmSync(pictures, { recursive: true, force: true });
fs.mkdirSync(pictures, { recursive: true });
const browser = await chromium.launch({ executablePath: browserPath, args: BROWSER_OPTIONS });
try {
  const page = await browser.newPage();
  for (const sample of names) {
    const html = fs.readFileSync(path.join(samples, sample), "utf8");
    const name = sample.replace(/\.html$/, "");
    if (Buffer.byteLength(html) > MAX_BYTES) failures.push(`${name}: ${Buffer.byteLength(html)} bytes`);
    checkSupport(name, html);
    for (const theme of ["light", "dark"]) {
      for (const width of WIDTHS) await checkLook(page, { name, html, theme, width });
    }
  }
} finally {
  await browser.close();
}
for (const title of Object.keys(ACCEPTED)) if (!used.has(title)) failures.push(`${title} is accepted and not in use`);
for (const failure of new Set(failures)) console.error(failure);
console.log(`${names.length} samples of mails, ${new Set(failures).size} findings`);
process.exit(failures.length || !names.length ? 1 : 0);
