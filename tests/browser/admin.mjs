// The admin panel: its pages and their states, and what a team does there in a morning.

import assert from "node:assert/strict";
import { png } from "./content.mjs";
import { Person } from "./journeys.mjs";
import { eventually } from "./service.mjs";
import { at, sent } from "./views.mjs";

/** Adds to the demo what the pages of the panel need, and returns the paths of its records. */
export async function findRecords(service) {
  const api = (target) => service.must("demo", "GET", target);
  const { tracks } = await api("/tracks");
  const lists = await Promise.all(tracks.map(({ id }) => api(`/tracks/${id}/feature_requests?sort=votes`)));
  const all = lists.flatMap(({ feature_requests: list }) => list);
  const most = all.toSorted((one, other) => other.votes_count - one.votes_count);
  const pathOf = ({ admin_url: url }) => new URL(url).pathname;
  const [request, target] = most;
  const { comments } = await api(`/feature_requests/${request.id}/comments`);
  for (const [url, state] of [["https://github.com/acme/app/issues/7", "closed"], [`https://acme.example/${"long/".repeat(30)}`, null]]) {
    await service.must("demo", "POST", `/feature_requests/${request.id}/links`, { link: { url, title: "Split the conversation", state } });
  }
  const draft = await service.must("demo", "POST", "/changelogs", {
    changelog: { title: "A draft", content: "<p>Not <b>yet</b>.</p>", feature_request_ids: [request.id] },
  });
  const { changelogs } = await api("/changelogs");
  const { customers } = await api("/customers?query=demo");
  const { customers: some } = await api("/customers");
  const { lanes } = await api("/lanes");
  const { members } = await api("/members");
  const { tags } = await api("/tags?page_size=2");
  const keys = service.run("api-key", "list", "--workspace", "demo");
  const { link_source: source } = await service.must("demo", "POST", "/link_sources", { link_source: { name: "GitHub", kind: "github", closed_track_id: tracks[1].id } });
  const { webhook } = await service.must("demo", "POST", "/webhooks", { webhook: { url: `https://receiver.invalid/${"long".repeat(30)}`, description: "Sync with the help desk" } });
  await service.must("demo", "POST", "/webhooks", { webhook: { url: "https://hooks.slack.invalid/services/T0/aB3x", format: "slack", enabled: false } });
  const { delivery } = await service.must("demo", "POST", `/webhooks/${webhook.id}/test`, {});
  const { export: asked } = await service.must("demo", "POST", "/exports", { export: { without_notes: true } });
  await eventually("the export is done", async () => (await api(`/exports/${asked.id}`)).export.state === "done");
  return {
    request: pathOf(request),
    target: target.id,
    ids: most.slice(0, 3).map(({ id }) => id),
    comment: comments[0]?.id,
    draft: `/admin/changelogs/${draft.changelog.id}`,
    published: `/admin/changelogs/${changelogs.find(({ status }) => status === "published").id}`,
    customer: `/admin/customers/${(customers[0] ?? some[0]).id}`,
    other: some.find(({ id }) => id !== (customers[0] ?? some[0]).id).id,
    track: `/admin/tracks/${tracks[1].id}`,
    lane: `/admin/lanes/${lanes[0].id}`,
    tags: tags.map(({ name }) => encodeURIComponent(name)),
    member: `/admin/members/${members.at(-1).id}`,
    key: `/admin/api-keys/${keys[0].id}`,
    webhook: `/admin/webhooks/${webhook.id}`,
    delivery: `/admin/webhooks/${webhook.id}/deliveries/${delivery.id}`,
    source: `/admin/link-sources/${source.id}`,
  };
}

/** Returns the views of the panel. */
export function adminViews({ records, held }) {
  const views = [];
  const add = (name, how, more = {}) => {
    const opened = typeof how === "string" ? { open: at(how), target: how } : { open: how };
    const isWeighed = typeof how === "string" && !more.status;
    views.push({ name: `admin, ${name}`, ...opened, status: 200, workspace: "demo", account: "member", isWeighed, limit: 60_000, ...more });
  };
  add("inbox", "/admin");
  add("inbox by votes", "/admin?sort=votes&page=2");
  add("inbox, no answer", "/admin?state=unanswered&sort=votes");
  add("inbox, private", "/admin?state=private");
  add("inbox, awaiting", "/admin?state=awaiting", { workspace: "held" });
  add("inbox, merged", "/admin?state=merged");
  add("inbox, search", "/admin?query=conversation");
  add("inbox, nothing found", "/admin?query=qqqqzzzz");
  add("inbox of an empty workspace", "/admin", { workspace: "empty" });
  add("merge of a selection", `/admin/merge?${records.ids.map((id) => `id=${id}`).join("&")}`);
  add("overview", "/admin/overview");
  add("overview of a year", "/admin/overview?days=365");
  add("request", records.request);
  add("request that waits", held.idea.replace("/feature_requests", "/admin/feature_requests"), { workspace: "held" });
  add("edit", `${records.request}/edit`);
  add("merge", `${records.request}/merge?query=conversation`);
  add("merge, confirm", `${records.request}/merge?into=${records.target}`);
  add("delete", `${records.request}/delete`);
  add("new request", "/admin/feature_requests/new");
  add("voters", `${records.request}/voters`);
  if (records.comment) add("comment", `/admin/comments/${records.comment}`);
  add("changelogs", "/admin/changelogs");
  add("new changelog", "/admin/changelogs/new");
  add("draft", records.draft);
  add("published changelog", records.published);
  add("delete a changelog", `${records.draft}/delete`);
  add("tracks", "/admin/tracks");
  add("track", records.track);
  add("delete a track", `${records.track}/delete`);
  add("lane", records.lane);
  add("delete a lane", `${records.lane}/delete`);
  add("customers", "/admin/customers");
  add("customer", records.customer);
  add("merge a customer", `${records.customer}/merge`);
  add("erase a customer", `${records.customer}/erase`);
  add("tags", "/admin/tags");
  add("tags, nothing found", "/admin/tags?query=qqqqzzzz");
  add("rename a tag", `/admin/tags?rename=${records.tags[0]}`);
  add("merge tags", `/admin/tags?rename=${records.tags[0]}&to=${records.tags[1]}`);
  add("delete a tag", `/admin/tags?delete=${records.tags[0]}`);
  add("members", "/admin/members");
  add("remove a member", `${records.member}/remove`);
  add("keys", "/admin/api-keys");
  add("revoke a key", `${records.key}/revoke`);
  add("webhooks", "/admin/webhooks");
  add("webhook", records.webhook);
  add("delivery", records.delivery);
  add("delete a webhook", `${records.webhook}/delete`);
  add("link sources", "/admin/link-sources");
  add("delete a link source", `${records.source}/delete`);
  add("settings", "/admin/settings");
  add("mail", "/admin/mail");
  add("exports", "/admin/exports");
  add("imports", "/admin/imports");
  add("audit", "/admin/audit");
  add("not found", "/admin/feature_requests/999999-nothing", { status: 404, isWeighed: false });

  const error = { status: 422, hasProblem: true, startsMidway: true };
  const long = (field) => (form) => form.locator(field).first().evaluate((input) => { input.value = "x".repeat(30_000); });
  // On a narrow screen, the button is shown once something is selected.
  add("nothing selected", async ({ page, origin }) => {
    await page.goto(`${origin}/admin`);
    const isNext = (response) => response.request().isNavigationRequest() && response.status() !== 303;
    const press = () => document.querySelector("#posts").requestSubmit(document.querySelector("button[name=action]"));
    const [response] = await Promise.all([page.waitForResponse(isNext), page.evaluate(press)]);
    await page.waitForLoadState("load");
    return response;
  }, error);
  add("edit with an error", sent(`${records.request}/edit`, "input[name=title]", long("input[name=title]"), "button[type=submit]:not([name])"), error);
  add("note with an error", sent(records.request, "textarea[name=note]", async () => {}, "button[type=submit]"), error);
  add("link with an error", sent(records.request, "input[name=url]", (form) => form.locator("input[name=url]").fill("javascript:x"), "button[type=submit]"), error);
  add("changelog with an error", sent("/admin/changelogs/new", "input[name=title]", long("input[name=title]"), "button[value=save]"), error);
  add("track with an error", sent("/admin/tracks", "#track-name", long("input[type=text]")), error);
  add("tag with an error", sent(`/admin/tags?rename=${records.tags[0]}`, "#tag-name", long("input[type=text]")), error);
  add("invitation with an error", sent("/admin/members", "input[name=email]", (form) => form.locator("input[name=email]").fill("maren")), error);
  add("key with an error", sent("/admin/api-keys", "input[name=name]", async () => {}), error);
  add("webhook with an error", sent("/admin/webhooks", "input[name=url]", (form) => form.locator("input[name=url]").fill("https://127.0.0.1/")), error);
  add("rotation with an error", sent(records.webhook, "select[name=overlap]", (form) => form.locator("select").evaluate((select) => { select.options[0].value = "other"; select.selectedIndex = 0; })), error);
  add("link source with an error", sent("/admin/link-sources", "input[name=name]", async () => {}), error);
  return views;
}

/** The views of the panel that have pictures, and are seen in all variants. */
export const ADMIN_MAIN = new Set(
  ["inbox", "overview", "request", "merge, confirm", "draft", "tracks", "customer", "members", "keys", "settings", "audit", "mail"].map((name) => `admin, ${name}`),
);

/** A morning of a product manager, one way. Returns what went wrong. */
export async function work({ browser, service, way: { way, options, byKeyboard }, workspace }) {
  const failures = [];
  const origin = service.origin(workspace);
  const api = (method, target, body) => service.must(workspace, method, target, body);
  const created = [];
  for (const title of ["Undo send", "Take back a message", "A quieter sound", "Hotkeys", "Contract terms", "Snooze until Monday"]) {
    const body = { feature_request: { title: `${title}, please`, description: `<p>${title}.</p>` }, customer: { email: `${title.split(" ")[0].toLowerCase()}@example.org` } };
    created.push((await api("POST", "/feature_requests", body)).feature_request);
  }
  for (const [index, people] of [["ann", "ben", "cara"], ["ben", "dan"]].entries()) {
    for (const person of people) await api("POST", `/feature_requests/${created[index].id}/upvotes`, { customer: { email: `${person}@example.org` } });
  }
  const context = await browser.newContext({ ...options, locale: "en" });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const team = new Person(page, { origin, byKeyboard });
  const pathOf = ({ id }) => api("GET", `/feature_requests/${id}`).then(({ feature_request: { admin_url: url } }) => new URL(url).pathname);
  async function step(name, work) {
    try {
      await work();
    } catch (error) {
      failures.push(`${way}, ${name}: ${String(error.message ?? error).split("\n").slice(0, 10).join(" | ")}`);
    }
  }
  const region = (name) => page.getByRole("region", { name, exact: true });

  await step("sign in and come to the inbox", async () => {
    await team.open(service.signInLink(workspace, "olga@team.example"));
    await team.press("button", "Sign in", team.main);
    await team.press("link", "Admin", page.getByRole("navigation", { name: "Main" }));
    assert.equal(await team.heading(), "Inbox");
    await page.getByRole("table", { name: "Feature requests", exact: true }).waitFor();
  });

  await step("move five at once", async () => {
    await team.open("/admin");
    for (const { title } of created.slice(1)) await team.check(`Select ${title}`);
    const { tracks } = await api("GET", "/tracks");
    const planned = tracks.find(({ name }) => name === "Planned");
    await team.choose("combobox", "Change selected", planned.id);
    await team.press("button", options.javaScriptEnabled === false ? "Apply" : "Apply to 5");
    assert.match(await team.status(), /^5 .* moved to “Planned”\. Nobody got mail\.$/);
    await team.page.getByRole("button", { name: "Undo", exact: true }).waitFor();
    const { feature_requests: moved } = await api("GET", `/tracks/${planned.id}/feature_requests?sort=newest`);
    for (const { id } of created.slice(1)) assert.ok(moved.some((request) => request.id === id), "it was moved");
  });

  await step("merge two and undo it", async () => {
    await team.open(await pathOf(created[1]));
    await team.press("link", "Merge", team.main);
    await team.fill("searchbox", "Search feature requests", "undo send", team.main);
    await team.press("button", "Search", team.main);
    await team.press("link", `Merge into ${created[0].title}`, team.main);
    // Each of them has four voters with its author's vote, or fewer; one person voted for both.
    assert.match(await team.main.innerText(), /\b4 votes\b|\b[456]\b/);
    await team.press("button", "Merge");
    assert.match(await team.status(), /merged/i);
    const merged = (await api("GET", `/feature_requests/${created[0].id}`)).feature_request;
    assert.deepEqual(merged.merged.map(({ id }) => id), [created[1].id]);
    await team.press("button", `Unmerge ${created[1].title}`);
    assert.match(await team.status(), /\S/);
    assert.deepEqual((await api("GET", `/feature_requests/${created[0].id}`)).feature_request.merged, []);
  });

  if (!byKeyboard) {
    await step("filter on a phone", async () => {
      const { width, height } = page.viewportSize();
      await page.setViewportSize({ width: 390, height: 800 });
      await team.open("/admin");
      const search = team.find("searchbox", "Search feature requests", team.main);
      assert.ok(!(await search.isVisible()), "the filters are folded");
      await team.main.getByText("Filters", { exact: true }).click();
      await team.fill("searchbox", "Search feature requests", created[3].title, team.main);
      await team.main.getByText("More filters", { exact: true }).click();
      await team.check(/^Planned \(\d+\)$/);
      await team.press("button", "Filter", team.main);
      assert.match(page.url(), /[?&]track=/);
      await team.main.getByRole("link", { name: created[3].title, exact: true }).waitFor();
      await page.setViewportSize({ width, height });
    });

    await step("read and move twenty", async () => {
      const titles = Array.from({ length: 20 }, (_, number) => `Wish ${number + 1} of twenty, ${way}`);
      for (const title of titles) await api("POST", "/feature_requests", { feature_request: { title, description: `<p>${title}.</p>` } });
      const planned = (await api("GET", "/tracks")).tracks.find(({ name }) => name === "Planned");
      let clicks = 0;
      let pages = 0;
      const count = () => { pages += 1; };
      page.on("load", count);
      await team.open("/admin");
      await team.press("link", titles.at(-1), team.main);
      clicks += 1;
      for (const title of titles.toReversed()) {
        assert.equal(await team.heading(), title);
        await team.choose("combobox", "Track", planned.id);
        await team.press("button", "Move and next");
        clicks += 2;
      }
      page.off("load", count);
      console.log(`${way}: 20 feature requests read and moved: ${clicks} clicks, ${pages} pages`);
      assert.ok(clicks <= 45 && pages <= 25, `${clicks} clicks, ${pages} pages`);
      const { feature_requests: moved } = await api("GET", `/tracks/${planned.id}/feature_requests?sort=newest`);
      for (const title of titles) assert.ok(moved.some((request) => request.title === title), `${title} was moved`);
    });
  } else {
    await step("record a vote with few keys", async () => {
      await team.open("/admin");
      await team.press("button", "Keyboard shortcuts: off");
      let keys = 0;
      const press = async (key) => {
        keys += key.split("+").length;
        await page.keyboard.press(key);
      };
      const before = (await api("GET", `/feature_requests/${created[2].id}`)).feature_request.votes_count;
      await Promise.all([page.waitForURL("**/admin/record-vote"), press("v")]);
      await page.keyboard.type("phoned@example.org");
      await press("Tab");
      await page.keyboard.type(created[2].title);
      await Promise.all([page.waitForResponse((response) => response.request().method() === "POST"), press("Enter")]);
      const first = page.getByRole("radio", { name: created[2].title, exact: true });
      await first.waitFor();
      assert.ok(await first.evaluate((radio) => radio === document.activeElement), "the first one has the focus");
      await press("Space");
      // The toolbar of the note is between.
      await press("Tab");
      await press("Tab");
      await page.keyboard.type("Said so on the telephone.");
      await Promise.all([page.waitForURL("**/admin/feature_requests/**"), press("Control+Enter")]);
      console.log(`${way}: a vote is recorded with ${keys} keys besides the text`);
      assert.ok(keys <= 25, `${keys} keys`);
      assert.equal((await api("GET", `/feature_requests/${created[2].id}`)).feature_request.votes_count, before + 1);
      assert.match(await region("Private notes").innerText(), /Said so on the telephone/);
      await team.open("/admin");
      await team.press("button", "Keyboard shortcuts: on");
    });
  }

  await step("record votes", async () => {
    await team.open("/admin");
    await team.press("link", "Record a vote");
    await team.fill("combobox", "E-mail address", "called@example.org");
    await team.fill("textbox", "Words", `A new wish, ${way}`);
    await team.press("button", "Find");
    const made = team.find("radio", "New feature request");
    if (!(await made.isChecked())) await made.check();
    await team.fill("textbox", "Private note", "By mail.");
    await team.press("button", "Record vote");
    assert.equal(await team.heading(), `A new wish, ${way}`);
    assert.match(await team.status(), /\S/);
  });

  await step("answer with mail to the voters", async () => {
    const before = service.mailNames().length;
    await team.open(await pathOf(created[0]));
    await team.fill("textbox", "Private note", "Northwind renews in January.");
    await team.press("button", "Add note");
    assert.match(await region("Private notes").innerText(), /Northwind renews in January/);
    await team.fill("textbox", "Your comment", "We start **next week**.");
    await team.check("E-mail all voters");
    await team.press("button", "Post comment");
    assert.match(await team.status(), /mail/);
    assert.match(await region("Comments").innerText(), /We start next week/);
    await eventually("the voters have mail", () => service.mailNames().length > before);
    await team.fill("textbox", "Private note", "");
  });

  await step("link to an issue, and remove the link", async () => {
    await team.open(await pathOf(created[0]));
    await team.fill("textbox", "Link", "https://github.com/acme/app/issues/7");
    await team.press("button", "Add link");
    const link = region("Links").getByRole("link", { name: "acme/app#7", exact: true });
    assert.equal(await link.getAttribute("href"), "https://github.com/acme/app/issues/7");
    assert.match(await region("Links").innerText(), /Open/);
    await team.press("button", "Remove acme/app#7");
    assert.match(await region("Links").innerText(), /No links yet/);
  });

  await step("edit, and see the history", async () => {
    await team.open(await pathOf(created[0]));
    await team.press("link", "Edit", team.main);
    await team.fill("textbox", "Tags", "inbox, mail");
    await team.press("button", "Save", team.main);
    assert.match(await region("Details").innerText(), /#inbox/);
    assert.match(await region("History").innerText(), /\S/);
  });

  await step("publish a changelog with a cover", async () => {
    await team.open("/admin/changelogs");
    await team.press("link", "New changelog", team.main);
    await team.fill("textbox", "Title", "Undo send is here");
    await team.fill("textbox", "Content", "Press **Undo** within ten seconds.");
    await page.getByLabel("Cover image", { exact: true }).setInputFiles({ name: "cover.png", mimeType: "image/png", buffer: png(640, 320) });
    await team.press("button", "Preview", team.main.locator("aside"));
    assert.match(await team.main.innerText(), /Press Undo within ten seconds/);
    await team.press("button", "Publish", team.main);
    assert.match(await team.status(), /published/);
    const { changelogs } = await api("GET", "/changelogs");
    const made = changelogs.find(({ title }) => title === "Undo send is here");
    assert.equal(made.status, "published");
    assert.ok(made.cover_image_url, "the changelog has a cover");
  });

  let key;
  await step("make a key", async () => {
    await team.open("/admin/api-keys");
    await team.fill("textbox", "Name", `morning ${way}`);
    await team.check("read");
    await team.press("button", "Create key");
    key = (await page.content()).match(/rmk_[A-Za-z0-9]+/)[0];
    const { status } = await service.send("GET", `${origin}/api/external/v1/tracks`, { "X-Api-Key": key });
    assert.equal(status, 200, "the key works");
    await team.open("/admin/api-keys");
    assert.doesNotMatch(await page.content(), new RegExp(key), "the key is shown once");
  });

  await step("create a webhook and send a test event", async () => {
    await team.open("/admin/webhooks");
    await team.fill("textbox", "URL", "https://receiver.invalid/hook");
    await team.fill("textbox", "Description", `webhook ${way}`);
    await team.check("vote.created");
    await team.press("button", "Create webhook");
    const secret = await page.getByRole("textbox", { name: "Secret", exact: true }).inputValue();
    assert.match(secret, /^whsec_/);
    await team.press("link", "I have copied the secret");
    assert.ok(!(await page.content()).includes(secret), "the secret is shown once");
    await team.press("button", "Send test event");
    await page.getByRole("table", { name: "Deliveries", exact: true }).getByText("webhook.test").first().waitFor({ state: "attached" });
    await team.press("button", "Delete webhook");
    await team.press("button", "Delete webhook");
    assert.match(await page.content(), /The webhook was deleted/);
  });

  await step("connect a tracker", async () => {
    await team.open("/admin/link-sources");
    await team.fill("textbox", "Name", `tracker ${way}`);
    await team.press("button", "Add link source");
    const [address, secret] = await Promise.all(["Address", "Secret"].map((name) => page.getByRole("textbox", { name, exact: true }).inputValue()));
    const { status } = await service.send("POST", address, { "Content-Type": "application/json" }, "{}");
    assert.equal(status, 401, "without a proof");
    await team.open("/admin/link-sources");
    assert.doesNotMatch(await page.content(), new RegExp(secret), "the secret is shown once");
    await team.press("button", `Delete tracker ${way}`);
    await team.press("button", `Delete tracker ${way}`);
    assert.match(await page.content(), /The link source was deleted/);
  });

  await step("find all of it in the audit", async () => {
    await team.open("/admin/audit");
    const table = page.getByRole("table", { name: "Audit", exact: true });
    const text = await table.innerText();
    for (const part of [created[0].title, created[4].title, "Undo send is here"]) assert.ok(text.includes(part), `the audit names ${part}`);
    assert.doesNotMatch(await page.content(), new RegExp(key ?? "no key"), "the audit has no key");
  });
  await context.close();
  return failures;
}
