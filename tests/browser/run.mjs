// Opens hostile files, comments and mails of a running service in a real browser. Fails when any of
// them runs a script or requests a foreign URL.
//
//     node run.mjs <the binary roadmap> <the browser>

import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { files } from "./files.mjs";

const [binary, browserPath] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const payloads = JSON.parse(fs.readFileSync(path.join(here, "payloads.json"), "utf8"));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "roadmap-browser-"));
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ROADMAP_")));
const failures = [];

/** Milliseconds for timers after a page has loaded, in which a forbidden script could run. */
const MOMENT = 50;

/** Number of parallel pages: they mostly wait. */
const PAGES = 4;

function roadmap(...words) {
  const output = execFileSync(binary, [...words, "--data-dir", folder, "--json"], { env: environment });
  return JSON.parse(output.toString());
}

/** Sends a request to the service. Browsers resolve `*.localhost` to this machine, Node does not. */
function send(port, method, target, headers, body) {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method, path: target, headers: { Host: `acme.localhost:${port}`, ...headers } };
    const request = http.request(options, (response) => {
      const pieces = [];
      response.on("data", (piece) => pieces.push(piece));
      response.on("end", () => resolve({ status: response.statusCode, body: Buffer.concat(pieces) }));
    });
    request.on("error", reject);
    request.end(body);
  });
}

async function start() {
  roadmap("workspace", "create", "acme", "--product-name", "Acme", "--website-url", "https://acme.example");
  const { key } = roadmap("api-key", "create", "--workspace", "acme", "--name", "browser");
  // All requests come from one browser, and one voter gets a mail about each comment.
  const limits = ["RATE_LIMIT", "RATE_LIMIT_WORKSPACE", "RATE_LIMIT_ANONYMOUS", "MAIL_PER_ADDRESS"];
  const unlimited = { ...environment, ...Object.fromEntries(limits.map((name) => [`ROADMAP_${name}`, "off"])) };
  const server = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--data-dir", folder, "--log", "warn"], { env: unlimited });
  const line = await new Promise((resolve, reject) => {
    server.stdout.once("data", (text) => resolve(text.toString()));
    server.once("exit", () => reject(new Error("the service ended")));
  });
  const port = Number(line.match(/:(\d+)/)[1]);
  return { server, port, key };
}

async function json(service, method, target, body) {
  const headers = { "X-Api-Key": service.key, "Content-Type": "application/json" };
  const response = await send(service.port, method, `/api/external/v1${target}`, headers, JSON.stringify(body));
  return { status: response.status, body: JSON.parse(response.body.toString()) };
}

async function upload(service, { name, type, body }) {
  const boundary = "----boundary-of-hostile-files";
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`;
  const form = Buffer.concat([Buffer.from(head), Buffer.from(body), Buffer.from(`\r\n--${boundary}--\r\n`)]);
  const headers = { "X-Api-Key": service.key, "Content-Type": `multipart/form-data; boundary=${boundary}` };
  const response = await send(service.port, "POST", "/api/external/v2/attachments", headers, form);
  if (response.status !== 201) throw new Error(`${name}: ${response.status} ${response.body}`);
  return JSON.parse(response.body.toString());
}

/** A page that records the scripts that run in it or in its frames, and its requests. */
class Watched {
  #seen = { ran: [], asked: [] };
  #own = () => false;

  static async open(context) {
    const watched = new Watched();
    const page = (watched.page = await context.newPage());
    await page.addInitScript(() => {
      for (const name of ["alert", "confirm", "prompt", "print", "open", "fetch", "eval"]) {
        window[name] = (...words) => console.debug(`ran ${name}(${words})`);
      }
    });
    page.on("console", (message) => {
      if (message.text().startsWith("ran ")) watched.#seen.ran.push(message.text().slice(4));
    });
    page.on("dialog", (dialog) => {
      watched.#seen.ran.push(`a dialog: ${dialog.message()}`);
      dialog.dismiss().catch(() => {});
    });
    page.on("request", (request) => {
      const url = request.url();
      if (/^(data|blob|about|chrome-error):/.test(url) || watched.#own(url)) return;
      watched.#seen.asked.push(url);
    });
    return watched;
  }

  /** Calls `show` on an empty page and returns the scripts that ran and the requests, except for URLs that `own` allows.
      Late ones are returned by the next look, so that none is lost. */
  async look({ show, own = () => false }) {
    await this.page.goto("about:blank");
    this.#own = own;
    await show(this.page);
    await this.page.waitForTimeout(MOMENT);
    const seen = this.#seen;
    this.#seen = { ran: [], asked: [] };
    return seen;
  }
}

/** Shows HTML without any content security policy, which is the worst case. */
function html(content) {
  const document = `<!DOCTYPE html><meta charset="utf-8"><body>${content}</body>`;
  return (page) => page.setContent(document, { waitUntil: "load" });
}

/** Opens a URL that may be a download instead of a page. */
function address(url) {
  return async (page) => {
    await page.goto(url, { waitUntil: "load" }).catch((error) => {
      if (!/download|ERR_ABORTED|net::/i.test(String(error))) throw error;
    });
  };
}

/** Returns the HTML part of a mail. */
function htmlOf(mail) {
  const text = mail.toString("latin1");
  const boundary = text.match(/boundary="([^"]+)"/)[1];
  const part = text.split(`--${boundary}`).find((part) => /content-type: text\/html/i.test(part));
  const [head, ...rest] = part.replace(/^\r\n/, "").split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  if (/transfer-encoding: base64/i.test(head)) return Buffer.from(body, "base64").toString("utf8");
  if (/transfer-encoding: quoted-printable/i.test(head)) {
    const bytes = body.replace(/=\r\n/g, "").replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
    return Buffer.from(bytes, "latin1").toString("utf8");
  }
  return Buffer.from(body, "latin1").toString("utf8");
}

async function eventually(what, check) {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const found = check();
    if (found) return found;
  }
  throw new Error(`still not so: ${what}`);
}

const service = await start();
const arguments_ = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.localhost, EXCLUDE 127.0.0.1",
];
const browser = await chromium.launch({ executablePath: browserPath, args: arguments_ });
try {
  const context = await browser.newContext({ acceptDownloads: true });
  const looks = [];

  // Control: the checks must detect this script and this request.
  const watched = await Watched.open(context);
  const control = await watched.look({ show: html(`<img src="http://elsewhere.example/x" onerror="alert(1)">`) });
  if (!control.ran.length || !control.asked.length) throw new Error("the control was not noticed");
  await watched.page.close();

  const request = (await json(service, "POST", "/feature_requests", { feature_request: { title: "Hostile" } })).body;
  const id = request.feature_request.id;
  const customer = { email: "ann@example.com" };
  await json(service, "POST", `/feature_requests/${id}/upvotes`, { customer });

  let comments = 0;
  for (const [number, payload] of payloads.entries()) {
    const body = { comment: { content: payload }, notify_all_voters: true };
    const response = await json(service, "POST", `/feature_requests/${id}/comments`, body);
    if (response.status === 422) continue; // Nothing was left after sanitization.
    if (response.status !== 201) throw new Error(`payload ${number}: ${response.status}`);
    comments += 1;
    looks.push({ what: `comment ${number}`, show: html(response.body.comment.content) });
  }

  const mails = path.join(folder, "mail");
  const written = await eventually("all mails are written", () => {
    const names = fs.existsSync(mails) ? fs.readdirSync(mails).filter((name) => name.endsWith(".eml")) : [];
    return names.length === comments && names;
  });
  for (const name of written) {
    looks.push({ what: `mail ${name}`, show: html(htmlOf(fs.readFileSync(path.join(mails, name)))) });
  }

  const base = `http://acme.localhost:${service.port}`;
  for (const file of files) {
    const { blob_url: url } = await upload(service, file);
    if (!url.startsWith(`${base}/blobs/`)) throw new Error(url);
    // Only the redirect and the file itself may be requested.
    const own = (asked) => asked.startsWith(`${base}/blobs/`) || asked.startsWith(`${base}/files/`);
    looks.push({ what: `file ${file.name}, opened`, own, show: address(url) });
    for (const [way, content] of [
      ["in a frame", `<iframe src="${url}"></iframe>`],
      ["as an object", `<object data="${url}"></object>`],
      ["embedded", `<embed src="${url}">`],
      ["as an image", `<img src="${url}">`],
      ["as a script", `<script src="${url}"></script>`],
      ["as a style", `<link rel="stylesheet" href="${url}">`],
    ]) {
      looks.push({ what: `file ${file.name}, ${way}`, own, show: html(content) });
    }
  }

  await Promise.all(Array.from({ length: PAGES }, async () => {
    const watched = await Watched.open(context);
    for (let look = looks.shift(); look; look = looks.shift()) {
      const { ran, asked } = await watched.look(look);
      if (ran.length || asked.length) failures.push(`${look.what}: ran [${ran}], asked for [${asked}]`);
    }
  }));
  console.log(`${comments} of ${payloads.length} payloads left a comment and a mail, ${files.length} files were opened in 7 ways`);
} finally {
  await browser.close();
  service.server.kill();
  fs.rmSync(folder, { recursive: true, force: true });
}
for (const failure of failures) console.error(failure);
console.log(`${failures.length} of them ran or asked for something`);
process.exit(failures.length ? 1 : 0);
