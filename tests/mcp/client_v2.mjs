// Makes the calls of the table with the TypeScript SDK v2, which negotiates the era.
//
//     ROADMAP_API_KEY=<key> node client_v2.mjs <calls.json> <URL>
//     ROADMAP_API_KEY=<key> node client_v2.mjs <calls.json> --stdio <command> <arguments…>
//
// `callTool` validates `structuredContent` against the listed `outputSchema`, and throws.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { makeCalls, readArguments } from "./calls.mjs";

const { calls, url, stdio, key } = readArguments(process.argv.slice(2));
const transport = stdio
  ? new StdioClientTransport({ ...stdio, env: process.env })
  : new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { "X-Api-Key": key } } });
const client = new Client({ name: "roadmap-tests", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(transport);
const { tools } = await client.listTools();
const about = { client: "typescript v2", protocol: client.getNegotiatedProtocolVersion() };
await makeCalls(calls, about, tools, (name, args) => client.callTool({ name, arguments: args }));
await client.close();
