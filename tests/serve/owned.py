"""Owners and their things: a gateway that made some for `alice`, and every way to name one.

`alice`, `alice-2` and `bob` are keys, the first two of one owner. What alice has was made at route
b, so that what nobody knows, which goes to the first route, can be told from it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from harness.gateway import Gateway, route, settings
from harness.http import Answer
from harness.upstreams import completed, created, event
from latchway.wire.frame import Answer as Kept

Json = dict[str, Any]

KEYS = {"alice": "alice", "alice-2": "alice", "bob": "bob"}
"""Name and owner."""

THINGS = {
    "response": "resp_A",
    "conversation": "conv_A",
    "message": "msg_A",
    "reasoning": "rs_A",
    "encrypted": "gAAAAA-A",
    "compaction": "cmp_A",
    "container": "cntr_A",
    "approval": "mcpr_A",
    "image": "ig_A",
    "listed": "msg_L",
}
"""What alice has, by its kind."""

UNKNOWN = {kind: f"{name}-unknown" for kind, name in THINGS.items()}
"""The same kinds, made by nobody here."""

OUTPUT = (
    {"type": "message", "id": THINGS["message"], "content": []},
    {"type": "reasoning", "id": THINGS["reasoning"], "encrypted_content": THINGS["encrypted"]},
    {"type": "compaction", "id": THINGS["compaction"]},
    {"type": "code_interpreter_call", "id": "ci_A", "container_id": THINGS["container"]},
    {"type": "mcp_approval_request", "id": THINGS["approval"]},
    {"type": "image_generation_call", "id": THINGS["image"], "result": "cGl4ZWxz"},
)


@dataclass(frozen=True)
class Placement:
    """A way to name a thing in a request. `rule`: the row of `bindings.TABLE` that finds it.

    `said`: the members, with `@` in place of the id.
    """

    rule: str
    kind: str
    said: Json = field(hash=False)

    def body(self, things: dict[str, str]) -> Json:
        """The request for it, if these are the things."""
        named = json.dumps(self.said).replace("@", things[self.kind])
        return {"model": "m", "input": "go"} | json.loads(named)


def item(**members: Any) -> Json:
    return {"input": [{"role": "user", "content": "go"}, members]}


def tool(**members: Any) -> Json:
    return {"tools": [{"type": "function", "name": "f"}, members]}


CONTINUED = {
    "previous_response_not_found": [
        Placement("", "response", {"previous_response_id": "@"}),
    ],
    "conversation_not_found": [
        Placement("", "conversation", {"conversation": "@"}),
        Placement("", "conversation", {"conversation": {"id": "@"}}),
        Placement("", "conversation", {"conversation": {"x": 1, "id": "@"}, "store": True}),
    ],
}
"""What a request continues, under the code with which an unknown one is refused."""

PART = {"type": "input_file", "file_id": "@"}
HELD = [
    Placement("item_reference", "message", item(type="item_reference", id="@")),
    Placement("item_reference", "listed", item(type="item_reference", id="@")),
    Placement("item_reference", "reasoning", {"deep": [[{"type": "item_reference", "id": "@"}]]}),
    Placement("", "message", item(id="@")),
    Placement("", "message", item(id="@", type="message", role="assistant")),
    Placement("", "message", item(type="x", content=[{"x": {"id": "@"}}])),
    Placement("", "image", item(type="image_generation_call", id="@", result="")),
    Placement("reasoning", "reasoning", item(type="reasoning", id="@", summary=[])),
    Placement("encrypted_content", "encrypted", item(type="reasoning", encrypted_content="@")),
    Placement("encrypted_content", "encrypted", item(type="compaction", encrypted_content="@")),
    Placement("encrypted_content", "encrypted", item(output=[{"x": {"encrypted_content": "@"}}])),
    Placement("compaction", "compaction", item(type="compaction", id="@", x=1)),
    Placement("compaction_summary", "compaction", item(type="compaction_summary", id="@", x=1)),
    Placement("container", "container", tool(type="code_interpreter", container="@")),
    Placement("container", "container", {"tool_choice": {"type": "x", "container": "@"}}),
    Placement(
        "container_reference",
        "container",
        tool(type="shell", environment={"type": "container_reference", "id": "@"}),
    ),
    Placement("skill_reference", "message", tool(skills=[{"type": "skill_reference", "id": "@"}])),
    Placement(
        "mcp_approval_response",
        "approval",
        item(type="mcp_approval_response", id="@", approve=True),
    ),
    Placement("_id", "approval", item(type="mcp_approval_response", approval_request_id="@")),
    Placement("_id", "container", tool(environment={"container_id": "@"})),
    Placement("_id", "response", {"prompt_cache_options": {"comparison_response_id": "@"}}),
    Placement("_id", "response", {"response": {"previous_response_id": "@"}}),
    Placement("_id", "conversation", {"conversation_id": {"id": "@"}}),
    Placement("_id", "response", {"comparison_response_id": "@"}),
    Placement("_id", "response", {"background_options": {"continuation_id": "@"}}),
    Placement("_ids", "message", tool(type="file_search", vector_store_ids=["vs_1", "@"])),
    Placement("_ids", "message", {"thing_ids": [{"id": "@"}]}),
    Placement("file_id", "message", {"input": [{"role": "user", "content": [PART]}]}),
    Placement("file_ids", "message", tool(type="x", container={"type": "auto", "file_ids": ["@"]})),
    Placement("background_options", "response", {"background_options": {"id": "@"}}),
    Placement("prompt", "message", {"prompt": {"id": "@"}}),
    Placement("prompt", "message", {"prompt": {"id": "pmpt_1", "variables": {"v": PART}}}),
    Placement("fingerprint", "message", item(type="program", fingerprint="@")),
]
"""What a request holds that only its origin can read."""

NAMES_NOTHING = {
    "background": "true or false",
    "prewarm": "true or false",
    "client_metadata": "a token that a backend made of its own turn",
    "authorization": "a secret of the client's own",
    "headers": "secrets of the client's own",
    "domain_secrets": "secrets of the client's own",
    "image_url": "an address, open to all",
    "file_url": "an address, open to all",
}
"""Rows of `bindings.TABLE` by which no thing that the gateway knows can be named."""


def escaped(text: str) -> str:
    """The same JSON with every string, names too, spelled in the longest way."""
    return re.sub(
        r'"([^"]*)"', lambda m: '"' + "".join(f"\\u{ord(c):04X}" for c in m[1]) + '"', text
    )


SPELLINGS = {"plain": str, "escaped": escaped}


class Owners(Gateway):
    """`secrets`: of KEYS. Whatever is asked below is answered at once by the upstream."""

    def __init__(self) -> None:
        super().__init__(settings(route("a"), route("b")))
        add = self.ledger.add_key
        self.secrets = {"alice": self.secret} | {
            name: add(name, owner) for name, owner in KEYS.items() if name != "alice"
        }
        self._make()

    def _make(self) -> None:
        """All of THINGS, at route b."""
        peer = self.connect()
        stored = json.dumps({"model": "m", "input": "hi", "stream": True, "store": True})
        peer.post(stored.encode(), x_latchway_route="b")
        self.clock.advance()
        items = [event("response.output_item.done", item=each) for each in OUTPUT]
        self.call.sends(created("resp_A"), *items, completed("resp_A"))
        self.clock.advance()
        self.keeps(id=THINGS["conversation"])
        self.page("/v1/conversations", "POST", b"{}", x_latchway_route="b")
        self.keeps(data=[{"id": THINGS["listed"]}])
        self.page("/v1/conversations/conv_A/items")
        self.keeps(object="list", data=[])
        self.forget()

    def keeps(self, **answer: Any) -> None:
        """What the upstream says to every plain question from now on."""
        self.upstreams.kept = Kept(200, json.dumps(answer).encode(), "application/json")

    def forget(self) -> None:
        """What was called so far is no concern of the test's."""
        for calls in (self.upstreams.calls, self.upstreams.asked, self.upstreams.retold):
            calls.clear()

    @property
    def reached(self) -> list[str]:
        """The routes that were called, in whatever way."""
        upstreams = self.upstreams
        called = [call.place.route for call in upstreams.calls]
        return [*called, *(each[0] for each in (*upstreams.asked, *upstreams.retold))]

    def asks(self, who: str, method: str, path: str, body: bytes | None = None) -> Answer | None:
        """`who` asks; None: the upstream was called, and has yet to answer."""
        self.forget()
        peer = self.connect()
        key = {"authorization": f"Bearer {self.secrets[who]}"}
        if path.startswith(("/v1/responses?", "/v1/responses/compact")) or path == "/v1/responses":
            peer.request(method, path, body, **key)
            self.clock.advance()
            return peer.answers[0] if peer.answers else None
        if "stream=true" in path:
            peer.request(method, path, body, **key)
            return peer.answers[0] if peer.answers else None
        return self.page(path, method, body, **key)

    def says(self, who: str, message: str) -> Json | None:
        """The same as a `response.create`: the frame that refuses it, if it is refused."""
        self.forget()
        socket = self.socket(authorization=f"Bearer {self.secrets[who]}")
        socket.text(message)
        return socket.events[0] if socket.events else None


def told(answer: Answer | Json | None) -> Json | None:
    """All that a client can tell one refusal from another by, but for its request's id."""
    if answer is None:
        return None
    if isinstance(answer, dict):
        return {**answer, "request_id": ""}
    headers = {**answer.headers, "x-request-id": ""}
    return {"status": answer.status, "headers": headers, **answer.json, "request_id": ""}
