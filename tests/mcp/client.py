"""Makes the calls of the table with the Python SDK.

    ROADMAP_API_KEY=<key> python client.py <auto|legacy> <calls.json> <URL>
    ROADMAP_API_KEY=<key> python client.py <auto|legacy> <calls.json> --stdio <command> <arguments…>

`call_tool` validates the structured content against the listed output schema, and raises. `calls.mjs` has the same
rules.
"""

import asyncio
import json
import os
import re
import sys
import time

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

# Values that calls have saved. `run` is there from the start, and different in each run.
saved = {"run": f"{time.time_ns():x}"}


def filled(value):
    """Replaces `{name}` by the saved value. A string that is nothing else becomes the value itself, of any type."""
    if isinstance(value, list):
        return [filled(inner) for inner in value]
    if isinstance(value, dict):
        return {name: filled(inner) for name, inner in value.items()}
    if not isinstance(value, str):
        return value
    if whole := re.fullmatch(r"\{(\w+)\}", value):
        return saved[whole[1]]
    return re.sub(r"\{(\w+)\}", lambda found: str(saved[found[1]]), value)


def pointed(document, pointer):
    """Returns what a JSON pointer points to."""
    for step in pointer.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        document = document[int(step) if isinstance(document, list) else step]
    if document is None:
        raise ValueError(f"the result has no {pointer}")
    return document


def judge(entry, tool, result):
    """Raises when a result is not what the table says."""
    refused, structured = entry.get("refused", False), result.structured_content
    text = result.content[0].text
    if bool(result.is_error) != refused:
        raise ValueError(f"isError is {result.is_error}: {text}")
    if refused and structured is not None:
        raise ValueError("a refused call has structured content")
    if not refused and tool.output_schema and structured is None:
        raise ValueError("there is no structured content")
    if not refused and structured is not None and json.loads(text) != structured:
        raise ValueError(f"the text is not the structured content: {text}")
    for name, pointer in entry.get("save", {}).items():
        saved[name] = pointed(structured, pointer)


async def make_calls(calls, mode, client):
    """Makes all calls, prints one line for each, then the counts. Returns the number of deviations."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    about = {"client": f"python {mode}", "protocol": client.protocol_version, "tools": len(tools)}
    counts, called = {"calls": 0, "succeeded": 0, "refused": 0, "deviations": 0}, set()
    for entry in calls:
        line = {"tool": entry["tool"], "ok": True}
        counts["calls"] += 1
        try:
            result = await client.call_tool(entry["tool"], filled(entry.get("arguments", {})))
            line["isError"] = bool(result.is_error)
            if result.structured_content is None:
                line["text"] = result.content[0].text
            else:
                line["structured"] = result.structured_content
            judge(entry, tools[entry["tool"]], result)
            counts["refused" if entry.get("refused") else "succeeded"] += 1
            if not entry.get("refused"):
                called.add(entry["tool"])
        except Exception as error:  # Whatever the library raises is a deviation.
            line |= {"ok": False, "error": f"{type(error).__name__}: {error}"}
            counts["deviations"] += 1
        print(json.dumps(line), flush=True)
    print(json.dumps(about | counts | {"called": len(called)}), flush=True)
    return counts["deviations"]


async def main(mode, file, target, *command):
    with open(file, encoding="utf-8") as opened:
        calls = json.load(opened)
    key = os.environ["ROADMAP_API_KEY"]
    if target == "--stdio":
        server = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(os.environ))
        async with Client(server, mode=mode) as client:
            return await make_calls(calls, mode, client)
    async with httpx2.AsyncClient(headers={"X-Api-Key": key}, timeout=60) as http:
        async with Client(streamable_http_client(target, http_client=http), mode=mode) as client:
            return await make_calls(calls, mode, client)


sys.exit(1 if asyncio.run(main(*sys.argv[1:])) else 0)
