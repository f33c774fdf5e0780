"""An upstream that keeps what it is asked to keep, and takes nothing that it did not make.

It is a lab whose replies are not in a script but follow from what came before. It is strict where
real ones are: a `previous_response_id`, a reference or a sealed item of somebody else is refused,
so that a turn that went to the wrong route cannot look like one that went to the right one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_hex

from agents.thinking import Item, answer, events
from clients.way import Reply
from latchway.lab.asked import json_object
from latchway.lab.calls import Received
from latchway.lab.checked import parse
from latchway.lab.play import Part
from latchway.lab.server import Lab


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Of an origin, for one model."""

    fails: Reply | None = None
    """What a call gets; None: an answer."""
    first_try: bool = False
    """Does only the first call with a body fail, at whichever origin?"""
    keeps: bool = True
    """Is a response stored if the request does not say?"""
    tells: bool = False
    """Does an answer have its reasoning, by an id, also when nobody can send it back?"""


class Refusal(Exception):
    """A request that this origin does not take."""

    def __init__(self, status: int, code: str | None, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code

    @property
    def reply(self) -> Reply:
        error = {"message": str(self), "type": "invalid_request_error", "code": self.code}
        return {"status": self.status, "body": {"error": error}}


class Origin(Lab):
    """`seal` begins what it encrypts; origins of one seal read each other's.

    `tried`: the bodies that have come, shared with the origins that a turn may also be tried at.
    """

    def __init__(
        self, seal: str, usage: Item, behaviours: Mapping[str, Behaviour], tried: set[bytes]
    ) -> None:
        super().__init__()
        self._seal = seal
        self._tried = tried
        self._usage = usage
        self._behaviours = behaviours
        self._chains: dict[str, list[Item]] = {}
        """A stored response's id to all the items that it stands on, its own included."""
        self._items: dict[str, Item] = {}
        """What may be referred to."""

    def next_part(self, received: Received) -> Part:
        """Asked once for each call: over HTTP nothing looks ahead."""
        script = parse([self._reply(received)])
        return Part(script.branches[0].reply(0), received.asked, "", 0)

    def _reply(self, received: Received) -> Reply:
        try:
            request = _request(received)
            behaviour = self._behaviours[request["model"]]
            again = received.body in self._tried
            self._tried.add(received.body)
            if behaviour.fails is not None and not (again and behaviour.first_try):
                return behaviour.fails
            return self._answer(request, behaviour)
        except Refusal as refusal:
            return refusal.reply

    def _answer(self, request: Item, behaviour: Behaviour) -> Reply:
        kept = behaviour.keeps if request.get("store") is None else request["store"]
        before = self._before(request)
        output = answer(request, before, self._seal, tells=kept or behaviour.tells)
        response = _response(request, output, self._usage)
        if kept:
            self._chains[response["id"]] = before + output
            self._items |= {item["id"]: item for item in before + output if "id" in item}
        return {"events": events(response)}

    def _before(self, request: Item) -> list[Item]:
        """All that the answer stands on, references resolved. Raises Refusal."""
        items = [self._known(item) for item in _input(request)]
        previous = request.get("previous_response_id")
        if previous is not None:
            items = self._chain(previous) + items
        _refuse_answers_without_calls(items)
        return items

    def _chain(self, response_id: str) -> list[Item]:
        if response_id not in self._chains:
            message = f"Previous response with id '{response_id}' not found."
            raise Refusal(400, "previous_response_not_found", message)
        return self._chains[response_id]

    def _known(self, item: Item) -> Item:
        """The item itself, or what it refers to. Raises Refusal."""
        sealed = item.get("encrypted_content")
        if sealed is not None and not sealed.startswith(self._seal):
            raise Refusal(400, "invalid_encrypted_content", "The item could not be decrypted.")
        if not _refers(item):
            return item
        if item["id"] not in self._items:
            raise Refusal(404, None, f"Item with id '{item['id']}' not found.")
        return self._items[item["id"]]


def _request(received: Received) -> Item:
    if (received.method, received.path) != ("POST", "/v1/responses"):
        raise Refusal(404, None, f"There is no {received.method} {received.path}.")
    return json_object(received.body)


def _input(request: Item) -> list[Item]:
    given = request["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _refers(item: Item) -> bool:
    """Is the item an id alone, for something that its maker has kept?"""
    if item.get("type") == "reasoning":
        return item.get("encrypted_content") is None and "id" in item
    return "role" not in item and item.get("type", "item_reference") == "item_reference"


def _refuse_answers_without_calls(items: list[Item]) -> None:
    called = {item["call_id"] for item in items if item.get("type") == "function_call"}
    for item in items:
        if item.get("type") == "function_call_output" and item["call_id"] not in called:
            message = f"No tool call found for function call output with id {item['call_id']}."
            raise Refusal(400, None, message)


def _response(request: Item, output: list[Item], usage: Item) -> Item:
    return {
        "id": f"resp_{token_hex(12)}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": request["model"],
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1,
        "usage": usage,
        "metadata": {},
    }
