"""Configurations: checked without raising; every fault has file, line and words, and shows nothing.

The files are grown from the schema itself, so that a new field is fuzzed from its first day.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fuzz.dice import Dice
from fuzz.engine import Target
from latchway.config import ConfigError, Fault, check, load
from latchway.config.kinds import Field, Kind, Listing, Named, Section, Value, WordOr
from latchway.config.schema import FILE_SCHEMA
from latchway.settings import Settings

SECRET = "kept-secret-7d1f"
"""Comes from the environment alone, and is a word that no message may hold."""
ENVIRON = {"A": SECRET, "EMPTY": "", "NUMBER": "10"}

GOOD = {
    "provider": "p",
    "base_url": "https://a.example/v1",
    "api_key": '"${A}"',
    "admin_token": '"${A}"',
    "metrics_token": '"${A}"',
    "listen": "127.0.0.1:8787",
    "database": "sqlite:///x.db",
    "enabled": "true",
    "store_default": "false",
    "replay_acting_tools": "true",
    "transport": "http",
    "speaks": "responses",
    "store_when_omitted": "stateless",
    "upstream_broke": "free",
    "client_left": "estimate",
    "model": "n",
    "origin": "o",
    "certificate": "x.pem",
    "key": "x.pem",
    "max_share": "0.5",
    "pre_output_buffer_bytes": "4096",
    "request_bytes": "4096",
    "event_bytes": "4096",
    "max_message_bytes": "4096",
}
"""A right value by the field's name; of any other field it is ANY_NUMBER."""
ANY_NUMBER = ("0", "1", "2.5", "10", "1e1", "40")

ODD = (
    "null", "~", "", "true", "yes", "0", "-1", "1e99", ".inf", ".nan", "0x10", "1_000",
    "2026-01-01", '""', '"${B}"', '"${"', '"$${"', '"${A}"', "${A}", '"${EMPTY}"', '"${NUMBER}"',
    '"a b"', "é", '"\\0"', '"\\n"', "[]", "{}", "[a, b]", "{a: b}", "*a", "&a x", "*r", "&r [*r]",
    "&r {provider: *r}", "!!int x", "!x y", "!!binary AA==", "!!map {}", "free", "stateless",
    "websocket", "http://u:p@a.example", "http://[::1", "https://a.example:99999",
    "postgresql://x", "sqlite:///", '"[::1]:8787"', "9" * 30, "? x", "- x", "|\n  x", ">\n x",
    "'", '"', "{", "]", "a: b", "%", "@", "`",
)  # fmt: skip
NAMES = ("p", "p", "q", "m", '"a b"', "é", '""', "~", "1", '" x"', '"\\t"', "<<", "x" * 201)


def make(dice: Dice) -> bytes:
    """A file: nearly right, a line for each field."""
    wrong = dice.pick((0.0, 0.01, 0.05))
    fields = [field for field in FILE_SCHEMA.fields if field.required or dice.chance(0.3)]
    lines = [f"{field.name}: {_value(dice, field, wrong)}" for field in fields]
    if dice.chance(0.1):
        lines.insert(0, dice.pick(("---", "%YAML 1.1\n---", "# x", "\ufeff", "{", "- a", "\t")))
    if dice.chance(0.1):
        lines.append(
            dice.pick((*lines, "...", "---\na: b", "unknown: 1", "holt_seconds: 1", "<<: *a"))
        )
    return dice.pick(("\n", "\n", "\r\n")).join(lines).encode()


def _value(dice: Dice, field: Field, wrong: float) -> str:
    if dice.chance(wrong):
        return dice.pick(ODD)
    if isinstance(field.kind, Value):
        return GOOD.get(field.name) or dice.pick(ANY_NUMBER)
    return _nested(dice, field.kind, wrong)


def _nested(dice: Dice, kind: Kind, wrong: float) -> str:
    """A value of a kind that has others within, on one line."""
    if isinstance(kind, Section):
        fields = [field for field in kind.fields if field.required or dice.chance(0.4)]
        members = [f"{field.name}: {_value(dice, field, wrong)}" for field in fields]
        return "{" + ", ".join(members) + "}"
    if isinstance(kind, Named):
        names = ["p", "m"][: 1 + dice.below(2)] + [dice.pick(NAMES)] * dice.chance(wrong)
        return "{" + ", ".join(f"{name}: {_nested(dice, kind.of, wrong)}" for name in names) + "}"
    if isinstance(kind, Listing):
        count = 1 if dice.chance(0.7) else dice.below(4)
        return "[" + ", ".join(_nested(dice, kind.of, wrong) for _ in range(count)) + "]"
    if isinstance(kind, WordOr):
        return kind.word if dice.chance(0.5) else _nested(dice, kind.section, wrong)
    return dice.pick(NAMES[:4])


@cache
def _folder() -> TemporaryDirectory[str]:
    """One for the process; it goes when the process ends."""
    return TemporaryDirectory(prefix="latchway-fuzz-")


def check_file(data: bytes) -> None:
    folder = Path(_folder().name)
    (folder / "x.pem").touch()
    path = folder / "latchway.yaml"
    path.write_bytes(data)
    found = check(path, ENVIRON)
    lines = data.count(b"\n") + data.count(b"\r") + 2
    for fault in found:
        _check_fault(fault, path, lines)
    assert [fault.line for fault in found] == sorted(fault.line for fault in found)
    faults = [fault for fault in found if fault.severity == "fault"]
    settings, refused = _loaded(path)
    assert list(refused) == faults
    assert (settings is None) == bool(faults)
    if settings is not None:
        _check_settings(settings)


def _loaded(path: Path) -> tuple[Settings | None, tuple[Fault, ...]]:
    try:
        return load(path, ENVIRON), ()
    except ConfigError as error:
        return None, error.faults


def _check_fault(fault: Fault, path: Path, lines: int) -> None:
    assert fault.file == str(path)
    assert 1 <= fault.line <= lines
    assert fault.severity in ("fault", "advice")
    assert len(fault.message) > len("must be")
    assert str(fault).startswith(f"{path}:{fault.line}: ")
    assert "\n" not in str(fault)
    assert SECRET not in str(fault)


def _check_settings(settings: Settings) -> None:
    """What a faultless file gives can be served: routes with providers, and numbers in bounds."""
    assert settings.models
    assert 0 <= settings.port <= 65535
    assert 0 <= settings.turn.hold_seconds <= 86_400
    assert SECRET not in repr(settings)
    for model in settings.models.values():
        assert model.routes
        assert model.free or model.max_output_tokens
        assert len({route.name for route in model.routes}) == len(model.routes)
        assert all(type(price) is int and price >= 0 for price in _prices(model.price))
        for route in model.routes:
            assert settings.providers[route.provider.name] is route.provider
            assert 0 < route.first_event_timeout_seconds <= 86_400


def _prices(price: object) -> list[int]:
    return [getattr(price, name) for name in ("input", "cached_input", "output", "reasoning")]


TARGET = Target("configuration", make, check_file, inputs=4_000)
