"""The agents that are tried: how each is asked, and what it makes of failures that reach it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from agents.codex import NO_RETRIES, SOCKETS, codex
from agents.job import HERE, PROGRAMS, Job, Told, told_by
from agents.ways import (
    AT_THE_FIRST,
    CHAINED,
    CHAINED_ELSEWHERE,
    LOST,
    PLAIN,
    SEALED_WAY,
    WHOLE,
    WHOLE_ELSEWHERE,
    Way,
)
from clients import environments
from clients.roster import OLD


@dataclass(frozen=True, slots=True)
class Program:
    """`play` holds a conversation in a folder of its own; it raises Unavailable."""

    name: str
    versions: Callable[[], dict[str, str]]
    """Of its packages, as they are installed; it raises Unavailable."""
    play: Callable[[Job, Path], Told]
    ways: tuple[Way, ...]
    raises: Mapping[str, str] = field(default_factory=dict)
    """The class of its exception where a failure is delivered, by the failure's word; `healthy`:
    where it refers to reasoning that nobody has kept. None: it does not."""
    tries: int = 1
    """Requests that it makes of a turn whose failure is delivered."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """Requests of a conversation that are refused, and that it goes on without, by their code."""
    names_its_last: bool = False
    """Does each request name the response before it, so that no other route may take it (R3)?"""


@dataclass(frozen=True, slots=True)
class Environment:
    """Python packages that are installed together. `home`: the folder of its pins."""

    name: str
    home: Path = HERE

    def plays(self, script: str, *words: str) -> Callable[[Job, Path], Told]:
        """A program in it; the words go before the job."""

        def play(job: Job, folder: Path) -> Told:
            interpreter = environments.python(self.name, self.home)
            return told_by([interpreter, str(PROGRAMS / script), *words], job, folder)

        return play

    def versions(self, *packages: str) -> Callable[[], dict[str, str]]:
        """Asked of it when they are wanted."""

        def read() -> dict[str, str]:
            command = [environments.python(self.name, self.home), "-c", VERSIONS, *packages]
            said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            return dict(zip(packages, said.split(), strict=True))

        return read


VERSIONS = "import sys; from importlib.metadata import version as v; print(*map(v, sys.argv[1:]))"


def _modules(home: Path, *packages: str) -> dict[str, str]:
    """Versions of packages for Node. `home`: the folder of their pins."""
    _, folder = environments.node(home)
    files = {name: folder / "node_modules" / name / "package.json" for name in packages}
    return {name: json.loads(file.read_text("utf-8"))["version"] for name, file in files.items()}


def _in_node(job: Job, folder: Path) -> Told:
    node, modules = environments.node()
    return told_by([node, str(PROGRAMS / "vercel.mjs"), str(modules)], job, folder)


SDK = Environment(OLD, environments.HERE)
PYTHON = Environment("agents")
CODEX = partial(_modules, HERE, "@openai/codex")
SSE = (SEALED_WAY,)
OVER_SOCKETS = (replace(SEALED_WAY, words=AT_THE_FIRST),)
ALL = (SEALED_WAY, PLAIN, LOST, CHAINED, CHAINED_ELSEWHERE, WHOLE, WHOLE_ELSEWHERE)

LOOP = Program(
    "A loop around openai-python",
    SDK.versions("openai"),
    SDK.plays("openai_loop.py"),
    ALL,
    raises={
        "healthy": "NotFoundError",
        "failed": "ResponseFailed",
        "503": "InternalServerError",
        "reset": "InternalServerError",
    },
)
"""Its environment is that of `make test`."""

AGENTS = (
    LOOP,
    Program("Codex CLI, over SSE", CODEX, codex(), SSE),
    Program("Codex CLI, over SSE, no retries", CODEX, codex(NO_RETRIES), SSE),
    Program(
        "Codex CLI, over a WebSocket",
        CODEX,
        codex(SOCKETS),
        OVER_SOCKETS,
        refused={"unsupported_parameter": 2, "previous_response_not_found": 4},
    ),
    Program(
        "Codex CLI, over a WebSocket, no retries",
        CODEX,
        codex(SOCKETS + NO_RETRIES),
        OVER_SOCKETS,
        refused={"unsupported_parameter": 2, "previous_response_not_found": 2},
    ),
    Program(
        "OpenAI Agents SDK",
        PYTHON.versions("openai-agents", "openai"),
        PYTHON.plays("openai_agents.py"),
        ALL,
        raises={
            "healthy": "NotFoundError",
            "failed": "ModelBehaviorError",
            "503": "InternalServerError",
            "reset": "InternalServerError",
        },
    ),
    Program(
        "langchain-openai",
        PYTHON.versions("langchain-openai", "langchain-core", "openai"),
        PYTHON.plays("langchain_chat.py"),
        ALL,
        raises={
            "healthy": "OpenAIModelNotFoundError",
            "failed": "ValueError",
            "503": "OpenAIAPIError",
            "reset": "OpenAIAPIError",
        },
    ),
    Program(
        "pydantic-ai",
        PYTHON.versions("pydantic-ai-slim", "openai"),
        PYTHON.plays("pydantic_agent.py"),
        (SEALED_WAY, PLAIN, LOST),
        raises=dict.fromkeys(("each-failed", "each-503"), "ModelOverloadedError")
        | {"each-reset": "ModelServerError"},
        names_its_last=True,
    ),
    Program(
        "pydantic-ai, `openai_prompt_cache_diagnostics: False`",
        PYTHON.versions("pydantic-ai-slim", "openai"),
        PYTHON.plays("pydantic_agent.py", "quiet"),
        ALL,
        raises={
            "failed": "ModelOverloadedError",
            "503": "ModelOverloadedError",
            "reset": "ModelServerError",
        },
    ),
    Program(
        "Vercel AI SDK",
        partial(_modules, environments.HERE, "ai", "@ai-sdk/openai"),
        _in_node,
        (SEALED_WAY, PLAIN, LOST, WHOLE, WHOLE_ELSEWHERE),
        raises=dict.fromkeys(("failed", "503", "reset"), "RetryError")
        | {"healthy": "APICallError"},
        tries=3,
    ),
)
