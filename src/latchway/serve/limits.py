"""Limits of the client's side that no configuration changes: unit last, each with its reason."""

HEADER_BYTES = 16 << 10
"""Of a request's head: nothing before authentication may be large."""

HEADER_SECONDS = 10.0
"""For a whole head, so that a slow sender holds a connection, not a worker."""

BODY_GRACE_SECONDS = 30.0
"""Before a body's rate is looked at."""

BODY_BYTES_PER_SECOND = 16 << 10
"""The least average rate of a body after the grace."""

IDLE_SECONDS = 75.0
"""A kept-alive connection without a request; above the pools of common clients and proxies."""

PIPELINED_REQUESTS = 8
"""Requests that may wait on one HTTP connection behind the one in work."""

WRITE_HIGH_BYTES = 64 << 10
"""Unsent bytes of a connection at which its upstream is no longer read."""

PING_SECONDS = 20.0
"""Below the 25 s that R8 allows, and every proxy's idle limit."""

PONG_SECONDS = 60.0
"""An idle peer that has not been heard for so long is gone (R8)."""

CLOSE_SECONDS = 5.0
"""For the other side to answer a WebSocket close, and for last bytes to be taken."""

FRAGMENT_BYTES = 16 << 20
"""Largest WebSocket frame sent: some clients refuse larger ones."""
