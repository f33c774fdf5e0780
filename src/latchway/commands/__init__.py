"""One module for each command: `EXAMPLE`, `arguments(parser)` and `run(args) -> exit code`."""
