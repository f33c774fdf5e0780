"""`make clients`: every client against every way, those that leave, and real models as upstreams.

A line tells what was tried, with the reason for what was not; 1 if anything is not as R2 says.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from clients import leaving, models, stopping
from clients.checking import differences
from clients.environments import Unavailable
from clients.playing import Run, play
from clients.roster import CLIENTS, NEW, OLD, Client
from clients.stage import Stage, set_up
from clients.table import WAYS


def main() -> int:
    """All of it."""
    wrong = [line for part in (every_client, leavers, stops, real_models) for line in part()]
    for line in wrong:
        print(f"NOT AS R2 SAYS: {line}")
    print("all is as R2 says" if not wrong else f"{len(wrong)} differences")
    return 1 if wrong else 0


def every_client() -> list[str]:
    """Each client against each way."""
    with tempfile.TemporaryDirectory() as folder, set_up(WAYS, Path(folder)) as stage:
        runs = [run for client in CLIENTS for run in _turns(stage, client)]
        return differences(stage, runs)


def _turns(stage: Stage, client: Client) -> list[Run]:
    try:
        runs = play(stage, client)
    except Unavailable as reason:
        print(f"{client.name}: not tried: {reason}", flush=True)
        return []
    print(f"{client.name}: {len(runs)} turns", flush=True)
    return runs


def leavers() -> Iterator[str]:
    """Many turns that are left, at each place, by the SDK old and new."""
    for environment in (OLD, NEW):
        for where in leaving.LEFT:
            name = f"{environment} leaves {leaving.TURNS} times: {where}"
            yield from _part(name, partial(leaving.leave, environment=environment, where=where))


def stops() -> Iterator[str]:
    """A gateway that ends turns in flight."""
    for amid in stopping.STOPS:
        yield from _part(amid, partial(stopping.stop_amid, amid=amid))


def real_models() -> Iterator[str]:
    """Two llama.cpp servers, the first of which is killed."""
    for name, play_scene in models.SCENES.items():
        yield from _part(f"llama.cpp, {name}", play_scene)


def _part(name: str, play_part: Callable[[Path], list[str]]) -> list[str]:
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = play_part(Path(folder))
    except Unavailable as reason:
        print(f"{name}: not tried: {reason}", flush=True)
        return []
    print(f"{name}: {found or 'as it should be'}", flush=True)
    return [f"{name}: {line}" for line in found]


if __name__ == "__main__":
    sys.exit(main())
