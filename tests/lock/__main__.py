"""`python -m lock`: what `make` does with the lock.

| word | does |
|---|---|
| `record` | plays every scenario over both transports, writes the fixtures, says what changed |
| `splits` | every cut of every upstream's bytes (law 6); some minutes |
| `probe` | prints `PROBE.md`: which scenario or test shows which fault |
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

from lock import fixtures, splits
from lock.fixtures import LOCK, name_of


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
    _write(LOCK, fixtures.lock_of(wanted).encode())
    print(f"{len(wanted)} fixtures, {len(changed)} new or changed, {len(orphans)} removed")
    return 0


def _write(path: Path, data: bytes) -> bool:
    """Say what is different, and make it so."""
    old = path.read_bytes() if path.exists() else b""
    if old == data and path.exists():
        return False
    if path != LOCK:
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
