"""How an attempt is carried out: the adapters behind `ports.Upstreams`.

Invariant: an attempt is one request on one connection. Nothing here retries, follows a redirect
or falls back; whatever goes wrong becomes one event, and the turn decides. All that has arrived is
told before the break that came after it (law 6).
"""
