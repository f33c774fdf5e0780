"""Codex CLI as it runs without a terminal: `codex exec`, then `codex exec resume --last`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agents.job import HERE, Job, Told
from clients import environments

SECONDS = 900.0
"""Of one question; a scripted model takes two, a real one on a busy machine some minutes."""

FREE = "--dangerously-bypass-approvals-and-sandbox"
"""Its sandbox needs rights of the kernel that a container may lack; the model runs `echo` alone."""

CONFIGURATION = """\
model = "{model}"
model_provider = "latchway"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.latchway]
name = "latchway"
base_url = "{url}"
wire_api = "responses"
env_key = "LATCHWAY_KEY"
"""

SOCKETS = "supports_websockets = true\n"
NO_RETRIES = "request_max_retries = 0\nstream_max_retries = 0\n"


def codex(settings: str = "") -> Callable[[Job, Path], Told]:
    """A way to play it. `settings`: lines for its configuration of the provider."""

    def play(job: Job, folder: Path) -> Told:
        text = CONFIGURATION.format(model=job.model, url=job.url) + settings
        (folder / "config.toml").write_text(text, encoding="utf-8")
        events = [event for words in _asked(job) for event in _run(words, job.key, folder)]
        return _told(events)

    return play


def command() -> list[str]:
    """Raises Unavailable."""
    node, modules = environments.node(HERE)
    return [node, str(modules / "node_modules" / "@openai" / "codex" / "bin" / "codex.js")]


def _asked(job: Job) -> Iterator[list[str]]:
    """The words of each question; the first begins a session, the others resume it."""
    for number, question in enumerate(job.questions):
        yield [*(["resume", "--last"] if number else []), question]


def _run(words: list[str], key: str, home: Path) -> list[dict[str, Any]]:
    """One `codex exec`; the events that it tells of, and its status is as they say."""
    done = subprocess.run(
        [*command(), "exec", "--json", "--skip-git-repo-check", FREE, *words],
        cwd=home,
        env={**os.environ, "CODEX_HOME": str(home), "LATCHWAY_KEY": key},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    failed = any(event["type"] == "turn.failed" for event in events)
    assert (done.returncode != 0) == failed, done.stderr
    return events


def _told(events: list[dict[str, Any]]) -> Told:
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    failures = [event["error"]["message"] for event in events if event["type"] == "turn.failed"]
    return Told(
        answers=[item["text"] for item in items if item["type"] == "agent_message"],
        tools=sum(item["type"] == "command_execution" for item in items),
        raised=f"turn.failed: {failures[0]}" if failures else None,
    )
