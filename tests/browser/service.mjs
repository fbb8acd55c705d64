// Starts the service, and sends requests to it as a program does.

import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";

const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ROADMAP_")));

/** All requests come from one address, and one person gets many mails. */
const LIMITS = [
  "RATE_LIMIT", "RATE_LIMIT_WORKSPACE", "RATE_LIMIT_FAILURES", "RATE_LIMIT_ANONYMOUS", "RATE_LIMIT_SIGN_IN",
  "RATE_LIMIT_POSTS", "MAIL_PER_ADDRESS",
];

/** A PNG of one pixel. */
export const PIXEL = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGOoBwAAgQCA05RTSgAAAABJRU5ErkJggg==", "base64");

/** Options of the browser: it resolves no foreign host. */
export const BROWSER_OPTIONS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE *.localhost, EXCLUDE localhost, EXCLUDE 127.0.0.1",
];

export const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Repeats a check until it returns something. */
export async function eventually(what, check) {
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(50)) {
    const found = await check();
    if (found) return found;
  }
  throw new Error(`still not so: ${what}`);
}

/** Calls `work` for all items, as many workers at a time. It gets an item and the number of its worker. */
export async function inParallel(workers, items, work) {
  const left = [...items];
  await Promise.all(Array.from({ length: workers }, async (_, worker) => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item, worker);
  }));
}

/** Returns a port that nobody listens on. */
export async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A running service with a data folder of its own. */
export class Service {
  #binary;
  #environment;
  #keys = new Map();
  #process;

  /** Prepares a service at `host`, below which its workspaces are. Browsers resolve `*.localhost` to this machine. */
  static async create(binary, host) {
    const service = new Service();
    service.#binary = binary;
    service.folder = fs.mkdtempSync(path.join(os.tmpdir(), "roadmap-browser-"));
    service.port = await freePort();
    service.base = `http://${host}:${service.port}`;
    service.#environment = { ...environment, ROADMAP_BASE_URL: service.base };
    for (const limit of LIMITS) service.#environment[`ROADMAP_${limit}`] = "off";
    return service;
  }

  /** Runs a command. Its output is JSON. */
  run(...words) {
    const options = { env: this.#environment, maxBuffer: 64 * 1024 * 1024 };
    return JSON.parse(execFileSync(this.#binary, [...words, "--data-dir", this.folder, "--json"], options).toString());
  }

  /** Creates a workspace with a key of the API. */
  createWorkspace(name, productName = name) {
    this.run("workspace", "create", name, "--product-name", productName, "--website-url", `https://${name}.example`);
    this.#keys.set(name, this.run("api-key", "create", "--workspace", name, "--name", "browser").key);
  }

  /** Starts to serve. */
  async start(...words) {
    const listen = ["serve", "--listen", `127.0.0.1:${this.port}`, "--data-dir", this.folder, "--log", "warn", ...words];
    this.#process = spawn(this.#binary, listen, { env: this.#environment, stdio: ["ignore", "pipe", "inherit"] });
    this.greeting = await new Promise((resolve, reject) => {
      let text = "";
      this.#process.stdout.on("data", (piece) => {
        text += piece;
        if (text.includes("listening on")) setTimeout(() => resolve(text), 200);
      });
      this.#process.once("exit", (code) => reject(new Error(`the service ended with ${code}: ${text}`)));
    });
    // The workspace of `--demo` is created by the start, with a printed key.
    const key = this.greeting.match(/API key: (\S+)/)?.[1];
    if (key) this.#keys.set("demo", key);
  }

  stop() {
    this.#process?.kill();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  /** Returns the origin of a workspace, or the one of the service. */
  origin(workspace) {
    return workspace ? this.base.replace("://", `://${workspace}.`) : this.base;
  }

  /** Sends a request to a URL of the service. Node does not resolve the hosts, therefore it connects to the port. */
  send(method, url, headers = {}, body = undefined) {
    const { host, pathname, search } = new URL(url);
    return new Promise((resolve, reject) => {
      const target = { host: "127.0.0.1", port: this.port, method, path: pathname + search };
      // A kept connection may just be closed by the service.
      const options = { ...target, agent: false, headers: { Host: host, ...headers } };
      const request = http.request(options, (response) => {
        const pieces = [];
        response.on("data", (piece) => pieces.push(piece));
        response.on("end", () => {
          const body = Buffer.concat(pieces);
          resolve({ status: response.statusCode, headers: response.headers, body, text: body.toString() });
        });
      });
      request.on("error", reject);
      request.end(body);
    });
  }

  /** Calls the API of a workspace. `version` is that of the path. */
  async api(workspace, method, target, body = undefined, version = "v1") {
    const headers = { "X-Api-Key": this.#keys.get(workspace), ...(body && { "Content-Type": "application/json" }) };
    const host = workspace === "demo" ? this.base : this.origin(workspace);
    const text = body && JSON.stringify(body);
    const response = await this.send(method, `${host}/api/external/${version}${target}`, headers, text);
    return { status: response.status, body: response.text ? JSON.parse(response.text) : undefined };
  }

  /** Calls the API, which must do it. */
  async must(workspace, method, target, body) {
    const response = await this.api(workspace, method, target, body);
    if (response.status >= 300) throw new Error(`${method} ${target}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  }

  /** Uploads a file. */
  async upload(workspace, { name, type, body }) {
    const boundary = "----boundary-of-files";
    const head =
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n`;
    const form = Buffer.concat([Buffer.from(head), Buffer.from(body), Buffer.from(`\r\n--${boundary}--\r\n`)]);
    const headers = { "X-Api-Key": this.#keys.get(workspace), "Content-Type": `multipart/form-data; boundary=${boundary}` };
    const response = await this.send("POST", `${this.origin(workspace)}/api/external/v2/attachments`, headers, form);
    if (response.status !== 201) throw new Error(`${name}: ${response.status} ${response.text}`);
    return JSON.parse(response.text);
  }

  /** Returns the names of the mails that were written. */
  mailNames() {
    const folder = path.join(this.folder, "mail");
    return fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith(".eml")) : [];
  }

  /** Returns the bytes of a mail. */
  mail(name) {
    return fs.readFileSync(path.join(this.folder, "mail", name));
  }

  /** Lets somebody vote and the team answer, and returns the path of the page in the mail's footer that stops mail. */
  async stopMailPath(workspace, request, address) {
    await this.must(workspace, "POST", `/feature_requests/${request}/upvotes`, { customer: { email: address } });
    const comment = { comment: { content: "Soon" }, notify_all_voters: true };
    await this.must(workspace, "POST", `/feature_requests/${request}/comments`, comment);
    return eventually(`a mail to ${address} is written`, () => {
      for (const mail of this.mailNames().map((name) => this.mail(name))) {
        if (!mail.toString("latin1").includes(`To: ${address}`)) continue;
        const link = partOf(mail, "text/plain").match(/\/unsubscribe\/\S+\?request=\S+/)?.[0];
        if (link) return link.replace("/unsubscribe/", "/stop-mail/");
      }
    });
  }

  /** Waits for a sign-in mail to an address that was not returned before, and returns its link and its code. */
  async signInMail(address) {
    return eventually(`a sign-in mail to ${address} is written`, () => {
      for (const name of this.mailNames().filter((name) => !this.#opened.has(name))) {
        const mail = this.mail(name);
        if (!new RegExp(`^To:.*${address.replace(/[.+]/g, "\\$&")}`, "im").test(mail.toString("latin1"))) continue;
        const text = partOf(mail, "text/plain");
        const link = text.match(/https?:\/\/\S+\/sign-in\/[^\s>)\]]+/)?.[0];
        const code = text.replace(/https?:\S+/g, "").match(/\b[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}\b/)?.[0];
        if (!link) continue;
        this.#opened.add(name);
        return { link, code, text };
      }
    });
  }
  #opened = new Set();

  /** Returns a link that signs somebody in, without a mail. */
  signInLink(workspace, email) {
    const { url } = this.run("sign-in", "link", "--workspace", workspace, "--email", email);
    return workspace === "demo" ? `${this.base}${new URL(url).pathname}` : url;
  }
}

/** Returns a part of a mail as text. */
export function partOf(mail, type) {
  const text = mail.toString("latin1");
  const boundary = text.match(/boundary="([^"]+)"/)?.[1];
  const parts = boundary ? text.split(`--${boundary}`) : [text];
  const part = parts.find((part) => new RegExp(`content-type: ${type}`, "i").test(part));
  const [head, ...rest] = part.replace(/^\r\n/, "").split("\r\n\r\n");
  const body = rest.join("\r\n\r\n");
  if (/transfer-encoding: base64/i.test(head)) return Buffer.from(body, "base64").toString("utf8");
  if (/transfer-encoding: quoted-printable/i.test(head)) {
    const bytes = body.replace(/=\r\n/g, "").replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
    return Buffer.from(bytes, "latin1").toString("utf8");
  }
  return Buffer.from(body, "latin1").toString("utf8");
}
