// What programs read: feeds, the map of the site, links, sizes, and the score of Lighthouse.

import assert from "node:assert/strict";

/** Parses XML as a browser does. */
export async function parseXml(parser, text) {
  return parser.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, "application/xml");
    const error = parsed.querySelector("parsererror");
    if (error) return { error: error.textContent.slice(0, 300) };
    const ATOM = "http://www.w3.org/2005/Atom";
    const all = (parent, name) => [...parent.children].filter((child) => child.localName === name && child.namespaceURI === ATOM);
    const one = (parent, name) => all(parent, name)[0]?.textContent ?? null;
    const root = parsed.documentElement;
    const about = (element) => ({
      id: one(element, "id"),
      title: one(element, "title"),
      updated: one(element, "updated"),
      content: one(element, "content") ?? one(element, "summary"),
      links: all(element, "link").map((link) => ({ rel: link.getAttribute("rel") ?? "alternate", href: link.getAttribute("href") })),
    });
    return {
      root: `${root.namespaceURI} ${root.localName}`,
      ...about(root),
      entries: all(root, "entry").map(about),
      locations: [...parsed.querySelectorAll("loc")].map((loc) => loc.textContent),
    };
  }, text);
}

/** Checks a feed, and that its links lead somewhere. Returns its entries. */
export async function checkFeed(service, parser, url, minimum) {
  const answer = await service.send("GET", url);
  assert.equal(answer.status, 200, url);
  assert.match(answer.headers["content-type"], /^application\/atom\+xml/, url);
  const feed = await parseXml(parser, answer.text);
  assert.equal(feed.error, undefined, `${url} is XML`);
  assert.equal(feed.root, "http://www.w3.org/2005/Atom feed", url);
  assert.equal(feed.links.find(({ rel }) => rel === "self")?.href, url, `${url} names itself`);
  assert.ok(feed.entries.length >= minimum, `${url} has ${feed.entries.length} entries`);
  const ids = new Set();
  for (const part of [feed, ...feed.entries]) {
    assert.ok(part.id && part.title !== null, `${url}: id and title`);
    assert.ok(!Number.isNaN(Date.parse(part.updated)) && /T.*(Z|[+-]\d\d:\d\d)$/.test(part.updated), `${url}: ${part.updated}`);
    assert.ok(!ids.has(part.id), `${url}: the id ${part.id} is there twice`);
    ids.add(part.id);
  }
  const links = [feed, ...feed.entries].flatMap(({ links }) => links.map(({ href }) => href));
  for (const link of new Set(links)) {
    assert.ok(link.startsWith(new URL(url).origin), `${url} links to ${link}`);
    const status = (await service.send("GET", link)).status;
    assert.equal(status, 200, `${url} links to ${link}`);
  }
  for (const entry of feed.entries) assert.ok(entry.links.some(({ rel }) => rel === "alternate"), `${url}: ${entry.id} has a link`);
  return feed.entries;
}

/** Checks feeds, the map of the site and the file for robots. Returns what went wrong. */
export async function checkFeeds({ service, parser, discussed }) {
  const failures = [];
  const base = service.origin();
  for (const [path, minimum] of [["/changelogs.atom", 5], ["/feature_requests.atom", 50], [`${discussed}.atom`, 30]]) {
    await checkFeed(service, parser, `${base}${path}`, minimum).catch((error) => failures.push(`feed ${path}: ${error.message}`));
  }
  try {
    const robots = await service.send("GET", `${base}/robots.txt`);
    assert.equal(robots.status, 200, "/robots.txt");
    const map = robots.text.match(/^Sitemap: (\S+)$/m)?.[1];
    assert.equal(map, `${base}/sitemap.xml`, "/robots.txt names the map of the site");
    const locations = async (url) => {
      const answer = await service.send("GET", url);
      assert.equal(answer.status, 200, url);
      const parsed = await parseXml(parser, answer.text);
      assert.equal(parsed.error, undefined, url);
      return parsed.root.endsWith(" sitemapindex") ? (await Promise.all(parsed.locations.map(locations))).flat() : parsed.locations;
    };
    const pages = await locations(map);
    assert.ok(pages.length > 50 && pages.includes(`${base}${discussed}`), `the map has ${pages.length} pages`);
    for (const page of pages) assert.equal((await service.send("GET", page)).status, 200, `the map of the site names ${page}`);
  } catch (error) {
    failures.push(`map of the site: ${error.message}`);
  }
  return failures;
}

/** Follows all links of pages within the service. Returns those that lead nowhere. */
export async function checkLinks(service, linked) {
  const failures = [];
  for (const [link, from] of linked) {
    const { status, headers } = await service.send("GET", link);
    if (status >= 400) failures.push(`${from} links to ${link}: ${status}`);
    else if (status >= 300 && !/^(\/sign-in|https?:\/\/[^/]+\/sign-in)/.test(headers.location ?? "")) {
      failures.push(`${from} links to ${link}, which redirects to ${headers.location}`);
    }
  }
  return failures;
}

/** The largest weight of a page. */
const MAX_BYTES = 40_000;
const MAX_REQUESTS = 5;

/** Loads a page without any cache. Returns its weight, without images. */
export async function weigh(context, url) {
  const page = await context.newPage();
  const finished = [];
  page.on("requestfinished", (request) => finished.push(request));
  await page.goto(url, { waitUntil: "networkidle" });
  const rows = await Promise.all(finished.map(async (request) => {
    const response = await request.response();
    const sizes = await request.sizes();
    const bytes = sizes.responseBodySize + sizes.responseHeadersSize;
    return { type: response.headers()["content-type"] ?? "", kind: request.resourceType(), bytes };
  }));
  await page.close();
  const counted = rows.filter(({ type }) => !type.startsWith("image/"));
  const sum = (rows) => rows.reduce((total, { bytes }) => total + bytes, 0);
  const of = (kind) => sum(counted.filter((row) => row.kind === kind));
  return {
    requests: counted.length,
    bytes: sum(counted),
    html: of("document"),
    css: of("stylesheet"),
    script: of("script"),
    images: sum(rows) - sum(counted),
  };
}

/** Prints the weights, and returns the pages that are too heavy. */
export function printWeights(weights) {
  console.log("\npage                                 requests    bytes     html      css   script  (images)");
  const failures = [];
  for (const { name, requests, bytes, html, css, script, images, limit = MAX_BYTES } of weights) {
    const numbers = [requests, bytes, html, css, script, images].map((number) => String(number).padStart(8));
    console.log(`${name.padEnd(36)} ${numbers.join(" ")}`);
    if (bytes > limit) failures.push(`${name} has ${bytes} bytes, more than ${limit}`);
    if (requests > MAX_REQUESTS) failures.push(`${name} needs ${requests} requests, more than ${MAX_REQUESTS}`);
  }
  return failures;
}

/** Scores that must be full. That of speed depends on the machine and is not asked for. */
const CATEGORIES = ["accessibility", "best-practices", "seo"];

/** Runs Lighthouse on pages in a running browser. */
export async function light(port, pages) {
  const { default: lighthouse } = await import("lighthouse");
  const failures = [];
  console.log(`\nLighthouse                           ${CATEGORIES.map((name) => name.padStart(15)).join("")}`);
  for (const [name, url] of pages) {
    const { lhr } = await lighthouse(url, { port, onlyCategories: CATEGORIES, output: "json", logLevel: "error" });
    const scores = CATEGORIES.map((category) => Math.round((lhr.categories[category].score ?? 0) * 100));
    console.log(`${name.padEnd(36)} ${scores.map((score) => String(score).padStart(15)).join("")}`);
    if (lhr.runtimeError) failures.push(`Lighthouse of ${name}: ${lhr.runtimeError.message}`);
    for (const [index, category] of CATEGORIES.entries()) {
      if (scores[index] === 100) continue;
      const failed = lhr.categories[category].auditRefs.map(({ id }) => lhr.audits[id]).filter((audit) => audit.score !== null && audit.score < 1);
      failures.push(`Lighthouse of ${name}: ${category} ${scores[index]}: ${failed.map(({ id, title }) => `${id} (${title})`).join(", ")}`);
    }
  }
  return failures;
}
