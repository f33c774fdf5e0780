"""`make explore`: every turn that can be, to a depth; two moments are one only if they are equal.

`explore` closes because it takes moments for the same that differ in what should not matter. Here
nothing is left out of the comparison but what is the same by its nature, so that the other's
shortcuts are checked, too. Every moment is also the last one of a process that is killed there.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from latchway.turn.attempt import Attempt
from latchway.turn.machine import Turn
from turn.explore import Moment, World, next_events
from turn.made import http, websocket

DEPTH = 8
"""Events of a trace, each with all that may follow it."""

WORLDS = {
    "http": World(http()),
    "websocket": World(websocket()),
    "whole": World(http(streamed=False)),
    "no room": World(http(), room=False),
}

SHARED = frozenset({"terms", "replay_room", "attempt", "known", "records"})
"""Of a turn: what never changes, and what is looked at by itself."""

STATE = [
    name for kind in Turn.__mro__ for name in getattr(kind, "__slots__", ()) if name not in SHARED
]
"""All else that a turn remembers."""


@dataclass(frozen=True)
class Explored:
    """What came of one world."""

    world: str
    moments: int
    traces: int
    """Events that were told, each at the end of a trace of its own."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="turn.deep", description=__doc__)
    parser.add_argument("--depth", type=int, default=DEPTH)
    depth = parser.parse_args().depth
    began = time.monotonic()
    with multiprocessing.Pool(os.cpu_count()) as pool:
        for done in pool.imap_unordered(_explored, [(name, depth) for name in WORLDS]):
            print(
                f"explore: {done.world}: {done.moments} moments, {done.traces} traces", flush=True
            )
    print(f"explore: all traces to depth {depth} in {time.monotonic() - began:.0f} s")
    return 0


def _explored(asked: tuple[str, int]) -> Explored:
    name, depth = asked
    return deepen(name, depth)


def deepen(name: str, depth: int) -> Explored:
    """Go everywhere in so many events. AssertionError: a promise was broken; the way is noted."""
    world = WORLDS[name]
    moments = [Moment(Turn(world.terms, lambda: world.room))]
    known: set[Hashable] = {exact(moments[0])}
    traces = 0
    for _ in range(depth):
        following: list[Moment] = []
        for moment in moments:
            for after in _after(world, moment):
                traces += 1
                key = exact(after)
                if key not in known:
                    known.add(key)
                    following.append(after)
        moments = following
    return Explored(name, len(known), traces)


def _after(world: World, moment: Moment) -> Iterator[Moment]:
    for event, when in next_events(world, moment):
        try:
            after = moment.after(event, when)
            after.watch.dies()
        except (AssertionError, LookupError) as fault:
            fault.add_note(f"{event} in {moment}")
            raise
        yield after


def exact(moment: Moment) -> Hashable:
    """All of a moment, as a value."""
    turn = moment.turn
    known = None if turn.known is None else turn.known.number
    state = tuple(_value(getattr(turn, name)) for name in STATE)
    flying = _attempt(turn.attempt) if moment.watch.in_flight else turn.attempt is None
    return hash((moment.watch, state, flying, known, tuple(turn.records), moment.now))


def _attempt(attempt: Attempt | None) -> Hashable:
    if attempt is None:
        return None
    members = (getattr(attempt, name) for name in Attempt.__slots__ if name != "hold")
    return tuple(map(_value, members)), tuple(attempt.hold.frames), attempt.hold.since


def _value(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple(value.items())
    return tuple(value) if isinstance(value, list) else value


if __name__ == "__main__":
    sys.exit(main())
