"""What befalls a world beside its upstreams: clients leave, disks fail, clocks jump, processes die.

A fate waits for its turn to reach a state, so that every mishap meets every state; the counts of
what met what are asserted (`coverage.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sim.disk import Steps

if TYPE_CHECKING:
    from sim.cases import Case
    from sim.world import World

STATES = (
    "reserving", "calling", "holding", "released", "streaming", "pairing", "pairing_late",
    "recording", "closing",
)  # fmt: skip
MISHAPS = (
    "leave_fin", "leave_rst", "stop", "stall", "disk_begin", "disk_commit", "disk_slow", "crash",
    "crash_before_commit", "crash_after_commit", "wall_jump",
)  # fmt: skip
WEIGHTS = (30, 30, 14, 14, 8, 8, 8, 2, 2, 2, 4)
MISHAP_CHANCE = 0.3
STATE_WEIGHTS = (2, 4, 4, 3, 3, 3, 3, 4, 3)
CLOSING_SECONDS, STEP_SECONDS = 5.0, 1.0
"""As the process has them."""
LINGERING_SECONDS = 130.0
"""Until the process ends; above every clock that closes what is left of a connection."""
SOON = (0.0, 0.0, 0.0001, 0.003, 0.4)
"""Seconds from reaching the state to the mishap."""


@dataclass(frozen=True)
class Fate:
    """What happens when the turn is in this state."""

    state: str
    mishap: str
    delay: float


def plan(world: World) -> None:
    """Give some turns a fate, and the world its end."""
    random = world.random
    for case in world.cases:
        if random.random() < MISHAP_CHANCE:
            state = random.choices(STATES, STATE_WEIGHTS)[0]
            mishap = random.choices(MISHAPS, WEIGHTS)[0]
            case.fate = Fate(state, mishap, random.choice(SOON))
    until = random.choice((70.0, 1100.0, 1100.0, 1100.0))
    world.universe.after(until, lambda: drain(world))


def reached(world: World, case: Case, state: str) -> None:
    """A turn has come to a state: is this its hour?"""
    fate = case.fate
    if fate is not None and fate.state == state:
        case.fate = None
        world.universe.after(fate.delay, lambda: _befall(world, case, fate.mishap))


def _befall(world: World, case: Case, mishap: str) -> None:
    if case.over or case.crashed or world.universe.process is None:
        return
    state = case.driver.turn.state.value
    world.counted.hit(mishap, state)
    world.universe.note("turn %d, %s: %s", case.number, state, mishap)
    random = world.random
    if mishap.startswith("leave"):
        assert case.client is not None
        case.client.leave(mishap[6:])
    elif mishap == "stop":
        world.process.call_soon(case.driver.stop, "shutting_down")
    elif mishap == "stall":
        stall(world, random.choice((0.02, 0.5, 3.0, 12.0)))
    elif mishap.startswith("disk"):
        world.disk.fail(mishap[5:], random.choice((0.01, 0.5, 5.0)))
    elif mishap == "wall_jump":
        world.wall_off += random.choice((-7200.0, 7200.0, 86_400.0))
    elif mishap == "crash":
        crash(world)
    else:
        world.disk.kills = "before" if mishap == "crash_before_commit" else "after"


def stall(world: World, seconds: float) -> None:
    """The loop does nothing for a while: the clock jumps between two of its events."""
    world.process.stalled_until = world.universe.now + seconds
    world.stalled_seconds += seconds


# ---- the process's end


def crash(world: World) -> None:
    """As by `kill -9`: what was in memory is gone, what was committed stays."""
    world.universe.note("the process dies")
    connection = world.disk.connection
    if connection.in_transaction:
        connection.execute("ROLLBACK")
    committer = world.writer._committer
    assert isinstance(committer, Steps)
    committer.died = True
    world.universe.process = None
    for task in world.process.tasks:
        task.die()
    for case in world.cases:
        if case.driver is not None and not case.over and not case.crashed:
            case.crashed = True
            world.counted.hit("killed", case.driver.turn.state.value)
    world.kernel.die()
    for client in world.clients:
        client.wire.over = client.cut = True
    world.universe.after(world.random.choice((0.3, 5.0)), lambda: restart(world))


def restart(world: World) -> None:
    """The operator starts it again, until the disk lets it."""
    if world.disk.fails:
        world.universe.after(1.0, lambda: restart(world))
        return
    world.universe.note("a new process")
    world.start()
    if world.ending:
        world.universe.after(100.0, lambda: drain(world))


def drain(world: World) -> None:
    """SIGTERM."""
    world.ending = True
    if world.universe.process is None or world.draining:
        return
    world.universe.note("the gateway drains")
    world.process.call_soon(_drain, world, world.epoch)


def _drain(world: World, epoch: int) -> None:
    app, process = world.app, world.process
    world.draining = True
    app.drained = partial(process.call_soon, _leave, world, epoch)  # type: ignore[assignment]
    app.drain()
    if app.turns:
        process.call_later(world.settings.shutdown_seconds, _stop, world, epoch)
    else:
        _leave(world, epoch)


def _stop(world: World, epoch: int) -> None:
    world.app.stop_turns()
    _wait_for_turns(world, epoch, CLOSING_SECONDS)


def _wait_for_turns(world: World, epoch: int, left: float) -> None:
    """As `process.first_of` does: a process that was stalled has not waited meanwhile."""
    if left > 0:
        step = min(left, STEP_SECONDS)
        world.process.call_later(step, _wait_for_turns, world, epoch, left - step)
    else:
        _leave(world, epoch)


def _leave(world: World, epoch: int) -> None:
    """Nothing is in flight any more; what is open closes, and the ledger writes its last."""
    if world.left_epoch == epoch:
        return
    world.left_epoch = epoch
    world.app.close_connections()
    world.pool.close()
    world.process.call_later(LINGERING_SECONDS, _exit, world)


def _exit(world: World) -> None:
    world.universe.note("the process ends")
    world.writer.stop()
    world.ended = True
