// Forwards requests to a service, and adds the API key. Everything else stays, also `Host` and `Origin`: the
// conformance suite cannot send a key, and tests what the service makes of these headers.
//
//     ROADMAP_API_KEY=<key> node forward.mjs <the service's URL> <the port to listen on>
//
// Prints its URL when it listens.

import http from "node:http";

const [service, ownPort] = process.argv.slice(2);
const { hostname, port } = new URL(service);
const key = process.env.ROADMAP_API_KEY;
if (!key) throw new Error("ROADMAP_API_KEY is not set");

const server = http.createServer((request, response) => {
  // The raw list keeps names as they were written, duplicates and the order.
  const headers = [...request.rawHeaders, "X-Api-Key", key];
  // A kept connection may just be closed by the service.
  const target = { hostname, port, method: request.method, path: request.url, agent: false };
  const forwarded = http.request({ ...target, headers, setHost: false }, (answer) => {
    response.writeHead(answer.statusCode, answer.statusMessage, answer.rawHeaders);
    answer.pipe(response);
    answer.on("error", () => response.destroy());
  });
  forwarded.on("error", () => response.destroy());
  response.on("close", () => forwarded.destroy());
  request.pipe(forwarded);
});
server.listen(ownPort, "127.0.0.1", () => console.log(`http://localhost:${ownPort}`));
