"""How an answer is cut, delayed and ended, seen by a client on a plain socket."""

from __future__ import annotations

import pytest

from lab.harness import data_of, dechunked, head_and_rest, read_to_end, request, running, types_of

TICK = 0.002
"""Seconds by which a timer may be early: uvloop counts milliseconds."""


@pytest.mark.parametrize("split", [1, 3, 7])
def test_split_cuts_the_payload_into_chunks(split: int) -> None:
    with running([{"split": split, "events": [{"raw": "0123456789é"}]}]) as lab:
        answer = lab.ask()
    assert dechunked(answer) == "0123456789é".encode()
    assert head_and_rest(answer)[1].startswith(b"%x\r\n%b\r\n" % (split, b"0123456789"[:split]))


def test_close_framing_ends_the_body_with_the_connection() -> None:
    with running([{"framing": "close", "body": "abc"}]) as lab, lab.connect() as connection:
        connection.sendall(request())
        head, body = head_and_rest(read_to_end(connection))
    assert b"connection: close" in head
    assert body == b"abc"


def test_a_cut_leaves_out_the_last_chunk() -> None:
    with running([{"events": [{"raw": "abc"}, {"end": "cut"}]}]) as lab:
        answer = lab.ask()
    with pytest.raises(EOFError, match="abc"):
        dechunked(answer)


def test_a_clean_end_needs_no_terminal_event() -> None:
    with running([{"events": [{"created": "resp_1"}, {"end": "clean"}, "reset"]}]) as lab:
        assert types_of(lab.ask()) == ["response.created"]


def test_without_a_head_there_is_nothing_but_a_reset() -> None:
    with running([{"no_head": True}]) as lab, pytest.raises(ConnectionResetError):
        lab.ask()


def test_without_a_head_the_steps_are_all_there_is() -> None:
    torn = {"no_head": True, "events": [{"raw": "HTTP/1.1 2"}, {"end": "cut"}]}
    with running([torn]) as lab:
        assert lab.ask() == b"HTTP/1.1 2"


def test_waits_are_waited() -> None:
    script = [
        {"head_delay": 0.02, "delay": 0.01, "events": [{"wait": 0.03}, "created", "keepalive"]}
    ]
    with running(script) as lab:
        lab.ask()
        call = lab.over()
    assert call.answered is not None
    assert call.over is not None
    assert call.answered - call.arrived >= 0.02 - TICK
    assert call.over - call.answered >= 0.05 - TICK


def test_echo_says_the_input_word_by_word() -> None:
    with running([{"echo": True}]) as lab:
        events = data_of(dechunked(lab.ask(input="one two  three")))
    deltas = [event["delta"] for event in events if "delta" in event]
    assert deltas == ["one", " two", "  three"]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[-1]["response"]["usage"]["output_tokens"] == 3
