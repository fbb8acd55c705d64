// Watches a page: what it runs, requests, logs, and what its policy reports.

/** Milliseconds for timers after a page has loaded, in which a forbidden script could run. */
export const MOMENT = 50;

/** A page that records the scripts that run in it or in its frames, and its requests. */
export class Watched {
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
export function html(content) {
  const document = `<!DOCTYPE html><meta charset="utf-8"><body>${content}</body>`;
  return (page) => page.setContent(document, { waitUntil: "load" });
}

/** Records violations of the policy, and errors in the console and in scripts. */
export async function watchErrors(page) {
  const errors = [];
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      console.debug(`policy: ${event.effectiveDirective} blocked ${event.blockedURI} ${event.sample}`);
    });
  });
  // A page with a status of 400 or more is an error in the console, and is meant so.
  const isStatus = (text) => /^Failed to load resource: the server responded with a status of 4\d\d/.test(text);
  page.on("console", (message) => {
    const text = message.text();
    const isOwnStatus = isStatus(text) && message.location().url.split("#")[0] === page.url().split("#")[0];
    if (text.startsWith("policy: ") || (["error", "warning"].includes(message.type()) && !isOwnStatus)) errors.push(text);
  });
  page.on("pageerror", (error) => errors.push(`a script failed: ${error}`));
  page.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText;
    if (reason !== "net::ERR_ABORTED") errors.push(`${request.url()}: ${reason}`);
  });
  return { take: () => errors.splice(0) };
}
