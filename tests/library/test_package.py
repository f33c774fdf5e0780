"""The library as a package: its own, its core pure, each file tested, the wheel whole."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import latchway_client
from repo.test_purity import WORLD
from repo.tree import CLIENT, ROOT, TESTS, imports, name_of, python_files, text_of

PROJECT = tomllib.loads(text_of(ROOT / "client" / "pyproject.toml"))["project"]

SHELLS = ("__init__.py", "http.py", "websocket.py", "clients.py", "turns.py", "log.py")
"""What knows a transport, a log or a clock. All else is the core."""

OUTSIDE = WORLD | {"httpx", "openai", "websockets"} | {f"latchway_client.{s[:-3]}" for s in SHELLS}

WITHOUT_OWN_TEST = {"limits.py": "numbers; tests/library/test_page.py compares them"}


def test_the_core_knows_nothing_of_the_world() -> None:
    found = [
        f"{name_of(path)} imports {module}"
        for path in python_files(CLIENT)
        if path.name not in SHELLS
        for module in imports(path)
        if any(module == each or module.startswith(f"{each}.") for each in OUTSIDE)
    ]
    assert found == []


def test_it_stands_without_the_gateway() -> None:
    found = [
        f"{name_of(path)} imports {module}"
        for path in python_files(CLIENT)
        for module in imports(path)
        if module.split(".")[0] == "latchway"
    ]
    assert found == []


def test_every_file_has_a_test_of_its_name() -> None:
    tested = {path.name.removeprefix("test_") for path in (TESTS / "library").glob("test_*.py")}
    own = {path.name for path in python_files(CLIENT)} - {"__init__.py"}
    assert own - tested == set(WITHOUT_OWN_TEST)


def test_what_is_offered_is_there() -> None:
    assert sorted(latchway_client.__all__) == latchway_client.__all__
    assert [name for name in latchway_client.__all__ if not hasattr(latchway_client, name)] == []


def test_it_asks_for_what_it_was_tried_with() -> None:
    assert PROJECT["dependencies"] == ["openai>=2.15", "websockets>=16.0"]
    pins = text_of(TESTS / "clients" / "requirements-openai-2.15.0.txt").splitlines()
    assert {"openai==2.15.0", "websockets==16.0"} <= set(pins)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT / "client", capture_output=True, text=True, timeout=60)
    assert built.returncode == 0, built.stderr
    return next(folder.glob("*.whl"))


def test_the_wheel_is_the_source_and_its_licence(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = set(packed.namelist())
    source = {
        path.relative_to(CLIENT.parent).as_posix()
        for path in CLIENT.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == source
    assert "latchway_client/py.typed" in names
    assert [name for name in names if name.endswith("/licenses/LICENSE")]


def test_the_licence_is_that_of_the_gateway() -> None:
    assert text_of(ROOT / "client" / "LICENSE") == text_of(ROOT / "LICENSE")
