"""What programs do by default with a failure that reaches them: how often they send the turn.

For docs/sdks.md; `make defaults` prints the table. Each failure is that of a model with one route,
so that nothing is replayed and every request is one call of the upstream. The last column is
without a gateway, for it never ends a stream so.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.codex import codex
from agents.job import HERE, PROGRAMS, Job, Told, told_by
from clients import environments
from clients.gateway import Gateway
from clients.roster import OLD
from clients.upstreams import Labs
from clients.way import START, TEXT, events, refusal

BROKEN = events({"comment": "hi"}, "reset")
QUIET = events(*TEXT, {"end": "clean"})


@dataclass(frozen=True, slots=True)
class Failure:
    """`told`: the column's head. `direct`: the program speaks to the upstream itself."""

    told: str
    reply: dict[str, Any]
    direct: bool = False


FAILURES = {
    "busy": Failure("503, `retryable: true`", refusal(503, "server_is_overloaded")),
    "silent": Failure("504, `retryable: false`", events("silence")),
    "wrong": Failure("400", refusal(400, "context_length_exceeded")),
    "failed": Failure("`response.failed`", events(*START, {"failed": "server_is_overloaded"})),
    "text": Failure("broken after text", events(*TEXT, "reset")),
    "quiet": Failure("a quiet end after text", QUIET, direct=True),
}
"""By the word in the model's name."""

MODEL = """\
  gpt-5.6-{word}:
    price: free
    max_output_tokens: 1000
    routes: [{{provider: lab, store_default: false}}]
"""
CONFIGURATION = """\
listen: 127.0.0.1:0
providers: {{lab: {{base_url: "http://127.0.0.1:{port}/v1"}}}}
turn: {{first_event_timeout_seconds: 1}}
health: {{enabled: false}}
models:
"""

SDK_RETRIES = 2
"""`max_retries` of both OpenAI SDKs, if nothing is said."""

Play = Callable[[Job, Path], Told]


def in_python(script: str) -> Play:
    def play(job: Job, folder: Path) -> Told:
        return told_by([environments.python("agents", HERE), str(PROGRAMS / script)], job, folder)

    return play


def in_node(job: Job, folder: Path) -> Told:
    node, modules = environments.node()
    return told_by([node, str(PROGRAMS / "vercel.mjs"), str(modules)], job, folder)


def openai_node() -> list[str]:
    node, modules = environments.node()
    return [node, str(environments.PROGRAMS / "openai_node.mjs"), str(modules)]


def openai_python() -> list[str]:
    return [environments.python(OLD), str(environments.PROGRAMS / "openai_python.py")]


def sdk(command: Callable[[], list[str]]) -> Play:
    """One streamed turn, with as many retries as the SDK makes when nothing is said."""

    def play(job: Job, folder: Path) -> Told:
        request = {"model": job.model, "input": job.questions[0], "store": False}
        asked = {"url": job.url, "key": job.key, "mode": "stream", "request": request}
        done = subprocess.run(
            command(),
            input=json.dumps(asked | {"max_retries": SDK_RETRIES}) + "\n",
            capture_output=True,
            text=True,
            check=True,
        )
        seen = json.loads(done.stdout)
        return Told([seen["text"]], 0, seen["raised"])

    return play


PLAYED: dict[str, Play] = {
    "openai-python": sdk(openai_python),
    "openai-node": sdk(openai_node),
    "OpenAI Agents SDK": in_python("openai_agents.py"),
    "langchain-openai": in_python("langchain_chat.py"),
    "pydantic-ai": in_python("pydantic_agent.py"),
    "Vercel AI SDK": in_node,
    "Codex CLI": codex(),
}


@dataclass(frozen=True, slots=True)
class Stage:
    """A gateway with a model for each failure, and the upstream behind it."""

    gateway: Gateway
    labs: Labs


def main() -> None:
    """Print the table, a row as soon as it was tried."""
    print(*head(), sep="\n")
    with tempfile.TemporaryDirectory() as folder, set_up(Path(folder)) as stage:
        for name in PLAYED:
            try:
                print(row(stage, name), flush=True)
            except environments.Unavailable as why:
                print(f"{name} was not tried: {why}", file=sys.stderr)


def head() -> tuple[str, str]:
    columns = ["program", *(each.told for each in FAILURES.values())]
    return f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"


def row(stage: Stage, name: str) -> str:
    """Of one program. Raises Unavailable."""
    return f"| {' | '.join([name, *(_tried(stage, PLAYED[name], word) for word in FAILURES)])} |"


@contextmanager
def set_up(folder: Path) -> Iterator[Stage]:
    """The configuration and the database are in `folder`."""
    plays = [
        {"when": {"model": f"gpt-5.6-{word}"}, "calls": [each.reply]}
        for word, each in FAILURES.items()
    ]
    with ExitStack() as stack:
        labs = Labs({"routes": plays}, {"routes": plays})
        stack.callback(labs.close)
        models = "".join(MODEL.format(word=word) for word in FAILURES)
        gateway = Gateway(folder, CONFIGURATION.format(port=labs.ports[0]) + models)
        stack.callback(gateway.stop)
        yield Stage(gateway, labs)


def _tried(stage: Stage, play: Play, word: str) -> str:
    """How often the upstream was called, and what the program raised."""
    gateway, labs = stage.gateway, stage.labs
    url = f"http://127.0.0.1:{labs.ports[0]}/v1" if FAILURES[word].direct else gateway.url
    job = Job(url, gateway.key("any"), f"gpt-5.6-{word}", "sealed", {}, ("Is the gate open?",))
    before = len(labs.calls("")[0])
    with tempfile.TemporaryDirectory() as folder:
        told = play(job, Path(folder))
    calls = len(labs.calls("")[0]) - before
    raised = f"`{told.raised.partition(':')[0]}`" if told.raised else "no exception"
    return f"{calls}, {raised}"


if __name__ == "__main__":
    main()
