#!/usr/bin/env python3
"""The official MCP conformance suite and the MCP Inspector against the HTTP server.

Usage: conformance.py NODE NODE_MODULES CONFORMANCE_EXAMPLE REPERTOIRE

CONFORMANCE_EXAMPLE is the server with the suite's fixtures, REPERTOIRE the program as it is. Both need a token, which a
proxy adds to what the suite sends. Exits 0 if every requirement of both revisions and the three scenarios of the Skills
extension pass, but for the lines of tests/clients/expected-failures-*.yml.
"""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATIENCE_S = 600
SKILLS = ["sep-2640-skills-enumeration", "sep-2640-skills-directory", "sep-2640-skills-manifest"]
MORE = ["http-header-validation", "http-custom-header-server-validation"]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}")


def run(name, command, cwd, expect=0):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    good = done.returncode == expect
    print(f"{'ok' if good else 'FAILED'}  {name}")
    if not good:
        print(done.stdout[-12000:], done.stderr[-4000:], sep="\n")
    return good, done.stdout


def suite(node, modules, url, folder):
    program = str(modules / "@modelcontextprotocol/conformance/dist/index.js")
    good = True
    for revision in ("2025-11-25", "2026-07-28"):
        command = [node, program, "server", "--url", url, "--requirements", revision,
                   "--expected-failures", str(HERE / f"expected-failures-{revision}.yml")]
        good &= run(f"conformance, requirements of {revision}", command, folder)[0]
    for scenario in SKILLS + MORE:
        command = [node, program, "server", "--url", url, "--scenario", scenario]
        passed, said = run(f"conformance, {scenario}", command, folder)
        # A scenario that finds nothing to test passes as well.
        counted = re.search(r"Passed:\s*(\d+)", said)
        if passed and counted and int(counted[1]) == 0:
            print(f"FAILED  {scenario} checked nothing")
            passed = False
        good &= passed
    return good


def inspector(node, modules, repertoire, data, folder):
    program = str(modules / "@modelcontextprotocol/inspector/cli/build/cli.js")
    if not Path(program).exists():
        manifest = json.loads((modules / "@modelcontextprotocol/inspector/package.json").read_text())
        program = str(modules / "@modelcontextprotocol/inspector" / next(iter(manifest["bin"].values())))
    good = True
    for method, more in (("tools/list", []), ("resources/list", []), ("prompts/list", []),
                         ("tools/call", ["--tool-name", "list_skills"]), ("skills/list", ["--verify"])):
        command = [node, program, "--cli", "--method", method, *more, "--", repertoire, "--data", str(data), "serve"]
        if method == "tools/call":
            command = [node, program, "--cli", "--method", method, *more, "--", repertoire, "--data", str(data), "serve"]
        good &= run(f"inspector, {method} {' '.join(more)}", command, folder)[0]
    return good


def main():
    if len(sys.argv) != 5:
        print(__doc__, file=sys.stderr)
        return 2
    node, modules = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    example, repertoire = (str(Path(path).resolve()) for path in sys.argv[3:5])
    os.environ["PATH"] = f"{Path(node).resolve().parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory(prefix="repertoire-conformance-") as name:
        folder = Path(name)
        data, port, proxy_port = folder / "data", free_port(), free_port()
        data.mkdir(mode=0o700)
        processes = []
        try:
            processes.append(subprocess.Popen([example, str(data), str(port)]))
            wait_for(port)
            proxy = [node, str(HERE / "node/proxy.mjs"), str(proxy_port), str(port), str(data / "http-token")]
            processes.append(subprocess.Popen(proxy, stdout=subprocess.DEVNULL))
            wait_for(proxy_port)
            good = suite(node, modules, f"http://127.0.0.1:{proxy_port}/mcp", folder)
        finally:
            for process in processes:
                process.terminate()
                process.wait(timeout=20)
        good &= inspector(node, modules, repertoire, folder / "plain", folder)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
