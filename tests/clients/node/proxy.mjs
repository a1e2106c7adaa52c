// Adds a token to every request, since the conformance suite sends none. Everything else goes through as it came.
// Usage: node proxy.mjs PORT TARGET_PORT TOKEN_FILE

import { createServer, request } from 'node:http';
import { readFileSync } from 'node:fs';

const [port, target, tokenFile] = process.argv.slice(2);
const authorization = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`;

createServer((incoming, outgoing) => {
  // Origin and Host name this proxy's port: a request for its own host is one for the server's own host.
  const own = (text) => text?.replace(`:${port}`, `:${target}`);
  const headers = { ...incoming.headers, authorization };
  if (headers.host) headers.host = own(headers.host);
  if (headers.origin) headers.origin = own(headers.origin);
  const forwarded = request({ host: '127.0.0.1', port: target, method: incoming.method, path: incoming.url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    outgoing.flushHeaders();
    answer.pipe(outgoing);
    answer.on('error', () => outgoing.destroy());
  });
  forwarded.on('error', () => outgoing.destroy());
  outgoing.on('close', () => forwarded.destroy());
  incoming.pipe(forwarded);
}).listen(Number(port), '127.0.0.1', () => console.log('ready'));
