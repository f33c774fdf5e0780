"""All that is fuzzed, by name."""

from __future__ import annotations

from collections.abc import Mapping

from fuzz import asked, configuration, event, stream, usage
from fuzz.engine import Target

TARGETS: Mapping[str, Target] = {
    module.TARGET.name: module.TARGET for module in (stream, event, asked, usage, configuration)
}


def share(target: Target, inputs: int) -> int:
    """How many of a run's inputs go to this target."""
    return inputs * target.inputs // sum(each.inputs for each in TARGETS.values())
