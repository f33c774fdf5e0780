"""From YAML, JSON or plain values to a script. What cannot be played is refused with its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from latchway.lab import reading
from latchway.lab.reading import Fault, Node, ScriptError
from latchway.lab.script import Body, Branch, Event, Framing, Reply, Script, Step
from latchway.lab.steps import MAX_SECONDS, read_steps

HEADER_NAME = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")


def load(name: str | Path) -> Script:
    """The script of that file, or the one that ships under that name. Raises ScriptError."""
    source, text = _text_of(str(name))
    return parse(reading.parse_yaml(text, source), source)


def parse(data: Any, source: str = "script") -> Script:
    """A script from plain values, as YAML or JSON give them. Raises ScriptError."""
    return reading.read(data, source, _script)


def shipped() -> tuple[str, ...]:
    """Names of the scripts that come with the package."""
    files = resources.files("latchway.lab") / "scripts"
    return tuple(sorted(Path(file.name).stem for file in files.iterdir()))


def _text_of(name: str) -> tuple[str, str]:
    if name in shipped():
        file = resources.files("latchway.lab") / "scripts" / f"{name}.yaml"
        return f"{name}.yaml", file.read_text(encoding="utf-8")
    try:
        return name, _read_file(name)
    except FileNotFoundError as error:
        ready = ", ".join(shipped())
        message = f"there is no such file, and no ready script of that name: {ready}"
        raise ScriptError([Fault(name, None, "", message)]) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError([Fault(name, None, "", f"cannot be read: {error}")]) from error


def _read_file(name: str) -> str:
    with open(name, "rb") as file:
        data = file.read(reading.MAX_SCRIPT_BYTES + 1)
    if len(data) > reading.MAX_SCRIPT_BYTES:
        message = f"is over {reading.MAX_SCRIPT_BYTES} bytes; say long answers with repeat"
        raise ScriptError([Fault(os.path.basename(name), None, "", message)])
    return data.decode("utf-8")


# ---- the script and its replies


def _script(node: Node) -> Script:
    if isinstance(node.value, list):
        return Script((Branch(_replies(node)),), ("lab",))
    fields = node.fields(("calls", "routes", "models"))
    branches = _branches(node, fields)
    named = [branch.model for branch in branches if branch.model is not None]
    models = [item.text() for item in fields["models"].items()] if "models" in fields else named
    return Script(branches, tuple(models) or ("lab",))


def _branches(node: Node, fields: dict[str, Node]) -> tuple[Branch, ...]:
    if ("calls" in fields) == ("routes" in fields):
        node.fault("needs either calls (a list of replies) or routes")
        return ()
    if "calls" in fields:
        return (Branch(_replies(fields["calls"])),)
    return tuple(_branch(item) for item in _some(fields["routes"]))


def _branch(node: Node) -> Branch:
    fields = node.fields(("when", "calls"))
    if "calls" not in fields:
        node.fault("needs calls, a list of replies")
        return Branch(())
    when = fields["when"].fields(("model", "input")) if "when" in fields else {}
    return Branch(
        replies=_replies(fields["calls"]),
        model=when["model"].text() if "model" in when else None,
        text=when["input"].text() if "input" in when else None,
    )


def _replies(node: Node) -> tuple[Reply, ...]:
    return tuple(_reply(item) for item in _some(node))


def _some(node: Node) -> list[Node]:
    items = node.items()
    if isinstance(node.value, list) and not items:
        node.fault("must not be empty: its last entry is for all calls that follow")
    return items


def _headers(node: Node) -> tuple[tuple[str, str | None], ...]:
    pairs: list[tuple[str, str | None]] = []
    for name, entry in node.entries().items():
        if not name or not HEADER_NAME.issuperset(name.lower()):
            entry.fault("is no name of a header")
        values = entry.items() if isinstance(entry.value, list) else [entry]
        pairs.extend((name, _header_value(value)) for value in values)
    return tuple(pairs)


def _header_value(node: Node) -> str | None:
    if node.value is None:
        return None
    value = str(node.plain())
    if not value.isprintable() or not value.isascii():
        node.fault("must be printable ASCII")
    return value


REPLY_FIELDS: dict[str, Callable[[Node], Any]] = {
    "status": lambda node: node.whole(200, 599),
    "headers": _headers,
    "framing": lambda node: node.choice({f.value: f for f in Framing}, Framing.CHUNKED),
    "split": lambda node: node.whole(1, 1 << 20),
    "crlf": Node.flag,
    "delay": lambda node: node.seconds(MAX_SECONDS),
    "head_delay": lambda node: node.seconds(MAX_SECONDS),
    "pong": Node.flag,
}
"""Fields that a reply takes over under their own name."""

CONTENT_FIELDS = ("events", "body", "echo")
ECHO = (Event("created", None), Event("in_progress", None), Event("echo", None))


def _reply(node: Node) -> Reply:
    fields = node.fields((*REPLY_FIELDS, *CONTENT_FIELDS, "no_head"))
    if sum(name in fields for name in CONTENT_FIELDS) > 1:
        node.fault("takes one of events, body and echo")
    own: dict[str, Any] = {
        name: read(fields[name]) for name, read in REPLY_FIELDS.items() if name in fields
    }
    return Reply(
        path=node.path or "reply",
        steps=_content(fields),
        body=_body(fields, own),
        head=not ("no_head" in fields and fields["no_head"].flag()),
        **own,
    )


def _body(fields: dict[str, Node], own: dict[str, Any]) -> Body | None:
    """An error status that says nothing more is an empty answer, not an empty stream."""
    if "body" in fields:
        return Body(fields["body"].plain())
    bare = own.get("status", 200) != 200 and not any(name in fields for name in CONTENT_FIELDS)
    return Body("") if bare else None


def _content(fields: dict[str, Node]) -> tuple[Step, ...]:
    if "echo" in fields and fields["echo"].flag():
        return (*ECHO, Event("completed", None))
    return read_steps(fields["events"]) if "events" in fields else ()
