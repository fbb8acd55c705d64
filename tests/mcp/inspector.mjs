// Makes calls of the table with the command line of the Inspector in the modern era, one process for each.
//
//     ROADMAP_API_KEY=<key> node inspector.mjs <calls.json> <URL>
//
// First it lists the tools with `--strict`, which fails when a schema is not portable. A process takes half a second.
// Therefore it makes, of each tool, only the first call that succeeds, further the first refused call, and those that
// save something, two at once. The Inspector validates `structuredContent` against the listed `outputSchema`, and fails.

import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { makeCalls, readArguments } from "./calls.mjs";

const PROCESSES = 2;

/** The only revision of the modern era. The Inspector does not print which one it uses. */
const PROTOCOL = "2026-07-28";

const { calls, url, key } = readArguments(process.argv.slice(2));
const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector/package.json");
const program = path.join(path.dirname(manifest), JSON.parse(fs.readFileSync(manifest, "utf8")).bin["mcp-inspector"]);
// It writes files below it.
const home = fs.mkdtempSync(path.join(os.tmpdir(), "roadmap-mcp-"));

/** Runs the Inspector, and returns the result that it prints. A result with `isError` ends with a status of its own. */
function inspect(...options) {
  const common = ["--cli", url, "--transport", "http", "--header", `X-Api-Key: ${key}`, "--protocol-era", "modern"];
  const args = [program, ...common, "--format", "json", ...options];
  const child = spawn(process.execPath, args, { env: { ...process.env, HOME: home }, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      const isToolError = output.stderr.includes('"code":"tool_is_error"');
      if (code === 0 || isToolError) resolve(JSON.parse(output.stdout).result);
      else reject(new Error(`the Inspector ended with ${code}: ${output.stderr}`));
    });
  });
}

const tried = new Set();
const selected = calls.filter(({ tool, refused = false, save }) => {
  const kind = refused ? "refused" : tool;
  const isFirst = !tried.has(kind);
  tried.add(kind);
  return isFirst || save;
});
try {
  const { tools } = await inspect("--method", "tools/list", "--strict");
  const call = (name, args) => inspect("--method", "tools/call", "--tool-name", name, "--tool-args-json", JSON.stringify(args));
  await makeCalls(selected, { client: "inspector", protocol: PROTOCOL }, tools, call, PROCESSES);
} finally {
  fs.rmSync(home, { recursive: true, force: true });
}
