"""Law 6 over the wire: what has *arrived* counts, not how it was cut into reads or how it was read.

From the scripts come the bytes that upstreams send. Each prefix of them is played in one read; in
two, cut at another place for each; some byte by byte; and to a client that takes nothing until all
is there, so that bytes and end wait in the kernel. Behind it the upstream closes, resets or falls
silent. Verdict, calls, bill and the client's bytes must be those of the prefix in one read.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace

import httptools

from latchway.turn import events as on
from lock import fixtures, said
from lock.gateway import EVENT_BYTES, Gateway
from lock.heard import SocketEars
from lock.play import STIMULUS
from lock.script import TRANSPORTS, Scenario
from lock.spoken import END, Speaker
from lock.stage import Wire
from lock.upstream import Line

SECONDS = {"fin": 2.0, "reset": 2.0, "silence": 700.0}
"""Behind the bytes: longer than every clock that runs then."""
ONE_IN_BYTEWISE = 8
REST_SECONDS = 10.0
"""Between two turns: no connection is left to be used again."""
LONGEST_BYTES = 4096
"""Of a stream that is cut everywhere; the one event that is too large is no longer news."""

SECOND = (
    "lifecycle response.created",
    "output response.output_text.delta",
    "completed 1 in, 1 out",
)
"""What an upstream answers that is called for a replay."""


@dataclass(frozen=True)
class Stream:
    """Bytes of a first attempt, and the script whose head they belong to."""

    scenario: Scenario
    data: bytes


@dataclass(frozen=True)
class Outcome:
    """All that can be seen of a turn from outside, but for how bytes were grouped into writes.

    `taken`: bytes of the upstream that had arrived when the gateway was done with it.
    """

    seen: tuple[str, ...]
    got: tuple[object, ...]
    taken: int

    @property
    def turn(self) -> tuple[object, ...]:
        """Without what had arrived by then: for a slow client bytes lie unread, so that the gateway
        is done later, and more of them have come."""
        return self.seen, self.got


def streams() -> list[Stream]:
    """Each that differs from the others in its bytes or in what the head says."""
    found: dict[tuple[str, bytes], Stream] = {}
    for name in fixtures.names():
        scenario = fixtures.scenario(name)
        data = _first_attempt(scenario)
        if data and len(data) <= LONGEST_BYTES:
            found.setdefault((_facts(scenario), data), Stream(scenario, data))
    return list(found.values())


def prefixes(whole: Iterable[Stream]) -> Iterator[Stream]:
    """Every prefix of every stream, once."""
    known: set[tuple[str, bytes]] = set()
    for stream in whole:
        facts = _facts(stream.scenario)
        for end in range(len(stream.data) + 1):
            prefix = replace(stream, data=stream.data[:end])
            if (facts, prefix.data) not in known:
                known.add((facts, prefix.data))
                yield prefix


def some(streams: Iterable[Stream], one_in: int) -> list[Stream]:
    """A sample that is the same on every run."""
    return [each for each in streams if zlib.crc32(each.data) % one_in == 0]


def _facts(scenario: Scenario) -> str:
    """What of the head makes a difference to how bytes are read."""
    facts = ("streamed", "settings")
    return "; ".join(scenario.head[fact] for fact in facts)


def _first_attempt(scenario: Scenario) -> bytes:
    """What its upstream sends up to the first thing that is not said in bytes, and a clean end."""
    streamed = scenario.head["streamed"] == "yes"
    speaker = Speaker(streamed=streamed, oversized_bytes=EVENT_BYTES, words=scenario.head["bytes"])
    data = b""
    for stimulus in scenario.stimuli:
        match = STIMULUS.fullmatch(stimulus)
        if match is None or match["attempt"] != "1":
            continue
        event = said.event(1, match["told"])
        if isinstance(event, on.Answered) and speaker.headed:
            break
        data += b"".join(speaker.reads(event))
    ended = not speaker.headed or data.endswith(END)
    return data if ended else data + speaker.end


class Cutter:
    """One gateway on which turn after turn is played, each with bytes cut in another way."""

    def __init__(self, scenario: Scenario, transport: str) -> None:
        self._scenario, self._transport = scenario, transport
        self._seen: list[str] = []
        self.gateway = Gateway(scenario, self._see)
        self._turns = 0

    def faults(self, prefix: bytes) -> list[str]:
        """The ways to bring this prefix that do not come to the same."""
        found, whole = [], {}
        for ending in SECONDS:
            whole[ending] = one = self.play([prefix], ending)
            for cuts in _cuts(prefix):
                cut = self.play(cuts, ending)
                if self.play(cuts, ending, slow=True).turn != cut.turn:
                    found.append(f"{ending}, to a slow client")
                if cut != one and cut != self.play([prefix[: cut.taken]], ending):
                    found.append(f"{ending}, in reads of {[len(read) for read in cuts]}")
        if whole["fin"] != whole["reset"]:
            found.append("fin, reset")
        return found

    def play(self, reads: Sequence[bytes], ending: str, *, slow: bool = False) -> Outcome:
        """A turn whose first upstream sends these bytes, and then ends so."""
        network, clock = self.gateway.network, self.gateway.clock
        self._seen.clear()
        network.lines.clear()
        self._turns += 1
        self.gateway.app.turn_number = self._turns
        stage = Wire(self._scenario, self._transport, self.gateway)
        stage.does("begin", "")
        line = network.line(1)
        if slow:
            stage.client.stall()
        taken = _bring(line, reads)
        if ending != "silence":
            line.arrive_end(reset=ending == "reset")
        if slow:
            stage.client.go_on()
        clock.advance()
        self._answer_the_replay()
        clock.advance(SECONDS[ending])
        self._answer_the_replay()
        clock.advance(REST_SECONDS)
        outcome = Outcome(tuple(self._seen), self._got(stage), taken)
        if not stage.client.lost:
            stage.client.leave()
        return outcome

    def check(self) -> None:
        """The books of all turns."""
        self.gateway.ledger.check()

    def _see(self, told: str) -> None:
        self._seen.append(told)

    def _answer_the_replay(self) -> None:
        lines = self.gateway.network.lines
        if len(lines) < 2 or (line := lines[1]) is None or line.is_closing():
            return
        streamed = self._scenario.head["streamed"] == "yes"
        speaker = Speaker(streamed=streamed)
        for words in SECOND if streamed else SECOND[-1:]:
            for data in speaker.reads(said.event(2, words)):
                line.arrive(data)
        self.gateway.clock.advance()

    def _got(self, stage: Wire) -> tuple[object, ...]:
        """The client's side of it; the turn's number is no difference."""
        number = f"{self._turns:024d}".encode()
        if isinstance(stage.ears, SocketEars):
            frames = [(frame.opcode, frame.data) for frame in stage.ears.frames]
            return tuple((code, data.replace(number, b"")) for code, data in frames if code == 1)
        return _answer(bytes(stage.client.taken).replace(number, b"0" * len(number)))


def _cuts(data: bytes) -> Iterator[list[bytes]]:
    """Other reads than one. A number made of the bytes says where, so that every place is cut, and
    in every neighbourhood all of them at once."""
    number = zlib.crc32(data, 1)
    if len(data) > 1:
        cut = 1 + number % (len(data) - 1)
        yield [data[:cut], data[cut:]]
    if number % ONE_IN_BYTEWISE == 0:
        yield [data[at : at + 1] for at in range(len(data))]


def _bring(line: Line, reads: Sequence[bytes]) -> int:
    """Bytes that the gateway still wanted."""
    taken = 0
    for data in reads:
        if line.is_closing():
            break
        line.arrive(data)
        taken += len(data)
    return taken


class _Answer:
    """Callbacks of the parser."""

    def __init__(self) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self.whole = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name, value))

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.whole = True


def _answer(data: bytes) -> tuple[object, ...]:
    """An HTTP answer without its chunks."""
    answer = _Answer()
    parser = httptools.HttpResponseParser(answer)
    parser.feed_data(data)
    status = parser.get_status_code() if answer.headers else None
    return status, tuple(answer.headers), answer.body, answer.whole


def faults_of(cut: Sequence[Stream], transport: str) -> list[str]:
    """What does not hold of them, each with the bytes that show it."""
    found = []
    cutters: dict[str, Cutter] = {}
    for each in cut:
        facts = _facts(each.scenario)
        if facts not in cutters:
            cutters[facts] = Cutter(each.scenario, transport)
        with cutters[facts].gateway.loop.running():
            wrong = cutters[facts].faults(each.data)
        found += [f"{transport}: {way}: {each.data!r}" for way in wrong]
    for cutter in cutters.values():
        cutter.check()
    return found


def on_transport(streams: Iterable[Stream], transport: str) -> list[Stream]:
    """Those whose scripts are for this transport."""
    return [each for each in streams if transport in each.scenario.transports]


def run() -> int:
    """All of them, the transports beside each other. 1: something does not hold."""
    logging.disable()
    all_of_them = list(prefixes(streams()))
    print(f"{len(all_of_them)} prefixes, {len(SECONDS)} endings, 3 ways, 2 transports")
    with ProcessPoolExecutor(len(TRANSPORTS)) as pool:
        parts = [on_transport(all_of_them, transport) for transport in TRANSPORTS]
        found = [fault for faults in pool.map(faults_of, parts, TRANSPORTS) for fault in faults]
    print(*found or ["all the same"], sep="\n")
    return 1 if found else 0
