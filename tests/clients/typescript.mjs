// The TypeScript clients of both generations over stdio and HTTP.
// Usage: node typescript.mjs NODE_MODULES REPERTOIRE DATA URL TOKEN_FILE

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [modules, program, data, url, tokenFile] = process.argv.slice(2);
const resolve = createRequire(`${modules}/x.js`).resolve;
const load = (name) => import(pathToFileURL(resolve(name)).href);
const token = readFileSync(tokenFile, 'utf8').trim();
const requestInit = { headers: { Authorization: `Bearer ${token}` } };
const stdio = { command: program, args: ['--data', data, 'serve'], stderr: 'ignore' };

async function session(name, client, transport) {
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.ok(tools.some((tool) => tool.name === 'search_skills'), name);
  const found = await client.callTool({ name: 'search_skills', arguments: { query: 'wifi' } });
  assert.ok(found.structuredContent.skills.length > 0, name);
  const wrong = await client.callTool({ name: 'get_skill', arguments: { id: 'nobody/here' } });
  assert.equal(wrong.isError, true, name);
  assert.equal(JSON.parse(wrong.content[0].text).error, 'skill_not_found', name);
  const { resources } = await client.listResources();
  const read = await client.readResource({ uri: resources[0].uri });
  assert.ok(read.contents[0].text.startsWith('---\n'), name);
  await client.close();
  console.log(`${name}: ok`);
}

const v1 = {
  ...(await load('sdk-v1/client/index.js')),
  ...(await load('sdk-v1/client/stdio.js')),
  ...(await load('sdk-v1/client/streamableHttp.js')),
};
const identity = { name: 'test', version: '1' };
await session('typescript v1, stdio', new v1.Client(identity), new v1.StdioClientTransport(stdio));
await session('typescript v1, http', new v1.Client(identity), new v1.StreamableHTTPClientTransport(new URL(url), { requestInit }));
const v2 = { ...(await load('@modelcontextprotocol/client')), ...(await load('@modelcontextprotocol/client/stdio').catch(() => ({}))) };
await session('typescript v2, stdio', new v2.Client(identity), new v2.StdioClientTransport(stdio));
await session('typescript v2, http', new v2.Client(identity), new v2.StreamableHTTPClientTransport(new URL(url), { requestInit }));
