"""What an answer made is found again in the request that sends it back (R3)."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from latchway.wire import marks
from latchway.wire.meaning import frame, whole_answer
from latchway.wire.request import parse

REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"}
PROGRAM = {"type": "code_interpreter_call", "id": "ci_1", "container_id": "cntr_1", "code": "1"}
USER = {"role": "user", "content": "go"}


def made(kind: str, **fields: Any) -> tuple[bytes, ...]:
    data = json.dumps({"type": kind, **fields}).encode()
    return frame(data, b"data: " + data + b"\n\n").made


def held(**fields: Any) -> tuple[bytes, ...]:
    body = json.dumps({"model": "m", **fields}).encode()
    return parse(body, websocket=False).held


SENT_BACK = [
    {"input": [REASONING, USER]},
    {"input": [{"type": "reasoning", "id": "rs_1", "summary": []}, USER]},
    {"input": [{"type": "item_reference", "id": "rs_1"}, USER]},
    {"input": [{"id": "ci_1"}, USER]},
    {"tools": [{"type": "code_interpreter", "container": "cntr_1"}]},
]


@pytest.mark.parametrize("request_fields", SENT_BACK)
def test_what_was_made_is_known_again(request_fields: dict[str, Any]) -> None:
    output = [REASONING, PROGRAM]
    whole = json.dumps({"object": "response", "status": "completed", "output": output}).encode()
    not_streamed = whole_answer(whole, streamed=False)
    assert not_streamed is not None
    wanted = set(held(**request_fields))
    assert wanted & set(made("response.completed", response={"output": output}))
    assert wanted & {m for item in output for m in made("response.output_item.done", item=item)}
    assert wanted & set(not_streamed.made)


OF_KEPT = [
    # an item, for each of its marks: is it only of use where its response is kept
    ({"type": "message", "id": "msg_1"}, [True]),
    ({"type": "function_call", "id": "fc_1", "call_id": "call_1"}, [True]),
    ({"type": "custom_tool_call", "id": "ctc_1", "container_id": "cntr_1"}, [True, False]),
    ({"type": "message", "encrypted_content": "gAAA"}, [False]),
    (REASONING, [False, False]),
    (PROGRAM, [False, False]),
    ({"type": ["message"], "id": "x_1"}, [False]),
    ({"id": "x_1"}, [False]),
]


@pytest.mark.parametrize(("item", "of_kept"), OF_KEPT)
def test_what_is_sent_back_whole_is_told_apart(item: dict[str, Any], of_kept: list[bool]) -> None:
    found = made("response.output_item.done", item=item)
    assert [type(each) is marks.OfKept for each in found] == of_kept


def test_what_binds_nothing_is_not_looked_for() -> None:
    message = {"type": "message", "id": "msg_1", "role": "assistant",
               "content": [{"type": "output_text", "text": "rs_1"}]}  # fmt: skip
    assert held(input=[message, USER], metadata={"file_id": "x"}) == ()
    picture = {"type": "input_image", "image_url": "https://example.invalid/x"}
    assert held(input=[{"role": "user", "content": [picture]}]) == ()


def test_what_a_request_holds_keeps_its_order_and_none_hides_behind_the_others() -> None:
    names = [f"msg_{n}" for n in range(marks.MARKS_MAX + 2)]
    found = held(input=[{"type": "item_reference", "id": name} for name in names])
    assert found == tuple(map(marks.mark, names))


@pytest.mark.parametrize("item", [None, 5, "x", [], {}, {"id": 7}, {"id": ""}])
def test_what_is_no_item_has_no_marks(item: Any) -> None:
    assert made("response.output_item.done", item=item) == ()
    assert made("response.completed", response={"output": item}) == ()
    assert made("response.completed", response={"output": [item]}) == ()


def test_nothing_is_made_by_what_is_no_result() -> None:
    assert made("response.failed", response={"output": [REASONING]}) == ()
    assert made("response.created", response={"output": [REASONING]}) == ()


def test_an_answer_has_a_bound() -> None:
    items = json.dumps([{"id": str(n)} for n in range(marks.MARKS_MAX + 1)]).encode()
    assert len(marks.of_output(msgspec.Raw(items))) == marks.MARKS_MAX


def test_what_only_a_lenient_reader_reads_has_marks_too() -> None:
    data = b'{"type":"response.output_item.done","item":{"id":"rs_1"},"x":NaN}'
    assert frame(data, b"").made == (marks.mark("rs_1"),)
    broken = b'{"type":"response.output_item.done","item":{"id":"\\ud800"}}'
    assert frame(broken, b"").kind is not None


def test_an_id_that_is_no_text_has_a_mark_of_its_own() -> None:
    assert marks.mark("\ud800") != marks.mark("\ud801")


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ({"id": "conv_1", "object": "conversation"}, ["conv_1"]),
        ({"object": "list", "data": [{"id": "msg_1"}, {"id": "rs_1", "encrypted_content": "g"}]},
         ["msg_1", "rs_1", "g"]),
        ({"id": "resp_1", "output": [{"id": "rs_1"}]}, ["resp_1", "rs_1"]),
        ({"id": 7, "data": "x", "output": None}, []),
        ([], []),
    ],
)  # fmt: skip
def test_an_answer_about_what_is_kept_names_it(answer: Any, names: list[str]) -> None:
    found = marks.of_answer(json.dumps(answer).encode())
    assert found == tuple(marks.mark(name) for name in names)


def test_what_is_no_json_names_nothing() -> None:
    assert marks.of_answer(b"<html>") == ()
