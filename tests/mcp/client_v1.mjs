// Makes the calls of the table with the TypeScript SDK v1, which most programs use. It knows only the legacy era.
//
//     ROADMAP_API_KEY=<key> node client_v1.mjs <calls.json> <URL>
//     ROADMAP_API_KEY=<key> node client_v1.mjs <calls.json> --stdio <command> <arguments…>
//
// `callTool` validates `structuredContent` against the listed `outputSchema`, and throws.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { makeCalls, readArguments } from "./calls.mjs";

const { calls, url, stdio, key } = readArguments(process.argv.slice(2));
const transport = stdio
  ? new StdioClientTransport({ ...stdio, env: process.env })
  : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { "X-Api-Key": key } } });
// The transport drops it after `connect`.
let protocol;
const { setProtocolVersion } = transport;
transport.setProtocolVersion = (version) => {
  protocol = version;
  setProtocolVersion?.call(transport, version);
};
const client = new Client({ name: "roadmap-tests", version: "1" });
await client.connect(transport);
const { tools, nextCursor } = await client.listTools();
if (nextCursor) throw new Error("the tools do not fit into one page: this client validates only those of the last page");
const about = { client: "typescript v1", protocol };
await makeCalls(calls, about, tools, (name, args) => client.callTool({ name, arguments: args }));
await client.close();
