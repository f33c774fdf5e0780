"""Several processes that serve, and the one that owns the database: `latchway serve --workers N`.

A supervisor opens the database and the listening socket and starts the workers; each of them serves
connections as the only process of a gateway does, with a ledger that is reached over a socket pair.
What two workers share on a turn's path is the group commit, and nothing else.
"""
