"""The heap keeps what a read leaves for the next one, instead of a page fault for each page."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from latchway.serve import memory

READS, READ_BYTES, BUFFERS = 200, 128 << 10, 6

PROGRAM = f"""
import resource, sys
from latchway.serve import memory
if sys.argv[1] == "kept":
    memory.keep_the_heap()
def read():
    return [bytearray({READ_BYTES}) + b"x" for _ in range({BUFFERS})]
for _ in range(20):
    read()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({READS}):
    read()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(heap: str) -> int:
    command = [sys.executable, "-c", PROGRAM, heap]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library's heap")
def test_a_read_costs_no_page_faults() -> None:
    assert faults("kept") < READS
    assert faults("as it is") > READS * 10, "the system's heap does so by itself: drop the module"


def test_where_there_is_no_such_call_nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    memory.keep_the_heap()
