"""What must hold: at every event, at the end of every turn, and when the world is at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from latchway.ledger.prices import format_usd
from latchway.ledger.verify import verify
from latchway.log import store
from latchway.routes.table import RouteTable
from latchway.turn import events as on
from sim import bills, events
from sim.universe import Violation

if TYPE_CHECKING:
    from sim.cases import Case
    from sim.upstream import Call
    from sim.world import World

LEDGER_SECONDS = 2.0
"""A turn waits so long for each answer of the ledger."""
SLACK_SECONDS = 2.0
PAIR_SECONDS = 1.0
"""Behind an `error` the hold waits for its second, for so long at most."""


class WatchedRoutes(RouteTable):
    """The real one; how many replays are in flight is counted anew (I-R9)."""

    def __init__(self, world: World) -> None:
        super().__init__(world.settings, world.writer, world.process.time)
        self._world = world

    def turn_began(self) -> None:
        self._world.active += 1
        super().turn_began()

    def replay_began(self) -> None:
        if not self._world.replay_room():
            raise Violation("I-R9: more replays in flight than the budget allows")
        self._world.replaying += 1
        super().replay_began()

    def turn_ended(self, replayed: bool) -> None:
        self._world.active -= 1
        self._world.replaying -= replayed
        super().turn_ended(replayed)


# ---- at every event


def before_event(case: Case, event: on.Event) -> None:
    name, world = type(event).__name__, case.world
    if not case.driver._busy:
        case.told, case.before = name, case.driver.turn.state.value
        world.universe.note("turn %d, %s: %s", case.number, case.before, name)
    if isinstance(event, on.ClientGone):
        case.gone = True
    elif isinstance(event, on.Stop):
        case.stopped = event.code
    elif isinstance(event, on.LedgerFailed):
        case.ledger_failed = True
        world.counted.hit("ledger_failed", case.before)
    elif isinstance(event, on.Arrived):
        _arrived(case.calls[-1], world)


def _arrived(call: Call, world: World) -> None:
    kinds = {event.kind for event in call.events} if call.error_read is None else set()
    if events.ERROR in kinds:
        call.error_read = world.universe.now
    if events.LIFECYCLE in kinds and call.lifecycle_read is None:
        call.lifecycle_read, call.stalled_then = world.universe.now, world.stalled_seconds


PASSING = ("released", "streaming", "pairing_late")
"""States in which a slow client may slow its upstream: nothing can be replayed any more."""


def left(case: Case, call: Call) -> None:
    """The turn has left a call: what could still decide was read as it arrived (I-R3), and behind
    an `error` it has waited for the second (R2, "Pairs")."""
    held = call.wire is not None and call.wire.held and not call.wire.over
    case.check(not held or case.before in PASSING, f"I-R3: not read while {case.before}")
    if call.error_read is None or case.told != "Tick":
        return
    waited = case.world.universe.now - call.error_read
    case.check(waited >= PAIR_SECONDS - 1e-6, f"R2: waited {waited} s behind an error")


def after_event(case: Case, event: on.Event) -> None:
    if not case.calls:
        return
    call = case.calls[-1]
    if case.gone:
        case.check(call.left is not None, "D5: the client is gone, its call goes on")
    elif call.left is None and call.lifecycle_read is not None and not case.handed:
        _check_hold(case, call)


def _check_hold(case: Case, call: Call) -> None:
    world = case.world
    held = world.universe.now - call.lifecycle_read if call.lifecycle_read is not None else 0.0
    late = world.stalled_seconds - call.stalled_then
    pair = any(each.kind == events.ERROR for each in call.events)
    most = world.routes[call.route].hold_seconds + late + (PAIR_SECONDS if pair else 0.0)
    case.check(held <= most + 1e-6 or not case.streamed, f"I-R7: held for {held} s")


# ---- at the end of a turn


def at_the_end(case: Case, record: dict[str, Any]) -> None:
    case.check(not case.over, "a turn ended twice")
    case.over, case.record = True, record
    _check_attempts(case, record)
    _check_ends(case, record)
    _check_delivered(case, record)
    _check_time(case)
    bills.check(case, record)
    _count(case)


def _check_attempts(case: Case, record: dict[str, Any]) -> None:
    """A1: the log names the calls that were made, and how the rule judges each."""
    attempts = record["attempts"]
    said = [(each["number"], each["route"]) for each in attempts]
    made = [(call.number, call.route) for call in case.calls]
    case.check(said == made, f"A1: the log says {said}, called were {made}")
    case.check(record["replayed"] == (len(made) == 2), "A1: `replayed` is not what was done")
    for call, attempt in zip(case.calls, attempts, strict=True):
        case.check(call.left is not None, "a turn that is over has a call in flight")
        _check_verdict(case, call, attempt)


def _check_verdict(case: Case, call: Call, attempt: dict[str, Any]) -> None:
    said, wanted = (attempt["failure"], attempt["verdict"]), call.expected
    if wanted is None:
        unrecorded = attempt["failure"] == "gateway_stopped" and case.ledger_failed
        fine = attempt["failure"] is None or unrecorded
        case.check(fine, f"attempt {call.number} had a result, the log says {said}")
    elif wanted.exact:
        case.check(said == (wanted.failure, wanted.verdict),
                   f"I-R2: attempt {call.number}: {said}, the rule says {wanted}")  # fmt: skip
    else:
        case.check(said[1] != "replay" or wanted.verdict == "replay",
                   f"I-R3: attempt {call.number}: {said}, by what arrived {wanted}")  # fmt: skip


WHOLE_ENDS = (["error", "failed"], ["own error", "own failed"])


def _check_ends(case: Case, record: dict[str, Any]) -> None:
    """D2: a client that is there is told the end, once."""
    once = len(case.ends) == 1 or case.ends in WHOLE_ENDS
    if case.gone or case.unreachable:
        return
    case.check(once, f"D2: told the end by {case.ends}")
    result = [end for end in case.ends if end in events.RESULTS]
    if result:
        case.check(record["outcome"] == result[0], f"A1: {record['outcome']} for {result[0]}")
    else:
        case.check(record["outcome"] == "failed", f"A1: {record['outcome']} for {case.ends}")
    if case.code and record["code"] is not None and case.ends[0] != "answer":
        case.check(case.code == record["code"], f"A1: told {case.code}, logged {record['code']}")


def _check_delivered(case: Case, record: dict[str, Any]) -> None:
    wanted = "nothing"
    if case.handed_lifecycle:
        wanted = "lifecycle"
    if case.handed_output:
        wanted = "output"
    said = record["delivered"]
    lost = case.gone or case.unreachable
    case.check(said == wanted or lost, f"A1: delivered {wanted}, the log says {said}")


def _check_time(case: Case) -> None:
    """L1: no turn outlives its clocks."""
    world = case.world
    if case.client is None or case.client.wire.window is not None:
        return
    turn = world.settings.turn
    clocks = [turn.whole_answer_timeout_seconds if not case.streamed else 0.0]
    since = case.began_turn
    for call in case.calls:
        route = world.routes[call.route]
        clocks += [route.connect_timeout_seconds, route.first_event_timeout_seconds]
        clocks.append(route.idle_timeout_seconds)
        since = max(since, call.quiet_since)
    bound = max(clocks) + 4 * LEDGER_SECONDS + SLACK_SECONDS + world.stalled_seconds
    waited = world.universe.now - since
    case.check(waited <= bound, f"L1: ended {waited} s after the last sign of life")


def _count(case: Case) -> None:
    counted = case.world.counted
    for call in case.calls:
        struck = call.expected is not None and call.script.fault != "none"
        if struck and call.ended_by not in ("ClientGone", "Stop"):
            counted.hit(f"{call.script.fault} {call.number}", call.ended_in)
    counted.hit("turns", "all")


# ---- at rest


def at_rest(world: World) -> None:
    """Everybody has left and the process has ended: what is written must be right."""
    world.complain()
    for case in world.cases:
        if case.driver is not None:
            case.check(case.over or case.crashed, "L1: a turn that never ended")
    _check_leaks(world)
    _check_database(world)
    for case in world.cases:
        if case.driver is not None:
            _check_books(world, case)


def _check_leaks(world: World) -> None:
    app = world.app
    left = {
        "turns": len(app.turns), "connections": len(app.connections), "sockets": len(app.sockets),
        "timers": len(world.process.timers()), "active": world.active, "replays": world.replaying,
        "upstream connections": len(world.pool._known), "wires": world.kernel.open(),
    }  # fmt: skip
    leaked = {what: number for what, number in left.items() if number}
    if leaked:
        raise Violation(f"L2: left over at rest: {leaked}")


def _check_database(world: World) -> None:
    connection = world.disk.connection
    faults = verify(connection)
    if faults:
        raise Violation(f"verify: {[str(fault) for fault in faults]}")
    (open_turns,) = connection.execute("SELECT count(*) FROM turn WHERE state = 'open'").fetchone()
    if open_turns:
        raise Violation(f"I-B3: {open_turns} turns are open at rest")
    reserved = connection.execute(
        "SELECT reserved FROM chain JOIN (SELECT account, max(number) AS number FROM chain"
        " GROUP BY account) USING (account, number) WHERE reserved <> 0"
    ).fetchall()
    if reserved:
        raise Violation(f"I-B3: reserved at rest: {reserved}")


def _check_books(world: World, case: Case) -> None:
    """The log agrees with the ledger, and the ledger with the calls that were made."""
    connection = world.disk.connection
    row = connection.execute(
        "SELECT state, charged, route, second_route, billed,"
        " (SELECT coalesce(sum(amount), 0) FROM chain WHERE chain.turn = turn.turn"
        " AND kind = 'adjust') FROM turn WHERE request_id = ?", (case.request_id,)
    ).fetchone()  # fmt: skip
    logged = store.find(connection, case.request_id or "")
    if row is None:
        case.check(not case.calls, "R6: called without a row in the ledger")
        return
    case.check(logged is not None, "R7: a turn without a record")
    state, charged, *routes, billed, adjusted = row
    made = [call.route for call in case.calls]
    case.check(made == [name for name in routes if name][: len(made)],
               f"I-R1: called {made}, the ledger says {routes}")  # fmt: skip
    results = [end for end in case.ends if end in events.RESULTS]
    if results:
        case.check(state == "settled" and adjusted == 0, "I-B5: a result that is not settled")
        case.check(case.serving is not None and billed == case.serving.number,
                   "I-B2: another attempt was billed")  # fmt: skip
    if logged is not None:
        said = logged["billing"]["charged"]
        case.check(said == format_usd(charged - adjusted) or case.crashed,
                   f"A1: the log says {said}, the ledger {charged} - {adjusted}")  # fmt: skip
