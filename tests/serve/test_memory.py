"""The heap keeps what a read leaves for the next one, instead of a page fault for each page."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

from latchway.serve import memory

READS, BUFFERS = 100, 6
READ_BYTES = {"a read of many events": 128 << 10, "a large request": 2 << 20}

PROGRAM = f"""
import resource, sys
from latchway.serve import memory
if sys.argv[1] == "kept":
    memory.keep_the_heap()
def read():
    return [bytearray(int(sys.argv[2])) + b"x" for _ in range({BUFFERS})]
for _ in range(20):
    read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({READS}):
    read()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(heap: str, size: int, **environment: str) -> int:
    command = [sys.executable, "-c", PROGRAM, heap, str(size)]
    own = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(
        command, env={**own, **environment}, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library's heap")


@glibc
@pytest.mark.parametrize("size", READ_BYTES.values(), ids=READ_BYTES)
def test_what_comes_costs_no_page_faults(size: int) -> None:
    assert faults("kept", size) < READS
    assert faults("as it is", size) > READS * 10, "the heap does so by itself: drop the module"


@glibc
def test_what_the_operator_has_set_stays() -> None:
    size = READ_BYTES["a read of many events"]
    assert faults("kept", size, MALLOC_TRIM_THRESHOLD_="0") > READS * 10


def no_library(name: None) -> object:
    return object()


def none_at_all(name: None) -> object:
    raise OSError


@pytest.mark.parametrize("library", [no_library, none_at_all])
def test_where_there_is_no_such_call_nothing_is_set(
    library: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctypes.CDLL", library)
    assert not memory.keep_the_heap()


def test_where_there_is_no_ctypes_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert not memory.keep_the_heap()
