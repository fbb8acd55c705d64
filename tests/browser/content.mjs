// Fills the workspaces that the pages are tested with.

import zlib from "node:zlib";
import { inParallel } from "./service.mjs";

/** Number of parallel requests while a workspace is filled. */
const WRITERS = 4;

/** Workspaces in which people take part: one for each way to use the pages, and one for forged forms. */
export const LIVELY = ["acme", "brass", "cedar", "delta"];

/** Workspaces in which the team works, one for each way to use the pages. */
export const MORNINGS = ["monday", "tuesday", "friday"];

/** A team member of every workspace. */
export const MEMBER = { email: "olga@team.example", name: "Olga Petrov" };

/** Returns a PNG of one colour. */
export function png(width, height) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(data.length);
    const check = Buffer.alloc(4);
    check.writeUInt32BE(zlib.crc32 ? zlib.crc32(body) : crc32(body));
    return Buffer.concat([head, body, check]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(width * 3, 0x6a)]);
  const pixels = zlib.deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  const signature = Buffer.from("89504e470d0a1a0a", "hex");
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

/** The checksum of PNG (ISO 3309), which Node has since version 22.2. */
function crc32(bytes) {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return (value ^ 0xffffffff) >>> 0;
}

async function createRequest(service, workspace, request, email = undefined) {
  const customer = email && { email, name: email.split("@")[0] };
  const body = { feature_request: request, ...(customer && { customer }) };
  return (await service.must(workspace, "POST", "/feature_requests", body)).feature_request;
}

/** Returns the path of the page of a feature request. */
export async function pathOf(service, workspace, id) {
  const { feature_request: request } = await service.must(workspace, "GET", `/feature_requests/${id}`);
  return new URL(request.url).pathname;
}

/** Adds to the demo what it does not have: texts in several languages, long ones, and a long thread. */
export async function extendDemo(service) {
  const long = "A title as long as it can be, because somebody had much to tell and no time to shorten it, ".repeat(3);
  const tags = Array.from({ length: 8 }, (_, number) => `tag ${number}`);
  await createRequest(service, "demo", { title: long.slice(0, 190).trim(), tags });
  const word = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
  await createRequest(service, "demo", { title: word, description: `<p>${word.repeat(3)}</p><pre><code>${"x".repeat(300)}</code></pre>` });
  const arabic = ["اتجاه الكتابة من اليمين إلى اليسار في محرر الردود", "<p>عندما نكتب بالعربية يبقى المؤشر في الجهة اليسرى.</p>"];
  await createRequest(service, "demo", { title: arabic[0], description: arabic[1] });
  // 36 letters without a place to break, behind the lanes and tracks of the demo.
  const { lane } = await service.must("demo", "POST", "/lanes", { lane: { name: word.slice(0, 36) } });
  await service.must("demo", "POST", "/tracks", { track: { name: word.slice(0, 36), lane_id: lane.id } });
  const { tracks } = await service.must("demo", "GET", "/tracks");
  const description =
    `<h1>Heading</h1><p>A <a href="https://elsewhere.example/">link</a>, <code>code</code>.</p>` +
    "<ul><li>one</li></ul><blockquote>quoted</blockquote>";
  const thread = { title: "A thread with three pages", description, track_id: tracks[0].id };
  const discussed = await createRequest(service, "demo", thread, "ann@example.org");
  for (let number = 0; number < 64; number += 1) {
    // Some are of the team, some of customers, and not all customers have a name.
    const name = number % 2 && { name: `Customer ${number % 7}` };
    const customer = number % 3 ? { email: `customer-${number % 7}@example.org`, ...name } : undefined;
    const content = `<p>Comment ${number}: ${"words that fill some lines of the thread. ".repeat(number % 5)}</p>`;
    const body = { comment: { content }, ...(customer && { customer }) };
    await service.must("demo", "POST", `/feature_requests/${discussed.id}/comments`, body);
  }
  return { discussed: await pathOf(service, "demo", discussed.id) };
}

/** Creates the workspaces of the other service. */
export async function createWorkspaces(service) {
  for (const name of [...LIVELY, ...MORNINGS, "beta", "empty", "held", "closed", "hostile"]) {
    service.createWorkspace(name, name === "acme" ? "Acme" : name);
    const member = ["--workspace", name, "--email", MEMBER.email, "--name", MEMBER.name];
    service.run("member", "add", ...member);
  }
  service.run("portal", "set", "--workspace", "held", "--moderation", "on");
  service.run("portal", "set", "--workspace", "closed", "--visibility", "private", "--mail-domains", "team.example");
  service.run("portal", "set", "--workspace", "acme", "--embed-origins", "https://help.example", "--accent-color", "#ffd400");
}

/** Fills a workspace in which people take part. Returns its feature requests and its changelog. */
export async function fillLively(service, workspace) {
  const titles = {
    vote: "Dark mode for the dashboard",
    talk: "Keyboard shortcuts in the inbox",
    follow: "Export conversations to a spreadsheet",
    idea: "Reminders before a deadline",
    forged: "Signed webhooks for every change",
  };
  const requests = {};
  for (const [name, title] of Object.entries(titles)) {
    const created = await createRequest(service, workspace, { title, description: `<p>${title}, please.</p>` }, "ann@example.org");
    requests[name] = { id: created.id, title, path: new URL(created.url).pathname };
  }
  const { tracks } = await service.must(workspace, "GET", "/tracks");
  for (const track of tracks) {
    const created = await createRequest(service, workspace, { title: `In the track ${track.name}`, track_id: track.id });
    await service.must(workspace, "POST", `/feature_requests/${created.id}/upvotes`, { customer: { email: "ben@example.org" } });
  }
  const cover = await service.upload(workspace, { name: "cover.png", type: "image/png", body: png(640, 320) });
  const changelog = await service.must(workspace, "POST", "/changelogs", {
    changelog: {
      title: "Shortcuts are here",
      content: "<h2>News</h2><p>Press <strong>?</strong> to see all.</p>",
      publish: true,
      cover_image_signed_id: cover.signed_id,
      feature_request_ids: [requests.talk.id],
    },
  });
  return { workspace, requests, changelog: new URL(changelog.changelog.url).pathname };
}

/** Lists show all hostile texts. The pages of single ones are the same but for their text: every fourth is shown. */
const isShownAlone = (number) => number % 4 === 0;

/** Posts hostile content everywhere where people write. Returns the pages that show it. */
export async function fillHostile(service, payloads) {
  const paths = new Set(["/", "/feature_requests"]);
  // The roadmap shows them, too, in one of more lanes than fit side by side.
  for (const lane of ["Later", "Never"]) service.run("lane", "add", "--workspace", "hostile", lane);
  const { tracks } = await service.must("hostile", "GET", "/tracks");
  service.run("track", "move", "--workspace", "hostile", tracks[0].name, "--lane", "Later");
  const thread = await createRequest(service, "hostile", { title: "Thread" });
  const threadPath = new URL(thread.url).pathname;
  let comments = 0;
  let requests = 0;
  let changelogs = 0;
  await inParallel(WRITERS, payloads.map((payload, number) => ({ payload, number })), async ({ payload, number }) => {
    const title = payload.replace(/\s+/g, " ").trim().slice(0, 180) || `Payload ${number}`;
    const request = await service.api("hostile", "POST", "/feature_requests", {
      feature_request: { title, description: payload, tags: [payload.slice(0, 40)].filter((tag) => tag.trim()) },
      customer: { email: `customer-${number}@example.org`, name: title.slice(0, 100) },
    });
    if (request.status === 201) {
      requests += 1;
      if (isShownAlone(number)) paths.add(new URL(request.body.feature_request.url).pathname);
    }
    const comment = await service.api("hostile", "POST", `/feature_requests/${thread.id}/comments`, { comment: { content: payload } });
    if (comment.status === 201) comments += 1;
    const changelog = await service.api("hostile", "POST", "/changelogs", { changelog: { title, content: payload, publish: true } });
    if (changelog.status === 201) {
      changelogs += 1;
      if (isShownAlone(number)) paths.add(new URL(changelog.body.changelog.url).pathname);
    }
  });
  for (let page = 1; page <= Math.ceil(comments / 30); page += 1) paths.add(`${threadPath}?page=${page}`);
  for (let page = 1; page <= Math.ceil(requests / 25); page += 1) paths.add(`/feature_requests?sort=newest&page=${page}`);
  for (let page = 1; page <= Math.ceil(changelogs / 10); page += 1) paths.add(`/changelogs?page=${page}`);
  return { paths: [...paths], threadPath, comments, requests, changelogs };
}

/** Fills `held`, where the team approves what customers post. */
export async function fillHeld(service) {
  const request = await createRequest(service, "held", { title: "Wait for approval" }, "ann@example.org");
  return { path: new URL(request.url).pathname };
}
