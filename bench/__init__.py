"""What a turn costs: the gateway under load beside its peers, measured on one machine.

`make bench` runs it. The load and the upstream are C programs, so that they take little from the
machine that is measured; all else is here. `docs/performance.md` says what is measured and how.
"""
