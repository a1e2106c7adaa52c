#!/usr/bin/env python3
"""A session of the FastMCP client over stdio and over HTTP.

Usage: fastmcp_client.py REPERTOIRE DATA URL TOKEN_FILE. Needs the package `fastmcp`. Exits 0 if all is well.
"""

import asyncio
import json
import sys
from pathlib import Path

from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport


async def session(name, transport):
    async with Client(transport) as client:
        tools = {tool.name for tool in await client.list_tools()}
        assert {"search_skills", "get_skill"} <= tools, f"{name}: {tools}"
        found = await client.call_tool("search_skills", {"query": "wifi"})
        assert found.structured_content["skills"], f"{name}: {found}"
        wrong = await client.call_tool("get_skill", {"id": "nobody/here"}, raise_on_error=False)
        assert json.loads(wrong.content[0].text)["error"] == "skill_not_found", f"{name}: {wrong}"
        resources = await client.list_resources()
        read = await client.read_resource(str(resources[0].uri))
        text = read[0].text if isinstance(read, list) else read.contents[0].text
        assert text.startswith("---\n"), f"{name}: {text}"
    print(f"fastmcp client, {name}: ok")


async def main():
    program, data, url, token_file = sys.argv[1:5]
    token = Path(token_file).read_text(encoding="utf-8").strip()
    await session("stdio", StdioTransport(program, ["--data", data, "serve"]))
    await session("http", StreamableHttpTransport(url, headers={"Authorization": f"Bearer {token}"}))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    asyncio.run(asyncio.wait_for(main(), 120))
