"""The table of what binds (R3): both sides of every row, and where it was found."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from latchway.wire.bindings import (
    DEPTH_MAX,
    PATH_CHARACTERS,
    TABLE,
    Bonds,
    Unsearchable,
    search,
)
from latchway.wire.brackets import BRACKETS_MAX
from latchway.wire.marks import mark
from latchway.wire.members import members_of

Json = dict[str, Any]
USER = {"role": "user", "content": "go"}


def bonds(**fields: Any) -> Bonds:
    return search(members_of(json.dumps(fields).encode()))


def items(*given: Any) -> Json:
    return {"input": [*given, USER]}


def part(**given: Any) -> Json:
    return items({"role": "user", "content": [{"type": "input_text", "text": "see"}, given]})


def tool(**given: Any) -> Json:
    return {"tools": [{"type": "function", "name": "f", "parameters": {}}, given]}


AUTO = {"type": "auto"}
BOUND: dict[str, list[tuple[Json, str]]] = {
    "background": [({"background": True}, "background")],
    "background_options": [({"background_options": {"completion_window": "24h"}},
                            "background_options")],
    "prompt": [({"prompt": {"id": "pmpt_1"}}, "prompt"), ({"prompt": {"version": "1"}}, "prompt")],
    "client_metadata": [({"client_metadata": {"x-codex-turn-state": "t"}}, "client_metadata")],
    "prewarm": [({"prompt_cache_options": {"prewarm": True}}, "prompt_cache_options.prewarm")],
    "file_id": [
        (part(type="input_file", file_id="file-1"), "input[0].content[1].file_id"),
        (part(type="input_image", file_id="file-1"), "input[0].content[1].file_id"),
        (items({"type": "computer_call_output", "call_id": "c", "output": {"file_id": "f"}}),
         "input[0].output.file_id"),
        (tool(type="image_generation", input_image_mask={"file_id": "f"}),
         "tools[1].input_image_mask.file_id"),
        ({"input": [{"role": "assistant", "content": [{"type": "output_text", "text": "",
          "annotations": [{"type": "container_file_citation", "file_id": "f"}]}]}]},
         "input[0].content[0].annotations[0].file_id"),
    ],
    "file_ids": [(tool(type="code_interpreter", container={**AUTO, "file_ids": ["f"]}),
                  "tools[1].container.file_ids")],
    "_id": [
        (tool(type="mcp", server_label="s", connector_id="c"), "tools[1].connector_id"),
        (tool(type="mcp", server_label="s", tunnel_id="t"), "tools[1].tunnel_id"),
        (items({"type": "mcp_call", "name": "n", "approval_request_id": "a"}),
         "input[0].approval_request_id"),
        ({"prompt_cache_options": {"comparison_response_id": "resp_1"}},
         "prompt_cache_options.comparison_response_id"),
        ({"response": {"previous_response_id": "resp_1"}}, "response.previous_response_id"),
        ({"session_id": "s"}, "session_id"),
    ],
    "_ids": [(tool(type="file_search", vector_store_ids=["vs"]), "tools[1].vector_store_ids"),
             ({"vector_store_ids": ["vs"]}, "vector_store_ids")],
    "container": [(tool(type="code_interpreter", container="cntr_1"), "tools[1].container")],
    "authorization": [(tool(type="mcp", server_label="s", authorization="t"),
                       "tools[1].authorization")],
    "headers": [(tool(type="mcp", server_label="s", headers={"x": "y"}), "tools[1].headers")],
    "domain_secrets": [(tool(type="shell", network_policy={"domain_secrets": [{"name": "n"}]}),
                        "tools[1].network_policy.domain_secrets")],
    "fingerprint": [(items({"type": "program", "fingerprint": "p"}), "input[0].fingerprint")],
    "item_reference": [(items({"type": "item_reference", "id": "msg_1"}), "input[0]"),
                       (items({"type": "item_reference", "id": "m", "x": 1}), "input[0]")],
    "skill_reference": [
        (tool(type="shell", environment={"skills": [{"type": "skill_reference", "skill": "s"}]}),
         "tools[1].environment.skills[0]")],
    "container_reference": [(tool(type="shell", environment={"type": "container_reference"}),
                             "tools[1].environment")],
    "mcp_approval_response": [(items({"type": "mcp_approval_response", "approve": True}),
                               "input[0]")],
    "reasoning": [(items({"type": "reasoning", "id": "rs_1", "summary": []}), "input[0]"),
                  (items({"type": "reasoning", "id": "rs_1", "summary": [],
                          "encrypted_content": None}), "input[0]")],
    "compaction": [(items({"type": "compaction", "id": "cmp_1", "x": 1}), "input[0]")],
    "compaction_summary": [(items({"type": "compaction_summary", "id": "c", "x": 1}), "input[0]")],
    "": [
        (items({"id": "msg_1"}), "input[0]"),
        (items({"type": None, "id": "msg_1"}), "input[0]"),
        (items({"type": "message", "id": "msg_1", "role": "assistant"}), "input[0]"),
        (items({"type": "web_search_call", "id": "ws_1", "status": "completed"}), "input[0]"),
        (items({"deep": {"id": "msg_1", "content": None}}), "input[0].deep"),
        (items({"id": "msg_1", "role": "assistant", "phase": "final", "object": "x"}), "input[0]"),
    ],
}  # fmt: skip
"""For each row's name, requests that it binds and the place; under "" the bare id."""

FREE: list[Json] = [
    {"input": "explain \"encrypted_content\":\"x\", file_id and {\"type\":\"item_reference\"}"},
    {"input": []},
    items({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
           "content": [{"type": "output_text", "text": "file_id", "annotations": []}]}),
    items({"type": "function_call", "id": "fc_1", "call_id": "c", "name": "f",
           "arguments": '{"file_id":"x"}'},
          {"type": "function_call_output", "call_id": "c", "output": '{"file_id":"x"}'}),
    items({"type": "reasoning", "summary": [{"type": "summary_text", "text": "file_id"}]}),
    items({"type": "shell_call", "call_id": "c", "caller": {"type": "direct", "caller_id": "c"}}),
    part(type="input_file", filename="a.txt", file_data="data:text/plain;base64,YQ=="),
    part(type="input_image", image_url="data:image/png;base64,YQ==", file_id=None),
    part(type="input_image", image_url="DATA:image/png;base64,YQ==", detail="low", more=1),
    {"background": False, "background_options": None, "prompt": None},
    {"client_metadata": {"turn_id": "t", "session_id": "s"}},
    {"client_metadata": None},
    {"prompt_cache_options": {"prewarm": False, "comparison_response_id": None, "mode": "x"}},
    {"include": ["reasoning.encrypted_content"], "prompt_cache_key": "k"},
    {"metadata": {"file_id": "f"}},
    {"text": {"format": {"type": "json_schema", "name": "n", "schema": {"properties":
        {"file_id": {"type": "string"}, "headers": {"id": "x"}}}}}},
    tool(type="function", name="g", parameters={"properties": {"file_id": {"type": "string"}}}),
    tool(type="namespace", name="n", description="d", tools=[
        {"type": "function", "name": "g", "parameters": {"properties": {"x_id": {"type": "s"}}}}]),
    tool(type="namespace", name="n", x=1, tools=[
        {"type": "function", "name": "g", "parameters": {"properties": {"x_id": {"type": "s"}}}}]),
    items({"type": "mcp_list_tools", "id": "l", "server_label": "s", "tools": [
        {"name": "t", "input_schema": {"properties": {"file_id": {"type": "string"}}}}]}),
    tool(type="mcp", server_label="s", server_url="https://mcp.example", headers={}),
    tool(type="mcp", server_label="s", authorization=None),
    tool(type="code_interpreter", container={"type": "auto", "file_ids": [], "memory_limit": "1g"}),
    tool(type="file_search", vector_store_ids=[]),
    tool(type="shell", environment={"type": "container_auto", "skills": [{"type": "inline"}]}),
    {"context_management": [{"type": "compaction", "compact_threshold": 1000}]},
    {"reasoning": {"effort": "low"}, "service_tier": "auto", "user": "u"},
    {"plugins": [{"id": "web"}]},
    {"previous_response_id": "resp_1", "conversation": {"id": "conv_1", "file_id": "f"}},
    {"text": {"format": {"schema": {"properties": {"file_id": {"type": "string"}}}}}},
    items({"type": "tool_result", "tool_call_id": "c"}),
    tool(type="function", name="g", schema={"x_id": {}}, output_schema={"x_id": {}}),
    tool(type="function", name="g", schema={"x_id": "s"}, output_schema={"x_id": "s"}),
]  # fmt: skip
"""The other side of the rows: requests that bind nothing."""


def test_every_row_is_shown_binding() -> None:
    shown = {rule.name for rule in TABLE if not rule.portable and not rule.encrypted}
    assert shown == BOUND.keys() - {""}
    assert all(rule.why for rule in TABLE)


@pytest.mark.parametrize(
    ("fields", "place"), [case for cases in BOUND.values() for case in cases], ids=lambda v: str(v)
)
def test_it_binds_and_says_where(fields: Json, place: str) -> None:
    found = bonds(**fields)
    assert found.origin_field == place
    assert found.encrypted_field is None


@pytest.mark.parametrize("fields", FREE, ids=lambda value: str(value)[:60])
def test_it_does_not_bind(fields: Json) -> None:
    found = bonds(**fields)
    assert found == Bonds(acting_tool=found.acting_tool)


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        (items({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g"}),
         "input[0].encrypted_content"),
        (items(USER, {"type": "compaction", "id": "c", "encrypted_content": "g"}),
         "input[1].encrypted_content"),
        (items({"type": "function_call_output", "call_id": "c",
                "output": [{"type": "custom", "deep": [{"encrypted_content": "g"}]}]}),
         "input[0].output[0].deep[0].encrypted_content"),
    ],
)  # fmt: skip
def test_encrypted_items_bind_by_themselves(fields: Json, place: str) -> None:
    assert bonds(**fields) == Bonds(encrypted_field=place, held=(mark("g"),))


def test_what_stands_behind_the_clients_own_words_is_searched() -> None:
    assert bonds(metadata={"a": "b"}, prompt={"id": "p"}).origin_field == "prompt"
    two = bonds(tools=[{"type": "mcp"}], **items({"type": "item_reference", "id": "m"}))
    assert two.origin_field == "input[0]"


def test_the_first_find_of_each_kind_stands() -> None:
    found = bonds(
        input=[
            {"type": "reasoning", "id": "r", "encrypted_content": "g"},
            {"type": "item_reference", "id": "m"},
            {"type": "reasoning", "id": "r", "encrypted_content": "g"},
        ],
        background=True,
    )
    assert found.encrypted_field == "input[0].encrypted_content"
    assert found.origin_field == "input[1]"


def test_a_name_spelled_with_escapes_is_the_same_name() -> None:
    body = b'{"input":[{"role":"user","content":[{"file\\u005fid":"f"}]}]}'
    assert search(members_of(body)).origin_field == "input[0].content[0].file_id"


OUTSIDE: list[tuple[Json, bool]] = [
    ({"input": "hi"}, False),
    (part(type="input_file", file_id="f"), True),
    (part(type="input_image", file_id="f"), True),
    (part(type="input_image", image_url="https://images.example/cat.png"), True),
    (part(type="input_image", image_url="data:image/png;base64,YQ=="), False),
    (part(type="input_file", file_url="https://files.example/book.pdf"), True),
    (items({"type": "item_reference", "id": "m"}), True),
    (items({"type": "reasoning", "id": "r", "encrypted_content": "g"}), False),
    (items({"type": "item_reference", "id": "m", "more": 1}), True),
    *((items({"type": kind, "id": "r", "more": 1}), True)
      for kind in ("reasoning", "compaction", "compaction_summary")),
    ({"prompt": {"id": "p"}}, True),
    (tool(type="code_interpreter", container={"file_ids": ["f"]}), True),
    (tool(type="mcp", connector_id="c"), False),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "outside"), OUTSIDE)
def test_input_that_is_not_in_the_request_is_told(fields: Json, outside: bool) -> None:
    assert bonds(**fields).outside is outside


def test_what_is_fetched_from_the_web_binds_nothing() -> None:
    assert bonds(**part(type="input_image", image_url="https://a.example/b")) == Bonds(outside=True)


@pytest.mark.parametrize(
    "kind",
    ["mcp", "code_interpreter", "computer", "computer_use_preview", "shell", "local_shell",
     "never_heard_of", "websearch"],
)  # fmt: skip
def test_a_tool_that_acts_is_named(kind: str) -> None:
    assert bonds(**tool(type=kind, x=1)).acting_tool == kind
    inside = {"type": "namespace", "name": "n", "tools": [{"type": kind}]}
    assert bonds(**tool(**inside)).acting_tool == kind


@pytest.mark.parametrize(
    "kind",
    ["function", "custom", "web_search", "web_search_preview", "web_search_2025_08_26",
     "web_search_preview_2025_03_11", "file_search", "image_generation", "namespace",
     "apply_patch", "tool_search"],
)  # fmt: skip
@pytest.mark.parametrize("more", [{}, {"never_heard_of": 1}])
def test_a_tool_that_does_not_act_is_not(kind: str, more: Json) -> None:
    assert bonds(**tool(type=kind, name="n", **more)).acting_tool is None


def test_the_first_acting_tool_is_named_and_a_listed_one_is_none() -> None:
    assert bonds(tools=[{"type": "mcp"}, {"type": "shell"}]).acting_tool == "mcp"
    listed = {"type": "mcp_list_tools", "id": "l", "tools": [{"name": "t", "annotations": 1}]}
    assert bonds(input=[listed]).acting_tool is None
    assert bonds(tools=["shell", None, {"type": 1}, {}, ["shell"]]).acting_tool is None


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_nesting_is_bounded_where_it_is_searched() -> None:
    assert bonds(image=nested(DEPTH_MAX)) == Bonds()
    for field in ("image", "input"):
        with pytest.raises(Unsearchable) as fault:
            bonds(**{field: nested(DEPTH_MAX + 1)})
        assert fault.value.field == field
        assert str(DEPTH_MAX) in fault.value.why
    assert bonds(metadata=nested(DEPTH_MAX + 1)) == Bonds()


@pytest.mark.parametrize("field", ["image", "input", "tools"])
def test_nesting_beyond_the_reader_is_refused_by_field(field: str) -> None:
    with pytest.raises(Unsearchable) as fault:
        search({field: msgspec.Raw(b"[" * 5_000 + b"]" * 5_000)})
    assert fault.value.field == field


def test_a_number_beyond_all_bounds_is_refused_by_field() -> None:
    with pytest.raises(Unsearchable, match="input cannot be read"):
        search(members_of(b'{"input":[{"x":1e999}]}'))


@pytest.mark.parametrize("entry", [b"[[]]", b"{   }"])
@pytest.mark.parametrize("field", ["image", "input"])
def test_a_field_too_large_to_search_is_refused(field: str, entry: bytes) -> None:
    """What names another owner's things must not hide in it."""
    large = b"[" + b",".join([entry] * (BRACKETS_MAX + 1)) + b"]"
    with pytest.raises(Unsearchable, match=str(BRACKETS_MAX)) as fault:
        search(members_of(b'{"%b":%b}' % (field.encode(), large)))
    assert fault.value.field == field


def test_where_a_list_belongs_anything_else_is_searched_too() -> None:
    found = bonds(input={"type": "item_reference", "id": "m"}, tools={"container": "c"})
    assert found.origin_field == "input"
    assert found.held == (mark("m"), mark("c"))


HELD: list[tuple[Json, list[str]]] = [
    (tool(type="file_search", vector_store_ids=["vs_1", "vs_2"]), ["vs_1", "vs_2"]),
    (tool(type="x", thing_ids=[{"id": "t_1"}, 7, {"id": None}]), ["t_1"]),
    ({"thing_id": {"id": "t_1"}}, ["t_1"]),
    ({"prompt": {"id": "pmpt_1", "variables": {"f": {"type": "input_file", "file_id": "f_1"}}}},
     ["pmpt_1", "f_1"]),
    (items({"type": "image_generation_call", "id": "ig_1", "result": "", "x": [], "y": {}}),
     ["ig_1"]),
    (part(type="input_image", image_url="https://images.example/cat.png"), []),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "names"), HELD)
def test_all_that_binds_by_a_name_is_held_by_it(fields: Json, names: list[str]) -> None:
    assert bonds(**fields).held == tuple(map(mark, names))


def test_a_reported_path_is_bounded() -> None:
    place = bonds(image={"x" * 10_000: {"file_id": "f"}}).origin_field
    assert place is not None
    assert len(place) == PATH_CHARACTERS
