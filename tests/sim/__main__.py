"""`make sim`."""

from __future__ import annotations

import sys
import time

from sim.universe import Violation
from sim.world import World


def main() -> int:
    first, count = int(sys.argv[1]), int(sys.argv[2])
    began = time.process_time()
    turns = 0
    for seed in range(first, first + count):
        world = World(seed, traced=count == 1)
        try:
            world.run()
        except BaseException:
            if world.universe.trace:
                print("\n".join(world.universe.trace))
            print("SEED", seed)
            raise
        turns += world.counted.pairs.get(("turns", "all"), 0)
    spent = time.process_time() - began
    print(turns, "turns", spent, "s", 1000 * spent / max(1, turns), "ms each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
