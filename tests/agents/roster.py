"""The agents that are tried: how each is asked, and what it makes of failures that reach it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agents.codex import NO_RETRIES, SOCKETS, codex
from agents.job import HERE, PROGRAMS, Job, Told, told_by
from agents.ways import (
    AT_THE_FIRST,
    CHAINED,
    CHAINED_ELSEWHERE,
    PLAIN,
    SEALED_WAY,
    WHOLE,
    WHOLE_ELSEWHERE,
    Way,
)
from clients import environments


@dataclass(frozen=True, slots=True)
class Program:
    """`play` holds a conversation in a folder of its own; it raises Unavailable."""

    name: str
    packages: tuple[str, ...]
    """Of which the versions are told."""
    play: Callable[[Job, Path], Told]
    ways: tuple[Way, ...]
    raises: Mapping[str, str] = field(default_factory=dict)
    """The class of its exception where a failure is delivered, by the failure's word."""
    tries: int = 1
    """Requests that it makes of a turn whose failure is delivered."""
    refused: Mapping[str, int] = field(default_factory=dict)
    """Requests of a conversation that are refused, and that it goes on without, by their code."""
    names_its_last: bool = False
    """Does each request name the response before it, so that no other route may take it (R3)?"""
    over_node: bool = False


def versions(program: Program) -> str:
    """Of its packages, as they are installed. Raises Unavailable."""
    read = _of_modules if program.over_node else _of_distributions
    return ", ".join(f"{name} {version}" for name, version in read(program.packages).items())


def _of_modules(packages: tuple[str, ...]) -> dict[str, str]:
    _, folder = environments.node(HERE)
    files = {name: folder / "node_modules" / name / "package.json" for name in packages}
    return {name: json.loads(file.read_text("utf-8"))["version"] for name, file in files.items()}


def _of_distributions(packages: tuple[str, ...]) -> dict[str, str]:
    code = "import sys; from importlib.metadata import version as v; print(*map(v, sys.argv[1:]))"
    command = [environments.python("agents", HERE), "-c", code, *packages]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(zip(packages, said.split(), strict=True))


def _in_python(script: str, *words: str) -> Callable[[Job, Path], Told]:
    def play(job: Job, folder: Path) -> Told:
        interpreter = environments.python("agents", HERE)
        return told_by([interpreter, str(PROGRAMS / script), *words], job, folder)

    return play


def _in_node(job: Job, folder: Path) -> Told:
    node, modules = environments.node(HERE)
    return told_by([node, str(PROGRAMS / "vercel.mjs"), str(modules)], job, folder)


CODEX = ("@openai/codex",)
SSE = (SEALED_WAY,)
OVER_SOCKETS = (Way("sealed", SEALED_WAY.told, AT_THE_FIRST, sends=SEALED_WAY.sends),)
ALL = (SEALED_WAY, PLAIN, CHAINED, CHAINED_ELSEWHERE, WHOLE, WHOLE_ELSEWHERE)

AGENTS = (
    Program("Codex CLI, over SSE", CODEX, codex(), SSE, over_node=True),
    Program("Codex CLI, over SSE, no retries", CODEX, codex(NO_RETRIES), SSE, over_node=True),
    Program(
        "Codex CLI, over a WebSocket",
        CODEX,
        codex(SOCKETS),
        OVER_SOCKETS,
        refused={"unsupported_parameter": 2, "previous_response_not_found": 4},
        over_node=True,
    ),
    Program(
        "Codex CLI, over a WebSocket, no retries",
        CODEX,
        codex(SOCKETS + NO_RETRIES),
        OVER_SOCKETS,
        refused={"unsupported_parameter": 2, "previous_response_not_found": 2},
        over_node=True,
    ),
    Program(
        "OpenAI Agents SDK",
        ("openai-agents", "openai"),
        _in_python("openai_agents.py"),
        ALL,
        raises={
            "failed": "ModelBehaviorError",
            "503": "InternalServerError",
            "reset": "InternalServerError",
        },
    ),
    Program(
        "langchain-openai",
        ("langchain-openai", "langchain-core", "openai"),
        _in_python("langchain_chat.py"),
        ALL,
        raises={"failed": "ValueError", "503": "OpenAIAPIError", "reset": "OpenAIAPIError"},
    ),
    Program(
        "pydantic-ai",
        ("pydantic-ai-slim", "openai"),
        _in_python("pydantic_agent.py"),
        (SEALED_WAY, PLAIN),
        raises=dict.fromkeys(("each-failed", "each-503"), "ModelOverloadedError")
        | {"each-reset": "ModelServerError"},
        names_its_last=True,
    ),
    Program(
        "pydantic-ai, `openai_prompt_cache_diagnostics: False`",
        ("pydantic-ai-slim", "openai"),
        _in_python("pydantic_agent.py", "quiet"),
        ALL,
        raises={
            "failed": "ModelOverloadedError",
            "503": "ModelOverloadedError",
            "reset": "ModelServerError",
        },
    ),
    Program(
        "Vercel AI SDK",
        ("ai", "@ai-sdk/openai"),
        _in_node,
        (SEALED_WAY, WHOLE, WHOLE_ELSEWHERE),
        raises=dict.fromkeys(("failed", "503", "reset"), "RetryError"),
        tries=3,
        over_node=True,
    ),
)
