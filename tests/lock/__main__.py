"""`python -m lock`: what `make` does with the lock.

| word | does |
|---|---|
| `record` | plays every scenario over both transports, writes the fixtures, LOCK and PROBE.md; |
| | says what changed, and what of it was not declared |
| `splits` | every cut of every upstream's bytes (law 6); a quarter of an hour |
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

from lock import declared, fixtures, probe, splits
from lock.fixtures import HERE, LOCK, name_of

ROOT = HERE.parents[1]


def record() -> int:
    """Returns 0; a person, not a program, says whether the difference is right."""
    logging.disable()
    wanted: dict[Path, bytes] = {}
    for name in fixtures.names():
        wanted |= fixtures.fixtures_of(name)
    changed = [path for path, data in wanted.items() if _write(path, data)]
    orphans = [path for path in fixtures.files() if path not in wanted]
    for path in orphans:
        print(f"removed {name_of(path)}: no scenario is behind it")
        path.unlink()
    for path, text in {LOCK: fixtures.lock_of(wanted), probe.PAGE: probe.page()}.items():
        path.write_text(text, encoding="utf-8")
    print(f"{len(wanted)} fixtures, {len(changed)} new or changed, {len(orphans)} removed")
    _say_what_is_undeclared()
    return 0


def _say_what_is_undeclared() -> None:
    """A change must have been declared in an earlier commit (R9)."""
    try:
        found = declared.faults(declared.history(ROOT))
    except declared.NoHistory as fault:
        found = [f"the history is not looked at: {fault}"]
    print(*found, sep="\n", end="\n" if found else "")


def _write(path: Path, data: bytes) -> bool:
    """Say what is different, and make it so."""
    old = path.read_bytes() if path.exists() else b""
    if old == data and path.exists():
        return False
    print(*_difference(name_of(path), old, data), sep="\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return True


def _difference(name: str, old: bytes, new: bytes) -> list[str]:
    if not old:
        return [f"new {name}"]
    before, after = old.decode().splitlines(), new.decode().splitlines()
    return list(unified_diff(before, after, name, name, lineterm="", n=2))


WORDS: dict[str, Callable[[], int]] = {"record": record, "splits": splits.run}


def main(words: list[str]) -> int:
    if len(words) != 1 or words[0] not in WORDS:
        print(__doc__, file=sys.stderr)
        return 2
    return WORDS[words[0]]()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
