"""Codex with a real model: llama.cpp as the only route, and as the one that stands in.

The model is small. By itself it says something, of no interest, and calls no tool; led by a
template it calls Codex's, and tells what that gave. Either way its turns come to their end, are
charged by its own usage and need no second request.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agents.codex import NO_RETRIES, codex
from agents.job import PROGRAMS, Job, Told
from agents.origin import Behaviour, Origin
from agents.playing import Record
from agents.stage import FIRSTS, NAMES, NO_SCRIPT
from clients.checking import verdicts
from clients.gateway import Gateway
from clients.leaving import wait_until
from clients.models import NANO_PER_TOKEN, START_SECONDS, is_up, start_server
from clients.upstreams import Labs
from latchway.demo.stage import any_port

MODEL = "smollm2"
ANSWER_TOKENS = 2048
CONTEXT_TOKENS = 8192
"""Codex asks with 4,600 tokens, most of them instructions and tools; with 5,400 if it is led."""
FIRST_EVENT_SECONDS = 300
"""It says nothing before it has read the prompt: half a minute on an idle core."""

NOTE, COPY = "note.txt", "copy.txt"
WRITTEN = "old harbour"
"""In the note alone: who can tell it has read it."""


@dataclass(frozen=True, slots=True)
class Task:
    """What Codex is asked, and with which further options llama.cpp is started."""

    told: str
    options: tuple[str, ...]
    questions: tuple[str, ...]
    works: bool
    """Must the model run a command for each question, and tell what that gave?"""


TALK = Task("to say something", (), ("Say hello.", "Say it again."), works=False)
WORK = Task(
    "to run a command",
    ("--chat-template", str(PROGRAMS / "exec_command.jinja"), "--temperature", "0"),
    (f"Run `cat {NOTE} | tee {COPY}`.", f"Run `cat {COPY}`."),
    works=True,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A session to come. `first`: what the route before llama.cpp does, a key of FIRSTS."""

    task: Task
    first: str | None = None

    @property
    def routes(self) -> tuple[str, ...]:
        return NAMES if self.first else NAMES[1:]

    @property
    def behind(self) -> str:
        return f"{FIRSTS[self.first].told}, llama.cpp" if self.first else "llama.cpp, no other"

    def __str__(self) -> str:
        return f"{self.task.told}: {self.behind}"


PLANS = (
    *(Plan(TALK, first) for first in (None, "503")),
    *(Plan(WORK, first) for first in (None, "failed", "503", "reset")),
)


@dataclass(frozen=True, slots=True)
class Scene:
    """One session of Codex. `records`: of its requests, in their order."""

    plan: Plan
    told: Told
    copied: str | None
    """What is in the file that the model's command makes; None: there is none."""
    records: tuple[Record, ...]

    @property
    def differences(self) -> Iterator[str]:
        """What is not as it should be."""
        work = self._work() if self.plan.task.works else ()
        raised = (self.told.raised,) if self.told.raised else ()
        for line in (*raised, *work, *self._turns()):
            yield f"{self.plan}: {line}"

    def _work(self) -> Iterator[str]:
        """The model's commands were run, and what they gave reached it."""
        questions = len(self.plan.task.questions)
        was = self.told.tools, len(self.told.answers), self.copied
        wanted = questions, questions, WRITTEN
        if was != wanted:
            yield f"{was}, not {wanted}"
        yield from (f"answer: {answer!r}" for answer in self.told.answers if WRITTEN not in answer)

    def _turns(self) -> Iterator[str]:
        """Every turn completed and paid, and none asked for twice."""
        first = self.plan.first
        said = (f"{FIRSTS[first].rule} replay",) if first else ()
        if len(self.records) != len(self.plan.task.questions) + self.told.tools:
            yield f"{len(self.records)} requests, {self.told.tools} commands"
        for record in self.records:
            was = record["outcome"], routes_of(record), verdicts(record), _due(record)
            wanted = "completed", self.plan.routes, said, record["billing"]["charged"]
            if was != wanted:
                yield f"{was}, not {wanted}"


def play_scene(folder: Path, plan: Plan) -> Scene:
    """Raises Unavailable."""
    with _playing(folder, plan) as gateway:
        home = folder / "codex"
        home.mkdir()
        (home / NOTE).write_text(WRITTEN, encoding="utf-8")
        job = Job(gateway.url, gateway.key("reader"), MODEL, "sealed", {}, plan.task.questions)
        told = codex(NO_RETRIES)(job, home)
        assert gateway.stop() == 0, "".join(gateway.said)
        gateway.verify()
        copy = home / COPY
        copied = copy.read_text(encoding="utf-8") if copy.exists() else None
        return Scene(plan, told, copied, tuple(gateway.records()))


def routes_of(record: Record) -> tuple[str, ...]:
    return tuple(attempt["route"] for attempt in record["attempts"])


def _due(record: Record) -> str:
    """The charge that follows from the usage that the last attempt told."""
    usage = record["attempts"][-1]["usage"]
    return f"{sum(usage[name] * price for name, price in NANO_PER_TOKEN.items()) / 1e9:.9f}"


@contextmanager
def _playing(folder: Path, plan: Plan) -> Iterator[Gateway]:
    """A server with room for Codex, an origin that always fails, and a gateway."""
    port = any_port("127.0.0.1")
    server = start_server(port, "--context-tokens", str(CONTEXT_TOKENS), *plan.task.options)
    fails = FIRSTS[plan.first].fails if plan.first else None
    failing = Origin("", {}, {MODEL: Behaviour(fails)}, set())
    labs = Labs(NO_SCRIPT, NO_SCRIPT, (failing, Origin("", {}, {}, set())))
    gateway = None
    try:
        wait_until(partial(is_up, port), START_SECONDS)
        gateway = Gateway(folder, _configuration(plan.routes, labs.ports[0], port))
        yield gateway
    finally:
        if gateway is not None:
            gateway.stop()
        labs.close()
        server.kill()
        server.communicate()


def _configuration(routes: tuple[str, ...], *ports: int) -> str:
    places = dict(zip(NAMES, ports, strict=True))
    model = {
        "price": {"input": 1, "output": 4},
        "context_tokens": CONTEXT_TOKENS,
        "max_output_tokens": ANSWER_TOKENS,
        "routes": [
            {"provider": name, "name": name, "origin": "shared", "store_default": False}
            for name in routes
        ],
    }
    return json.dumps(
        {
            "providers": {
                name: {"base_url": f"http://127.0.0.1:{places[name]}/v1"} for name in routes
            },
            "models": {MODEL: model},
            "turn": {"first_event_timeout_seconds": FIRST_EVENT_SECONDS},
            "health": {"enabled": False},
        }
    )
