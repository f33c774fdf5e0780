"""Living worlds: a run of seeds, and one seed again with everything told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from sim.coverage import Pair
from sim.universe import Violation
from sim.world import World

STORY_LINES = 60
"""The last of a story: what led to the violation."""


@dataclass
class Violated:
    """A world in which something was violated. `story`: what happened to its turn."""

    seed: int
    message: str
    story: list[str]


@dataclass
class Lives:
    """What came of a run of worlds."""

    counted: Counter[Pair] = field(default_factory=Counter)
    violated: list[Violated] = field(default_factory=list)


def live(seeds: Iterable[int]) -> Lives:
    """Live these worlds, one after another."""
    lives = Lives()
    for seed in seeds:
        world = World(seed)
        if _live(world) is not None:
            message, trace = retold(seed)
            lives.violated.append(Violated(seed, message, story(message, trace)))
        lives.counted.update(world.counted)
    return lives


def _live(world: World) -> str | None:
    """A bug of the gateway's that gets as far as here is a violation as well."""
    try:
        world.run()
    except (Violation, Exception) as fault:
        return f"{type(fault).__name__}: {fault}"
    return None


def retold(seed: int) -> tuple[str, list[str]]:
    """The same world again: what was violated (or nothing), and all that happened."""
    world = World(seed, traced=True)
    message = _live(world)
    return message or "", world.universe.trace or []


def story(message: str, trace: list[str]) -> list[str]:
    """What of a trace is about the turn that the message names, and about the whole process."""
    named = re.search(r"turn (\d+)", message)
    if named is None:
        return trace[-STORY_LINES:]
    turn = named[1]
    about = re.compile(rf"turn {turn}\b|\b{turn}/[12] |\[[^]]*\b{turn}\b|process|drains|disk:")
    return [line for line in trace if about.search(line)][-STORY_LINES:]
