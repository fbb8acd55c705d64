// The pages and their states: where each is, who sees it, and how it comes up.

import { ADMIN_MAIN } from "./admin.mjs";
import { MEMBER } from "./content.mjs";

/** Opens a page by its address. */
export const at = (target) => ({ page, origin }) => page.goto(`${origin}${target}`);

/** Opens a page, fills in the form that has a field, and sends it. The browser is not to stop wrong input. */
export const sent = (target, field, fill, button = "button[type=submit]:not([name=preview])") => async ({ page, origin }) => {
  await page.goto(`${origin}${target}`);
  const form = page.locator(`main form:has(${field})`).first();
  await form.evaluate((form) => { form.noValidate = true; });
  await fill(form);
  const isNext = (response) => response.request().isNavigationRequest() && response.status() !== 303;
  const [response] = await Promise.all([page.waitForResponse(isNext), form.locator(button).first().click()]);
  await page.waitForLoadState("load");
  return response;
};

/**
 * Returns all views. Each has a name, the workspace, the account that sees it (or none), how it is opened, and the
 * expected status. Fields and buttons of forms that are to fail are found by their names in the form, which do not
 * depend on the language.
 */
export function views({ demo, links, acme, held, hostile }) {
  const views = [];
  const add = (name, how, more = {}) => {
    const opened = typeof how === "string" ? { open: at(how), target: how } : { open: how };
    views.push({ name, ...opened, status: 200, workspace: "demo", ...more });
  };

  // Full, for visitors.
  add("roadmap", "/", { isWeighed: true });
  add("list", "/feature_requests", { isWeighed: true });
  add("list by votes", "/feature_requests?sort=votes&page=2");
  add("list of a lane", "/feature_requests?lane=Planned&sort=newest");
  add("search", "/feature_requests?query=conversation&sort=votes", { isWeighed: true });
  add("search without hits", "/feature_requests?query=qqqqzzzz");
  add("list past the end", "/feature_requests?page=9999");
  add("request", demo.discussed, { isWeighed: true });
  add("request, first page", `${demo.discussed}?page=1`, { isWeighed: true });
  add("request of the demo", demo.first, { isWeighed: true });
  add("vote", `${demo.discussed}/vote`, { isWeighed: true });
  add("idea, title", "/feature_requests/new", { isWeighed: true });
  add("idea, similar", "/feature_requests/new?title=Export+conversations", { isWeighed: true });
  add("idea, nothing similar", "/feature_requests/new?title=Qqqq+zzzz");
  add("changelogs", "/changelogs", { isWeighed: true });
  add("news", "/news", { isWeighed: true });
  add("changelog", demo.changelog, { isWeighed: true });
  add("sign-in", "/sign-in", { isWeighed: true });
  add("sign-in, sent", "/sign-in/sent", { isWeighed: true });
  add("sign-in by link", links.plain, { showsAddress: true });
  add("stop mail", links.stop, { workspace: "closed", showsAddress: true });
  add("mail stopped", async ({ page, origin }) => {
    await page.goto(`${origin}${links.stop}`);
    const next = page.waitForResponse((response) => response.request().isNavigationRequest() && response.status() !== 303);
    await page.locator("main button[value=request]").click();
    return next;
  }, { workspace: "closed" });
  add("mail settings", async ({ page, origin }) => {
    await page.goto(`${origin}${links.stop}`);
    await page.locator("main button[value=all]").click();
    await page.waitForURL("**/mail/**");
    return page.goto(page.url().split("?")[0]);
  }, { workspace: "closed", showsAddress: true });
  add("embedded roadmap", "/embed/roadmap", { isEmbedded: true, startsMidway: true, isWeighed: true });
  add("embedded changelogs", "/embed/changelogs", { isEmbedded: true, startsMidway: true, isWeighed: true });
  add("not found", "/feature_requests/999999-nothing", { status: 404 });
  add("unknown path", "/nothing/at/all", { status: 404 });

  // With the own accent colour and a cover; links with a kept action.
  add("roadmap with a yellow accent", "/", { workspace: "acme" });
  add("changelog with a cover", acme.changelog, { workspace: "acme", isWeighed: true });
  add("link that votes", links.vote, { workspace: "acme", showsAddress: true });
  add("link that comments", links.comment, { workspace: "acme", showsAddress: true });
  add("link that submits", links.submit, { workspace: "acme", showsAddress: true });
  add("link that follows", links.follow, { workspace: "acme", showsAddress: true });

  // Empty.
  add("empty roadmap", "/", { workspace: "empty" });
  add("empty list", "/feature_requests", { workspace: "empty" });
  add("empty changelogs", "/changelogs", { workspace: "empty" });
  add("empty embedded roadmap", "/embed/roadmap", { workspace: "empty", isEmbedded: true, startsMidway: true });
  add("empty embedded changelogs", "/embed/changelogs", { workspace: "empty", isEmbedded: true, startsMidway: true });
  add("empty account", "/account", { workspace: "empty", account: "newcomer" });

  // Errors.
  const error = { status: 422, hasProblem: true, startsMidway: true };
  const email = (form) => form.locator("input[name=email]").fill("maja.lindqvist");
  add("sign-in with an error", sent("/sign-in", "input[name=email]", email), error);
  add("vote with an error", sent(`${demo.discussed}/vote`, "input[name=email]", email), error);
  add("idea with errors", sent("/feature_requests/new?title=Export", "textarea", async (form) => {
    await email(form);
    await form.locator("textarea").evaluate((area) => { area.value = "The words that must stay. ".repeat(900); });
  }), error);
  add("comment with errors", sent(demo.discussed, "textarea", email), error);
  add("wrong code", sent("/sign-in/sent", "input[name=code]", (form) => form.locator("input[name=code]").fill("AAAA-2222")), error);
  add("used link", links.used, { status: 404, workspace: "acme" });
  add("unknown host", "/", { status: 404, workspace: "nobody", isBare: true, startsMidway: true });
  add("form of another origin", async ({ page, origin, service }) => {
    const language = await page.evaluate(() => navigator.language);
    const sentBy = { "Content-Type": "application/x-www-form-urlencoded", Origin: "null", "Accept-Language": language };
    const response = await service.send("POST", `${origin}/sign-in`, sentBy, "email=a%40example.org");
    const headers = Object.fromEntries(Object.entries(response.headers).filter(([name]) => !/transfer|connection/.test(name)));
    await page.route(`${origin}/sign-in`, (route) => route.fulfill({ status: response.status, headers, body: response.body }));
    const shown = await page.goto(`${origin}/sign-in`);
    await page.unroute(`${origin}/sign-in`);
    return shown;
  }, { status: 403 });
  add("closed portal", "/", { status: 403, workspace: "closed", account: "outsider" });

  // For people who are signed in.
  const customer = { account: "customer" };
  add("roadmap for a customer", "/", { ...customer, isWeighed: true });
  add("list for a customer", "/feature_requests?sort=votes", { ...customer, isWeighed: true });
  add("list of own votes", "/feature_requests?mine=voted", customer);
  add("list of own requests", "/feature_requests?mine=written", customer);
  add("request for a customer", demo.discussed, { ...customer, isWeighed: true });
  const words = "# One\n\nWe use **Neo 2**. Would `rebinding` cover that?\n\n- one\n- two";
  const preview = sent(demo.discussed, "textarea", (form) => form.locator("textarea").fill(words), "button[name=preview]");
  add("preview of a comment", preview, { ...customer, startsMidway: true });
  add("idea for a customer", "/feature_requests/new?title=Export+conversations", customer);
  add("account", "/account", { ...customer, isWeighed: true });
  add("account with an error", sent("/account", "input[name=name]", (form) =>
    form.locator("input[name=name]").evaluate((input) => { input.value = "x".repeat(300); })), { ...error, ...customer });
  add("deletion of an account", "/account/delete", { ...customer, isWeighed: true });
  add("notice", "/?done=signed-in", customer);
  add("request for the team", demo.discussed, { account: "member" });
  add("held comments for the team", held.path, { workspace: "held", account: "member" });
  add("held idea for the team", held.idea, { workspace: "held", account: "member" });
  add("held idea for its author", held.idea, { workspace: "held", account: "author" });
  add("deletion of an own idea", `${held.idea}/delete`, { workspace: "held", account: "author" });
  add("hostile thread", hostile.threadPath, { workspace: "hostile" });
  add("roadmap to scroll", "/", { workspace: "hostile" });
  return views;
}

/** The people who are signed in, by workspace. */
export const ACCOUNTS = {
  demo: { customer: "hannah.pemberton@northwick-cycles.example", member: "maren@lumendesk.example" },
  empty: { newcomer: "newcomer@example.org", member: MEMBER.email },
  held: { member: MEMBER.email, author: "ann@example.org" },
  closed: { outsider: "outsider@example.org" },
};

/** Views that stand for their pages: they have pictures, and are seen in all variants. */
const MAIN = new Set([
  "roadmap", "list", "request", "vote",
  "idea, title", "idea, similar", "changelogs", "changelog", "news",
  "sign-in", "sign-in, sent", "sign-in by link", "stop mail", "mail stopped", "mail settings", "embedded roadmap",
  "embedded changelogs", "not found", "roadmap with a yellow accent", "changelog with a cover",
  "link that comments", "empty roadmap", "empty list", "empty changelogs",
  "idea with errors", "request for a customer", "preview of a comment", "account",
  "held comments for the team",
]);

/** Languages, themes and widths so that every two of them come together once. */
const PAIRS = [
  { language: "en", theme: "light", width: 1280 },
  { language: "ar", theme: "light", width: 320 },
  { language: "ar", theme: "dark", width: 1280 },
  { language: "en", theme: "dark", width: 320 },
];

/** Every language, theme and width once. */
const ENDS = [PAIRS[0], { language: "ar", theme: "dark", width: 320 }];

/** Returns in which languages, themes and widths a view is seen. The short form sees views by turns in one of two. */
export const variantsOf = (view, isShort, number) => (isShort ? [ENDS[number % ENDS.length]] : isPictured(view) ? PAIRS : ENDS);

/** Whether pictures of a view are taken. */
export const isPictured = (view) => MAIN.has(view.name) || ADMIN_MAIN.has(view.name);
