"""The tables agree with the settings: every setting can be said, and every field is used."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from config.files import GOOD, findings, settings
from latchway.config.kinds import Field, Section
from latchway.config.schema import FILE_SCHEMA, MODEL, PRICES, PROVIDER, ROUTE, ROUTE_CLOCKS
from latchway.settings import Model, Price, Provider, Route, Settings, TurnSettings

SECTIONS = [field for field in FILE_SCHEMA.fields if getattr(field.kind, "defaults", None)]

ELSEWHERE = {"name", "upstream_model", "free"}
"""Settings that are a key of the file, or the file's `model`, or the price `free`."""


def names(section: Section) -> set[str]:
    return {field.name for field in section.fields}


@pytest.mark.parametrize("field", SECTIONS, ids=lambda field: field.name)
def test_a_section_has_the_fields_of_its_settings(field: Field) -> None:
    assert names(field.kind) == {each.name for each in fields(field.kind.defaults)}


@pytest.mark.parametrize(
    ("section", "setting"), [(PROVIDER, Provider), (MODEL, Model), (ROUTE, Route), (PRICES, Price)]
)
def test_every_setting_can_be_said(section: Section, setting: type) -> None:
    assert {each.name for each in fields(setting)} - ELSEWHERE <= names(section)


def test_the_file_fills_all_settings() -> None:
    said = names(FILE_SCHEMA) | {"host", "port", "log_keep_days"}
    assert {each.name for each in fields(Settings)} == said - {"listen", "log"}


def test_a_routes_clocks_are_the_turns() -> None:
    assert set(ROUTE_CLOCKS) == names(ROUTE) & {each.name for each in fields(TurnSettings)}


BOUNDS = [
    ("turn", "hold_seconds", "0", "86401"),
    ("turn", "connect_timeout_seconds", "0.001", "0"),
    ("turn", "first_event_timeout_seconds", "0.5", "0"),
    ("turn", "idle_timeout_seconds", "86400", "1e9"),
    ("turn", "whole_answer_timeout_seconds", "600", "-1"),
    ("turn", "keepalive_seconds", "0", "-0.1"),
    ("turn", "pre_output_buffer_bytes", "1024", "1023"),
    ("turn", "store_when_omitted", "false", "never"),
    ("turn", "store_when_omitted", '"false"', "true"),
    ("turn", "store_when_omitted", "stateless", "~"),
    ("turn", "replay_acting_tools", "false", "no"),
    ("replay", "max_share", "0.2", "1.01"),
    ("replay", "min", "0", "0.5"),
    ("health", "enabled", "false", "off"),
    ("health", "failures", "1", "0"),
    ("health", "set_aside_seconds", "0.5", "0"),
    ("billing", "upstream_broke", "estimate", "charge"),
    ("billing", "client_left", "free", "charge"),
    ("billing", "free_aborts_per_minute", "0", "-1"),
    ("websocket", "max_minutes", "0.5", "0"),
    ("websocket", "grace_minutes", "0", "1441"),
    ("websocket", "queue", "0", "1001"),
    ("websocket", "max_message_bytes", "1073741824", "1073741825"),
    ("limits", "request_bytes", "1024", "1023"),
    ("limits", "event_bytes", "1048576", "1MiB"),
    ("limits", "write_stall_seconds", "0.5", "0"),
    ("log", "keep_days", "0.5", "0"),
    (None, "shutdown_seconds", "0", "86401"),
]


def _said(section: str | None, name: str, value: str) -> tuple[str, str]:
    base = GOOD[: GOOD.index("turn:")]
    if section is None:
        return f"{base}{name}: {value}\n", name
    return f"{base}{section}: {{{name}: {value}}}\n", f"{section}.{name}"


@pytest.mark.parametrize(("section", "name", "good", "bad"), BOUNDS)
def test_both_sides_of_a_fields_range(
    section: str | None, name: str, good: str, bad: str, tmp_path: Path
) -> None:
    text, path = _said(section, name, good)
    assert findings(tmp_path, text) == []
    (fault,) = findings(tmp_path, _said(section, name, bad)[0])
    assert (fault.line, fault.path) == (16, path)


def test_every_field_of_every_section_has_its_range_tested() -> None:
    tested = {(section, name) for section, name, _, _ in BOUNDS}
    assert {(field.name, inner.name) for field in SECTIONS for inner in field.kind.fields} <= tested


def test_what_is_said_is_what_is_set(tmp_path: Path) -> None:
    for section, name, good, _ in BOUNDS[:-2]:
        assert section is not None
        made = getattr(getattr(settings(tmp_path, _said(section, name, good)[0]), section), name)
        assert str(made).lower().removesuffix(".0") == good.strip('"')
