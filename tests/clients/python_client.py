#!/usr/bin/env python3
"""A session of the official Python MCP client with the built program, on both lifecycles.

Usage: python_client.py PATH_TO_REPERTOIRE

Makes a data directory of its own, imports skills into it with the program, serves it, and checks what the client
gets: tools, list, search, match, get, resolve, each kind of semantic error, and that stdout holds nothing but the
protocol. Needs the package `mcp` (2.3.0). Exits 0 if all is well, 1 with a message on the first thing that is not.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters

TOOLS = ["list_skills", "search_skills", "match_skill", "get_skill", "resolve_skill"]
# Among those that follow: one that runs a skill, one that looks at a phone, one that acts on it.
MORE_TOOLS = {"use_skill", "screenshot", "tap"}
PATIENCE_S = 60

SKILLS = [
    {
        "id": "android/wifi", "kind": "knowledge", "name": "Wi-Fi", "description": "How to switch Wi-Fi on and off.",
        "tags": ["settings"], "aliases": ["wlan"], "examples": ["turn on wifi"],
        "content": "# Wi-Fi\n\nOpen the settings panel and use the switch.",
    },
    {
        "id": "android/camera", "kind": "knowledge", "name": "Camera", "description": "How to take a photo.",
        "tags": ["camera"], "content": "Open the camera app and press the shutter.",
    },
    {
        "id": "xhs-search", "kind": "flow_template", "name": "\u5c0f\u7ea2\u4e66\u641c\u7d22",
        "description": "Search notes in Xiaohongshu. \u5728\u5c0f\u7ea2\u4e66\u641c\u7d22\u7b14\u8bb0",
        "apps": [{"package": "com.xingin.xhs"}],
        "parameters": [
            {"name": "query", "type": "string", "description": "what to search for"},
            {"name": "pause_ms", "type": "integer", "required": False, "default": 500, "minimum": 100, "maximum": 5000},
        ],
        "steps": [
            {"tool": "launch_app", "args_template": {"package": "com.xingin.xhs"}},
            {"tool": "input_text", "args_template": {"text": "{query}"}},
            {"tool": "wait_for_idle", "args_template": {"stable_ms": "{pause_ms}"}},
        ],
    },
    {
        "id": "broken", "kind": "flow_template", "name": "Broken", "description": "Names an unknown tool.",
        "steps": [{"tool": "frobnicate", "args_template": {}}],
    },
    {"id": "hidden/canary", "kind": "knowledge", "name": "Canary", "description": "wifi canary", "content": "wifi canary"},
]


class Wrong(Exception):
    """Something is not as it should be."""


def check(holds, what):
    if not holds:
        raise Wrong(what)


def run(program, data, *arguments, expect=(0,)):
    done = subprocess.run(
        [program, "--data", str(data), *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    check(done.returncode in expect, f"{' '.join(arguments)} exited {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def prepare(program, folder):
    """A data directory with the skills above, of which one is hidden."""
    data, source = folder / "data", folder / "source"
    source.mkdir()
    for number, skill in enumerate(SKILLS):
        (source / f"{number}.skill.json").write_text(json.dumps(skill), encoding="utf-8")
    # 1: the broken flow is kept as unavailable, which import may report as a negative answer.
    run(program, data, "import", str(source), expect=(0, 1))
    run(program, data, "entitlements", "hide", "hidden/canary")
    return data


async def call(client, tool, arguments):
    result = await client.call_tool(tool, arguments)
    check(not result.is_error, f"{tool} {arguments} failed: {result.content}")
    check(len(result.content) == 1, f"{tool}: one text beside the structure")
    answer = result.structured_content
    check(answer is not None, f"{tool}: no structured content")
    check(answer["state"] == "READY", f"{tool}: state {answer.get('state')}")
    return answer


async def failing_text(client, tool, arguments):
    result = await client.call_tool(tool, arguments)
    check(result.is_error, f"{tool} {arguments} should fail: {result.content}")
    check(result.structured_content is None, f"{tool}: an error is text only")
    return result.content[0].text


async def fails(client, tool, arguments, code):
    error = json.loads(await failing_text(client, tool, arguments))
    check(error["error"] == code, f"{tool} {arguments}: wanted {code}, got {error}")
    check(error["message"] and error["hint"], f"{tool}: an error has a message and a hint: {error}")
    return error


async def queries(client):
    tools = (await client.list_tools()).tools
    names = [tool.name for tool in tools]
    check(names[: len(TOOLS)] == TOOLS, f"tools: {names}")
    check(len(set(names)) == len(names) and MORE_TOOLS <= set(names), f"tools: {names}")
    for tool in tools:
        if tool.name in TOOLS or tool.name in MORE_TOOLS:
            reads = tool.name not in ("use_skill", "tap")
            check(bool(tool.annotations.read_only_hint) == reads, f"{tool.name}: read_only_hint")
        check(tool.input_schema["type"] == "object", f"{tool.name}: input schema")

    listed = await call(client, "list_skills", {})
    ids = {row["id"] for row in listed["skills"]}
    check({"android/wifi", "android/camera", "xhs-search"} <= ids, f"list: {ids}")
    check(not ids & {"broken", "hidden/canary"}, f"list shows what it must not: {ids}")
    first = await call(client, "list_skills", {"limit": 1})
    second = await call(client, "list_skills", {"limit": 1, "cursor": first["next_cursor"]})
    check(first["skills"][0]["id"] != second["skills"][0]["id"], "the second page is another one")
    flows = await call(client, "list_skills", {"kind": "flow_template", "app": "com.xingin.xhs"})
    check([row["id"] for row in flows["skills"]] == ["xhs-search"], f"filtered list: {flows}")

    found = await call(client, "search_skills", {"query": "wifi"})
    check(found["skills"][0]["id"] == "android/wifi", f"search: {found}")
    check(found["skills"][0]["why"], f"search says why: {found}")
    check("hidden/canary" not in json.dumps(found), f"search shows a hidden skill: {found}")
    found = await call(client, "search_skills", {"query": "\u5c0f\u7ea2\u4e66"})
    check(found["skills"] and found["skills"][0]["id"] == "xhs-search", f"search in Chinese: {found}")

    matched = await call(client, "match_skill", {"request": "turn on wifi"})
    check(matched["matched"] and matched["skill"]["id"] == "android/wifi", f"match: {matched}")
    nothing = await call(client, "match_skill", {"request": "zzzz qqqq"})
    check(not nothing["matched"] and "skill" not in nothing, f"no match: {nothing}")

    skill = (await call(client, "get_skill", {"id": "android/wifi"}))["skill"]
    check(skill["content"] == SKILLS[0]["content"], f"content: {skill}")
    flow = (await call(client, "get_skill", {"id": "xhs-search"}))["skill"]
    check(len(flow["steps"]) == 3 and len(flow["parameters"]) == 2, f"flow: {flow}")

    values = {"query": "\u9762\u6761", "pause_ms": "300"}
    steps = (await call(client, "resolve_skill", {"id": "xhs-search", "parameters": values}))["steps"]
    check([step["tool"] for step in steps] == ["launch_app", "input_text", "wait_for_idle"], f"steps: {steps}")
    check(steps[1]["args"]["text"] == "\u9762\u6761" and steps[2]["args"]["stable_ms"] == 300, f"values: {steps}")


async def errors(client):
    for tool in ("get_skill", "resolve_skill"):
        hidden = await failing_text(client, tool, {"id": "hidden/canary"})
        unknown = await failing_text(client, tool, {"id": "hidden/nobody"})
        check("skill_not_found" in hidden, f"{tool}: {hidden}")
        check(hidden.replace("hidden/canary", "") == unknown.replace("hidden/nobody", ""), f"{tool}: {hidden} {unknown}")
        await fails(client, tool, {"id": "broken"}, "skill_unavailable")
    error = await fails(client, "resolve_skill", {"id": "xhs-search", "parameters": {"pause_ms": 1, "x": 2}}, "invalid_parameters")
    named = sorted(problem["parameter"] for problem in error["problems"])
    check(named == ["pause_ms", "query", "x"], f"every parameter at once: {error}")
    error = await fails(client, "search_skills", {"querry": "x", "limit": 26}, "invalid_arguments")
    named = sorted(problem["argument"] for problem in error["problems"])
    check(named == ["limit", "querry", "query"], f"every argument at once: {error}")
    await fails(client, "resolve_skill", {"id": "android/wifi"}, "invalid_arguments")
    try:
        await client.call_tool("list_skill", {})
    except MCPError as error:
        check(error.error.code == -32602, f"unknown tool: {error}")
    else:
        raise Wrong("an unknown tool is a protocol error")


async def session(program, data, mode):
    server = StdioServerParameters(command=program, args=["--data", str(data), "serve"])
    async with Client(server, mode=mode, read_timeout_seconds=PATIENCE_S) as client:
        await queries(client)
        await errors(client)


async def empty_session(program, data):
    config = data.parent / "never.toml"
    config.write_text('[bundled]\nmode = "never"\n', encoding="utf-8")
    server = StdioServerParameters(command=program, args=["--data", str(data), "--config", str(config), "serve"])
    async with Client(server, mode="legacy", read_timeout_seconds=PATIENCE_S) as client:
        await fails(client, "list_skills", {}, "catalog_empty")
        await fails(client, "get_skill", {"id": "x"}, "catalog_empty")


def raw(program, data):
    """Nothing but the protocol is on stdout, and the end of the input ends the program well and soon."""
    greeting = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}},
    }
    lines = "not json\n" + json.dumps(greeting) + "\n"
    started = time.monotonic()
    done = subprocess.run(
        [program, "--data", str(data), "serve"], input=lines, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    check(done.returncode == 0, f"serve exited {done.returncode}: {done.stderr}")
    check(time.monotonic() - started < PATIENCE_S / 2, "serve ends soon after its input")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    check(len(answers) == 2, f"two answers: {done.stdout}")
    by_id = {answer.get("id"): answer for answer in answers}
    check(by_id[None]["error"]["code"] == -32700, f"a parse error: {answers}")
    check(by_id[1]["result"]["protocolVersion"] == "2024-11-05", f"the greeting: {answers}")


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    program = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory(prefix="repertoire-python-") as name:
        folder = Path(name)
        try:
            data = prepare(program, folder)
            raw(program, data)
            for mode in ("legacy", "2026-07-28", "auto"):
                asyncio.run(asyncio.wait_for(session(program, data, mode), PATIENCE_S * 2))
                print(f"python mcp client, {mode}: ok")
            asyncio.run(asyncio.wait_for(empty_session(program, folder / "empty"), PATIENCE_S))
            print("python mcp client, empty catalog: ok")
        except Wrong as wrong:
            print(f"python mcp client: {wrong}", file=sys.stderr)
            return 1
        except BaseExceptionGroup as group:
            for inner in leaves(group):
                print(f"python mcp client: {type(inner).__name__}: {inner}", file=sys.stderr)
            return 1
    return 0


def leaves(group):
    """The exceptions in a group of groups."""
    for inner in group.exceptions:
        if isinstance(inner, BaseExceptionGroup):
            yield from leaves(inner)
        else:
            yield inner


if __name__ == "__main__":
    sys.exit(main())
