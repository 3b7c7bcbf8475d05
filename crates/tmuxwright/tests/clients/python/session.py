"""A session of the Python SDK's client: `session.py stdio|http legacy|modern`.

Prints `ok` for each step that works, and exits with 1 at the first that does not.
"""

import os
import re
import subprocess
import sys

import anyio
import httpx2
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import PromptReference, ResourceTemplateReference, ResourceUpdatedNotification

TRANSPORT, ERA = sys.argv[1:]
VERSION = {"modern": "2026-07-28", "legacy": "2025-11-25"}[ERA]
PANE = "tmux://panes/%250/content"
INHERITED_VARIABLES = ["TMUXWRIGHT_SOCKET", "TMUXWRIGHT_TMUX", "PATH", "HOME"]

updated: list[str] = []
logged: list[str] = []
notified: anyio.Event | None = None


def ok(step: str) -> None:
    print("ok", step, flush=True)


def print_in_pane(words: str) -> None:
    """Makes the shell in the first pane print words."""
    # Spelled in another way, so that the echo of the command does not match.
    command = "echo " + words.replace(" ", '" "')
    tmux = [os.environ["TMUXWRIGHT_TMUX"], "-S", os.environ["TMUXWRIGHT_SOCKET"]]
    subprocess.run([*tmux, "send-keys", "-t", "%0", command, "Enter"], check=True)


async def until(condition: str, holds) -> None:
    """Checks after each notification until the condition holds."""
    global notified
    with anyio.move_on_after(15):
        while not holds():
            notified = anyio.Event()
            await notified.wait()
        return
    raise AssertionError(f"timed out: {condition}")


def record(log: list[str], text: str) -> None:
    """Keeps the text of a notification and wakes `until`."""
    log.append(text)
    if notified:
        notified.set()


async def on_message(message) -> None:
    if isinstance(message, ResourceUpdatedNotification):
        record(updated, str(message.params.uri))


async def on_log(params) -> None:
    record(logged, str(params.data))


def connection():
    if TRANSPORT == "stdio":
        env = {name: os.environ[name] for name in INHERITED_VARIABLES}
        return StdioServerParameters(command=os.environ["PROGRAM"], env=env)
    headers = {"Authorization": "Bearer " + os.environ["TMUXWRIGHT_HTTP_TOKEN"]}
    http = httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=300))
    return streamable_http_client(os.environ["SERVER_URL"], http_client=http)


async def call(client: Client, name: str, arguments: dict, **options) -> str:
    result = await client.call_tool(name, arguments, **options)
    assert not result.is_error, result
    return result.content[0].text


async def calls(client: Client) -> None:
    output = await call(client, "run_command", {"command": "echo from python; (exit 3)"})
    assert re.search(r"(?s)^exit 3.*from python", output), output
    ok("run")

    wrong = await client.call_tool("run_command", {"comand": "true"})
    assert wrong.is_error and "`command`" in wrong.content[0].text, wrong
    ok("mistake")

    steps = []

    async def on_progress(progress, total, message) -> None:
        steps.append(progress)
        if len(steps) == 1:
            print_in_pane("it is done")

    wait = {"target": "%0", "until": ["text:it is done"], "timeout": 60}
    event = await call(client, "wait_for", wait, progress_callback=on_progress)
    assert steps and "it is done" in event, event
    ok("wait with progress")

    with anyio.CancelScope() as scope:

        async def give_up(progress, total, message) -> None:
            scope.cancel()

        wait = {"target": "%0", "until": ["text:never"], "timeout": 600}
        await call(client, "wait_for", wait, progress_callback=give_up)
    assert scope.cancelled_caught
    await call(client, "list_panes", {})
    ok("cancel")


async def lists(client: Client) -> None:
    tools = (await client.list_tools()).tools
    resources = (await client.list_resources()).resources
    templates = (await client.list_resource_templates()).resource_templates
    prompts = (await client.list_prompts()).prompts
    assert any(tool.name == "run_command" for tool in tools)
    assert any(str(resource.uri) == PANE for resource in resources), resources
    assert any(template.uri_template == "tmux://panes/{pane}/content" for template in templates)
    assert any(prompt.name == "run_and_wait" for prompt in prompts)
    ok(f"list {len(tools)} tools, {len(templates)} templates, {len(prompts)} prompts")


async def reads(client: Client) -> None:
    contents = (await client.read_resource(PANE)).contents
    assert "it is done" in contents[0].text, contents
    try:
        await client.read_resource("tmux://panes/%25999/content")
    except MCPError as error:
        assert error.error.code == (-32602 if ERA == "modern" else -32002), error
    else:
        raise AssertionError("a missing pane was read")
    ok("read")


async def subscribes(client: Client) -> None:
    idle = {"target": "%0", "until": ["idle:0.5"], "timeout": 10}
    if ERA == "modern":
        async with client.listen(resource_subscriptions=[PANE]) as changes:
            print_in_pane("something new")
            with anyio.fail_after(15):
                async for change in changes:
                    assert str(change.uri) == PANE, change
                    break
            ok("subscribe")
    else:
        await client.subscribe_resource(PANE)
        print_in_pane("something new")
        await until("the pane is updated", lambda: PANE in updated)
        ok("subscribe")
        await client.unsubscribe_resource(PANE)
    # Notifications in flight may still come.
    await call(client, "wait_for", idle)
    updated.clear()
    print_in_pane("without a subscription")
    await call(client, "wait_for", idle)
    assert updated == [], updated
    ok("unsubscribe")


async def prompts(client: Client) -> None:
    prompt = await client.get_prompt("run_and_wait", {"command": "make test"})
    text = prompt.messages[0].content.text
    assert re.search(r"(?s)run_command.*make test", text), text
    ok("prompt")

    of_template = ResourceTemplateReference(type="ref/resource", uri="tmux://panes/{pane}/content")
    for ref in PromptReference(type="ref/prompt", name="run_and_wait"), of_template:
        found = await client.complete(ref, {"name": "pane", "value": "%"})
        assert "%0" in found.completion.values, found
    ok("complete")


async def logs(client: Client) -> None:
    # In the newest revision the client sends the level with every request.
    if ERA == "legacy":
        await client.set_logging_level("info")
    await call(client, "run_command", {"command": "true"})
    started = re.compile(r"^command c\d+ started")
    await until("the command is in the log", lambda: any(map(started.match, logged)))
    ok("log")


async def main() -> None:
    mode = VERSION if ERA == "modern" else "legacy"
    level = "info" if ERA == "modern" else None
    async with Client(
        connection(), mode=mode, message_handler=on_message, logging_callback=on_log, log_level=level
    ) as client:
        assert client.protocol_version == VERSION, client.protocol_version
        ok(f"connect {client.protocol_version}")
        for part in lists, calls, reads, subscribes, prompts, logs:
            await part(client)
    ok("close")


anyio.run(main)
