"""What in a request only its origin can read: the table, and the search (R3).

Structure binds, words do not: a text that speaks of `file_id` is only a text. A client's own
schemas are not searched. Where it is doubtful whether something binds, it does: the price is a
replay that is not made, the price of the other mistake is a request that runs where its files,
containers or secrets do not belong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import msgspec

from latchway.values import Value
from latchway.wire import brackets, plain
from latchway.wire.marks import mark
from latchway.wire.members import DEPTH_MAX

PATH_CHARACTERS = 200
"""Of a reported path: it is for people, and its names are the client's."""

TURN_STATE = "x-codex-turn-state"
"""A header, or an entry of `client_metadata`, by which a backend knows its own turns."""


class Where(Enum):
    """Where a rule looks."""

    REQUEST = "a field of the request itself"
    MEMBER = "a member of this name, at any depth"
    SUFFIX = "a member whose name ends so, at any depth"
    OBJECT = "an object of this `type`, at any depth"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row. `binds` is asked about the member's value, or about the object."""

    where: Where
    name: str
    binds: Callable[[Any], bool]
    why: str
    encrypted: bool = False
    """Routes of one origin can all read it."""
    portable: bool = False
    """It binds nothing; it is here for `outside`."""
    outside: bool = False
    """It stands for input that is not in the request: the request's bytes do not bound its cost."""


def _is_true(value: Any) -> bool:
    return value is True


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _has_turn_state(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get(TURN_STATE))


def _is_by_id(item: Any) -> bool:
    return bool(item.get("id")) and not item.get("encrypted_content")


def _is_elsewhere(url: Any) -> bool:
    return isinstance(url, str) and url[:5].lower() != "data:"


TABLE: tuple[Rule, ...] = (
    Rule(Where.REQUEST, "background", _is_true, "the job lives on at its origin"),
    Rule(Where.REQUEST, "background_options", bool, "the job lives on at its origin"),
    Rule(Where.REQUEST, "prompt", bool, "a template of one account", outside=True),
    Rule(Where.REQUEST, "client_metadata", _has_turn_state, "holds a backend's routing token"),
    Rule(Where.MEMBER, "prewarm", _is_true, "prepares state at its origin"),
    Rule(Where.MEMBER, "file_id", bool, "a file of one account", outside=True),
    Rule(Where.MEMBER, "file_ids", bool, "files of one account", outside=True),
    Rule(Where.SUFFIX, "_id", bool, "a thing of one account, or of an earlier response"),
    Rule(Where.SUFFIX, "_ids", bool, "things of one account"),
    Rule(Where.MEMBER, "container", _is_text, "a container of one account"),
    Rule(Where.MEMBER, "authorization", bool, "a secret that was given to one origin"),
    Rule(Where.MEMBER, "headers", bool, "may hold a secret that was given to one origin"),
    Rule(Where.MEMBER, "domain_secrets", bool, "secrets that were given to one origin"),
    Rule(Where.MEMBER, "fingerprint", bool, "a program that its origin has kept"),
    Rule(Where.MEMBER, "encrypted_content", bool, "its maker alone can read it", encrypted=True),
    Rule(Where.MEMBER, "image_url", _is_elsewhere, "is fetched", portable=True, outside=True),
    Rule(Where.MEMBER, "file_url", _is_elsewhere, "is fetched", portable=True, outside=True),
    Rule(Where.OBJECT, "item_reference", bool, "an item that its origin has kept", outside=True),
    Rule(Where.OBJECT, "skill_reference", bool, "a skill of one account"),
    Rule(Where.OBJECT, "container_reference", bool, "a container of one account"),
    Rule(Where.OBJECT, "mcp_approval_response", bool, "answers an earlier response"),
    Rule(Where.OBJECT, "reasoning", _is_by_id, "an id for its content", outside=True),
    Rule(Where.OBJECT, "compaction", _is_by_id, "an id for its content", outside=True),
    Rule(Where.OBJECT, "compaction_summary", _is_by_id, "an id for its content", outside=True),
)

BARE = Rule(Where.OBJECT, "", bool, "only an id: an item that its origin has kept", outside=True)
"""The row that no name leads to: an object of the input that has an id and says nothing besides."""

SAYS_NOTHING = frozenset({"id", "type", "status", "role", "phase", "object"})
NOTHING: tuple[Any, ...] = (None, "", [], {})
"""Members beside an id, and values of any others, that are not what it is the id of."""

CLIENTS_OWN = "client_metadata"
"""A field of which only the turn state is looked at: its other ids are the client's."""

CORRELATION = frozenset({"call_id", "tool_call_id", "caller_id"})
"""Ids that tie items of the request to each other, and to nothing that is kept anywhere."""

SCHEMAS = frozenset({"parameters", "schema", "input_schema", "output_schema"})
"""Beside a `name`: the client's own schema, whose property names are the client's words."""

NOT_SEARCHED = frozenset(
    {"metadata", "text", "include", "previous_response_id", "conversation"}
)  # fmt: skip
"""The client's own words, and the continuation, which is a binding of its own."""

ACTS_NOT = frozenset({
    "function", "custom", "namespace", "tool_search", "apply_patch", "file_search",
    "image_generation", "web_search", "web_search_preview",
})  # fmt: skip
"""Tools that the client runs itself, or that change nothing. Every other type acts, or may: `mcp`,
`code_interpreter`, `computer*`, `shell`, `local_shell`, and what is not known here (R2)."""


def _named(where: Where) -> dict[str, Rule]:
    return {rule.name: rule for rule in TABLE if rule.where is where}


_OF_REQUEST, _OF_MEMBER, _OF_OBJECT = map(_named, (Where.REQUEST, Where.MEMBER, Where.OBJECT))
_OF_SUFFIX = _named(Where.SUFFIX)
_SUFFIXES = tuple(_OF_SUFFIX)
_NESTED = (dict, list)
LIST = ord("[")


class Bonds(Value, frozen=True):
    """What was found; fields as in `wire/request.Request`, `outside` is its `partial_input`."""

    origin_field: str | None = None
    encrypted_field: str | None = None
    acting_tool: str | None = None
    outside: bool = False
    held: tuple[bytes, ...] = ()


class Unsearchable(Exception):
    """A field that cannot be looked through. `why` is a sentence's end: "is nested …"."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field} {why}")
        self.field, self.why = field, why


_LARGE = f"holds more than {brackets.BRACKETS_MAX} objects and lists"
_DEEP = f"is nested deeper than {DEPTH_MAX} levels"


def search(fields: Mapping[str, msgspec.Raw]) -> Bonds:
    """Look through a request's members, which are valid JSON. Unsearchable: see there."""
    found = _Search()
    for name, raw in fields.items():
        if name in NOT_SEARCHED:
            continue
        try:
            found.field(name, raw)
        except RecursionError:
            raise Unsearchable(name, _DEEP) from None
    held = tuple(found.held)
    return Bonds(found.origin, found.encrypted, found.acting, found.outside, held)


def _member_rule(name: str) -> Rule | None:
    rule = _OF_MEMBER.get(name)
    if rule is None and name.endswith(_SUFFIXES) and name not in CORRELATION:
        return _OF_SUFFIX["_ids" if name.endswith("_ids") else "_id"]
    return rule


def _says_nothing(item: Mapping[str, Any]) -> bool:
    return all(value in NOTHING or name in SAYS_NOTHING for name, value in item.items())


def _names(value: Any) -> Iterator[str]:
    """The ids in what a rule is about: itself, its `id`, or those of a list's entries."""
    for each in value if isinstance(value, list) else (value,):
        named = each.get("id") if isinstance(each, dict) else each
        if isinstance(named, str):
            yield named


class _Search:
    """One walk through a request, in the order of its bytes. The first find of a kind stands."""

    __slots__ = ("acting", "encrypted", "held", "origin", "outside", "path")

    def __init__(self) -> None:
        self.origin: str | None = None
        self.encrypted: str | None = None
        self.acting: str | None = None
        self.outside = False
        self.held: dict[bytes, None] = {}
        self.path: list[str | int] = []

    def field(self, name: str, raw: msgspec.Raw) -> None:
        """A field of the request itself; read only if something in it could bind."""
        rule = _OF_REQUEST.get(name) or _member_rule(name)
        first = memoryview(raw)[0]
        nested = first in b"{["
        if nested and brackets.are_too_many(raw):
            raise Unsearchable(name, _LARGE)
        if first == LIST and name in plain.FIELDS:
            self.entries(name, raw)
        elif nested or rule is not None:
            value = _decoded(name, raw)
            self.judge(rule, name, value)
            if nested and name != CLIENTS_OWN:
                self.enter(name, value)

    def entries(self, name: str, raw: msgspec.Raw) -> None:
        """The entries of a large list; plain ones are not even read."""
        self.path.append(name)
        for place, entry in plain.unusual(name, raw):
            value = _decoded(name, entry)
            if name == "tools":
                self.tool(value)
            if type(value) in _NESTED:
                self.enter(place, value)
        self.path.pop()

    def judge(self, rule: Rule | None, name: str, value: Any) -> None:
        """Note what a rule says about the member `name` here."""
        if rule is None or not rule.binds(value):
            return
        self.outside = self.outside or rule.outside
        if not rule.portable:
            self.held.update((mark(name), None) for name in _names(value))
        if rule.encrypted:
            self.encrypted = self.encrypted or self.place(name)
        elif not rule.portable:
            self.origin = self.origin or self.place(name)

    def enter(self, name: str | int, value: dict[str, Any] | list[Any]) -> None:
        if len(self.path) == DEPTH_MAX:
            raise Unsearchable(str(self.path[0]), _DEEP)
        self.path.append(name)
        if isinstance(value, dict):
            self.object(value)
        else:
            self.list(value, tools=name == "tools")
        self.path.pop()

    def object(self, value: dict[str, Any]) -> None:
        kind = value.get("type")
        if isinstance(kind, str) and kind in _OF_OBJECT:
            self.judge(_OF_OBJECT[kind], "", value)
        if value.get("id") and self.path[0] == "input" and _says_nothing(value):
            self.judge(BARE, "", value)
        named = "name" in value
        for name, member in value.items():
            if name in _OF_MEMBER or name.endswith(_SUFFIXES):
                self.judge(_member_rule(name), name, member)
            if type(member) in _NESTED and not (named and name in SCHEMAS):
                self.enter(name, member)

    def list(self, values: list[Any], tools: bool) -> None:
        for place, value in enumerate(values):
            if tools:
                self.tool(value)
            if type(value) in _NESTED:
                self.enter(place, value)

    def tool(self, tool: Any) -> None:
        """Note the first tool that can act; a namespace's own are found on the way."""
        kind = tool.get("type") if isinstance(tool, dict) else None
        if self.acting is None and isinstance(kind, str) and not _acts_not(kind):
            self.acting = kind

    def place(self, name: str) -> str:
        """The path so far and `name`, as a person writes it: `input[2].content[0].file_id`."""
        steps = [*self.path, name] if name else self.path
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
        return path[1 : 1 + PATH_CHARACTERS]


def _acts_not(kind: str) -> bool:
    return kind in ACTS_NOT or kind.startswith(("web_search_preview_", "web_search_20"))


def _decoded(name: str, raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except msgspec.DecodeError as fault:  # the JSON itself is valid: a number beyond all floats
        raise Unsearchable(name, f"cannot be read ({fault})") from None
