#!/usr/bin/env python3
"""How long a call over stdio takes: this server, the TypeScript SDK and FastMCP with the same no-op tool and the same client.

Usage: latency.py MOUNT_EXAMPLE REPERTOIRE NODE NODE_MODULES [CALLS] [SKILLS]

MOUNT_EXAMPLE is examples/mount.rs, whose tool `battery` does nothing. The client writes lines and reads lines, so that it
adds the same little to each server; the servers take turns. Then the program serves SKILLS made-up skills, and search_skills
is measured beside the no-op tool. Prints medians, 99th percentiles and ratios; measure release builds on an idle machine.
Needs the packages of tests/clients/node and, in the Python that runs this, `fastmcp`.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TYPESCRIPT = """
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
const resolve = createRequire(process.argv[2] + '/x.js').resolve;
const load = (name) => import(pathToFileURL(resolve(name)).href);
const { McpServer } = await load('sdk-v1/server/mcp.js');
const { StdioServerTransport } = await load('sdk-v1/server/stdio.js');
const server = new McpServer({ name: 'peer', version: '1' });
server.registerTool('battery', { description: 'How full the battery is' }, () => ({ content: [{ type: 'text', text: '80 %' }] }));
await server.connect(new StdioServerTransport());
"""

FASTMCP = """
from fastmcp import FastMCP
server = FastMCP("peer")

@server.tool
def battery() -> str:
    return "80 %"

server.run(show_banner=False)
"""


class Client:
    """One server and its lines."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.number = 0
        greeting = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "latency", "version": "1"}}
        self.request("initialize", greeting)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.number += 1
        self.write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number:
                return answer["result"]

    def timed(self, tool, arguments):
        begun = time.perf_counter_ns()
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        taken = time.perf_counter_ns() - begun
        if result.get("isError"):
            raise SystemExit(f"{tool} failed: {result}")
        return taken / 1000

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)


def shown(times):
    times = sorted(times)
    return times[len(times) // 2], times[len(times) * 99 // 100]


def take_turns(servers, calls):
    """Times of each (name, client, tool, arguments), a few calls of each in turn."""
    times = {name: [] for name, *_ in servers}
    for name, client, tool, arguments in servers:
        for _ in range(50):
            client.timed(tool, arguments)
    for _ in range(calls // 20):
        for name, client, tool, arguments in servers:
            times[name] += [client.timed(tool, arguments) for _ in range(20)]
    return {name: shown(all_times) for name, all_times in times.items()}


def main():
    if len(sys.argv) < 5:
        print(__doc__, file=sys.stderr)
        return 2
    mount, repertoire, node, modules = (str(Path(path).resolve()) for path in sys.argv[1:5])
    calls = int(sys.argv[5]) if len(sys.argv) > 5 else 2000
    skills = int(sys.argv[6]) if len(sys.argv) > 6 else 10_000
    with tempfile.TemporaryDirectory(prefix="repertoire-latency-") as name:
        folder = Path(name)
        (folder / "peer.mjs").write_text(TYPESCRIPT, encoding="utf-8")
        (folder / "peer.py").write_text(FASTMCP, encoding="utf-8")
        commands = {"repertoire": [mount, str(folder / "empty")], "typescript": [node, str(folder / "peer.mjs"), modules],
                    "fastmcp": [sys.executable, str(folder / "peer.py")]}
        clients = {name: Client(command) for name, command in commands.items()}
        results = take_turns([(name, client, "battery", {}) for name, client in clients.items()], calls)
        own = results["repertoire"][0]
        for name, (median, high) in results.items():
            print(f"no-op on {name:<11} p50 {median:9.1f} us  p99 {high:9.1f} us  {median / own:6.2f} x")
        for client in clients.values():
            client.end()

        words = ["wifi", "camera", "message", "search", "settings", "photo", "map", "panel", "note", "music"]
        with (folder / "many.skill.jsonl").open("w", encoding="utf-8") as out:
            for n in range(skills):
                said = " ".join(words[(n * step + n // 7) % 10] for step in (1, 3, 7))
                skill = {"id": f"made/s{n}", "kind": "knowledge", "name": f"Skill {n} {said}", "description": f"About {said}, number {n}.",
                         "content": f"How to use {said}. " * 20}
                out.write(json.dumps(skill) + "\n")
        data = str(folder / "data")
        subprocess.run([repertoire, "--data", data, "import", str(folder / "many.skill.jsonl")], check=True, stdout=subprocess.DEVNULL)
        plain, searching = Client([mount, data]), Client([mount, data])
        results = take_turns([("no-op", plain, "battery", {}), ("search_skills", searching, "search_skills", {"query": "camera photo"})], calls)
        ratio = results["search_skills"][1] / results["no-op"][1]
        for name, (median, high) in results.items():
            print(f"{name:<14} at {skills} skills p50 {median:9.1f} us  p99 {high:9.1f} us")
        print(f"p99 of search_skills is {ratio:.2f} x that of the no-op tool")
        plain.end()
        searching.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
