"""`python -m latchway` is the command `latchway`."""

from __future__ import annotations

from latchway.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
