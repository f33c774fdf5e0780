"""A watch runs with its clocks, ends by itself or when it is told to, and waits a little behind."""

from __future__ import annotations

import asyncio
import io
from typing import Any

import pytest

from lab.harness import PATIENCE
from latchway.lab.server import Lab
from latchway.upstreams.pool import client_context
from latchway.watch import run
from latchway.watch.address import address_of
from latchway.watch.asking import asking, in_words
from latchway.watch.credential import Credential
from latchway.watch.recording import Recording
from latchway.watch.seen import Report
from latchway.watch.show import Lines, Text

DONE = {"completed": {"input": 3, "output": 2}}


def watched(
    script: list[Any], transport: str = "http", silence: float | None = None, stop: bool = False
) -> tuple[Report, Recording]:
    """Watch what a lab plays; `stop`: leave as soon as something was answered."""

    async def main() -> tuple[Report, Recording]:
        lab = Lab()
        port = await lab.start(script)
        address = address_of(f"{transport}://127.0.0.1:{port}/v1")
        asked = asking(
            in_words("m", "hi"), model=None, websocket=address.websocket, silence=silence
        )
        show = Text(Lines(io.StringIO(), Credential(None)))
        watching = run.Watch(address, asked, Credential(None), show)
        task = asyncio.create_task(watching.run(client_context()))
        if stop:
            await lab.until(lambda: lab.calls and lab.calls[0].events)
            watching.stop()
        report = await asyncio.wait_for(task, PATIENCE)
        await lab.stop()
        return report, watching.recording

    return asyncio.run(main())


@pytest.mark.parametrize("transport", ["http", "ws"])
def test_who_stops_it_gets_the_report(transport: str) -> None:
    report, recording = watched([{"events": ["created", "silence"]}], transport, stop=True)

    assert report.outcome == "stopped"
    assert recording.script(Credential(None)).endswith("silence\n")


@pytest.mark.parametrize("transport", ["http", "ws"])
@pytest.mark.parametrize(
    ("events", "failure"),
    [(["silence"], "first_event_timeout"), (["created", "silence"], "idle_timeout")],
)
def test_silence_ends_it(transport: str, events: list[Any], failure: str) -> None:
    report, _ = watched([{"events": events}], transport, silence=0.2)

    assert report.record is not None
    assert report.record.failure == failure
    assert report.ended >= 0.2


def test_a_handshake_without_an_answer_is_no_connection() -> None:
    report, _ = watched([{"no_head": True, "events": ["silence"]}], "ws", silence=0.2)

    assert report.record is not None
    assert (report.record.failure, report.connected) == ("read_error", None)


def test_a_body_that_does_not_end_is_waited_for_a_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "AFTER_SECONDS", 0.1)
    report, recording = watched([{"events": [DONE, "silence"]}])

    assert report.outcome == "completed"
    assert recording.script(Credential(None)).endswith("silence\n")


def test_an_error_that_has_no_second_ends_by_itself() -> None:
    report, _ = watched([{"events": ["created", {"error": "slow_down"}, "silence"]}], "ws")

    assert report.record is not None
    assert (report.record.failure, report.record.verdict) == ("retryable_event", "replay")
