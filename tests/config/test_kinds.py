"""What holds for values of every kind: names, the environment, what has no value."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.files import ENVIRON, GOOD, findings, settings, with_part
from latchway.config.faults import Report
from latchway.config.kinds import Wrong, substituted, take_name, unknown

SHAPES = {
    "unknown, near": ("hold_seconds: 10", "hold_second: 1", 17, "turn.hold_second",
                      "there is no such field; did you mean `hold_seconds`?"),
    "unknown, far": ("{failures: 5}", "{zzz: 1}", 19, "health.zzz",
                     "there is no such field; there are: enabled, failures, set_aside_seconds"),
    "unknown at the top": ("log:", "logs:", 20, "logs", "did you mean `log`?"),
    "a merge key": ("{failures: 5}", "{<<: {failures: 1}}", 19, "health.<<", "merge keys"),
    "a value of nothing": ("hold_seconds: 10", "hold_seconds:", 17, "turn.hold_seconds",
                           "has no value"),
    "a list for a value": ("hold_seconds: 10", "hold_seconds: [10]", 17, "turn.hold_seconds",
                           "must be a number of seconds, 0 to 86400"),
    "a value for a section": ("{failures: 5}", "5", 19, "health", "must be a mapping of fields"),
    "a list for a section": ("{failures: 5}", "[5]", 19, "health", "must be a mapping of fields"),
    "a value for a list": ("store_default: false}\n      - {provider: backup",
                           "store_default: false, drop_fields: x}\n      - {provider: backup",
                           14, "models.m.routes[0].drop_fields", "must be a list of fields"),
    "a value in a list of sections": ("- {provider: backup, model: m-2, store_default: false}",
                                      "- backup", 15, "models.m.routes[1]",
                                      "must be a mapping of fields"),
    "a number for a text": ("model: m-2", "model: 4.1", 15, "models.m.routes[1].model",
                            "put it in quotes"),
    "a tag": ("hold_seconds: 10", "hold_seconds: !ms 10", 17, "turn.hold_seconds", "must be a num"),
    "missing": ("base_url: \"http://127.0.0.1:9002/v1\"", "", 7, "providers.backup.base_url",
                "is missing; say its URL; `/responses` is appended"),
    "a name with a space": ("  backup: {", "  'backup ': {", 7, "providers.backup ",
                            "no space at its ends"),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_a_value_of_the_wrong_shape(name: str, tmp_path: Path) -> None:
    old, new, line, path, message = SHAPES[name]
    told = [fault for fault in findings(tmp_path, with_part(old, new)) if fault.path == path]
    assert [(fault.line, fault.severity) for fault in told] == [(line, "fault")]
    assert message in told[0].message


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    text = with_part("hold_seconds: 10", "hold_second: 10").replace("failures: 5", "failures: 0")
    assert [fault.line for fault in findings(tmp_path, text)] == [17, 19]


@pytest.mark.parametrize("section", ["providers", "models"])
@pytest.mark.parametrize("value", ["", " {}", " ~", " null"])
def test_a_mapping_of_names_has_one(section: str, value: str, tmp_path: Path) -> None:
    (fault,) = [each for each in findings(tmp_path, f"{section}:{value}\n") if each.path == section]
    assert fault.message == "must have at least one entry"


@pytest.mark.parametrize("section", ["turn", "replay", "health", "billing", "websocket", "limits"])
def test_a_section_without_fields_is_all_defaults(section: str, tmp_path: Path) -> None:
    text = GOOD[: GOOD.index("turn:")] + f"{section}:\n"
    assert getattr(settings(tmp_path, text), section) == getattr(settings(tmp_path), section)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${A}", "1"),
        ("x${A}y${B}", "x1y${A}"),
        ("$${A}", "${A}"),
        ("$A $$ {A}", "$A $$ {A}"),
    ],
)
def test_variables_are_replaced_once(text: str, value: str) -> None:
    assert substituted(text, Report("f", {"A": "1", "B": "${A}"})) == value


@pytest.mark.parametrize("text", ["${}", "${1A}", "${A:-x}", "${"])
def test_a_variables_name_is_a_name(text: str) -> None:
    with pytest.raises(Wrong, match="begins a variable"):
        substituted(text, Report("f", {"A": "1"}))


def test_a_variable_that_is_not_set_is_a_fault_that_names_it(tmp_path: Path) -> None:
    (fault,) = findings(tmp_path, GOOD, {"ADMIN": "admin-token", "METRICS": "metrics-token"})
    assert (fault.line, fault.path) == (6, "providers.primary.api_key")
    assert "KEY is not set" in fault.message


def test_a_number_may_come_from_the_environment(tmp_path: Path) -> None:
    text = with_part("hold_seconds: 10", "hold_seconds: ${HOLD}")
    assert settings(tmp_path, text, ENVIRON | {"HOLD": "2.5"}).turn.hold_seconds == 2.5


@pytest.mark.parametrize("name", ["", " a", "a ", "a\n", "x" * 201])
def test_a_name_that_is_none(name: str) -> None:
    with pytest.raises(Wrong, match="a name has 1 to 200"):
        take_name(name)


def test_a_name_at_the_limit() -> None:
    assert take_name("x" * 200) == "x" * 200


def test_unknown_names_the_nearest() -> None:
    assert unknown("primry", ["backup", "primary"], "provider").endswith("did you mean `primary`?")
