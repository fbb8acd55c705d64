// Opens hostile files, comments and mails of a running service in a real browser. Fails when any of
// them runs a script or requests a foreign URL.
//
//     node run.mjs <the binary roadmap> <the browser>

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { files } from "./files.mjs";
import { BROWSER_OPTIONS, Service, eventually, inParallel, partOf } from "./service.mjs";
import { Watched, html } from "./watch.mjs";

const [binary, browserPath] = process.argv.slice(2);
const here = path.dirname(fileURLToPath(import.meta.url));
const payloads = JSON.parse(fs.readFileSync(path.join(here, "payloads.json"), "utf8"));
const failures = [];

/** Number of parallel pages: they mostly wait. */
const PAGES = 4;

/** Opens a URL that may be a download instead of a page. */
function address(url) {
  return async (page) => {
    await page.goto(url, { waitUntil: "load" }).catch((error) => {
      if (!/download|ERR_ABORTED|net::/i.test(String(error))) throw error;
    });
  };
}

const service = await Service.create(binary, "localhost");
service.createWorkspace("acme", "Acme");
await service.start();
const browser = await chromium.launch({ executablePath: browserPath, args: BROWSER_OPTIONS });
try {
  const context = await browser.newContext({ acceptDownloads: true });
  const looks = [];

  // Control: the checks must detect this script and this request.
  const watched = await Watched.open(context);
  const control = await watched.look({ show: html(`<img src="http://elsewhere.example/x" onerror="alert(1)">`) });
  if (!control.ran.length || !control.asked.length) throw new Error("the control was not noticed");
  await watched.page.close();

  const request = (await service.api("acme", "POST", "/feature_requests", { feature_request: { title: "Hostile" } })).body;
  const id = request.feature_request.id;
  const customer = { email: "ann@example.com" };
  await service.api("acme", "POST", `/feature_requests/${id}/upvotes`, { customer });

  let comments = 0;
  for (const [number, payload] of payloads.entries()) {
    const body = { comment: { content: payload }, notify_all_voters: true };
    const response = await service.api("acme", "POST", `/feature_requests/${id}/comments`, body);
    if (response.status === 422) continue; // Nothing was left after sanitization.
    if (response.status !== 201) throw new Error(`payload ${number}: ${response.status}`);
    comments += 1;
    looks.push({ what: `comment ${number}`, show: html(response.body.comment.content) });
  }

  const written = await eventually("all mails are written", () => {
    const names = service.mailNames();
    return names.length === comments && names;
  });
  for (const name of written) looks.push({ what: `mail ${name}`, show: html(partOf(service.mail(name), "text/html")) });

  const base = service.origin("acme");
  for (const file of files) {
    const { blob_url: url } = await service.upload("acme", file);
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

  const pages = await Promise.all(Array.from({ length: PAGES }, () => Watched.open(context)));
  await inParallel(PAGES, looks, async (look, worker) => {
    const { ran, asked } = await pages[worker].look(look);
    if (ran.length || asked.length) failures.push(`${look.what}: ran [${ran}], asked for [${asked}]`);
  });
  console.log(`${comments} of ${payloads.length} payloads left a comment and a mail, ${files.length} files were opened in 7 ways`);
} finally {
  await browser.close();
  service.stop();
}
for (const failure of failures) console.error(failure);
console.log(`${failures.length} of them ran or asked for something`);
process.exit(failures.length ? 1 : 0);
