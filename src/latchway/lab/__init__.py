"""A scriptable, faulty upstream on the loopback: for our tests, and for users who test clients.

`script.py` says what can be scripted, `play.py` turns it into bytes, `server.py` runs it.
"""
