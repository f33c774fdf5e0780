"""The network and the loop of the simulation: they must break as real ones do."""

from __future__ import annotations

import asyncio

from sim.network import Kernel, Wire
from sim.universe import Process, Universe


class Heard(asyncio.Protocol):
    """What the gateway's side of a connection was told, in order."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def data_received(self, data: bytes) -> None:
        self.told.append(data)

    def eof_received(self) -> None:
        self.told.append("eof")

    def connection_lost(self, exc: Exception | None) -> None:
        self.told.append(type(exc).__name__)

    def pause_writing(self) -> None:
        self.told.append("paused")

    def resume_writing(self) -> None:
        self.told.append("resumed")


class Far:
    """The other end."""

    def __init__(self) -> None:
        self.got = b""
        self.cut: bool | None = None

    def handed(self, data: bytes) -> None:
        """Only what has left counts here."""

    def sent(self, data: bytes) -> None:
        self.got += data

    def hung_up(self, reset: bool) -> None:
        self.cut = reset


def made() -> tuple[Universe, Wire, Heard, Far, Kernel]:
    universe, kernel = Universe(0), Kernel()
    universe.process = Process(universe, lambda *_: lambda: None)
    far, heard = Far(), Heard()
    wire = Wire(universe.process, far, kernel)
    wire.set_protocol(heard)
    universe.process.call_soon(wire.begin)
    universe.run()
    return universe, wire, heard, far, kernel


def test_a_reset_is_found_behind_what_had_arrived() -> None:
    universe, wire, heard, _, _ = made()
    universe.after(1.0, lambda: wire.arrive(b"last words"))
    universe.after(1.0, wire.arrive_rst)
    universe.run()
    assert heard.told == [b"last words", "ConnectionResetError"]


def test_a_write_finds_the_reset_first_and_the_rest_stays_in_the_kernel() -> None:
    universe, wire, heard, _, kernel = made()
    wire.pause_reading()
    universe.after(1.0, lambda: wire.arrive(b"last words"))
    universe.after(1.0, wire.arrive_rst)
    universe.after(2.0, lambda: wire.write(b"more"))
    universe.run()
    assert heard.told == ["BrokenPipeError"]
    assert kernel.read(wire.fd, 100) == b"last words"


def test_what_arrives_in_a_stall_is_read_at_once_and_before_the_timers() -> None:
    universe, wire, heard, _, _ = made()
    assert universe.process is not None
    universe.process.call_later(2.0, heard.told.append, "timer")
    universe.process.stalled_until = universe.now + 5.0
    for at, data in ((1.0, b"one "), (3.0, b"two")):
        universe.after(at, lambda data=data: wire.arrive(data))  # type: ignore[misc]
    universe.run()
    assert heard.told == [b"one two", "timer"]


def test_a_full_window_pauses_the_writer_until_it_is_taken() -> None:
    universe, wire, heard, far, _ = made()
    wire.window, wire.high = 10, 20
    wire.set_write_buffer_limits(high=64 << 10)
    universe.after(1.0, lambda: wire.write(b"x" * 40))
    universe.after(2.0, wire.take_all)
    universe.run()
    assert heard.told == ["paused", "resumed"]
    assert far.got == b"x" * 40


def test_a_close_waits_for_what_was_written_and_an_abort_does_not() -> None:
    universe, wire, heard, far, _ = made()
    wire.window = 0
    universe.after(1.0, lambda: wire.write(b"bye"))
    universe.after(2.0, wire.close)
    universe.run()
    assert far.cut is None
    universe.after(1.0, wire.abort)
    universe.run()
    assert far.cut is True
    assert heard.told == ["NoneType"]
