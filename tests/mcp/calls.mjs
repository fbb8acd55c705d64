// The table of calls, which all clients make, and the judgement of their results. `client.py` has the same rules.

import fs from "node:fs";
import { isDeepStrictEqual } from "node:util";

/** Reads `<calls.json> <URL>`, or `<calls.json> --stdio <command> <arguments…>`. */
export function readArguments([file, target, command, ...args]) {
  const stdio = target === "--stdio" ? { command, args } : undefined;
  if (!file || !target || (stdio && !command)) throw new Error("arguments are missing, see the beginning of the program");
  const key = process.env.ROADMAP_API_KEY;
  if (!key) throw new Error("ROADMAP_API_KEY is not set");
  return { calls: JSON.parse(fs.readFileSync(file, "utf8")), url: target, stdio, key };
}

/** Values that calls have saved. `run` is there from the start, and different in each run. */
const saved = new Map([["run", `${Date.now().toString(36)}${process.pid.toString(36)}`]]);

/** Replaces `{name}` by the saved value. A string that is nothing else becomes the value itself, of any type. */
function filled(value) {
  if (Array.isArray(value)) return value.map(filled);
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(inner)]));
  }
  if (typeof value !== "string") return value;
  const get = (name) => {
    if (!saved.has(name)) throw new Error(`no call has saved {${name}}`);
    return saved.get(name);
  };
  const whole = value.match(/^\{(\w+)\}$/);
  return whole ? get(whole[1]) : value.replace(/\{(\w+)\}/g, (_, name) => get(name));
}

function pointed(document, pointer) {
  const steps = pointer.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const found = steps.reduce((inner, step) => inner?.[step], document);
  if (found === undefined || found === null) throw new Error(`the result has no ${pointer}`);
  return found;
}

/** Throws when a result is not what the table says. */
function judge({ refused = false, save = {} }, tool, { isError = false, structuredContent: structured, content }) {
  const text = content?.[0]?.text;
  if (isError !== refused) throw new Error(`isError is ${isError}: ${text}`);
  if (typeof text !== "string") throw new Error("the result has no text");
  if (refused && structured !== undefined) throw new Error("a refused call has structured content");
  if (!refused && tool.outputSchema && structured === undefined) throw new Error("there is no structured content");
  if (!refused && structured !== undefined && !isDeepStrictEqual(JSON.parse(text), structured)) {
    throw new Error(`the text is not the structured content: ${text}`);
  }
  for (const [name, pointer] of Object.entries(save)) saved.set(name, pointed(structured, pointer));
}

/** Names that a call takes from earlier ones. */
const names = (value) => [...JSON.stringify(value ?? {}).matchAll(/\{(\w+)\}/g)].map(([, name]) => name);

/**
 * Makes all calls by `call(tool, arguments)`, prints one line for each, then the counts, and sets the exit code.
 * Several workers make calls at once; a call waits for those that save what it needs.
 */
export async function makeCalls(calls, about, tools, call, workers = 1) {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const counts = { ...about, tools: tools.length, called: 0, calls: 0, succeeded: 0, refused: 0, deviations: 0 };
  const [makers, called] = [new Map(), new Set()];
  const make = async (entry) => {
    const line = { tool: entry.tool, ok: true };
    counts.calls += 1;
    try {
      await Promise.all(names(entry.arguments).map((name) => makers.get(name)));
      const tool = byName.get(entry.tool);
      if (!tool) throw new Error("the tool is not listed");
      const result = await call(entry.tool, filled(entry.arguments ?? {}));
      line.isError = result.isError ?? false;
      if (result.structuredContent === undefined) line.text = result.content?.[0]?.text;
      else line.structured = result.structuredContent;
      judge(entry, tool, result);
      counts[entry.refused ? "refused" : "succeeded"] += 1;
      if (!entry.refused) counts.called = called.add(entry.tool).size;
    } catch (error) {
      Object.assign(line, { ok: false, error: String(error?.message ?? error) });
      counts.deviations += 1;
    }
    console.log(JSON.stringify(line));
  };
  const queue = calls.values();
  await Promise.all(Array.from({ length: workers }, async () => {
    for (const entry of queue) {
      const made = make(entry);
      for (const name of Object.keys(entry.save ?? {})) makers.set(name, made);
      await made;
    }
  }));
  console.log(JSON.stringify(counts));
  if (counts.deviations) process.exitCode = 1;
}
