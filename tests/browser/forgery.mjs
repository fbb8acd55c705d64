// Forms that other sites send, and links that are used more than once.

import assert from "node:assert/strict";
import http from "node:http";
import { PIXEL, eventually } from "./service.mjs";

const FORM = "application/x-www-form-urlencoded";

/** Who sends a form, by the headers of a browser. Only the last one may change something. */
const senders = (origin, sibling) => [
  ["another site", { "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" }],
  ["a sibling workspace", { "Sec-Fetch-Site": "same-site", Origin: sibling }],
  ["a sibling workspace without Fetch Metadata", { Origin: sibling }],
  ["nobody", {}],
  ["a sandboxed frame", { Origin: "null" }],
  ["another site that claims the host", { Origin: "https://evil.example", "X-Forwarded-Host": new URL("https://evil.example").host }],
];

const right = (origin) => ({ "Sec-Fetch-Site": "same-origin", Origin: origin });

/** Reads the form of a button as a browser would send it. */
async function formOf(button) {
  await button.waitFor({ timeout: 30_000 });
  return button.evaluate((button) => {
    const data = new URLSearchParams(new FormData(button.form, button));
    const action = new URL(button.getAttribute("formaction") ?? button.form.action, location.href);
    return { action: action.pathname + action.search, body: data.toString() };
  });
}

/** A page as it is, without what changes each time. */
const fingerprint = (text) => text.replace(/value="web:[^"]*"/g, "").replace(/<time[^>]*>[^<]*<\/time>/g, "");

/** Returns the forms of the pages: whose they are, how they come up, and where their effect shows. */
function actions({ service, place, held }) {
  const { forged, follow } = place.requests;
  const main = (page) => page.getByRole("main");
  const button = (page, name) => main(page).getByRole("button", { name, exact: true });
  const onRequest = (name, fill = undefined, request = forged) => async (page, origin) => {
    await page.goto(`${origin}${request.path}`);
    await fill?.(page);
    return formOf(button(page, name));
  };
  const shows = (target) => ({ get }) => get(target).then(({ status, text }) => `${status} ${fingerprint(text)}`);
  const inAnswer = (name) => ({ answer }) => [answer?.headers["set-cookie"]].flat().some((cookie) => cookie?.startsWith(`${name}=`)) ? "set" : "not set";
  const stopMailPath = (email) => service.stopMailPath(place.workspace, forged.id, email);
  let settings;
  const comment = async (page) => main(page).getByRole("textbox", { name: "Your comment", exact: true }).fill("Forged?");
  return [
    { route: "/feature_requests/{slug}/vote", form: onRequest(`Vote for ${forged.title}`), effect: shows(forged.path) },
    { route: "/feature_requests/{slug}/unvote", form: onRequest(`Remove vote for ${forged.title}`), effect: shows(forged.path) },
    { route: "/feature_requests/{slug}/comments", form: onRequest("Post comment", comment), effect: shows(forged.path) },
    { route: "/feature_requests/{slug}/subscription", form: onRequest("Follow"), before: onRequest("Follow"), effect: shows(forged.path) },
    { route: "/feature_requests/{slug}/subscription", form: onRequest("Follow", undefined, follow), effect: shows(follow.path) },
    {
      route: "/feature_requests/new",
      form: async (page, origin) => {
        await page.goto(`${origin}/feature_requests/new?title=Forged+idea`);
        return formOf(button(page, "Submit idea"));
      },
      effect: shows("/feature_requests?mine=written"),
    },
    // What the forms above have posted.
    {
      route: "/comments/{id}/edit",
      form: async (page, origin) => {
        await page.goto(`${origin}${forged.path}`);
        await main(page).getByRole("link", { name: /^Edit your comment/ }).click();
        await main(page).getByRole("textbox", { name: "Your comment", exact: true }).fill("Forged twice?");
        return formOf(button(page, "Save"));
      },
      effect: shows(forged.path),
    },
    {
      route: "/comments/{id}/delete",
      form: async (page, origin) => {
        await page.goto(`${origin}${forged.path}`);
        await main(page).getByRole("link", { name: /^Delete your comment/ }).click();
        return formOf(button(page, "Delete comment"));
      },
      effect: shows(forged.path),
    },
    {
      route: "/feature_requests/{slug}/edit",
      form: async (page, origin) => {
        await page.goto(`${origin}/feature_requests?mine=written`);
        await main(page).getByRole("link", { name: "Forged idea", exact: true }).click();
        await main(page).getByRole("link", { name: "Edit your idea", exact: true }).click();
        await main(page).getByRole("textbox", { name: "Title", exact: true }).fill("Forged words");
        return formOf(button(page, "Save"));
      },
      effect: shows("/feature_requests?mine=written"),
    },
    {
      route: "/feature_requests/{slug}/delete",
      form: async (page, origin) => {
        await page.goto(`${origin}/feature_requests?mine=written`);
        await main(page).getByRole("link", { name: "Forged words", exact: true }).click();
        await main(page).getByRole("link", { name: "Delete your idea", exact: true }).click();
        return formOf(button(page, "Delete idea"));
      },
      effect: shows("/feature_requests?mine=written"),
    },
    {
      route: "/preferences",
      form: async (page, origin) => {
        await page.goto(`${origin}/`);
        await page.getByRole("contentinfo").locator("select[name=theme]").selectOption("dark");
        return formOf(page.getByRole("contentinfo").getByRole("button", { name: "Save" }));
      },
      effect: inAnswer("theme"),
    },
    {
      route: "/account",
      form: async (page, origin) => {
        await page.goto(`${origin}/account`);
        await main(page).getByRole("textbox", { name: "Name", exact: true }).fill("Forged Name");
        return formOf(main(page).locator("form:has(input[name=name]) button").first());
      },
      effect: shows("/account"),
    },
    {
      route: "/account/name",
      form: async (page, origin) => {
        // Pages ask only those who have no name. The form in the account has the same field.
        await page.goto(`${origin}/account`);
        await main(page).getByRole("textbox", { name: "Name", exact: true }).fill("Another Forged Name");
        const form = await formOf(main(page).locator("form:has(input[name=name]) button").first());
        return { ...form, action: "/account/name" };
      },
      effect: shows("/account"),
    },
    {
      route: "/account/mail",
      form: async (page, origin) => {
        await page.goto(`${origin}/account`);
        await main(page).getByRole("checkbox", { name: "Changelogs about it", exact: true }).uncheck();
        return formOf(button(page, "Save mail settings"));
      },
      effect: shows("/account"),
    },
    {
      route: "/news",
      form: async (page, origin) => {
        await page.goto(`${origin}/news`);
        return formOf(button(page, "Get mail about news"));
      },
      effect: shows("/account"),
    },
    {
      // The script sends it, not a form.
      route: "/pictures",
      form: async (page, origin) => {
        await page.goto(`${origin}/feature_requests/new?title=Forged+picture`);
        await main(page).getByLabel("Add picture", { exact: true }).waitFor();
        const head = '--x\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\n';
        const body = Buffer.concat([Buffer.from(head), PIXEL, Buffer.from("\r\n--x--\r\n")]);
        return { action: "/pictures", body, type: "multipart/form-data; boundary=x" };
      },
      effect: async ({ answer }) => (answer?.status === 201 ? "added" : "not added"),
    },
    {
      route: "/stop-mail/{reference}",
      isAnonymous: true,
      form: async (page, origin) => {
        await page.goto(`${origin}${await stopMailPath("forged-stop@example.org")}`);
        return formOf(button(page, "Stop all mail"));
      },
      effect: async ({ answer }) => answer?.headers.location?.split("?")[1] ?? "not stopped",
    },
    {
      route: "/mail/{reference}",
      isAnonymous: true,
      form: async (page, origin) => {
        await page.goto(`${origin}${await stopMailPath("forged-mail@example.org")}`);
        await button(page, "Stop all mail").click();
        await page.getByRole("link", { name: "All mail settings", exact: true }).click();
        await main(page).getByRole("checkbox", { name: "Changelogs about it", exact: true }).check();
        settings = new URL(page.url()).pathname;
        return formOf(button(page, "Save mail settings"));
      },
      effect: async ({ get }) => fingerprint((await get(settings)).text),
    },
    {
      route: "/sign-in",
      isAnonymous: true,
      form: async (page, origin) => {
        await page.goto(`${origin}/sign-in`);
        await main(page).getByRole("textbox", { name: "E-mail address", exact: true }).fill("forged@example.org");
        return formOf(button(page, "Send me a code"));
      },
      effect: inAnswer("signin"),
    },
    {
      route: "/sign-in/sent",
      isAnonymous: true,
      form: async (page, origin) => {
        await page.goto(`${origin}/sign-in`);
        await main(page).getByRole("textbox", { name: "E-mail address", exact: true }).fill("forged-code@example.org");
        await button(page, "Send me a code").click();
        const { code } = await service.signInMail("forged-code@example.org");
        await main(page).getByRole("textbox", { name: "Code", exact: true }).fill(code);
        return formOf(button(page, "Sign in"));
      },
      effect: inAnswer("session"),
    },
    {
      route: "/sign-in/{reference}",
      isAnonymous: true,
      form: async (page) => {
        await page.goto(service.signInLink(place.workspace, "forged-link@example.org"));
        return formOf(button(page, "Sign in"));
      },
      effect: inAnswer("session"),
    },
    { route: "/feature_requests/{slug}/approve", workspace: "held", form: async (page, origin) => {
      await page.goto(`${origin}${held.idea}`);
      return formOf(main(page).locator("form[action$='/approve'] button").first());
    }, effect: shows(held.idea) },
    { route: "/comments/{id}/approve", workspace: "held", form: async (page, origin) => {
      await page.goto(`${origin}${held.path}`);
      return formOf(main(page).locator("form[action^='/comments/'][action$='/approve'] button").first());
    }, effect: shows(held.path) },
    { route: "/comments/{id}/discard", workspace: "held", form: async (page, origin) => {
      await page.goto(`${origin}${held.path}`);
      return formOf(main(page).locator("form[action^='/comments/'][action$='/discard'] button, button[formaction$='/discard']").first());
    }, effect: shows(held.path) },
    // Last, because they end sessions.
    {
      route: "/account/delete",
      person: "deleted",
      before: onRequest(`Vote for ${forged.title}`),
      form: async (page, origin) => {
        await page.goto(`${origin}/account`);
        await main(page).getByRole("link", { name: "Delete me", exact: true }).click();
        return formOf(button(page, "Delete me"));
      },
      effect: shows("/account/delete"),
    },
    { route: "/sign-out", form: async (page, origin) => {
      await page.goto(`${origin}/account`);
      return formOf(button(page, "Sign out"));
    }, effect: shows("/account") },
    { route: "/account/sessions", person: "everywhere", form: async (page, origin) => {
      await page.goto(`${origin}/account`);
      return formOf(button(page, "Sign out everywhere"));
    }, effect: shows("/account") },
  ];
}

/** Returns the routes of forms, as the table of pages has them. Those of the admin panel are in tests/api/admin_access.rs. */
export function routesOfForms(source) {
  return [...source.matchAll(/\bpost\(\s*"([^"]+)"/g)].map(([, route]) => route).filter((route) => !route.startsWith("/admin"));
}

async function signedIn(browser, service, workspace, email) {
  const context = await browser.newContext({ locale: "en" });
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  await page.goto(service.signInLink(workspace, email));
  await page.getByRole("main").getByRole("button", { name: "Sign in", exact: true }).click();
  await page.getByRole("link", { name: "Your account", exact: true }).waitFor();
  return { context, page };
}

/** Sends every form from everywhere. Returns what went wrong. */
export async function forge({ browser, service, place, held, routes }) {
  const failures = [];
  const all = actions({ service, place, held });
  for (const route of routes.filter((route) => !all.some((action) => action.route === route))) {
    failures.push(`the form ${route} is sent by nobody: add it to tests/browser/forgery.mjs`);
  }
  const people = new Map();
  for (const { route, workspace = place.workspace, isAnonymous, person = workspace, form, before, effect } of all) {
    const origin = service.origin(workspace);
    const sibling = service.origin("beta");
    try {
      const key = isAnonymous ? `${route}` : person;
      if (!people.has(key)) {
        const email = workspace === "held" ? "olga@team.example" : `forged-${key}@example.org`;
        people.set(key, isAnonymous
          ? await browser.newContext({ locale: "en" }).then(async (context) => ({ context, page: await context.newPage() }))
          : await signedIn(browser, service, workspace, email));
      }
      const { page, context } = people.get(key);
      const cookie = async () => (await context.cookies(origin)).map(({ name, value }) => `${name}=${value}`).join("; ");
      const headers = { "Accept-Language": "en" };
      const post = async (form, more) => service.send("POST", `${origin}${form.action}`, { ...headers, "Content-Type": form.type ?? FORM, Cookie: await cookie(), ...more }, form.body);
      const get = async (target) => service.send("GET", `${origin}${target}`, { "Accept-Language": "en", Cookie: await cookie() });
      if (before) {
        const prepared = await post(await before(page, origin), right(origin));
        assert.equal(prepared.status, 303);
      }
      const sent = await form(page, origin);
      const unchanged = await effect({ get });
      for (const [sender, wrong] of senders(origin, sibling)) {
        const answer = await post(sent, wrong);
        assert.equal(answer.status, 403, `from ${sender}`);
        assert.equal(await effect({ get, answer }), unchanged, `changed by ${sender}`);
      }
      const answer = await post(sent, right(origin));
      assert.ok([201, 303].includes(answer.status), `from the page itself: ${answer.status} ${answer.text.slice(0, 200)}`);
      assert.notEqual(await effect({ get, answer }), unchanged, "the page itself changed nothing");
    } catch (error) {
      failures.push(`POST ${route}: ${String(error.message).split("\n").slice(0, 6).join(" | ")}`);
    }
  }
  for (const { context } of people.values()) await context.close();
  return failures;
}

/** Opens an attack page at a sibling workspace's host, which sends the forms of somebody who is signed in. */
export async function attack({ browser, service, place }) {
  const failures = [];
  const origin = service.origin(place.workspace);
  const sibling = service.origin("beta");
  const { forged } = place.requests;
  let attacker;
  const { context, page } = await signedIn(browser, service, place.workspace, "victim@example.org");
  try {
    const form = async (name) => {
      await page.goto(`${origin}${forged.path}`);
      return formOf(page.getByRole("main").getByRole("button", { name, exact: true }));
    };
    const vote = await form(`Vote for ${forged.title}`);
    await page.goto(`${origin}/account`);
    const everywhere = await formOf(page.getByRole("main").getByRole("button", { name: "Sign out everywhere", exact: true }));
    const visible = async () => {
      await page.goto(`${origin}${forged.path}`);
      return page.getByRole("main").innerText();
    };
    const before = await visible();

    const sent = [];
    page.on("request", (request) => request.method() === "POST" && sent.push(request));
    // A server of its own: browsers ask before a page from elsewhere may reach this machine.
    attacker = http.createServer((request, response) => {
      const query = new URL(request.url, sibling).searchParams;
      const { action, body } = [vote, everywhere][Number(query.get("form"))];
      const inputs = [...new URLSearchParams(body)].map(([name, value]) => `<input name="${name}" value="${value}">`).join("");
      const markup = `<form id="f" method="post" action="${origin}${action}">${inputs}</form><script>f.submit()</script>`;
      const options = JSON.stringify({ method: "POST", mode: "no-cors", credentials: "include", headers: { "Content-Type": FORM }, body });
      const bodies = {
        form: markup,
        fetch: `<script>fetch("${origin}${action}", ${options}).catch(() => {})</script>`,
        sandbox: `<iframe sandbox="allow-scripts allow-forms" srcdoc='${markup}'></iframe>`,
        frame: `<iframe name="victim" src="${origin}${forged.path}"></iframe>`,
        get: `<img src="${origin}${action}?${body}">`,
      };
      response.writeHead(200, { "Content-Type": "text/html" });
      response.end(`<!DOCTYPE html><title>attack</title>${bodies[query.get("way")]}`);
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => attacker.once("listening", resolve));
    const attackAt = `http://${new URL(sibling).hostname}:${attacker.address().port}/attack`;
    for (const [index, what] of ["the vote", "signing out everywhere"].entries()) {
      for (const way of ["form", "fetch", "sandbox", "get"]) {
        sent.length = 0;
        await page.goto(`${attackAt}?way=${way}&form=${index}`, { waitUntil: "load" });
        if (way === "form") {
          const response = await sent[0].response();
          assert.equal(response?.status(), 403, `${what} by a form`);
          // Control: the browser sent the session, so that only the service could refuse.
          const headers = await sent[0].allHeaders();
          assert.match(headers.cookie ?? "", /session=/, "the attack did not have the cookie");
          assert.equal(headers["sec-fetch-site"], "same-site");
        } else if (way === "fetch") {
          // The service has answered, and its headers keep the answer from the page.
          const failure = await eventually("the fetch is answered", () => sent[0]?.failure());
          assert.match(failure.errorText, /ERR_BLOCKED_BY_RESPONSE/, "the fetch did not reach the service");
        } else if (way === "sandbox") {
          await eventually("the frame is answered", () => page.frames().some((frame) => frame.url().startsWith("chrome-error:")));
        } else {
          await page.waitForTimeout(100);
        }
        assert.equal(await visible(), before, `${what} by ${way} changed something`);
      }
    }
    await page.goto(`${attackAt}?way=frame&form=0`);
    const frame = page.frame({ name: "victim" });
    assert.equal(await frame.getByRole("main").count(), 0, "the page is shown in a frame");
  } catch (error) {
    failures.push(`attack: ${String(error.message).split("\n").slice(0, 6).join(" | ")}`);
  } finally {
    attacker?.close();
    await context.close();
  }
  return failures;
}

/** Uses one link 32 times at once, and a code too often. */
export async function race({ browser, service, place }) {
  const failures = [];
  const origin = service.origin(place.workspace);
  const headers = { "Content-Type": FORM, ...right(origin) };
  const sessionIn = ({ headers }) => [headers["set-cookie"]].flat().some((cookie) => cookie?.startsWith("session="));
  const page = await browser.newPage({ locale: "en" });
  page.setDefaultTimeout(30_000);
  try {
    const link = service.signInLink(place.workspace, "racer@example.org");
    await page.goto(link);
    const form = await formOf(page.getByRole("main").getByRole("button", { name: "Sign in", exact: true }));
    const answers = await Promise.all(Array.from({ length: 32 }, () => service.send("POST", `${origin}${form.action}`, headers, form.body)));
    const winners = answers.filter((answer) => answer.status === 303 && sessionIn(answer));
    assert.equal(winners.length, 1, `sessions by 32 uses of a link: ${answers.map(({ status }) => status)}`);
    const losers = answers.filter((answer) => !winners.includes(answer));
    assert.deepEqual([...new Set(losers.map(({ status }) => status))], [404], "the other uses");
    assert.ok(losers.every((answer) => !sessionIn(answer)), "only one answer has a session");

    // A link of another workspace, or a changed one, is the same 404.
    const other = new URL(service.signInLink(place.workspace, "racer-2@example.org")).pathname;
    const changed = `${other.slice(0, -3)}${other.endsWith("AAA") ? "BBB" : "AAA"}`;
    for (const url of [`${service.origin("beta")}${other}`, `${origin}${changed}`]) {
      assert.equal((await service.send("GET", url)).status, 404, url);
      const at = new URL(url).origin;
      assert.equal((await service.send("POST", url, { "Content-Type": FORM, ...right(at) }, form.body)).status, 404, url);
    }

    // Two posts of one form of a signed-in person do one thing.
    const cookie = [winners[0].headers["set-cookie"]].flat().find((cookie) => cookie.startsWith("session=")).split(";")[0];
    await page.context().addCookies([{ name: "session", value: cookie.slice("session=".length), url: origin }]);
    await page.goto(`${origin}${place.requests.talk.path}`);
    await page.getByRole("textbox", { name: "Your comment", exact: true }).fill("Sent twice at once");
    const twice = await formOf(page.getByRole("button", { name: "Post comment", exact: true }));
    const total = async () => (await service.must(place.workspace, "GET", `/feature_requests/${place.requests.talk.id}/comments`)).total_count;
    const before = await total();
    const both = await Promise.all([1, 2].map(() => service.send("POST", `${origin}${twice.action}`, { ...headers, Cookie: cookie }, twice.body)));
    assert.deepEqual(both.map(({ status }) => status), [303, 303], "two posts of one form");
    assert.equal(await total(), before + 1, "comments of two posts of one form");

    // The sixth code is refused, even the right one.
    await page.context().clearCookies();
    await page.goto(`${origin}/sign-in`);
    await page.getByRole("main").getByRole("textbox", { name: "E-mail address", exact: true }).fill("guesser@example.org");
    await page.getByRole("main").getByRole("button", { name: "Send me a code", exact: true }).click();
    const { code } = await service.signInMail("guesser@example.org");
    for (const typed of ["AAAA-2222", "BBBB-2222", "CCCC-2222", "DDDD-2222", "EEEE-2222", code]) {
      await page.getByRole("textbox", { name: "Code", exact: true }).fill(typed);
      const next = page.waitForResponse((response) => response.request().method() === "POST");
      await page.getByRole("main").getByRole("button", { name: "Sign in", exact: true }).click();
      assert.equal((await next).status(), 422, `the code ${typed === code ? "that is right, as the sixth" : typed}`);
    }
  } catch (error) {
    failures.push(`links and codes: ${String(error.message).split("\n").slice(0, 6).join(" | ")}`);
  } finally {
    await page.context().close();
  }
  return failures;
}
