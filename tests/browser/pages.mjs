// Opens the pages of a running service as people do: with both themes, in two directions of writing, on narrow and wide
// screens, without JavaScript, by the keyboard. Fails when a page breaks a rule of accessibility, markup, weight or
// safety. Pictures of all pages are in `screenshots/`.
//
//     node pages.mjs [--short] <the binary roadmap> <the browser> <the table of routes> [a check…]
//
// The short form takes no pictures, opens each page in one of two variants, and shows a part of the hostile content without
// the policy.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { checkKeyboard, checkReflow, runAxe, sidewaysScroll, validate } from "./accessibility.mjs";
import { LIVELY, MORNINGS, createWorkspaces, extendDemo, fillHeld, fillHostile, fillLively } from "./content.mjs";
import { adminViews, findRecords, work } from "./admin.mjs";
import { attack, forge, race, routesOfForms } from "./forgery.mjs";
import { WAYS, travel } from "./journeys.mjs";
import { checkFeeds, checkLinks, light, parseXml, printWeights, weigh } from "./reading.mjs";
import { BROWSER_OPTIONS, Service, freePort, inParallel } from "./service.mjs";
import { ACCOUNTS, isPictured, variantsOf, views } from "./views.mjs";
import { Watched, html, watchErrors } from "./watch.mjs";

const isShort = process.argv.includes("--short");
const [binary, browserPath, routesFile, ...only] = process.argv.slice(2).filter((argument) => argument !== "--short");
const here = path.dirname(fileURLToPath(import.meta.url));
const payloads = JSON.parse(fs.readFileSync(path.join(here, "payloads.json"), "utf8"));
const pictures = path.join(here, "screenshots");

/** Number of parallel pages: they use the processor, other than those of hostile files. */
const PAGES = 3;

/** Widths of the pictures. */
const PICTURE_WIDTHS = [390, 1280, 1600];

const failures = [];
const timings = [];

/** Runs a check if it is wanted. */
async function check(name, work) {
  if (!only.length || only.includes(name)) await attempt(name, work);
}

/** Does something, and goes on after its failures. */
async function attempt(name, work) {
  const started = performance.now();
  const found = await Promise.resolve().then(work).catch((error) => [error.stack]);
  failures.push(...(found ?? []).map((failure) => `${name}: ${failure}`));
  timings.push([name, (performance.now() - started) / 1_000, found?.length ?? 0]);
}

async function newContext(browser, { language = "en", theme = "light", width = 1280, ...more } = {}) {
  const context = await browser.newContext({ locale: language, colorScheme: theme, viewport: { width, height: 800 }, ...more });
  context.setDefaultTimeout(30_000);
  return context;
}

/** Signs in with a link, and returns the cookies. */
async function signIn(browser, service, workspace, email) {
  const context = await newContext(browser);
  const page = await context.newPage();
  await page.goto(service.signInLink(workspace, email));
  await page.getByRole("main").getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("link", { name: "Your account", exact: true }).first().waitFor();
  const state = await context.storageState();
  await context.close();
  return state;
}

/** Fills in the forms of a visitor, and returns the links of the mails. */
async function askForLinks(browser, service, { requests }) {
  const context = await newContext(browser);
  const page = await context.newPage();
  const origin = service.origin("acme");
  const main = page.getByRole("main");
  const links = {};
  const ask = async (name, target, prepare, button) => {
    try {
      const email = `link-${name}@example.org`;
      await page.goto(`${origin}${target}`);
      const form = main.locator("form", { has: page.getByRole("button", { name: button, exact: true }) });
      await prepare(form);
      await form.getByRole("textbox", { name: "E-mail address", exact: true }).fill(email);
      await form.getByRole("button", { name: button, exact: true }).click();
      await page.waitForURL("**/sign-in/sent*");
      links[name] = new URL((await service.signInMail(email)).link).pathname;
    } catch (error) {
      failures.push(`the link that is to ${name}: ${String(error.message).split("\n").slice(0, 4).join(" | ")}`);
      links[name] = "/sign-in/missing";
    }
  };
  const nothing = async () => {};
  const words = "Could the list of keys be printed? I would hang it next to every screen.\n\n> And please keep `Esc`.";
  await ask("vote", `${requests.vote.path}/vote`, nothing, "Send me a code");
  await ask("comment", requests.talk.path, (form) => form.getByRole("textbox", { name: "Your comment" }).fill(words), "Post comment");
  await ask("submit", "/feature_requests/new?title=Print+the+list+of+keys", (form) => form.getByRole("textbox", { name: "Description" }).fill(words), "Submit idea");
  await ask("follow", `${requests.follow.path}/subscription`, nothing, "Send me a code");
  await context.close();
  return links;
}

/** Posts a comment and an idea that wait for approval. */
async function postHeld(browser, service, held, state) {
  const context = await newContext(browser, { storageState: state });
  const page = await context.newPage();
  const origin = service.origin("held");
  for (let number = 0; number < 3; number += 1) {
    await page.goto(`${origin}${held.path}`);
    await page.getByRole("textbox", { name: "Your comment", exact: true }).fill(`Waits for approval, number ${number}`);
    await page.getByRole("button", { name: "Post comment", exact: true }).click();
    await page.getByRole("status").waitFor();
  }
  await page.goto(`${origin}/feature_requests/new?title=An+idea+that+waits`);
  await page.getByRole("button", { name: "Submit idea", exact: true }).click();
  await page.getByRole("status").waitFor();
  const idea = new URL(page.url()).pathname;
  await context.close();
  return idea;
}

const validated = new Set();
const linked = new Map();

/** Addresses of people, which no page may show to others. */
const ADDRESS = /[\w.+-]+@(?:[\w-]+\.)+(?:example|org)\b/g;

/** Opens one view in one variant, and checks everything that one load can show. */
async function checkView({ page, errors, service, view, variant }) {
  const found = [];
  const origin = view.workspace === "demo" ? service.origin() : service.origin(view.workspace);
  const response = await view.open({ page, origin, service });
  await page.waitForLoadState("load");
  if (response.status() !== view.status) return [`status ${response.status()} instead of ${view.status}`];
  const bytes = (await response.body()).toString();

  const same = bytes.replace(/web:[\w:-]+/g, "");
  if (!validated.has(same)) {
    validated.add(same);
    found.push(...(await validate(bytes)).map((error) => `markup: ${error}`));
  }
  if (!view.account && !view.showsAddress) {
    for (const [address] of bytes.replace(/(?:name|a)@example\.(?:com|org)|maja\.lindqvist/g, "").matchAll(ADDRESS)) found.push(`shows the address ${address}`);
    if (response.headers()["set-cookie"]) found.push("sets a cookie for a visitor");
  } else if (!/no-store/.test(response.headers()["cache-control"])) found.push("may be kept by caches");
  const root = await page.evaluate(() => ({ lang: document.documentElement.lang, dir: document.documentElement.dir }));
  if (root.lang !== variant.language) found.push(`is in ${root.lang}`);
  if (root.dir !== (variant.language === "ar" ? "rtl" : "ltr")) found.push(`is written ${root.dir}`);
  if (view.hasProblem) {
    const title = await page.title();
    const alert = page.getByRole("alert");
    if ((await alert.count()) !== 1) found.push(`${await alert.count()} elements of role alert`);
    if (variant.language === "en" && !title.startsWith("Error: ")) found.push(`title ${title}`);
    if (variant.language === "en" && !(await alert.first().innerText()).startsWith("There is a problem")) found.push("the alert has another heading");
    if ((await page.locator("[aria-invalid=true][aria-describedby]").count()) === 0) found.push("no field is marked and described");
    for (const target of await alert.getByRole("link").evaluateAll((links) => links.map((link) => link.getAttribute("href")))) {
      if ((await page.locator(target).count()) !== 1) found.push(`the problem links to ${target}`);
    }
  }
  if (!view.isEmbedded && !view.isBare && view.status === 200) {
    for (const landmark of ["banner", "contentinfo", "main"]) {
      if ((await page.getByRole(landmark).count()) !== 1) found.push(`not one landmark ${landmark}`);
    }
    if (variant.language === "en") {
      const navigation = page.getByRole("navigation", { name: "Main", exact: true });
      for (const name of ["Roadmap", "Feature requests", "Changelog", view.account ? "Your account" : "Sign in"]) {
        if ((await navigation.getByRole("link", { name, exact: true }).count()) !== 1) found.push(`no link ${name} in the navigation`);
      }
    }
  }
  if (!view.account && variant.language === "en") {
    const links = await page.evaluate(() => {
      const elements = [...document.querySelectorAll("a[href]:not([href^='#']), link[href], img[src], script[src]")];
      return elements.map((element) => element.href || element.src);
    });
    for (const link of links) if (new URL(link).host === new URL(origin).host && !/\/sign-in\//.test(link)) linked.set(link.split("#")[0], view.name);
  }

  // Changing the language or the theme leads back to a page, also from the answer of a form.
  const back = page.locator("footer.site-footer input[name=next]");
  if ((await back.count()) && view.status !== 404) {
    const target = await back.inputValue();
    const cookies = (await page.context().cookies(origin)).map(({ name, value }) => `${name}=${value}`).join("; ");
    const { status } = await service.send("GET", `${origin}${target}`, { Cookie: cookies });
    if (status >= 400 && status !== view.status) found.push(`the footer leads back to ${target}, which is ${status}`);
  }

  const { violations, undecided: open } = await runAxe(page);
  found.push(...violations.map((violation) => `axe: ${violation}`));
  found.push(...open.map((text) => `axe cannot decide: ${text}`));
  const scroll = await sidewaysScroll(page);
  if (scroll) found.push(`scrolls sideways: ${scroll}`);
  if (variant.width === 320) found.push(...(await checkReflow(page)));
  else {
    const kind = `${variant.language} ${variant.theme}`;
    found.push(...(await checkKeyboard(page, { kind, startsMidway: view.startsMidway })));
  }
  found.push(...errors.take().map((error) => `console: ${error}`));
  if (isPictured(view) && !isShort) await takePictures(page, view, variant);
  errors.take();
  return found;
}

async function takePictures(page, view, variant) {
  await page.evaluate(() => { document.activeElement?.blur(); window.scrollTo(0, 0); });
  const name = view.name.replace(/[^a-z]+/gi, "-");
  for (const width of PICTURE_WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const file = path.join(pictures, `${name}.${variant.language}.${variant.theme}.${width}.jpeg`);
    await page.screenshot({ path: file, type: "jpeg", quality: 80, fullPage: true, animations: "disabled" });
  }
  await page.setViewportSize({ width: variant.width, height: 800 });
}

/** Opens all views in all variants. */
async function checkViews({ browser, services, all, states }) {
  const found = [];
  const jobs = all.flatMap((view, number) => variantsOf(view, isShort, number).map((variant) => ({ variant, view })));
  const accounts = new Map();
  for (const job of jobs) {
    const key = JSON.stringify([job.variant, job.view.workspace === "demo", job.view.account && `${job.view.workspace} ${job.view.account}`]);
    accounts.set(key, [...(accounts.get(key) ?? []), job]);
  }
  // Few views in a group, so that the groups end at about the same time.
  const groups = [...accounts.values()].flatMap((jobs) => Array.from({ length: Math.ceil(jobs.length / 8) }, (_, index) => jobs.slice(index * 8, index * 8 + 8)));
  await inParallel(PAGES, groups, async (jobs) => {
    const { variant, view: first } = jobs[0];
    const storageState = first.account ? states[first.workspace]?.[first.account] : undefined;
    const context = await newContext(browser, { ...variant, storageState });
    const page = await context.newPage();
    const errors = await watchErrors(page);
    for (const { view } of jobs) {
      const where = `${view.name} (${variant.language}, ${variant.theme}, ${variant.width} px)`;
      const service = view.workspace === "demo" ? services.demo : services.main;
      // A visitor's form leaves a cookie of its own.
      if (!view.account) await context.clearCookies();
      try {
        if (view.account && !storageState) throw new Error(`nobody is signed in as ${view.account}`);
        const problems = await checkView({ page, errors, service, view, variant });
        found.push(...problems.map((problem) => `${where}: ${problem}`));
      } catch (error) {
        found.push(`${where}: ${String(error.message).split("\n").slice(0, 4).join(" | ")}`);
        errors.take();
      }
    }
    await context.close();
  });
  return merge(found);
}

/** Joins failures that several variants have in common. */
function merge(found) {
  const merged = new Map();
  for (const line of found) {
    const [, name, variant, problem] = line.match(/^(.*?) \((\w+, \w+, \d+ px)\): ([\s\S]*)$/);
    const key = `${name}: ${problem}`;
    merged.set(key, [...(merged.get(key) ?? []), variant]);
  }
  return [...merged].map(([key, variants]) => `${key} [${variants.join("; ")}]`);
}

async function weighViews({ browser, services, all, states }) {
  const weights = [];
  const found = [];
  await inParallel(PAGES, all.filter((view) => view.isWeighed), async (view) => {
    const service = view.workspace === "demo" ? services.demo : services.main;
    const origin = view.workspace === "demo" ? service.origin() : service.origin(view.workspace);
    const context = await newContext(browser, { storageState: view.account ? states[view.workspace]?.[view.account] : undefined });
    try {
      weights.push({ name: view.name, limit: view.limit, ...(await weigh(context, `${origin}${view.target}`)) });
    } catch (error) {
      found.push(`${view.name}: ${error.message}`);
    }
    await context.close();
  });
  weights.sort((a, b) => b.bytes - a.bytes);
  return [...found, ...printWeights(weights)];
}

/** Shows hostile content with the policy, which must have nothing to report, and without it. */
async function showHostile({ browser, service, hostile, parser }) {
  const found = [];
  const origin = service.origin("hostile");
  const own = (url) => url.startsWith(`${origin}/`);
  const short = payloads.filter((payload) => payload.trim() && payload.length < 200);
  const encoded = short.filter((_, number) => number % 6 === 0).map(encodeURIComponent);
  const lists = [...hostile.paths.filter((target) => target === "/" || target.includes("?")), "/embed/roadmap", "/embed/changelogs"];
  const targets = [
    ...new Set([...lists, ...hostile.paths]),
    ...encoded.flatMap((text) => [`/feature_requests?query=${text}&tag=${text}&lane=${text}&sort=${text}`, `/feature_requests/new?title=${text}`]),
    ...encoded.slice(0, 5).flatMap((text) => [`/sign-in?next=${text}`, `/?done=${text}&lang=${text}`, `/feature_requests/${text}`, `/sign-in/${text}`]),
  ];
  let shown = 0;
  for (const bypassCSP of [false, true]) {
    const context = await newContext(browser, { bypassCSP });
    const pages = await Promise.all(Array.from({ length: PAGES }, async () => {
      const watched = await Watched.open(context);
      return { watched, errors: await watchErrors(watched.page) };
    }));
    const unguarded = isShort ? targets.filter((_, number) => number % 3 === 0) : targets;
    await inParallel(PAGES, bypassCSP ? unguarded : lists, async (target, worker) => {
      const { watched, errors } = pages[worker];
      try {
        const { ran, asked } = await watched.look({
          own,
          show: async (page) => {
            const response = await page.goto(`${origin}${target}`);
            if (response.status() >= 500) found.push(`${target}: ${response.status()}`);
          },
        });
        shown += 1;
        const reports = errors.take();
        if (ran.length || asked.length) found.push(`${target}${bypassCSP ? " without the policy" : ""}: ran [${ran}], asked for [${asked}]`);
        if (!bypassCSP && reports.length) found.push(`${target}: ${reports.slice(0, 3).join("; ")}`);
      } catch (error) {
        found.push(`${target}: ${String(error.message).split("\n")[0]}`);
      }
    });
    await context.close();
  }

  // What a reader of feeds shows, without any policy.
  const context = await newContext(browser);
  const watched = await Watched.open(context);
  for (const feed of ["/changelogs.atom", "/feature_requests.atom", `${hostile.threadPath}.atom`]) {
    const answer = await service.send("GET", `${origin}${feed}`);
    const parsed = await parseXml(parser, answer.text);
    if (answer.status !== 200 || parsed.error) {
      found.push(`${feed}: ${answer.status} ${parsed.error}`);
      continue;
    }
    assert.ok(parsed.entries.length > 10, `${feed} has ${parsed.entries.length} entries`);
    for (const { content, title } of parsed.entries) {
      const { ran, asked } = await watched.look({ show: html(content ?? "") });
      shown += 1;
      if (ran.length || asked.length) found.push(`${feed}, ${title}: ran [${ran}], asked for [${asked}]`);
    }
  }
  await context.close();
  console.log(`\n${hostile.requests} hostile feature requests, ${hostile.comments} comments and ${hostile.changelogs} changelogs were shown ${shown} times`);
  return found;
}

/** Visitors' pages are shared by caches, and those of people who are signed in are not. */
async function checkCaching({ service, discussed }) {
  const found = [];
  const base = service.origin();
  for (const target of ["/", "/feature_requests", discussed, "/changelogs", "/changelogs.atom"]) {
    const first = await service.send("GET", `${base}${target}`, { "Accept-Encoding": "gzip" });
    const tag = first.headers.etag;
    if (first.headers["set-cookie"]) found.push(`${target} sets a cookie`);
    if (!tag || tag.startsWith("W/")) found.push(`${target} has the ETag ${tag}`);
    const second = await service.send("GET", `${base}${target}`, { "Accept-Encoding": "gzip", "If-None-Match": tag ?? "" });
    if (second.status !== 304 || second.body.length) found.push(`${target}: ${second.status} for what the client has`);
  }
  return found;
}

const services = {};
const browser = await chromium.launch({ executablePath: browserPath, args: BROWSER_OPTIONS });
try {
  fs.rmSync(pictures, { recursive: true, force: true });
  fs.mkdirSync(pictures);
  services.demo = await Service.create(binary, "portal.localhost");
  services.main = await Service.create(binary, "roadmap.localhost");
  await createWorkspaces(services.main);
  await Promise.all([services.demo.start("--demo"), services.main.start()]);
  const { demo: demoService, main } = services;
  const wants = (...names) => !only.length || names.some((name) => only.includes(name));

  const started = performance.now();
  const demo = await extendDemo(demoService);
  const { feature_requests: [first] } = (await demoService.must("demo", "GET", "/roadmap")).lanes[0];
  demo.first = new URL(first.url).pathname;
  const { changelogs } = await demoService.must("demo", "GET", "/changelogs");
  demo.changelog = new URL(changelogs.find(({ status }) => status === "published").url).pathname;
  const places = await Promise.all(LIVELY.map((workspace) => fillLively(main, workspace)));
  const forged = places.pop();
  const [acme] = places;
  const hostile = wants("hostile", "views") ? await fillHostile(main, payloads) : { paths: [], threadPath: "/" };
  const held = await fillHeld(main);
  timings.push(["content", (performance.now() - started) / 1_000, 0]);

  const states = {};
  let links = {};
  if (wants("views", "weight", "forgery")) {
    await attempt("sign-in", async () => {
      for (const [workspace, people] of Object.entries(ACCOUNTS)) {
        for (const [account, email] of Object.entries(people)) {
          const service = workspace === "demo" ? demoService : main;
          (states[workspace] ??= {})[account] = await signIn(browser, service, workspace, email);
        }
      }
    });
    await attempt("held posts", async () => { held.idea = await postHeld(browser, main, held, states.held.author); });
    await attempt("links by mail", async () => { links = await askForLinks(browser, main, acme); });
    links.plain = new URL(demoService.signInLink("demo", "plain@example.org")).pathname;
    await attempt("a link that stops mail", async () => {
      const draft = { feature_request: { title: "Keep what was typed" } };
      const { feature_request: asked } = await main.must("closed", "POST", "/feature_requests", draft);
      links.stop = await main.stopMailPath("closed", asked.id, "link-stop@example.org");
    });
    links.used = links.vote?.replace(/.{6}$/, "AAAAAA") ?? "/sign-in/used";
  }
  held.idea ??= "/feature_requests/missing";
  const records = await findRecords(demoService);
  const all = [...views({ demo, links, acme, held, hostile }), ...adminViews({ records, held })];

  const context = await newContext(browser);
  const parser = await context.newPage();
  await check("views", () => checkViews({ browser, services, all, states }));
  await check("weight", () => weighViews({ browser, services, all, states }));
  const routes = routesOfForms(fs.readFileSync(routesFile, "utf8"));
  assert.ok(routes.length > 10, `${routesFile} has ${routes.length} forms`);
  // These wait for mail, and use workspaces of their own.
  await Promise.all([
    check("journeys", async () => {
      const runs = WAYS.map((way, index) => travel({ browser, service: main, place: places[index], way }));
      return (await Promise.all(runs)).flat();
    }),
    check("a morning in the panel", async () => {
      const runs = WAYS.map((way, index) => work({ browser, service: main, workspace: MORNINGS[index], way }));
      return (await Promise.all(runs)).flat();
    }),
    (async () => {
      await check("forgery", () => forge({ browser, service: main, place: forged, held, routes }));
      await check("attack", () => attack({ browser, service: main, place: forged }));
      await check("race", () => race({ browser, service: main, place: forged }));
      await check("feeds", () => checkFeeds({ service: demoService, parser, discussed: demo.discussed }));
      await check("links", () => checkLinks(demoService, [...linked].filter(([link]) => link.startsWith(demoService.base))));
      await check("caching", () => checkCaching({ service: demoService, discussed: demo.discussed }));
    })(),
    check("lighthouse", async () => {
      const port = await freePort();
      const own = await chromium.launch({ executablePath: browserPath, args: [...BROWSER_OPTIONS, `--remote-debugging-port=${port}`] });
      try {
        const all = [["list", "/feature_requests"], ["request", demo.discussed], ["roadmap", "/"], ["changelog", "/changelogs"]];
        const pages = isShort ? all.slice(0, 2) : all;
        return await light(port, pages.map(([name, target]) => [name, `${demoService.base}${target}`]));
      } finally {
        await own.close();
      }
    }),
  ]);
  await check("hostile", () => showHostile({ browser, service: main, hostile, parser }));
} catch (error) {
  failures.push(`the tests ended: ${error.stack}`);
} finally {
  await browser.close();
  for (const service of Object.values(services)) service.stop();
}
console.log(`\n${"check".padEnd(36)}  seconds  failures`);
for (const [name, seconds, count] of timings) console.log(`${name.padEnd(36)} ${seconds.toFixed(1).padStart(8)} ${String(count).padStart(9)}`);
for (const failure of failures) console.error(failure);
console.log(`\n${failures.length} failures; ${isShort ? "no pictures were taken" : `pictures are in ${pictures}`}`);
process.exit(failures.length ? 1 : 0);
