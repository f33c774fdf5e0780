"""The operating system's account of processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bench import account

STAT = "cpu  100 1 50 2000 30 4 5 6 70 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n"
"""user, nice, system, idle, iowait, irq, softirq, steal, and guests, who are in the user's."""


def test_the_machine_is_busy_but_for_what_is_idle_and_what_waits() -> None:
    machine = account.Machine.read(STAT)
    assert machine.busy == pytest.approx((100 + 1 + 50 + 4 + 5 + 6) * account.TICK_SECONDS)
    assert machine.stolen == pytest.approx(6 * account.TICK_SECONDS)


def test_a_session_is_its_leader_and_what_that_started() -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1); input()'])"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as leader:
        assert leader.stdout is not None
        assert leader.stdout.readline() == "1\n"
        pids = account.members(leader.pid)
        assert leader.pid in pids
        assert len(pids) == 2
        assert account.memory_kib(pids) > account.memory_kib([leader.pid])
        leader.communicate("\n")
    assert account.members(leader.pid) == []
    assert account.cpu_seconds([leader.pid]) == 0.0


def test_a_process_is_its_threads_and_those_that_have_ended() -> None:
    threads = account.thread_seconds(os.getpid())
    whole = account.cpu_seconds([os.getpid()])
    assert threads.keys() >= {os.getpid()}
    assert 0 < sum(threads.values()) <= whole + len(threads) * account.TICK_SECONDS


def test_the_peak_is_not_below_what_is_held() -> None:
    assert account.peak_kib([os.getpid()]) >= account.memory_kib([os.getpid()])
