"""All that is fuzzed, by name."""

from __future__ import annotations

from collections.abc import Mapping

from fuzz import asked, configuration, event, stream, usage, websocket
from fuzz.engine import Target

MODULES = (stream, event, asked, usage, configuration, websocket)
TARGETS: Mapping[str, Target] = {module.TARGET.name: module.TARGET for module in MODULES}


def share(target: Target, inputs: int) -> int:
    """How many of a run's inputs go to this target."""
    return inputs * target.inputs // sum(each.inputs for each in TARGETS.values())
