"""The fixtures of the lock: what each scenario must record, byte for byte, and their hashes.

| file | holds |
|---|---|
| `scenarios/<group>/<name>.turn` | the script, and what every port saw |
| `wire/<group>/<name>.sse` | the bytes of the HTTP answer |
| `wire/<group>/<name>.ws` | the frames of the WebSocket, one a line |
| `LOCK` | a line for each of them, sorted by path, as `sha256sum` has it: SHA-256, path |
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from lock import script
from lock.play import play
from lock.script import SCENARIOS, Recording, Scenario
from lock.stage import Wire

HERE = SCENARIOS.parent
WIRE = HERE / "wire"
LOCK = HERE / "LOCK"

ENDINGS = {"http": ".sse", "websocket": ".ws"}


def names() -> list[str]:
    """`group/name` of every scenario."""
    paths = SCENARIOS.rglob("*.turn")
    return sorted(path.relative_to(SCENARIOS).with_suffix("").as_posix() for path in paths)


def scenario(name: str) -> Scenario:
    return script.read(scenario_file(name).read_text(encoding="utf-8"))


def scenario_file(name: str) -> Path:
    return SCENARIOS / f"{name}.turn"


def wire_file(name: str, transport: str) -> Path:
    return WIRE / f"{name}{ENDINGS[transport]}"


def play_over(scenario: Scenario, transport: str) -> tuple[list[list[str]], bytes]:
    """What is recorded over a transport, and exactly what the client gets.

    AssertionError: something is left of the turn, or its books do not agree.
    """
    stage = Wire(scenario, transport)
    with stage.gateway.loop.running():
        recording = play(scenario, stage)
        got = stage.transcript()
        stage.check_rest()
    return recording, got


def fixtures_of(name: str) -> dict[Path, bytes]:
    """The files of a scenario as they must be."""
    told, files = scenario(name), {}
    recording: dict[str, list[list[str]]] = {}
    for transport in told.transports:
        recording[transport], files[wire_file(name, transport)] = play_over(told, transport)
    return {scenario_file(name): _text(told, recording), **files}


def _text(told: Scenario, recording: Recording) -> bytes:
    return script.write(told, recording).encode()


def files() -> list[Path]:
    """Every fixture that is there, whether a scenario is behind it or not."""
    found = [*SCENARIOS.rglob("*"), *WIRE.rglob("*")]
    return sorted(path for path in found if path.is_file())


def lock_of(paths: Iterable[Path]) -> str:
    """What `LOCK` says if these are the fixtures."""
    hashes = {name_of(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    return "".join(f"{hashes[name]}  {name}\n" for name in sorted(hashes))


def lines_of(lock: str) -> dict[str, str]:
    """The hashes of a `LOCK`, by path. ValueError: a line is none."""
    pairs = (line.split("  ") for line in lock.splitlines())
    return {name: digest for digest, name in pairs}


def name_of(path: Path) -> str:
    """As `LOCK` says it."""
    return path.relative_to(HERE).as_posix()
