"""`python -m compiled`: the lock, played on the compiled build, and the tests of what is compiled.

They are the very tests that `make test` runs. Only those are left out that replace what is inside
a module, or copy a turn as it stands: compiled code has no such inside.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import EXTENSION_SUFFIXES

import pytest

from compiled.modules import compiled_files, module_of
from repo.tree import TESTS

FOLDERS = ("lock", "turn", "wire", "serve", "upstreams", "log")
FILES = ("test_alarm.py", "test_books.py", "test_drive.py", "test_drive_faults.py", "test_sight.py")


def interpreted() -> list[str]:
    """Modules of the list that were not loaded from an extension."""
    names = [module_of(file) for file in compiled_files()]
    return [name for name in names if not _file_of(name).endswith(tuple(EXTENSION_SUFFIXES))]


def _file_of(name: str) -> str:
    return importlib.import_module(name).__file__ or ""


def main() -> int:
    if found := interpreted():
        print("not compiled:", *found, file=sys.stderr)
        return 1
    print(f"{len(compiled_files())} modules are compiled")
    chosen = [str(TESTS / name) for name in (*FOLDERS, *FILES)]
    return pytest.main([*chosen, "-m", "not interpreted"])


if __name__ == "__main__":
    sys.exit(main())
