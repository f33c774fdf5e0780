"""The kinds of value that a field can have: how each is read, and the words that describe it.

A kind reads a node where it stands and tells the report what is wrong, so that one look at a file
finds all its faults. What it cannot read it gives back as None.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ruamel.yaml.nodes import Node, ScalarNode, SequenceNode

from latchway.config.faults import Report, Where
from latchway.config.source import NULL_TAG, members

MAX_NAME_CHARACTERS = 200
"""A name is a metric's label and a line of the log; none is longer in practice."""

STRING_TAG = "tag:yaml.org,2002:str"
PLAIN_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool"))

VARIABLE = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{")


class Wrong(ValueError):
    """A text that a kind refuses. Empty: "must be" and the kind's words say it all."""


class Kind(Protocol):
    """How a value of one kind is read."""

    @property
    def words(self) -> str:
        """What the value must be, to stand after "must be"."""

    def read(self, node: Node, where: Where, report: Report) -> Any: ...


@dataclass(frozen=True, slots=True)
class Value:
    """A single value. `take` makes of its text what it means, or raises Wrong."""

    words: str
    take: Callable[[str], Any]
    number: bool = False
    """May it stand without quotes where YAML then reads a number or true and false?"""
    secret: bool = False

    def read(self, node: Node, where: Where, report: Report) -> Any:
        try:
            text = self._text(node)
            if self.secret and not VARIABLE.search(text):
                report.literal_secrets.append(where)
            return self.take(substituted(text, report))
        except Wrong as wrong:
            report.fault(where, str(wrong) or f"must be {self.words}")
            return None

    def _text(self, node: Node) -> str:
        if node.tag == NULL_TAG:
            raise Wrong("has no value; give it one, or leave the line out")
        if not isinstance(node, ScalarNode) or node.tag not in PLAIN_TAGS:
            raise Wrong
        if node.tag != STRING_TAG and not self.number:
            raise Wrong(f"must be {self.words}; YAML reads no text here: put it in quotes")
        return str(node.value)


def substituted(text: str, report: Report) -> str:
    """`${NAME}` replaced from the environment; `$${` stands for `${` itself."""

    def value(match: re.Match[str]) -> str:
        if match.group() == "$${":
            return "${"
        name = match.group(1)
        if name is None:
            raise Wrong("`${` begins a variable such as ${NAME}; write `$${` for the signs alone")
        if name not in report.environ:
            raise Wrong(f"the environment variable {name} is not set; set it before the start")
        return report.environ[name]

    return VARIABLE.sub(value, text)


@dataclass(frozen=True, slots=True)
class Field:
    """One line of the schema."""

    name: str
    kind: Kind
    meaning: str
    """A noun phrase, for the reference and for the message when a required field is missing."""
    required: bool = False
    default: str | None = None
    """In words, where the settings' own default does not say it."""


@dataclass(frozen=True, slots=True)
class Section:
    """A mapping of known fields. Reads to a dictionary of those that are said and are right."""

    fields: tuple[Field, ...]
    defaults: object = None
    """The settings whose attributes of the same names are the defaults."""
    words: str = "a mapping"

    def read(self, node: Node, where: Where, report: Report) -> dict[str, Any]:
        kinds = {field.name: field.kind for field in self.fields}
        values: dict[str, Any] = {}
        for name, value in members(node, where, report):
            if name not in kinds:
                report.fault((*where, name), unknown(name, list(kinds), "field"))
                continue
            read = kinds[name].read(value, (*where, name), report)
            if read is not None:
                values[name] = read
        self._tell_missing(where, report)
        return values

    def _tell_missing(self, where: Where, report: Report) -> None:
        for field in self.fields:
            if field.required and not report.said((*where, field.name)):
                report.fault((*where, field.name), f"is missing; say {field.meaning}")


@dataclass(frozen=True, slots=True)
class Named:
    """A mapping from names, which the operator gives, to sections."""

    of: Section
    words: str = "a mapping of names"

    def read(self, node: Node, where: Where, report: Report) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in members(node, where, report):
            try:
                take_name(name)
            except Wrong as wrong:
                report.fault((*where, name), str(wrong))
            values[name] = self.of.read(value, (*where, name), report)
        if node.tag == NULL_TAG or not node.value:
            report.fault(where, "must have at least one entry")
        return values


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of one kind. What cannot be read keeps its position, as None."""

    of: Kind
    words: str = "a list"

    def read(self, node: Node, where: Where, report: Report) -> list[Any] | None:
        if not isinstance(node, SequenceNode):
            report.fault(where, f"must be {self.words}: `- …`, one a line")
            return None
        values = []
        for index, item in enumerate(node.value):
            report.lines[(*where, index)] = item.start_mark.line + 1
            values.append(self.of.read(item, (*where, index), report))
        return values


@dataclass(frozen=True, slots=True)
class WordOr:
    """One word that stands for itself, or a section."""

    word: str
    section: Section

    @property
    def words(self) -> str:
        return f"{self.section.words}, or the word `{self.word}`"

    def read(self, node: Node, where: Where, report: Report) -> Any:
        if not isinstance(node, ScalarNode):
            return self.section.read(node, where, report)
        return Value(self.words, self._take).read(node, where, report)

    def _take(self, text: str) -> str:
        if text != self.word:
            raise Wrong
        return text


def take_name(text: str) -> str:
    """A name that can be a label, a header's value and a word in a log."""
    if 0 < len(text) <= MAX_NAME_CHARACTERS and text.isprintable() and text == text.strip():
        return text
    raise Wrong(f"a name has 1 to {MAX_NAME_CHARACTERS} printable characters, no space at its ends")


def unknown(name: str, known: list[str], what: str) -> str:
    """There is no such thing; did you mean another?"""
    if name == "<<":
        return "merge keys are not read; write the fields out, or alias a whole value"
    close = difflib.get_close_matches(name, known, n=1)
    mend = f"did you mean `{close[0]}`?" if close else f"there are: {', '.join(known)}"
    return f"there is no such {what}; {mend}"
