"""What an event means: its class and its text (R4)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchway.wire.frame import Frame, Kind
from latchway.wire.meaning import KINDS, answer_note, frame, whole_answer


def dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def read(value: Any, name: str = "") -> Frame:
    return frame(dump(value), b"the block", name.encode())


# ---- classes

NOT_OUTPUT = {
    Kind.LIFECYCLE: "response.created response.in_progress response.queued",
    Kind.NEUTRAL: "keepalive ping codex.keepalive codex.rate_limits",
    Kind.COMPLETED: "response.completed",
    Kind.INCOMPLETE: "response.incomplete",
    Kind.FAILED: "response.failed",
    Kind.ERROR: "error response.error",
}
OUTPUT = """
response.output_item.added response.output_item.done
response.content_part.added response.content_part.done
response.output_text.delta response.output_text.done response.output_text.annotation.added
response.refusal.delta response.refusal.done
response.reasoning_text.delta response.reasoning_text.done
response.reasoning_summary_part.added response.reasoning_summary_part.done
response.reasoning_summary_text.delta response.reasoning_summary_text.done
response.function_call_arguments.delta response.function_call_arguments.done
response.custom_tool_call_input.delta response.custom_tool_call_input.done
response.web_search_call.in_progress response.web_search_call.searching
response.web_search_call.completed
response.file_search_call.in_progress response.file_search_call.searching
response.file_search_call.completed
response.code_interpreter_call.in_progress response.code_interpreter_call.interpreting
response.code_interpreter_call.completed
response.code_interpreter_call_code.delta response.code_interpreter_call_code.done
response.image_generation_call.in_progress response.image_generation_call.generating
response.image_generation_call.partial_image response.image_generation_call.completed
response.mcp_call.in_progress response.mcp_call.completed response.mcp_call.failed
response.mcp_call_arguments.delta response.mcp_call_arguments.done
response.mcp_list_tools.in_progress response.mcp_list_tools.completed
response.mcp_list_tools.failed
response.shell_call_command.added response.shell_call_command.delta
response.shell_call_command.done
response.shell_call_output_content.delta response.shell_call_output_content.done
response.audio.delta response.audio.done
response.audio.transcript.delta response.audio.transcript.done
response.compaction.compacting
response.apply_patch_call_operation_diff.delta response.apply_patch_call_operation_diff.done
response.reasoning.delta response.reasoning.done
response.metadata response.inject.created response.inject.failed
response.steer.accepted response.steer.pending response.steer.failed
never.heard.of Response.Created response.created.x
"""
CLASSES = {kind: types.split() for kind, types in {**NOT_OUTPUT, Kind.OUTPUT: OUTPUT}.items()}
EACH = [(said, kind) for kind, types in CLASSES.items() for said in types]


@pytest.mark.parametrize(("said", "kind"), EACH)
def test_the_class_of_each_type(said: str, kind: Kind) -> None:
    assert read({"type": said}).kind is kind
    assert read({"type": said}, name=said).kind is kind


def test_the_table_holds_what_is_listed_here_and_no_more() -> None:
    listed = {said: kind for said, kind in EACH if kind is not Kind.OUTPUT}
    assert listed == KINDS


@pytest.mark.parametrize("kind", KINDS.values())
@pytest.mark.parametrize("value", [{}, {"type": None}, {"type": 3}, {"type": ["error"]}])
def test_the_event_line_counts_where_the_json_has_no_type(value: Any, kind: Kind) -> None:
    name = next(name for name, listed in KINDS.items() if listed is kind)
    assert read(value, name).kind is kind
    assert read(value).kind is Kind.OUTPUT


DISAGREE = {
    "the JSON wins": ("response.completed", "response.created", Kind.COMPLETED),
    "the JSON wins, output": ("response.output_text.delta", "response.completed", Kind.OUTPUT),
    "a failure in the name": ("response.output_text.delta", "error", Kind.ERROR),
    "a failure in the name, held": ("response.created", "response.failed", Kind.FAILED),
    "a failure in the name, neutral": ("ping", "response.error", Kind.ERROR),
    "a failure in the JSON": ("error", "response.completed", Kind.ERROR),
    "a result in the JSON": ("response.completed", "error", Kind.COMPLETED),
    "both are failures": ("response.failed", "error", Kind.FAILED),
    "both are failures, turned": ("error", "response.failed", Kind.ERROR),
}


@pytest.mark.parametrize(("said", "name", "kind"), DISAGREE.values(), ids=DISAGREE)
def test_a_type_and_an_event_line_that_disagree(said: str, name: str, kind: Kind) -> None:
    assert read({"type": said}, name).kind is kind


@pytest.mark.parametrize("data", [b"{oops", b"[]", b'"error"', b"null", b"\xff", b"3"])
@pytest.mark.parametrize("name", [b"", b"response.created", b"error", b"response.completed"])
def test_what_is_no_json_object_is_output(data: bytes, name: bytes) -> None:
    assert frame(data, b"b", name) == Frame(Kind.OUTPUT, data, b"b")


def test_bytes_pass_untouched() -> None:
    data = b' {"type" : "response.created", "x": "\xff"}'
    assert frame(data, b"block").data == data
    assert frame(data, b"block").block == b"block"


# ---- text


@pytest.mark.parametrize("said", [said for said in OUTPUT.split() if said.endswith(".delta")])
def test_text_is_counted_in_utf8_bytes_for_every_delta_but_sound(said: str) -> None:
    heard = said != "response.audio.delta"
    assert read({"type": said, "delta": "né"}).text_bytes == 3 * heard
    assert read({"type": said, "delta": "abc"}).text_bytes == 3 * heard
    assert read({"type": said, "delta": {"stdout": "abc"}}).text_bytes == 0


def test_half_a_surrogate_pair_is_counted_as_what_stands_for_it() -> None:
    assert frame(b'{"type":"d","delta":"\\ud83d"}', b"").text_bytes == 3


def test_an_event_without_a_delta_has_no_text() -> None:
    assert read({"type": "response.output_text.done", "text": "abc"}).text_bytes == 0
    assert read({"type": "response.created", "delta": "abc"}).text_bytes == 0


# ---- anything

members = st.sampled_from(
    ["type", "response", "usage", "error", "code", "retryable", "delta", "object", "output", "x"]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
texts = scalars | st.sampled_from([*KINDS, "response"])
values = st.recursive(
    texts, lambda inner: st.lists(inner) | st.dictionaries(members, inner), max_leaves=15
)


@settings(deadline=None)
@given(value=values, name=st.sampled_from(["", "x", *KINDS]))
def test_any_json_is_read(value: Any, name: str) -> None:
    data = json.dumps(value).encode()
    made = frame(data, b"", name.encode())
    assert made.kind is Kind.OUTPUT or made.note is not None
    answer_note(data)
    whole_answer(data, streamed=True)


@pytest.mark.parametrize("data", [b"no JSON", b"{", b"", b"\xff"])
def test_what_cannot_be_read_is_output_of_no_text(data: bytes) -> None:
    """Passed on unchanged, and no word of it on a bill."""
    read = frame(data, b"data: " + data + b"\n\n")
    assert (read.kind, read.text_bytes, read.note, read.made) == (Kind.OUTPUT, 0, None, ())
