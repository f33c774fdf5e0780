"""The heart and the wire know no event loop, no clock and no chance (ARCHITECTURE.md)."""

from __future__ import annotations

import pytest

from repo.tree import SOURCE, imports, name_of, python_files

WORLD = frozenset({
    "asyncio", "concurrent", "datetime", "logging", "multiprocessing", "os", "random", "secrets",
    "select", "selectors", "signal", "socket", "sqlite3", "ssl", "subprocess", "threading", "time",
    "uuid", "uvloop",
})  # fmt: skip

FORBIDDEN = {
    "turn": WORLD | {"json", "msgspec", "latchway.ports", "latchway.drive"},
    "wire": WORLD | {"latchway.ports", "latchway.drive"},
}
"""What a folder may not import, a module's own submodules included."""

ADAPTERS = (
    "serve", "upstreams", "routes", "ledger", "workers", "log", "lab", "config", "commands",
)  # fmt: skip
"""Folders that know the heart; the heart does not know them."""


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_nothing_of_the_world_is_imported(folder: str) -> None:
    found = [
        f"{name_of(path)} imports {module}"
        for path in python_files(SOURCE / folder)
        for module in imports(path)
        if any(module == each or module.startswith(f"{each}.") for each in FORBIDDEN[folder])
    ]
    assert found == []


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_no_adapter_is_imported(folder: str) -> None:
    found = [
        f"{name_of(path)} imports {module}"
        for path in python_files(SOURCE / folder)
        for module in imports(path)
        if module.startswith(tuple(f"latchway.{adapter}" for adapter in ADAPTERS))
    ]
    assert found == []


def test_the_wire_does_not_know_the_turn() -> None:
    found = [
        f"{name_of(path)} imports {module}"
        for path in python_files(SOURCE / "wire")
        for module in imports(path)
        if module.startswith("latchway.turn") and module != "latchway.turn.events"
    ]
    assert found == []
