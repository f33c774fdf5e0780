"""The ways of R2 that real clients are tried against, with what R2 says about each.

A way's name is a model of the gateway's. Its two routes go to the two labs, and each lab plays
the way's script for that model. Not here, because they are about the client's side and need a
gateway each: R2.8 and R2.17 (`leaving.py`).
"""

from __future__ import annotations

from clients.ways_after import AFTER_OUTPUT
from clients.ways_before import BEFORE_OUTPUT
from clients.ways_never import NEVER

WAYS = (*BEFORE_OUTPUT, *NEVER, *AFTER_OUTPUT)
