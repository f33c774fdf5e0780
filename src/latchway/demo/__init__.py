"""`latchway demo`: the gateway with two upstreams of its own, of which the first fails.

It needs no provider and no account, and leaves nothing behind: its database and its configuration
lie in a folder that goes when it goes. `stage` sets it up, `show` sends one turn through it and
tells what came from where, `labs` and `llama` are the two kinds of upstreams.
"""
