"""The configuration's reference, printed from the schema, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from latchway.config.kinds import Field, Kind, Listing, Named, Section, WordOr
from latchway.config.schema import FILE_SCHEMA

INTRODUCTION = """\
# Configuration

All fields of `latchway.yaml`. A field that is not listed is a fault; `latchway check` tells every
fault with its line. `${NAME}` in a text is replaced from the environment; `$${` stands for `${`.
"""


def reference() -> str:
    """One table for the file, and one for each section in it."""
    return INTRODUCTION + "".join(_section("The file", FILE_SCHEMA))


def _section(title: str, section: Section) -> Iterator[str]:
    yield f"\n## {title}\n\n| field | value | default | meaning |\n|---|---|---|---|\n"
    yield from (_row(field, section.defaults) for field in section.fields)
    for field in section.fields:
        inner = _inner(field.kind)
        if inner is not None:
            path = field.name if section is FILE_SCHEMA else f"{title.strip('`')}.{field.name}"
            yield from _section(f"`{path}{_steps(field.kind)}`", inner)


def _row(field: Field, defaults: object) -> str:
    cells = (f"`{field.name}`", field.kind.words, _default(field, defaults), field.meaning)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _default(field: Field, defaults: object) -> str:
    if field.required:
        return "required"
    if field.default is not None:
        return field.default
    value = getattr(defaults, field.name, "as its fields say")
    return str(value).lower() if isinstance(value, bool) else f"{value}".removesuffix(".0")


def _inner(kind: Kind) -> Section | None:
    """The section that has a table of its own under this field."""
    if isinstance(kind, WordOr):
        return kind.section
    if isinstance(kind, Named | Listing):
        return _inner(kind.of)
    return kind if isinstance(kind, Section) else None


def _steps(kind: Kind) -> str:
    return ".NAME" if isinstance(kind, Named) else "[]" if isinstance(kind, Listing) else ""
