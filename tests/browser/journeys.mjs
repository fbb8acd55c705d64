// What people do on the pages, by clicks without and with JavaScript, and by the keyboard alone.

import assert from "node:assert/strict";
import { PIXEL } from "./service.mjs";

/** A person at a browser. Everything is found by its role and its name. */
export class Person {
  constructor(page, { origin, byKeyboard }) {
    Object.assign(this, { page, origin, byKeyboard });
  }

  open(target) {
    return this.page.goto(target.startsWith("http") ? target : `${this.origin}${target}`);
  }

  find(role, name, within = this.page) {
    return within.getByRole(role, { name, exact: true });
  }

  /** Moves the focus with the Tab key. */
  async #reach(locator) {
    const element = await locator.elementHandle();
    for (let stops = 0; stops < 300; stops += 1) {
      if (await element.evaluate((element) => element === document.activeElement)) return;
      await this.page.keyboard.press("Tab");
    }
    throw new Error(`${locator} cannot be reached with the Tab key`);
  }

  async #press(locator, key) {
    if (!this.byKeyboard) return locator.click();
    await this.#reach(locator);
    await this.page.keyboard.press(key);
  }

  /** Presses a button or follows a link, and waits for the next page. */
  async press(role, name, within = undefined) {
    const locator = this.find(role, name, within);
    await locator.waitFor({ timeout: 30_000 });
    const isPage = (frame) => frame === this.page.mainFrame();
    await Promise.all([
      this.page.waitForEvent("framenavigated", { predicate: isPage, timeout: 30_000 }),
      this.#press(locator, role === "link" ? "Enter" : "Space"),
    ]);
    await this.page.waitForLoadState("load");
  }

  /**
   * Presses a button that is pressed or not, and waits for the button that is there then and for what is said about it. The
   * script changes the page in place.
   */
  async toggle(name, then) {
    const url = this.page.url();
    await this.page.evaluate(() => addEventListener("submit", () => { globalThis.scrolledTo = scrollY; }, { capture: true }));
    const button = this.main.getByRole("button", { name, exact: true, pressed: !then.pressed });
    await button.waitFor();
    await this.#press(button, "Space");
    const changed = this.main.getByRole("button", { name: then.name ?? name, exact: true, pressed: then.pressed });
    await changed.waitFor();
    await this.page.getByRole("status").filter({ hasText: /\S/ }).waitFor();
    return { url, changed };
  }

  async fill(role, name, text, within = undefined) {
    const locator = this.find(role, name, within);
    if (!this.byKeyboard) return locator.fill(text);
    await this.#reach(locator);
    await this.page.keyboard.press("Control+a");
    await this.page.keyboard.press("Delete");
    await this.page.keyboard.type(text);
  }

  /** Ticks a check box. */
  async check(name, within = undefined) {
    const locator = this.find("checkbox", name, within);
    if (!this.byKeyboard) return locator.check();
    if (await locator.isChecked()) return undefined;
    await this.#reach(locator);
    await this.page.keyboard.press("Space");
  }

  async choose(role, name, value, within = undefined) {
    const locator = this.find(role, name, within);
    if (!this.byKeyboard) return locator.selectOption(value);
    await this.#reach(locator);
    await this.page.keyboard.press("Home");
    for (let tries = 0; (await locator.inputValue()) !== value && tries < 20; tries += 1) await this.page.keyboard.press("ArrowDown");
    assert.equal(await locator.inputValue(), value);
  }

  heading() {
    return this.page.getByRole("heading", { level: 1 }).innerText();
  }

  /** Returns what the last action has done. There is exactly one such message. */
  async status() {
    const status = this.page.getByRole("status");
    assert.equal(await status.count(), 1, `messages on ${this.page.url()}`);
    return status.innerText();
  }

  get main() {
    return this.page.getByRole("main");
  }
}

/** The ways to use a page. */
export const WAYS = [
  { way: "without JavaScript", options: { javaScriptEnabled: false } },
  { way: "with JavaScript", options: {} },
  { way: "by the keyboard", options: {}, byKeyboard: true },
];

/** Runs all journeys one way. Returns what went wrong. */
export async function travel({ browser, service, place, way: { way, options, byKeyboard } }) {
  const failures = [];
  const { workspace, requests } = place;
  const origin = service.origin(workspace);
  const mark = workspace;
  const votes = async (id) => (await service.must(workspace, "GET", `/feature_requests/${id}`)).feature_request.votes_count;
  const comments = async (id) => (await service.must(workspace, "GET", `/feature_requests/${id}/comments`)).total_count;

  const context = async () => {
    const opened = await browser.newContext({ ...options, locale: "en" });
    opened.setDefaultTimeout(30_000);
    return opened;
  };
  const person = async (browserContext) => new Person(await browserContext.newPage(), { origin, byKeyboard });

  async function step(name, work) {
    const browserContext = await context();
    try {
      await work(await person(browserContext), browserContext);
    } catch (error) {
      failures.push(`${way}, ${name}: ${String(error.message ?? error).split("\n").slice(0, 12).join(" | ")}`);
    } finally {
      await browserContext.close();
    }
  }

  /** Signs somebody in by the code of a mail, in the browser that asked. */
  async function signIn(visitor, email) {
    await visitor.open("/");
    await visitor.press("link", "Sign in", visitor.page.getByRole("navigation", { name: "Main" }));
    await visitor.fill("textbox", "E-mail address", email);
    await visitor.press("button", "Send me a code");
    assert.equal(new URL(visitor.page.url()).pathname, "/sign-in/sent");
    const { code } = await service.signInMail(email);
    assert.ok(code, "the mail has a code");
    await visitor.fill("textbox", "Code", code.toLowerCase().replace("-", " "));
    await visitor.press("button", "Sign in", visitor.main);
    await visitor.find("link", "Your account").waitFor();
  }

  await step("find by a typing error, vote, confirm by mail, remove the vote", async (visitor) => {
    const { id, title } = requests.vote;
    const email = `${mark}-vote@example.org`;
    const before = await votes(id);
    await visitor.open("/");
    await visitor.press("link", "Feature requests", visitor.page.getByRole("navigation", { name: "Main" }));
    assert.equal(await visitor.heading(), "Feature requests");
    await visitor.fill("searchbox", "Search feature requests", "dark mdoe dashbord", visitor.page.getByRole("search"));
    await visitor.press("button", "Search", visitor.page.getByRole("search"));
    await visitor.press("link", title, visitor.main);
    assert.equal(await visitor.heading(), title);
    assert.equal(await visitor.find("button", `Vote for ${title}`).getAttribute("aria-pressed"), "false");
    await visitor.press("button", `Vote for ${title}`);
    await visitor.fill("textbox", "E-mail address", email);
    await visitor.press("button", "Send me a code");
    assert.equal(await votes(id), before, "an unconfirmed vote does not count");
    const { link } = await service.signInMail(email);
    // Scanners open links, and change nothing.
    for (const method of ["HEAD", "GET", "GET"]) assert.equal((await service.send(method, link)).status, 200);
    assert.equal(await votes(id), before, "opening a link does not vote");
    await visitor.open(link);
    assert.match(await visitor.main.innerText(), new RegExp(title), "the page of the link shows the action");
    for (const name of ["Only sign in", "This was not me"]) await visitor.find("button", name).waitFor();
    await visitor.press("button", "Sign in and vote");
    assert.match(await visitor.status(), /\S/);
    assert.equal(await votes(id), before + 1, "the confirmed vote counts");
    const remove = visitor.find("button", `Remove vote for ${title}`);
    assert.equal(await remove.getAttribute("aria-pressed"), "true");
    assert.equal(await remove.locator("[aria-hidden=true]").last().innerText(), "Voted");
    assert.match(await visitor.main.innerText(), new RegExp(`\\b${before + 1}\\s+votes`));
    await visitor.toggle(`Remove vote for ${title}`, { name: `Vote for ${title}`, pressed: false });
    assert.match(await visitor.status(), /\S/);
    assert.equal(await votes(id), before, "the vote is removed");
  });

  await step("comment as a visitor, and confirm", async (visitor) => {
    const email = `${mark}-visitor@example.org`;
    const before = await comments(requests.talk.id);
    await visitor.open(requests.talk.path);
    await visitor.fill("textbox", "Your comment", `Kept *until* it is confirmed, ${mark}`);
    await visitor.fill("textbox", "E-mail address", email, visitor.main.locator("form", { has: visitor.page.getByRole("textbox", { name: "Your comment" }) }));
    await visitor.press("button", "Post comment");
    const { link } = await service.signInMail(email);
    assert.equal(await comments(requests.talk.id), before);
    await visitor.open(link);
    assert.match(await visitor.main.innerText(), new RegExp(`Kept until it is confirmed, ${mark}`), "the comment is shown in full");
    await visitor.press("button", "Sign in and post");
    assert.match(await visitor.status(), /\S/);
    assert.equal(await comments(requests.talk.id), before + 1);
    assert.match(await visitor.main.innerText(), new RegExp(`Kept until it is confirmed, ${mark}`));
    assert.doesNotMatch(await visitor.main.innerText(), /@example\.org/, "nobody's address is shown");
  });

  await step("errors keep what was typed", async (visitor) => {
    await visitor.open(requests.talk.path);
    await visitor.page.locator("main form:has(textarea)").evaluate((form) => { form.noValidate = true; });
    const form = visitor.main.locator("form", { has: visitor.page.getByRole("textbox", { name: "Your comment" }) });
    await visitor.fill("textbox", "Your comment", "Words that stay");
    await visitor.fill("textbox", "E-mail address", "no address", form);
    await visitor.press("button", "Post comment");
    assert.match(await visitor.page.title(), /^Error: /);
    assert.match(await visitor.page.getByRole("alert").innerText(), /^There is a problem/);
    assert.equal(await visitor.find("textbox", "Your comment").inputValue(), "Words that stay");
    const field = form.getByRole("textbox", { name: "E-mail address", exact: true });
    assert.equal(await field.getAttribute("aria-invalid"), "true");
    assert.equal(await field.inputValue(), "no address");
    const described = await field.getAttribute("aria-describedby");
    const message = await visitor.page.locator(`#${described.split(" ")[0]}`).innerText();
    const link = visitor.page.getByRole("alert").getByRole("link").first();
    assert.ok(message.includes((await link.innerText()).trim()), `the field's message "${message}" is that of the list`);
    assert.equal(await link.getAttribute("href"), `#${await field.getAttribute("id")}`);
  });

  await step("format a comment with the toolbar", async (visitor) => {
    await visitor.open(requests.talk.path);
    const { page } = visitor;
    const area = visitor.find("textbox", "Your comment");
    const bar = visitor.find("toolbar", "Formatting");
    if (options.javaScriptEnabled === false) {
      assert.equal(await bar.count(), 0, "it does nothing without JavaScript");
      return;
    }
    const names = await bar.getByRole("button").evaluateAll((buttons) => buttons.map((button) => button.ariaLabel));
    assert.deepEqual(names, ["Bold", "List", "Link", "Preview"], "visitors add no pictures");
    const select = (from, to) => area.evaluate((area, [from, to]) => {
      area.focus();
      area.setSelectionRange(from, to);
    }, [from, to]);
    // The toolbar is one stop before the text. The arrow keys move in it, also around its ends.
    const press = async (name) => {
      if (!byKeyboard) return visitor.find("button", name, bar).click();
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Home");
      for (const _ of names.slice(0, names.indexOf(name))) await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Space");
    };
    const check = async (text, selected) => {
      const state = await area.evaluate((area) => [area.value, area.value.slice(area.selectionStart, area.selectionEnd), document.activeElement === area]);
      assert.deepEqual(state, [text, selected, true]);
    };
    await area.fill("one two");
    await select(4, 7);
    await press("Bold");
    await check("one **two**", "two");
    await press("Bold");
    await check("one two", "two");
    await press("List");
    await check("- one two", "- one two");
    await press("List");
    await check("one two", "one two");
    await select(4, 7);
    await press("Link");
    await check("one [two](https://)", "https://");
    await page.keyboard.press("Control+z");
    assert.equal(await area.inputValue(), "one two", "it can be undone");
    await select(0, 3);
    await page.keyboard.press("Control+b");
    await check("**one** two", "one");
    await select(8, 11);
    await page.keyboard.press("Control+k");
    await check("**one** [two](https://)", "https://");
    // The last and the first button are neighbours.
    await page.keyboard.press("Shift+Tab");
    const focused = () => page.evaluate(() => document.activeElement.ariaLabel);
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await focused(), "Preview");
    await page.keyboard.press("ArrowRight");
    assert.equal(await focused(), "Bold");
    await page.keyboard.press("End");
    assert.equal(await focused(), "Preview");
    // A bare address is a link in the preview.
    await area.fill(`**one** https://a.example/${mark}.`);
    await select(0, 0);
    await Promise.all([page.waitForURL(/#preview$/), press("Preview")]);
    const preview = page.getByRole("region", { name: "Preview", exact: true });
    await preview.getByRole("link", { name: `https://a.example/${mark}`, exact: true }).waitFor();
    assert.equal(await preview.locator("strong").innerText(), "one");
  });

  await step("an idea with similar ones", async (visitor) => {
    const email = `${mark}-idea@example.org`;
    await visitor.open("/feature_requests/new");
    assert.equal(await visitor.heading(), "Submit an idea");
    await visitor.fill("textbox", "Title", `Remind me before deadlines, ${mark}`);
    await visitor.press("button", "Continue");
    const similar = visitor.find("region", "Similar feature requests");
    await similar.getByRole("link", { name: requests.idea.title }).waitFor();
    await visitor.fill("textbox", "Description", "I forget **everything**.");
    await visitor.fill("textbox", "E-mail address", email);
    await visitor.press("button", "Submit idea");
    const { link } = await service.signInMail(email);
    await visitor.open(link);
    assert.match(await visitor.main.innerText(), new RegExp(`Remind me before deadlines, ${mark}`));
    await visitor.press("button", "Sign in and submit");
    assert.match(await visitor.status(), /\S/);
    assert.equal(await visitor.heading(), `Remind me before deadlines, ${mark}`);
    assert.match(await visitor.main.innerText(), /I forget everything\./);
  });

  await step("follow as a visitor, and unfollow", async (visitor) => {
    const email = `${mark}-follower@example.org`;
    await visitor.open(requests.follow.path);
    await visitor.press("button", "Follow");
    await visitor.fill("textbox", "E-mail address", email);
    await visitor.press("button", "Send me a code");
    const { link } = await service.signInMail(email);
    await visitor.open(link);
    await visitor.press("button", "Sign in and follow");
    assert.match(await visitor.status(), /\S/);
    const { changed } = await visitor.toggle("Follow", { pressed: false });
    assert.equal((await changed.innerText()).trim(), "Follow");
    const again = await visitor.toggle("Follow", { pressed: true });
    assert.equal(await again.changed.locator("[aria-hidden=true]").last().innerText(), "Following");
  });

  await step("only sign in, and this was not me", async (visitor, browserContext) => {
    const { id, path } = requests.vote;
    const before = await votes(id);
    for (const [name, isSignedIn] of [["Only sign in", true], ["This was not me", false]]) {
      await browserContext.clearCookies();
      const email = `${mark}-${isSignedIn}@example.org`;
      await visitor.open(`${path}/vote`);
      await visitor.fill("textbox", "E-mail address", email);
      await visitor.press("button", "Send me a code");
      const { link } = await service.signInMail(email);
      await visitor.open(link);
      await visitor.press("button", name);
      await visitor.open("/");
      assert.equal(await visitor.find("link", "Your account").count(), isSignedIn ? 1 : 0, name);
      assert.equal(await votes(id), before, name);
      assert.equal((await service.send("GET", link)).status, 404, "the link is used");
    }
  });

  await step("sign in by a code, take part, account", async (customer, browserContext) => {
    const email = `${mark}-customer@example.org`;
    await signIn(customer, email);

    // A comment with a preview.
    const before = await comments(requests.talk.id);
    await customer.open(requests.talk.path);
    await customer.fill("textbox", "Your comment", `Seen **first**, ${mark}`);
    await customer.press("button", "Preview", customer.main.locator("form > .cluster"));
    const preview = customer.page.getByRole("region", { name: "Preview", exact: true });
    assert.match(await preview.innerText(), new RegExp(`Seen first, ${mark}`));
    assert.equal(await comments(requests.talk.id), before, "a preview posts nothing");
    assert.equal(await customer.find("textbox", "Your comment").inputValue(), `Seen **first**, ${mark}`);
    await customer.press("button", "Post comment");
    assert.match(await customer.status(), /\S/);
    assert.equal(await comments(requests.talk.id), before + 1);

    // Two clicks do one thing.
    await customer.fill("textbox", "Your comment", `Twice, ${mark}`);
    const post = customer.find("button", "Post comment");
    if (byKeyboard) {
      await post.focus();
      await customer.page.keyboard.press("Space");
      await customer.page.keyboard.press("Space").catch(() => {});
    } else {
      await post.dblclick();
    }
    await customer.page.getByRole("status").waitFor();
    await customer.page.waitForLoadState("load");
    assert.equal(await comments(requests.talk.id), before + 2, "two clicks post one comment");

    // A picture is put into the text at once. Without a script it is sent with the comment.
    await customer.open(requests.talk.path);
    await customer.fill("textbox", "Your comment", `With a picture, ${mark}`);
    const field = customer.page.getByLabel("Add picture", { exact: true });
    await field.setInputFiles({ name: `pixel-${mark}.png`, mimeType: "image/png", buffer: PIXEL });
    if (options.javaScriptEnabled !== false) await customer.page.getByText("The picture is in the text.", { exact: true }).waitFor();
    await customer.press("button", "Post comment");
    const shown = customer.page.getByRole("img", { name: `pixel-${mark}`, exact: true });
    await shown.scrollIntoViewIfNeeded();
    assert.equal(await shown.evaluate((image) => image.decode().then(() => image.naturalWidth)), 1);
    assert.equal(await comments(requests.talk.id), before + 3);

    // What was just posted is edited, quoted to nobody, and deleted after a question.
    const own = () => customer.page.getByRole("article").filter({ hasText: `Twice, ${mark}` });
    await customer.open(requests.talk.path);
    assert.equal(await own().getByRole("link", { name: /^Reply/ }).count(), 0, "nobody replies to oneself");
    await customer.press("link", /^Edit your comment, /, own());
    assert.equal(await customer.find("textbox", "Your comment").inputValue(), `Twice, ${mark}`);
    await customer.fill("textbox", "Your comment", `Twice, ${mark}, said better`);
    await customer.press("button", "Save", customer.main);
    assert.equal(await customer.status(), "Your changes are saved.");
    assert.match(await own().innerText(), /said better/);
    await customer.press("link", /^Delete your comment, /, own());
    assert.equal(await customer.heading(), "Delete your comment?");
    await customer.press("button", "Delete comment");
    assert.equal(await customer.status(), "Your comment is deleted.");
    assert.equal(await own().count(), 0);
    assert.equal(await comments(requests.talk.id), before + 2);

    // The list knows the own vote.
    await customer.open("/feature_requests");
    const { id, title } = requests.follow;
    const votesBefore = await votes(id);
    const row = customer.page.getByRole("listitem").filter({ has: customer.page.getByRole("heading", { name: title, exact: true }) });
    const requestsSent = [];
    // A picture of the page itself may come later.
    const isOfScript = (request) => ["document", "fetch", "xhr"].includes(request.resourceType());
    customer.page.on("request", (request) => isOfScript(request) && requestsSent.push(request));
    const { url, changed } = await customer.toggle(`Vote for ${title}`, { name: `Remove vote for ${title}`, pressed: true });
    assert.equal(await votes(id), votesBefore + 1);
    assert.match(await row.getByRole("status").innerText(), /Your vote counts/, "the answer is beside the row");
    if (options.javaScriptEnabled === false) {
      assert.equal(new URL(customer.page.url()).hash, `#request-${requests.follow.path.match(/\d+/)[0]}`);
    } else {
      assert.equal(customer.page.url(), url, "the page stays");
      assert.equal(await customer.page.evaluate(() => scrollY - globalThis.scrolledTo), 0, "and does not scroll");
      assert.ok(await changed.evaluate((button) => button === document.activeElement), "the focus stays, too");
      assert.deepEqual(requestsSent.map((request) => request.method()), ["POST"]);
      const { responseBodySize, responseHeadersSize } = await requestsSent[0].sizes();
      assert.ok(responseBodySize + responseHeadersSize <= 2048, `${responseBodySize} and ${responseHeadersSize} bytes`);
    }
    await customer.open("/feature_requests?mine=voted");
    await customer.find("button", `Remove vote for ${title}`).waitFor();
    // A choice with the mouse is sent at once.
    const isSorted = customer.page.waitForURL((url) => url.searchParams.get("sort") === "oldest");
    await customer.choose("combobox", "Sort by", "oldest");
    if (byKeyboard || options.javaScriptEnabled === false) await customer.press("button", "Apply");
    await isSorted;
    await customer.find("button", `Remove vote for ${title}`).waitFor();

    await customer.press("link", "Your account", customer.page.getByRole("banner"));
    assert.equal(await customer.heading(), "Your account");
    const form = customer.main.locator("form", { has: customer.page.getByRole("textbox", { name: "Name", exact: true }) });
    await customer.fill("textbox", "Name", `Cara ${mark}`, form);
    await customer.choose("combobox", "Language", "de", form);
    await customer.press("button", "Save", form);
    assert.equal(await customer.page.locator("html").getAttribute("lang"), "de", "the language of the account");
    const german = customer.main.locator("form:has(input[name=name])");
    assert.equal(await german.locator("input[name=name]").inputValue(), `Cara ${mark}`);
    await german.locator("select").selectOption("en");
    await german.locator("button").click();
    await customer.find("heading", "Your account").waitFor();
    assert.ok((await customer.main.innerText()).includes(title), "the account lists the own vote");

    // Another browser of the same person is signed out, too.
    const other = await context();
    const elsewhere = await person(other);
    await elsewhere.open(service.signInLink(workspace, email));
    await elsewhere.press("button", "Sign in", elsewhere.main);
    await elsewhere.find("link", "Your account").waitFor();
    await customer.open("/account");
    await customer.press("button", "Sign out everywhere");
    assert.match(await customer.status(), /\S/);
    for (const signedOut of [customer, elsewhere]) {
      await signedOut.open("/account");
      assert.equal(new URL(signedOut.page.url()).pathname, "/sign-in");
    }
    await other.close();
  });

  await step("sign out", async (customer) => {
    await customer.open(service.signInLink(workspace, `${mark}-out@example.org`));
    await customer.press("button", "Sign in", customer.main);
    await customer.open("/account");
    await customer.press("button", "Sign out", customer.main);
    assert.match(await customer.status(), /\S/);
    await customer.page.goBack();
    assert.doesNotMatch(await customer.page.content(), new RegExp(`${mark}-out@example`), "Back shows nothing private");
  });

  await step("the team answers", async (member) => {
    await member.open(service.signInLink(workspace, "olga@team.example"));
    await member.press("button", "Sign in", member.main);
    await member.open(requests.idea.path);
    await member.fill("textbox", "Your comment", `We are on it, ${mark}`);
    await member.press("button", "Post comment");
    const comment = member.page.getByRole("article").filter({ hasText: `We are on it, ${mark}` }).last();
    assert.match(await comment.innerText(), /\bTeam\b/);
  });
  return failures;
}
