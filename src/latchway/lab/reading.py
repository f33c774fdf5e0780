"""Reading a script's YAML or JSON with every fault named by file, line and path.

Faults are collected, not raised one by one: who mends a script wants to see all of them at once.
A reader that finds a fault notes it and returns a harmless value, so that reading can go on.
"""

from __future__ import annotations

import difflib
import io
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

MAX_SCRIPT_BYTES = 4 << 20
"""Bytes of a script file. YAML is read slowly; a longer answer is better said with `repeat`."""
MAX_SCRIPT_NODES = 200_000
"""Values in a script, an alias counted as often as it is used: aliases can multiply without end."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong. `line` counts from 1; None: the script did not come from a file."""

    source: str
    line: int | None
    path: str
    message: str

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}:{self.line}"
        return f"{place}: {self.path}: {self.message}" if self.path else f"{place}: {self.message}"


class ScriptError(ValueError):
    """The script cannot be played. Its text is one line for each fault."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


def parse_yaml(text: str, source: str) -> Any:
    """The document in `text`; JSON is YAML. Raises ScriptError."""
    try:
        data = YAML(typ="rt", pure=True).load(io.StringIO(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise ScriptError([Fault(source, line, "", f"no valid YAML: {error.problem}")]) from error
    except RecursionError as error:
        raise ScriptError([Fault(source, None, "", "is nested too deeply")]) from error
    except (YAMLError, ValueError) as error:
        raise ScriptError([Fault(source, None, "", f"no valid YAML: {error}")]) from error
    _refuse_too_many(data, source)
    return data


def _refuse_too_many(data: Any, source: str) -> None:
    count, stack = 0, [data]
    while stack:
        count += 1
        if count > MAX_SCRIPT_NODES:
            message = f"more than {MAX_SCRIPT_NODES} values, aliases counted; shorten the script"
            raise ScriptError([Fault(source, None, "", message)])
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)


class Node:
    """A value of the script that knows where it stands."""

    def __init__(self, value: Any, source: str, faults: list[Fault]) -> None:
        self.value = value
        self.path = ""
        self.line: int | None = None
        self._source = source
        self._faults = faults

    def fault(self, message: str) -> None:
        self._faults.append(Fault(self._source, self.line, self.path, message))

    def items(self) -> list[Node]:
        """The values of a list."""
        if not isinstance(self.value, list):
            self.fault(f"must be a list, not {self._what()}")
            return []
        return [self._child(index, f"[{index}]") for index in range(len(self.value))]

    def fields(self, allowed: Collection[str]) -> dict[str, Node]:
        """The values of a mapping, of which each key must be one of `allowed`."""
        known = {}
        for name, node in self.entries().items():
            if name in allowed:
                known[name] = node
            else:
                node.fault(f"is not known here; {suggestion(name, allowed)}")
        return known

    def entries(self) -> dict[str, Node]:
        """The values of a mapping with keys of any name."""
        if not isinstance(self.value, dict):
            self.fault(f"must be a mapping, not {self._what()}")
            return {}
        return {str(key): self._child(key, f".{key}") for key in self.value}

    def _child(self, key: Any, step: str) -> Node:
        node = Node(self.value[key], self._source, self._faults)
        node.path = (self.path + step).lstrip(".")
        node.line = _line_of(self.value, key, self.line)
        return node

    def without_value(self) -> Node:
        """Nothing, at the same place: what a bare word has for a value."""
        node = Node(None, self._source, self._faults)
        node.path, node.line = self.path, self.line
        return node

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.fault(f"must be a text, not {self._what()}; put it in quotes")
            return ""
        return str(self.value)

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            self.fault(f"must be true or false, not {self._what()}")
            return False
        return self.value

    def whole(self, low: int, high: int) -> int:
        if not _is_number(self.value) or int(self.value) != self.value:
            self.fault(f"must be a whole number, {low} to {high}, not {self._what()}")
            return low
        return int(self._within(low, high))

    def seconds(self, high: float) -> float:
        if not _is_number(self.value):
            self.fault(f"must be seconds, 0 to {high:g}, not {self._what()}")
            return 0.0
        return float(self._within(0.0, high))

    def _within(self, low: float, high: float) -> float:
        if not low <= self.value <= high:
            self.fault(f"must be {low:g} to {high:g}, not {self._what()}")
            return low
        return self.value  # type: ignore[no-any-return]

    def choice(self, options: Mapping[str, T], default: T) -> T:
        if not isinstance(self.value, str) or self.value not in options:
            self.fault(f"must be one of {', '.join(options)}, not {self._what()}")
            return default
        return options[self.value]

    def plain(self) -> Any:
        """The value as JSON has it."""
        return self._plain(self.value)

    def _plain(self, value: Any) -> Any:
        if value is None or isinstance(value, bool):
            return value
        for kind in (str, int, float):
            if isinstance(value, kind):
                return kind(value)
        if isinstance(value, list):
            return [self._plain(item) for item in value]
        if isinstance(value, dict):
            return {str(key): self._plain(item) for key, item in value.items()}
        self.fault(f"{value} is nothing that JSON can say; put it in quotes")
        return None

    def _what(self) -> str:
        names: dict[type, str] = {dict: "a mapping", list: "a list", type(None): "nothing"}
        for kind, name in names.items():
            if isinstance(self.value, kind):
                return name
        return repr(self.plain())[:80]


def read(data: Any, source: str, reader: Callable[[Node], T]) -> T:
    """What `reader` makes of the document. Raises ScriptError with all that it found wrong."""
    faults: list[Fault] = []
    result = reader(Node(data, source, faults))
    if faults:
        raise ScriptError(faults)
    return result


def suggestion(name: str, allowed: Collection[str]) -> str:
    near = difflib.get_close_matches(name, allowed, n=1)
    return f"did you mean {near[0]}?" if near else f"known are {', '.join(allowed)}"


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < float("inf")


def _line_of(parent: Any, key: Any, default: int | None) -> int | None:
    """The line of an entry; a merged key (`<<`) has none of its own and gets its parent's."""
    marks = getattr(parent, "lc", None)
    if marks is None or marks.data is None or key not in marks.data:
        return default
    return int(marks.data[key][0]) + 1
